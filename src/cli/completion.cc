// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/command_set.h"
#include "cli/docs_generator.h"

namespace warpool::cli {
namespace {

// What can stand in place of an argument or a value.
enum class Offer : uint8_t { kNothing, kArrays, kFiles, kPrograms };

Offer offer_of(const std::string& value) {
  if (value == kArrayArgument) return Offer::kArrays;
  if (value == kFileArgument) return Offer::kFiles;
  if (value == kCommandArgument) return Offer::kPrograms;
  return Offer::kNothing;
}

std::vector<std::string> option_names(const CommandModel& command) {
  std::vector<std::string> names;
  for (const OptionModel& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// Text inside single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + escaped + "'";
}

// ------------------------------------------------------------------------------------------------------------------ bash

std::string bash_offer(const std::string& value, const std::vector<std::string>& choices) {
  if (!choices.empty())
    return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", fmt::join(choices, " "));
  switch (offer_of(value)) {
    case Offer::kArrays:
      return "COMPREPLY=($(compgen -W \"$(warpool ls --names 2>/dev/null)\" -- \"$word\"))";
    case Offer::kFiles:
      return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))";
    case Offer::kPrograms:
      return "COMPREPLY=($(compgen -c -- \"$word\"))";
    case Offer::kNothing:
      return "COMPREPLY=()";
  }
  return "";
}

/// The value of an option is completed after the option, so its names are patterns of a case.
std::string bash_value_cases(const CommandModel& command) {
  std::string text;
  for (const OptionModel& option : command.options) {
    if (option.value.empty()) continue;
    text += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"),
                        bash_offer(option.value, option.choices));
  }
  return text;
}

std::string bash_command_case(const CommandModel& command) {
  std::string text = fmt::format("    {})\n", command.name);
  if (const std::string cases = bash_value_cases(command); !cases.empty())
    text += "      case \"$before\" in\n" + cases + "      esac\n";
  text += fmt::format(
      "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return; "
      "fi\n",
      fmt::join(option_names(command), " "));
  // Arguments by position; the last one serves all that follow.
  text += "      case $position in\n";
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    const bool last = i + 1 == command.arguments.size();
    text += fmt::format("        {}) {} ;;\n", last ? "*" : fmt::format("{}", i),
                        bash_offer(command.arguments[i].value, command.arguments[i].choices));
  }
  if (command.arguments.empty()) text += "        *) COMPREPLY=() ;;\n";
  return text + "      esac ;;\n";
}

std::string bash_script(const ProgramModel& model) {
  std::vector<std::string> names;
  names.reserve(model.commands.size());
  for (const CommandModel& command : model.commands)
    names.push_back(command.name);
  std::string text = fmt::format(
      "# bash completion for warpool, made by `warpool completion bash`\n"
      "_warpool() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} "
      "command=${{COMP_WORDS[1]}} position=0 i\n"
      "  if (( COMP_CWORD == 1 )); then COMPREPLY=($(compgen -W \"{} {}\" -- \"$word\")); return; "
      "fi\n"
      "  for (( i = 2; i < COMP_CWORD; i++ )); do [[ ${{COMP_WORDS[i]}} == -* ]] || (( ++position "
      ")); done\n"
      "  case \"$command\" in\n",
      fmt::join(names, " "), fmt::join(option_names(model.program), " "));
  for (const CommandModel& command : model.commands)
    text += bash_command_case(command);
  return text + "  esac\n}\ncomplete -o bashdefault -o default -F _warpool warpool\n";
}

// ------------------------------------------------------------------------------------------------------------------- zsh

std::string zsh_action(const std::string& value, const std::vector<std::string>& choices) {
  if (!choices.empty()) return fmt::format("({})", fmt::join(choices, " "));
  switch (offer_of(value)) {
    case Offer::kArrays:
      return "_warpool_arrays";
    case Offer::kFiles:
      return "_files";
    case Offer::kPrograms:
      return "_command_names -e";
    case Offer::kNothing:
      return " ";
  }
  return "";
}

/// A description inside the specifications of _arguments: brackets and colons mean something there.
std::string zsh_description(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_specs(const CommandModel& command) {
  std::string text;
  for (const OptionModel& option : command.options) {
    for (const std::string& name : option.names) {
      const std::string value =
          option.value.empty()
              ? ""
              : fmt::format(":{}:{}", option.value, zsh_action(option.value, option.choices));
      text += " \\\n        " +
              quoted(fmt::format("{}[{}]{}", name, zsh_description(option.description), value));
    }
  }
  for (const ArgumentModel& argument : command.arguments) {
    const std::string action = zsh_action(argument.value, argument.choices);
    text += " \\\n        " + quoted(fmt::format("{}:{}:{}", argument.several ? "*" : "",
                                                 zsh_description(argument.name), action));
  }
  return text;
}

std::string zsh_script(const ProgramModel& model) {
  std::string text =
      "#compdef warpool\n# zsh completion for warpool, made by `warpool completion zsh`\n"
      "_warpool_arrays() {\n  local -a names\n  names=(${(f)\"$(warpool ls --names "
      "2>/dev/null)\"})\n  compadd -a names\n}\n"
      "_warpool() {\n  local -a commands\n  local curcontext=$curcontext state line\n  "
      "commands=(\n";
  for (const CommandModel& command : model.commands)
    text += fmt::format(
        "    {}\n", quoted(fmt::format("{}:{}", command.name, zsh_description(command.summary()))));
  text += fmt::format(
      "  )\n  _arguments -C{} \\\n        '1:command:->command' '*::argument:->argument'\n",
      zsh_specs(model.program));
  text +=
      "  case $state in\n    command) _describe command commands ;;\n    argument)\n      case "
      "$words[1] in\n";
  for (const CommandModel& command : model.commands)
    text += fmt::format("      {}) _arguments{} ;;\n", command.name, zsh_specs(command));
  return text +
         "      esac ;;\n  esac\n}\nif [[ $funcstack[1] == _warpool ]]; then _warpool \"$@\"; else "
         "compdef _warpool warpool; fi\n";
}

// ------------------------------------------------------------------------------------------------------------------ fish

std::string fish_offer(const std::string& value, const std::vector<std::string>& choices) {
  if (!choices.empty())
    return fmt::format(" -f -a {}", quoted(fmt::format("{}", fmt::join(choices, " "))));
  switch (offer_of(value)) {
    case Offer::kArrays:
      return " -f -a '(warpool ls --names 2>/dev/null)'";
    case Offer::kFiles:
      return " -F";
    case Offer::kPrograms:
      return " -f -a '(__fish_complete_command)'";
    case Offer::kNothing:
      return " -f";
  }
  return "";
}

std::string fish_option(const OptionModel& option, const std::string& condition) {
  std::string text = "complete -c warpool -n " + quoted(condition);
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                   : fmt::format(" -s {}", name.substr(1));
  if (!option.value.empty()) text += " -r" + fish_offer(option.value, option.choices);
  return text + " -d " + quoted(option.description) + "\n";
}

std::string fish_script(const ProgramModel& model) {
  std::string text =
      "# fish completion for warpool, made by `warpool completion fish`\ncomplete -c warpool -f\n";
  for (const OptionModel& option : model.program.options)
    text += fish_option(option, "__fish_use_subcommand");
  for (const CommandModel& command : model.commands) {
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    text += fmt::format("complete -c warpool -n '__fish_use_subcommand' -a {} -d {}\n",
                        command.name, quoted(command.summary()));
    for (const OptionModel& option : command.options)
      text += fish_option(option, condition);
    for (const ArgumentModel& argument : command.arguments)
      text += fmt::format("complete -c warpool -n {}{}\n", quoted(condition),
                          fish_offer(argument.value, argument.choices));
  }
  return text;
}

}  // namespace

std::string completion_script(const ProgramModel& model, const std::string& shell) {
  if (shell == "bash") return bash_script(model);
  return shell == "zsh" ? zsh_script(model) : fish_script(model);
}

}  // namespace warpool::cli
