// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/failure.h"
#include "cli/process.h"

namespace warpool::cli {
namespace {

TerminalFacts terminal(std::optional<std::string> no_color, std::optional<std::string> term) {
  return TerminalFacts{true, std::move(no_color), std::move(term), 80};
}

TEST(Colours, OnlyOnATerminalThatTakesThem) {
  EXPECT_TRUE(use_colours(ColourChoice::kAuto, terminal(std::nullopt, "xterm")));
  EXPECT_FALSE(use_colours(ColourChoice::kAuto, terminal(std::nullopt, "dumb")));
  EXPECT_FALSE(use_colours(ColourChoice::kAuto, terminal(std::nullopt, std::nullopt)));
  EXPECT_FALSE(use_colours(ColourChoice::kAuto, TerminalFacts{false, std::nullopt, "xterm", 0}));
}

TEST(Colours, NeverWithNoColorUnlessAsked) {
  EXPECT_FALSE(use_colours(ColourChoice::kAuto, terminal("1", "xterm")));
  // The convention says: an empty value does not count.
  EXPECT_TRUE(use_colours(ColourChoice::kAuto, terminal("", "xterm")));
  EXPECT_TRUE(use_colours(ColourChoice::kAlways, terminal("1", "dumb")));
  EXPECT_FALSE(use_colours(ColourChoice::kNever, terminal(std::nullopt, "xterm")));
}

TEST(Printable, ControlCharactersCannotReachTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("line\nline\ttab\x7f"), "line\\x0aline\\x09tab\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");
  EXPECT_EQ(printable("Größe 𝄞"), "Größe 𝄞");
}

TEST(Width, CountsCodePoints) {
  EXPECT_EQ(display_width("Größe"), 5u);
  EXPECT_EQ(cut_to_width("Größe", 5), "Größe");
  EXPECT_EQ(cut_to_width("Größe", 4), "Grö…");
  EXPECT_EQ(cut_to_width("Größe", 1), "…");
  EXPECT_EQ(cut_to_width("Größe", 0), "");
}

TEST(TableTest, AlignsColumns) {
  Table table({{"NAME"}, {"SIZE", Table::Align::kRight}, {"BY"}});
  table.add_row({"ä", "5 B", "x"});
  table.add_row({"longer", "256 MiB", "y"});
  EXPECT_EQ(table.render(Output(-1, false, 0)),
            "NAME       SIZE  BY\n"
            "ä           5 B  x\n"
            "longer  256 MiB  y\n");
}

TEST(TableTest, ColoursDoNotMoveColumns) {
  Table table({{"A"}, {"B"}});
  table.add_row({{"x", Colour::kRed}, "y"});
  table.add_row({"long", "z"});
  EXPECT_EQ(table.render(Output(-1, true, 0)),
            "\x1b[1mA\x1b[0m     \x1b[1mB\x1b[0m\n"
            "\x1b[31mx\x1b[0m     y\n"
            "long  z\n");
}

TEST(TableTest, LastColumnFitsTheTerminal) {
  Table table({{"A"}, {"B"}});
  table.add_row({"xx", "a long command line"});
  EXPECT_EQ(table.render(Output(-1, false, 10)), "A   B\nxx  a lon…\n");
}

TEST(OutputTest, ReaderThatHasGoneEndsTheCommandQuietly) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe = make_pipe();
  pipe.read_end.reset();
  try {
    Output(pipe.write_end.get(), false, 0).line("text");
    FAIL() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::kOutputClosed);
    EXPECT_STREQ(failure.what(), "");
  }
}

TEST(OutputTest, FullDiskIsAnError) {
  const os::Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  try {
    Output(full.get(), false, 0).line("text");
    FAIL() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::kFailed);
    EXPECT_NE(std::string(failure.what()).find("No space left"), std::string::npos);
  }
}

TEST(OutputTest, JsonTakesBytesThatAreNoUtf8) {
  Pipe pipe = make_pipe();
  Output(pipe.write_end.get(), false, 0).json_line({{"label", "a\xff"}});
  std::array<char, 64> bytes{};
  const ssize_t got = read(pipe.read_end.get(), bytes.data(), bytes.size());
  EXPECT_EQ(std::string(bytes.data(), static_cast<size_t>(got)), "{\"label\":\"a\xef\xbf\xbd\"}\n");
}

TEST(FactsTest, AlignsValues) {
  Facts facts;
  facts.add("a", "1");
  facts.add("long", "2");
  EXPECT_EQ(facts.render(), "a     1\nlong  2\n");
}

}  // namespace
}  // namespace warpool::cli
