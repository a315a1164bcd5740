// SPDX-License-Identifier: Apache-2.0
#include "cli/command_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command_set.h"

namespace warpool::cli {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

/// CLI11 keeps the words of IsMember only inside its checking function. "{a,b}" in the type name is their one visible form.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.find('}', open == std::string::npos ? 0 : open);
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  size_t start = open + 1;
  while (start <= close) {
    const size_t comma = std::min(type.find(',', start), close);
    choices.push_back(type.substr(start, comma - start));
    start = comma + 1;
  }
  return choices;
}

/// The type name without what checks add to it.
std::string value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

OptionModel option_model(const CLI::Option& option) {
  return {names_of(option), option.get_items_expected_max() == 0 ? "" : value_of(option),
          option.get_description(), choices_of(option)};
}

ArgumentModel argument_model(const CLI::Option& option) {
  return {option.get_name(true),
          value_of(option),
          option.get_description(),
          option.get_required(),
          option.get_items_expected_max() > 1,
          choices_of(option)};
}

std::string examples_of(const CLI::App& app) {
  std::string text = app.get_footer();
  const std::string heading = "Examples:\n  ";
  if (text.starts_with(heading)) text.erase(0, heading.size());
  for (size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at + 1))
    text.erase(at + 1, 2);
  return text;
}

}  // namespace

CommandModel model_of_command(const CLI::App& app) {
  CommandModel model{app.get_name(), app.get_description(), examples_of(app), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      model.arguments.push_back(argument_model(*option));
    } else {
      model.options.push_back(option_model(*option));
    }
  }
  return model;
}

std::string CommandModel::summary() const {
  return description.substr(0, std::min(description.find(". "), description.size() - 1));
}

std::string CommandModel::usage() const {
  std::string text = (name == "warpool" ? name : "warpool " + name) + " [OPTIONS]";
  for (const ArgumentModel& argument : arguments) {
    const bool program = argument.value == kCommandArgument;
    const std::string word =
        fmt::format("{}{}{}", program ? "-- " : "", argument.name, argument.several ? "..." : "");
    text += argument.required || program ? fmt::format(" {}", word) : fmt::format(" [{}]", word);
  }
  return text;
}

ProgramModel model_of(const CLI::App& app) {
  ProgramModel model{model_of_command(app), {}};
  model.program.name = "warpool";
  for (const CLI::App* command : app.get_subcommands(
           [](const CLI::App* candidate) { return !candidate->get_group().empty(); }))
    model.commands.push_back(model_of_command(*command));
  return model;
}

}  // namespace warpool::cli
