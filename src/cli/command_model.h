// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace warpool::cli {

// The parser as plain data: what manual pages, the reference page and completions are made from. Hidden options are left out.

struct OptionModel {
  std::vector<std::string> names;  ///< "--json" or "-h", "--help"
  std::string value;               ///< type name of its value; empty for a flag
  std::string description;
  std::vector<std::string> choices;  ///< the only values, if there are such
};

struct ArgumentModel {
  std::string name;   ///< "ARRAYS"
  std::string value;  ///< type name: what completions offer
  std::string description;
  bool required = false;
  bool several = false;
  std::vector<std::string> choices;
};

struct CommandModel {
  std::string name;
  std::string description;
  std::string examples;  ///< lines as in the help text, without the heading
  std::vector<ArgumentModel> arguments;
  std::vector<OptionModel> options;

  /// The first sentence of the description, without its full stop.
  std::string summary() const;
  /// "warpool rm [OPTIONS] ARRAYS..."
  std::string usage() const;
};

struct ProgramModel {
  CommandModel program;
  std::vector<CommandModel> commands;
};

ProgramModel model_of(const CLI::App& app);
CommandModel model_of_command(const CLI::App& command);

}  // namespace warpool::cli
