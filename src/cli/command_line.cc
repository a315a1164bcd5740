// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/client.h"
#include "cli/command_model.h"
#include "cli/command_set.h"
#include "cli/docs_generator.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/help_formatter.h"
#include "cli/signals.h"
#include "cli/system_text.h"
#include "cli/units.h"
#include "os/fd.h"

namespace warpool::cli {
namespace {

/// Options for building the documentation; hidden, because they are no use to users.
struct DocsOptions {
  std::string kind;
  std::string output;
};

void add_docs_options(CLI::App& app, DocsOptions& options) {
  app.add_option("--generate-docs", options.kind, "man or markdown")
      ->check(CLI::IsMember({"man", "markdown"}))
      ->group("");
  app.add_option("--output", options.output, "Folder for man, file for markdown")->group("");
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    throw Failure(ExitCode::kFailed, fmt::format("cannot write {}: {}", path, error_text(errno)));
}

int generate_docs(const CLI::App& app, const DocsOptions& options, const Output& out) {
  const ProgramModel model = model_of(app);
  if (options.kind == "markdown") {
    if (options.output.empty()) {
      out.write(markdown_reference(model));
    } else {
      write_file(options.output, markdown_reference(model));
    }
    return 0;
  }
  for (const auto& [name, page] : manual_pages(model, warpool_version())) {
    if (options.output.empty()) {
      out.write(page);
    } else {
      std::filesystem::create_directories(options.output);
      write_file((std::filesystem::path(options.output) / name).string(), page);
    }
  }
  return 0;
}

/// A program that was started with a closed standard stream would write its output into the first file it opens.
void open_standard_streams() {
  for (;;) {
    os::Fd fd(open("/dev/null", O_RDWR));  // NOLINT(android-cloexec-open): programs inherit it
    if (!fd.valid() || fd.get() > STDERR_FILENO) return;
    static_cast<void>(fd.release());
  }
}

ColourChoice colour_choice(const CommonOptions* options) {
  if (options == nullptr || options->color == "auto") return ColourChoice::kAuto;
  return options->color == "always" ? ColourChoice::kAlways : ColourChoice::kNever;
}

Output make_output(int fd, ColourChoice choice) {
  const TerminalFacts facts = terminal_facts(fd);
  return Output(fd, use_colours(choice, facts), facts.width);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  const ProgramModel model = model_of(app);
  names.reserve(model.commands.size());
  for (const CommandModel& command : model.commands)
    names.push_back(command.name);
  return names;
}

/// The words that no option or argument took.
std::string unexpected_words(const CLI::App& app, const std::string& command) {
  std::vector<std::string> options;
  for (const OptionModel& option : model_of_command(*app.get_subcommand(command)).options)
    options.insert(options.end(), option.names.begin(), option.names.end());
  for (const std::string& word : app.remaining(true)) {
    if (word == "--") continue;
    if (!word.starts_with('-'))
      return fmt::format("\"{}\" is one argument too many", printable(word));
    // A single letter is near to every other one.
    const auto near = word.starts_with("--") ? nearest_word(word, options) : std::nullopt;
    return fmt::format("there is no option {}{}", printable(word),
                       near ? fmt::format("; did you mean {}?", *near) : "");
  }
  return "the command line is not understood";
}

/// What is wrong, the likely word for a mistyped one, and where to read on.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words) {
  const std::string word = words.empty() ? "" : words.front();
  const std::vector<std::string> names = command_names(app);
  if (std::find(names.begin(), names.end(), word) != names.end()) {
    const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    return fmt::format("{}\nSee `warpool {} --help`.",
                       extra ? unexpected_words(app, word) : error.what(), word);
  }
  const char* what = word.starts_with('-') ? "option" : "command";
  const auto near = nearest_word(word, names);
  return fmt::format("there is no {} \"{}\"{}\nSee `warpool --help`.", what, printable(word),
                     near ? fmt::format("; did you mean `warpool {}`?", *near) : "");
}

int report(const Output& err, const Failure& failure) {
  // Nobody reads any more: there is nobody to tell.
  if (failure.code() != ExitCode::kOutputClosed) {
    try {
      err.line(fmt::format("{} {}", err.paint(Colour::kRed, "warpool:"), failure.what()));
    } catch (const Failure&) {
      // Standard error is closed as well; the exit code is what is left.
    }
  }
  return static_cast<int>(failure.code());
}

/// Help and version texts, which CLI11 gives as errors.
int print_help(const CLI::App& app, const CLI::ParseError& asked, const Output& out) {
  std::ostringstream text;
  app.exit(asked, text, text);
  out.write(text.str());
  return 0;
}

int run_chosen(const CommandSet& set, Context& context) {
  catch_interrupts();
  return set.chosen()(context);
}

/// CLI11 takes the words from the back.
void parse_words(CLI::App& app, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());
  app.parse(std::move(words));
}

int parse_and_run(const std::vector<std::string>& words) {
  CLI::App app("", "warpool");
  // Before the commands are added: they take the formatter over.
  app.formatter(std::make_shared<HelpFormatter>());
  CommandSet set(app);
  DocsOptions docs;
  add_all_commands(set);
  add_docs_options(app, docs);
  const Output plain_out = make_output(STDOUT_FILENO, ColourChoice::kAuto);
  const Output plain_err = make_output(STDERR_FILENO, ColourChoice::kAuto);
  try {
    try {
      parse_words(app, mark_program(app, words));
    } catch (const CLI::Success& asked) {
      return print_help(app, asked, plain_out);
    }
    if (!docs.kind.empty()) return generate_docs(app, docs, plain_out);
    if (!set.chosen()) throw Failure(ExitCode::kUsage, "no command was given\n" + app.help());
    const ColourChoice choice = colour_choice(set.chosen_options());
    Context context{make_output(STDOUT_FILENO, choice), make_output(STDERR_FILENO, choice)};
    return run_chosen(set, context);
  } catch (const CLI::ParseError& error) {
    return report(plain_err, Failure(ExitCode::kUsage, usage_message(app, error, words)));
  } catch (const Failure& failure) {
    return report(plain_err, failure);
  }
}

}  // namespace

std::vector<std::string> mark_program(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty() || words.front() != "run") return words;
  const CLI::App* run = app.get_subcommand("run");
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--") break;
    if (!words[i].starts_with('-')) {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), "--");
      break;
    }
    const CLI::Option* option = run->get_option_no_throw(words[i]);
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;
  }
  return words;
}

int run_command_line(int argc, const char* const* argv) {
  open_standard_streams();
  // A closed output is an error of write(), which Output understands; programs that we start get the default back.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return parse_and_run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::exception& error) {
    std::cerr << "warpool: unexpected error: " << error.what()
              << "\nThis is a mistake in warpool; please report it.\n";
    return static_cast<int>(ExitCode::kFailed);
  }
}

}  // namespace warpool::cli
