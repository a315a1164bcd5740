// SPDX-License-Identifier: Apache-2.0
#include "cli/docs_generator.h"

#include <fmt/format.h>

#include <array>

#include "cli/exit_codes.h"
#include "cli/json_keys.h"

namespace warpool::cli {
namespace {

/// Variables that the command obeys.
struct Variable {
  const char* name;
  const char* meaning;
};
constexpr std::array kVariables = {
    Variable{"WARPOOL_SOCKET",
             "Socket of the broker to use. Without it: /run/warpool/warpool.sock, "
             "$XDG_RUNTIME_DIR/warpool/warpool.sock, then a folder of the user under the temporary "
             "directory."},
    Variable{"WARPOOL_LABEL",
             "Label of the programs started from here, shown by warpool ps and warpool ls."},
    Variable{"WARPOOL_RUN",
             "Set by warpool run and warpool pipeline for the programs that they start: the id of "
             "the run."},
    Variable{"WARPOOL_BROKER",
             "Path of the broker's program, if it is neither beside warpool nor in PATH."},
    Variable{"NO_COLOR",
             "If set to anything, no colours. TERM=dumb has the same effect; --color=always wins."},
};

std::string escaped_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '[') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string names_and_value(const OptionModel& option) {
  return fmt::format("{}{}{}", fmt::join(option.names, ", "), option.value.empty() ? "" : " ",
                     option.value);
}

std::string markdown_rows(const CommandModel& command) {
  std::string text;
  for (const ArgumentModel& argument : command.arguments)
    text += fmt::format("| `{}` | {} |\n", argument.name, escaped_markdown(argument.description));
  for (const OptionModel& option : command.options)
    text += fmt::format("| `{}` | {} |\n", names_and_value(option),
                        escaped_markdown(option.description));
  return text;
}

std::string markdown_command(const CommandModel& command) {
  std::string text = fmt::format(
      "## warpool {}\n\n{}\n\n    {}\n\n| argument or option | meaning |\n|---|---|\n{}\n",
      command.name, escaped_markdown(command.description), command.usage(), markdown_rows(command));
  text += fmt::format("```sh\n{}\n```\n\n", command.examples);
  if (const std::string keys = json_keys_of(command.name); !keys.empty())
    text += fmt::format("With `--json`: {}\n\n", keys);
  return text;
}

/// Roff reads backslashes, and a dot or an apostrophe at the start of a line, as its own.
std::string escaped_roff(std::string_view text) {
  std::string escaped;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c != '`') {
      escaped += c;
    }
    line_start = c == '\n';
  }
  return escaped;
}

std::string roff_options(const CommandModel& command) {
  std::string text;
  for (const ArgumentModel& argument : command.arguments)
    text += fmt::format(".TP\n.I {}\n{}\n", escaped_roff(argument.name),
                        escaped_roff(argument.description));
  for (const OptionModel& option : command.options)
    text += fmt::format(".TP\n.B {}\n{}\n", escaped_roff(names_and_value(option)),
                        escaped_roff(option.description));
  return text;
}

std::string roff_head(const std::string& page, const std::string& version,
                      const std::string& summary) {
  std::string upper = page;
  for (char& c : upper)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(".TH {} 1 \"\" \"warpool {}\" \"User commands\"\n.SH NAME\n{} \\- {}\n",
                     escaped_roff(upper), version, escaped_roff(page), escaped_roff(summary));
}

std::string roff_exit_codes() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitCodeFact& fact : exit_code_facts())
    text +=
        fmt::format(".TP\n.B {}\n{}\n", static_cast<int>(fact.code), escaped_roff(fact.meaning));
  return text;
}

std::string roff_environment() {
  std::string text = ".SH ENVIRONMENT\n";
  for (const Variable& variable : kVariables)
    text += fmt::format(".TP\n.B {}\n{}\n", variable.name, escaped_roff(variable.meaning));
  return text;
}

std::string roff_command(const CommandModel& command, const std::string& version) {
  std::string text = roff_head("warpool-" + command.name, version, command.summary());
  text += fmt::format(".SH SYNOPSIS\n.B {}\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n{}",
                      escaped_roff(command.usage()), escaped_roff(command.description),
                      roff_options(command));
  if (const std::string keys = json_keys_of(command.name); !keys.empty())
    text += fmt::format(".SH JSON\n{}\n", escaped_roff(keys));
  text += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped_roff(command.examples));
  return text + roff_exit_codes() + ".SH SEE ALSO\n.BR warpool (1)\n";
}

std::string roff_program(const ProgramModel& model, const std::string& version) {
  std::string text = roff_head("warpool", version, "share arrays between programs without copies");
  text += fmt::format(
      ".SH SYNOPSIS\n.B warpool\n.I COMMAND\n[OPTIONS]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      escaped_roff(model.program.description));
  for (const CommandModel& command : model.commands)
    text += fmt::format(".TP\n.BR warpool\\-{} (1)\n{}\n", command.name,
                        escaped_roff(command.summary()));
  text += ".SH OPTIONS\n" + roff_options(model.program);
  return text + roff_environment() + roff_exit_codes() +
         fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped_roff(model.program.examples));
}

}  // namespace

std::string markdown_reference(const ProgramModel& model) {
  std::string text =
      "<!-- Made by `warpool --generate-docs markdown` from the parser itself. Do not edit: a test "
      "compares. -->\n"
      "# The command warpool\n\n" +
      escaped_markdown(model.program.description) + "\n\n| command | what it does |\n|---|---|\n";
  for (const CommandModel& command : model.commands)
    text += fmt::format("| [{0}](#warpool-{0}) | {1} |\n", command.name,
                        escaped_markdown(command.summary()));
  text += "\nFacts go to standard output, messages to standard error. ";
  text +=
      "Sizes in JSON are bytes as integers, times are milliseconds or nanoseconds as the key says; "
      "keys never change their ";
  text += "meaning, new ones may be added.\n\n";
  for (const CommandModel& command : model.commands)
    text += markdown_command(command);
  text += "## Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const ExitCodeFact& fact : exit_code_facts())
    text +=
        fmt::format("| {} | {} |\n", static_cast<int>(fact.code), escaped_markdown(fact.meaning));
  text +=
      "\n`warpool run` returns the exit status of its program; 125 to 127 are as in a shell.\n\n";
  text += "## Environment\n\n| variable | meaning |\n|---|---|\n";
  for (const Variable& variable : kVariables)
    text += fmt::format("| `{}` | {} |\n", variable.name, escaped_markdown(variable.meaning));
  return text;
}

std::map<std::string, std::string> manual_pages(const ProgramModel& model,
                                                const std::string& version) {
  std::map<std::string, std::string> pages = {{"warpool.1", roff_program(model, version)}};
  for (const CommandModel& command : model.commands)
    pages[fmt::format("warpool-{}.1", command.name)] = roff_command(command, version);
  return pages;
}

}  // namespace warpool::cli
