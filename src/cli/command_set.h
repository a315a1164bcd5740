// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/output.h"

namespace warpool::cli {

/// Where a command writes: facts to `out`, messages to `err`.
struct Context {
  Output out;
  Output err;
};

/// Options that many commands have.
struct CommonOptions {
  std::string socket;
  std::string color = "auto";
  bool json = false;
  bool admin = false;
};

/// One example of a help text: what is done, and the line that does it.
struct Example {
  std::string line;
  std::string what;
};

/// Which of the common options a command has; --help and --color are everywhere.
struct Shares {
  bool socket = true;
  bool json = true;
  bool admin = false;
};

/**
 * The commands of `warpool`: their options as CLI11 knows them, and what to run once the command line was understood. Help texts, manual
 * pages, the reference page and the completions are all made from it.
 */
class CommandSet {
 public:
  /// What a command does; the return value is the exit code of the process. May throw Failure.
  using Action = std::function<int(Context&)>;

  explicit CommandSet(CLI::App& app) : app_(app) {}

  /// Adds a command. `description` begins with a verb; its first sentence is shown in the list of commands.
  CLI::App& add(const std::string& name, const std::string& description,
                const std::vector<Example>& examples);
  /// Adds the common options to a command.
  void share(CLI::App& command, CommonOptions& options, const Shares& shares);
  void share(CLI::App& command, CommonOptions& options) { share(command, options, Shares{}); }
  /// Says what runs when this command was given. `options` must live in the action.
  void on_run(CLI::App& command, const CommonOptions& options, Action action);

  CLI::App& app() { return app_; }
  /// The chosen command's action, or none.
  const Action& chosen() const { return chosen_; }
  const CommonOptions* chosen_options() const { return chosen_options_; }
  const std::string& chosen_name() const { return chosen_name_; }

 private:
  CLI::App& app_;
  Action chosen_;
  const CommonOptions* chosen_options_ = nullptr;
  std::string chosen_name_;
};

/// Type names of arguments; completions know what to offer for each.
inline constexpr const char* kArrayArgument = "NAME";
inline constexpr const char* kFileArgument = "FILE";
inline constexpr const char* kCommandArgument = "CMD";
inline constexpr const char* kDurationArgument = "DURATION";
inline constexpr const char* kSizeArgument = "SIZE";

// One function a group of commands.
void add_broker_commands(CommandSet& set);
void add_array_commands(CommandSet& set);
void add_list_commands(CommandSet& set);
void add_file_commands(CommandSet& set);
void add_watch_command(CommandSet& set);
void add_run_command(CommandSet& set);
void add_pipeline_command(CommandSet& set);
void add_doctor_command(CommandSet& set);
void add_meta_commands(CommandSet& set);

/// Builds the whole parser.
void add_all_commands(CommandSet& set);

}  // namespace warpool::cli
