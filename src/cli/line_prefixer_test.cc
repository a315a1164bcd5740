// SPDX-License-Identifier: Apache-2.0
#include "cli/line_prefixer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace warpool::cli {
namespace {

std::string prefixed(const std::vector<std::string>& pieces) {
  LinePrefixer lines("p | ");
  std::string out;
  for (const std::string& piece : pieces)
    lines.feed(piece, out);
  lines.finish(out);
  return out;
}

TEST(LinePrefixerTest, WholeLinesOnly) {
  LinePrefixer lines("p | ");
  std::string out;
  lines.feed("one\ntw", out);
  EXPECT_EQ(out, "p | one\n");
  lines.feed("o\n", out);
  EXPECT_EQ(out, "p | one\np | two\n");
}

TEST(LinePrefixerTest, LastLineWithoutNewlineAndEmptyLines) {
  EXPECT_EQ(prefixed({"\n\nend"}), "p | \np | \np | end\n");
  EXPECT_EQ(prefixed({}), "");
}

TEST(LinePrefixerTest, CarriageReturnsOfProgressBarsAndOfWindows) {
  EXPECT_EQ(prefixed({"10%\r20%\rdone\n"}), "p | 10%\np | 20%\np | done\n");
  EXPECT_EQ(prefixed({"a\r\nb\r\n"}), "p | a\np | b\n");
  EXPECT_EQ(prefixed({"a\r", "\nb\n"}), "p | a\np | b\n");
  EXPECT_EQ(prefixed({"a\r", "b\n"}), "p | a\np | b\n");
}

TEST(LinePrefixerTest, LongestLineAndOneMore) {
  const std::string longest(LinePrefixer::kMaxLine, 'x');
  EXPECT_EQ(prefixed({longest + "\n"}), "p | " + longest + "\n");
  EXPECT_EQ(prefixed({longest + "y\n"}), "p | " + longest + "\np | y\n");
}

TEST(LinePrefixerTest, AnyCuttingGivesTheSameLinesWithEveryByte) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& piece : pieces)
      text += piece;
    const std::string whole = prefixed({text});
    RC_ASSERT(prefixed(pieces) == whole);
    std::string kept;
    for (const char c : text)
      if (c != '\n' && c != '\r') kept += c;
    std::string shown;
    for (size_t at = 0; at < whole.size();) {
      RC_ASSERT(whole.compare(at, 4, "p | ") == 0);
      const size_t end = whole.find('\n', at);
      shown += whole.substr(at + 4, end - at - 4);
      at = end + 1;
    }
    RC_ASSERT(shown == kept);
  }));
}

}  // namespace
}  // namespace warpool::cli
