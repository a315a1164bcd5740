// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/command_model.h"
#include "cli/command_set.h"
#include "cli/docs_generator.h"

namespace warpool::cli {
namespace {

struct VersionOptions {
  CommonOptions common;
};

std::string header_version() {
  return fmt::format("{}.{}.{}", WARPOOL_VERSION_MAJOR, WARPOOL_VERSION_MINOR,
                     WARPOOL_VERSION_PATCH);
}

int show_version(const VersionOptions& options, Context& context) {
  nlohmann::json json = {{"version", header_version()}, {"library_version", warpool_version()}};
  std::string text = fmt::format("warpool {}\nlibrary {}\n", header_version(), warpool_version());
  const ConnectAttempt attempt = try_connect(options.common.socket, StartBroker::kNever);
  if (attempt.status == WARPOOL_OK) {
    const warpool_broker_info info = broker_info(attempt.connection.get());
    json["broker_version"] = info.broker_version;
    json["protocol"] = info.protocol;
    text += fmt::format("broker {} (protocol {})\n", info.broker_version, info.protocol);
  } else {
    text += attempt.status == WARPOOL_NO_BROKER ? "broker: none runs\n"
                                                : fmt::format("broker: {}\n", attempt.message);
  }
  if (options.common.json) {
    context.out.json(json);
  } else {
    context.out.write(text);
  }
  return 0;
}

void add_version(CommandSet& set) {
  auto options = std::make_shared<VersionOptions>();
  CLI::App& command = set.add(
      "version", "Print the versions of this program, of its library and of the broker that runs.",
      {{"warpool version", "for people"}, {"warpool version --json", "for scripts"}});
  set.share(command, options->common);
  set.on_run(command, options->common,
             [options](Context& context) { return show_version(*options, context); });
}

struct CompletionOptions {
  CommonOptions common;
  std::string shell;
};

void add_completion(CommandSet& set) {
  auto options = std::make_shared<CompletionOptions>();
  CLI::App& command =
      set.add("completion",
              "Print a script that completes commands, options and names of arrays in a shell.",
              {{"source <(warpool completion bash)",
                "in this bash; put the line in ~/.bashrc to have it always"},
               {"warpool completion zsh > ~/.zfunc/_warpool", "for zsh, with ~/.zfunc in fpath"},
               {"warpool completion fish > ~/.config/fish/completions/warpool.fish", "for fish"}});
  command.add_option("SHELL", options->shell, "bash, zsh or fish")
      ->required()
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  set.share(command, options->common, {.socket = false, .json = false});
  const CLI::App* app = &set.app();
  set.on_run(command, options->common, [options, app](Context& context) {
    context.out.write(completion_script(model_of(*app), options->shell));
    return 0;
  });
}

}  // namespace

void add_meta_commands(CommandSet& set) {
  add_completion(set);
  add_version(set);
}

}  // namespace warpool::cli
