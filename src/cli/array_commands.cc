// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/command_set.h"
#include "cli/failure.h"
#include "cli/units.h"

namespace warpool::cli {
namespace {

/// Options of the commands that change several arrays, one after the other.
struct ChangeOptions {
  CommonOptions common;
  std::string argument;
  std::vector<std::string> names;
};

/// What was done to one array.
using Change = std::function<nlohmann::json(warpool_connection*, const std::string& name)>;

/**
 * Goes on after a failure, as rm and chmod do, so that one wrong name does not leave the rest undone; the first failure decides the
 * exit code.
 */
int change_each(const ChangeOptions& options, const char* verb, const Change& change,
                Context& context) {
  const auto connection = connect(options.common.socket, StartBroker::kNever);
  nlohmann::json done = nlohmann::json::array();
  nlohmann::json failed = nlohmann::json::array();
  int exit_code = 0;
  for (const std::string& name : options.names) {
    try {
      done.push_back(change(connection.get(), name));
      if (!options.common.json)
        context.out.line(fmt::format("{} {}", verb, done.back()["text"].get<std::string>()));
      done.back().erase("text");
    } catch (const Failure& failure) {
      if (exit_code == 0) exit_code = static_cast<int>(failure.code());
      failed.push_back({{"name", name},
                        {"message", failure.what()},
                        {"exit_code", static_cast<int>(failure.code())}});
      context.err.line(fmt::format("warpool: {}", failure.what()));
    }
  }
  if (options.common.json) context.out.json({{"done", done}, {"failed", failed}});
  return exit_code;
}

CLI::Option* add_names(CLI::App& command, ChangeOptions& options, const char* description) {
  return command.add_option("ARRAYS", options.names, description)
      ->required()
      ->type_name(kArrayArgument);
}

void add_rm(CommandSet& set) {
  auto options = std::make_shared<ChangeOptions>();
  CLI::App& command =
      set.add("rm", "Remove arrays. Programs that view them keep them until they let go.",
              {{"warpool rm lab/features", "one array"},
               {"warpool rm $(warpool ls --names 'tmp/*')", "all below tmp/"},
               {"warpool rm lab/features@3", "only if version 3 is still the current one"}});
  add_names(command, *options, "NAME or NAME@VERSION, one or more");
  set.share(command, options->common);
  set.on_run(command, options->common, [options](Context& context) {
    const Change change = [](warpool_connection* connection,
                             const std::string& text) -> nlohmann::json {
      const VersionedName name = parse_versioned_name(text);
      call(warpool_remove, connection, name.name.c_str(), name.version);
      return {{"name", name.name}, {"text", text}};
    };
    return change_each(*options, "removed", change, context);
  });
}

uint32_t current_mode(warpool_connection* connection, const std::string& name) {
  const auto listing = make<warpool_listing>(warpool_stat, connection, name.c_str(), uint64_t{0});
  return warpool_listing_get(listing.get(), 0)->mode;
}

void add_chmod(CommandSet& set) {
  auto options = std::make_shared<ChangeOptions>();
  CLI::App& command =
      set.add("chmod", "Say who may read arrays, as for files. Nobody can write a published array.",
              {{"warpool chmod 640 lab/features", "your group may read it"},
               {"warpool chmod o+r lab/features lab/labels", "everybody may read these two"},
               {"warpool chmod a=,u+r lab/features", "only you again"}});
  command
      .add_option("MODE", options->argument,
                  "Octal digits (600, 640, 644) or changes such as g+r, o-r, a=r")
      ->required()
      ->type_name("");
  add_names(command, *options, "NAME, one or more");
  set.share(command, options->common);
  set.on_run(command, options->common, [options](Context& context) {
    // A wrong mode is found before anything is changed.
    parse_mode(options->argument, 0600);
    const Change change = [&](warpool_connection* connection,
                              const std::string& name) -> nlohmann::json {
      const bool relative = mode_is_symbolic(options->argument);
      const uint32_t mode =
          parse_mode(options->argument, relative ? current_mode(connection, name) : 0) | 0400;
      call(warpool_chmod, connection, name.c_str(), mode);
      const std::string digits = fmt::format("{:04o}", mode);
      return {{"name", name}, {"mode", digits}, {"text", fmt::format("{} {}", digits, name)}};
    };
    return change_each(*options, "mode", change, context);
  });
}

void add_expire(CommandSet& set) {
  auto options = std::make_shared<ChangeOptions>();
  CLI::App& command = set.add("expire", "Set how long arrays stay from now on.",
                              {{"warpool expire 10m tmp/batch", "removed in ten minutes"},
                               {"warpool expire never tmp/batch", "stays until it is removed"}});
  command
      .add_option("AFTER", options->argument, "Time from now (500ms, 30s, 10m, 2h, 1d), or never")
      ->required()
      ->type_name(kDurationArgument);
  add_names(command, *options, "NAME, one or more");
  set.share(command, options->common);
  set.on_run(command, options->common, [options](Context& context) {
    const bool never = options->argument == "never";
    const int64_t after_ms = never ? 0 : parse_duration_ms(options->argument);
    if (!never && after_ms == 0)
      throw Failure(
          ExitCode::kUsage,
          "an array cannot expire after no time; remove it with `warpool rm`, or write never");
    const Change change = [&](warpool_connection* connection,
                              const std::string& name) -> nlohmann::json {
      call(warpool_expire, connection, name.c_str(), after_ms);
      nlohmann::json json = {{"name", name}, {"expires_in_ms", nullptr}, {"text", name + " never"}};
      if (!never) {
        json["expires_in_ms"] = after_ms;
        json["text"] =
            fmt::format("{} in {}", name, format_duration_ms(static_cast<uint64_t>(after_ms)));
      }
      return json;
    };
    return change_each(*options, "expires", change, context);
  });
}

}  // namespace

void add_array_commands(CommandSet& set) {
  add_rm(set);
  add_chmod(set);
  add_expire(set);
}

}  // namespace warpool::cli
