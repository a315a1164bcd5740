// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <gtest/gtest.h>

#include "cli/command_model.h"
#include "cli/command_set.h"
#include "cli/docs_generator.h"
#include "cli/exit_codes.h"
#include "cli/help_formatter.h"
#include "cli/json_keys.h"
#include "warpool/warpool.h"

namespace warpool::cli {
namespace {

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() : app_("", "warpool"), set_(app_) { add_all_commands(set_); }

  using Words = std::vector<std::string>;
  CLI::App app_;
  CommandSet set_;
};

TEST_F(CommandLineTest, TheProgramOfRunIsMarked) {
  EXPECT_EQ(mark_program(app_, {"run", "ls", "-l"}), (Words{"run", "--", "ls", "-l"}));
  EXPECT_EQ(mark_program(app_, {"run", "--label", "x", "ls", "--json"}),
            (Words{"run", "--label", "x", "--", "ls", "--json"}));
  EXPECT_EQ(mark_program(app_, {"run", "--label=x", "--json", "ls"}),
            (Words{"run", "--label=x", "--json", "--", "ls"}));
  EXPECT_EQ(mark_program(app_, {"run", "--", "sh", "-c", "x", "--", "y"}),
            (Words{"run", "--", "sh", "-c", "x", "--", "y"}));
  EXPECT_EQ(mark_program(app_, {"run", "-x", "ls"}), (Words{"run", "-x", "--", "ls"}));
  EXPECT_EQ(mark_program(app_, {"run"}), (Words{"run"}));
  EXPECT_EQ(mark_program(app_, {"ls", "run"}), (Words{"ls", "run"}));
}

TEST_F(CommandLineTest, EveryCommandHasHelpWithExamples) {
  for (const CommandModel& command : model_of(app_).commands) {
    EXPECT_FALSE(command.description.empty()) << command.name;
    EXPECT_TRUE(command.description.ends_with(".")) << command.name;
    EXPECT_NE(command.examples.find("warpool " + command.name), std::string::npos) << command.name;
    for (const OptionModel& option : command.options)
      EXPECT_FALSE(option.description.empty()) << command.name;
    for (const ArgumentModel& argument : command.arguments)
      EXPECT_FALSE(argument.description.empty()) << command.name;
  }
}

TEST_F(CommandLineTest, CommandsOfThePublicInterfaceAreThere) {
  std::vector<std::string> names;
  for (const CommandModel& command : model_of(app_).commands)
    names.push_back(command.name);
  for (const char* name :
       {"up", "down", "status", "ps", "ls", "info", "rm", "chmod", "expire", "save", "load",
        "watch", "run", "pipeline", "doctor", "completion", "version"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST_F(CommandLineTest, JsonKeysAreDocumentedWhereTheOptionExists) {
  for (const CommandModel& command : model_of(app_).commands) {
    const bool has_json =
        std::any_of(command.options.begin(), command.options.end(), [](const OptionModel& option) {
          return option.names == std::vector<std::string>{"--json"};
        });
    EXPECT_EQ(has_json, !json_keys_of(command.name).empty()) << command.name;
  }
}

TEST_F(CommandLineTest, ChoicesComeFromTheParser) {
  for (const CommandModel& command : model_of(app_).commands) {
    for (const OptionModel& option : command.options) {
      if (option.names[0] == "--color") {
        EXPECT_EQ(option.choices, (Words{"auto", "always", "never"}));
        EXPECT_EQ(option.value, "WHEN");
      }
    }
  }
}

TEST_F(CommandLineTest, ReferenceAndManualNameEverything) {
  const ProgramModel model = model_of(app_);
  const std::string page = markdown_reference(model);
  const auto manual = manual_pages(model, "0.1.0");
  EXPECT_EQ(manual.size(), model.commands.size() + 1);
  for (const CommandModel& command : model.commands) {
    EXPECT_NE(page.find("## warpool " + command.name + "\n"), std::string::npos);
    EXPECT_TRUE(manual.contains("warpool-" + command.name + ".1"));
    EXPECT_NE(manual.at("warpool.1").find(command.name), std::string::npos);
  }
  EXPECT_EQ(page.find("generate-docs markdown"), page.rfind("generate-docs"))
      << "the hidden option is in the page";
}

TEST_F(CommandLineTest, CompletionsNameEveryCommandAndOption) {
  const ProgramModel model = model_of(app_);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(model, shell);
    for (const CommandModel& command : model.commands) {
      EXPECT_NE(script.find(command.name), std::string::npos) << shell;
      for (const OptionModel& option : command.options) {
        const std::string name = option.names.back().substr(2);
        EXPECT_NE(script.find(name), std::string::npos) << shell << " " << name;
      }
    }
  }
}

TEST(ExitCodes, OneForEveryStatus) {
  EXPECT_EQ(exit_code_of_status(WARPOOL_OK), ExitCode::kOk);
  EXPECT_EQ(exit_code_of_status(WARPOOL_INVALID_ARGUMENT), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of_status(WARPOOL_NOT_FOUND), ExitCode::kNotFound);
  EXPECT_EQ(exit_code_of_status(WARPOOL_PERMISSION_DENIED), ExitCode::kPermission);
  EXPECT_EQ(exit_code_of_status(WARPOOL_TIMED_OUT), ExitCode::kTimedOut);
  EXPECT_EQ(exit_code_of_status(WARPOOL_INTERRUPTED), ExitCode::kInterrupted);
  EXPECT_EQ(exit_code_of_status(WARPOOL_OUT_OF_MEMORY), ExitCode::kNoRoom);
  EXPECT_EQ(exit_code_of_status(WARPOOL_LIMIT_REACHED), ExitCode::kNoRoom);
  EXPECT_EQ(exit_code_of_status(WARPOOL_NO_BROKER), ExitCode::kNoBroker);
  EXPECT_EQ(exit_code_of_status(WARPOOL_VERSION_MISMATCH), ExitCode::kNoBroker);
  EXPECT_EQ(exit_code_of_status(WARPOOL_PROTOCOL_ERROR), ExitCode::kFailed);
  EXPECT_EQ(exit_code_of_status(WARPOOL_CONFLICT), ExitCode::kFailed);
  EXPECT_EQ(exit_code_of_status(999), ExitCode::kFailed);
}

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(wrapped("averylongword x", 4), "averylongword\nx");
  EXPECT_EQ(wrapped("", 4), "");
}

}  // namespace
}  // namespace warpool::cli
