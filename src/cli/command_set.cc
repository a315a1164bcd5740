// SPDX-License-Identifier: Apache-2.0
#include "cli/command_set.h"

#include <fmt/format.h>

#include "warpool/warpool.h"

namespace warpool::cli {
namespace {

std::string examples_text(const std::vector<Example>& examples) {
  std::string text = "Examples:\n";
  for (const Example& example : examples)
    text += fmt::format("  # {}\n  {}\n", example.what, example.line);
  text.pop_back();
  return text;
}

}  // namespace

CLI::App& CommandSet::add(const std::string& name, const std::string& description,
                          const std::vector<Example>& examples) {
  CLI::App* command = app_.add_subcommand(name, description);
  command->footer(examples_text(examples));
  command->set_help_flag("-h,--help", "Print this help and exit");
  return *command;
}

void CommandSet::share(CLI::App& command, CommonOptions& options, const Shares& shares) {
  if (shares.json)
    command.add_flag("--json", options.json, "Print JSON: stable keys, bytes as integers");
  if (shares.socket)
    command
        .add_option("--socket", options.socket,
                    "Socket of the broker (default: WARPOOL_SOCKET, the system's, the user's own)")
        ->type_name(kFileArgument);
  if (shares.admin)
    command.add_flag("--admin", options.admin,
                     "Use the admin socket: all users' programs; its owner only");
  command
      .add_option("--color", options.color,
                  "Colours: auto (on a terminal, never with NO_COLOR), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

void CommandSet::on_run(CLI::App& command, const CommonOptions& options, Action action) {
  command.callback([this, &options, action = std::move(action), name = command.get_name()] {
    chosen_ = action;
    chosen_options_ = &options;
    chosen_name_ = name;
  });
}

void add_all_commands(CommandSet& set) {
  CLI::App& app = set.app();
  app.description(
      "Shares arrays between MATLAB, GNU Octave and Python programs of one machine without "
      "copies.");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", fmt::format("warpool {}", warpool_version()),
                       "Print the version and exit");
  app.footer(
      "Examples:\n"
      "  # run a program and see what it shared\n"
      "  warpool run -- python3 train.py\n"
      "  # list the arrays\n"
      "  warpool ls\n"
      "  # see what works on this machine\n"
      "  warpool doctor\n"
      "Each command explains itself: warpool COMMAND --help");
  add_run_command(set);
  add_pipeline_command(set);
  add_list_commands(set);
  add_watch_command(set);
  add_array_commands(set);
  add_file_commands(set);
  add_broker_commands(set);
  add_doctor_command(set);
  add_meta_commands(set);
}

}  // namespace warpool::cli
