// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace warpool {
namespace {

TEST(Text, EmptyOwnsNothingAndIsTerminated) {
  const Text text;
  EXPECT_TRUE(text.empty());
  EXPECT_STREQ(text.c_str(), "");
  EXPECT_EQ(Text(""), text);
}

TEST(Text, CopiesAreDeep) {
  Text first("one");
  Text second = first;
  EXPECT_NE(first.c_str(), second.c_str());
  first = Text("two");
  EXPECT_STREQ(second.c_str(), "one");
  second = first;
  EXPECT_EQ(second, first);
  const Text& same = second;
  second = same;
  EXPECT_STREQ(second.c_str(), "two");
}

TEST(Text, MovesLeaveAValidObject) {
  Text first("one");
  const Text second = std::move(first);
  EXPECT_STREQ(second.c_str(), "one");
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_STREQ(first.c_str(), "");
}

TEST(Text, KeepsEmbeddedZeros) {
  const std::string raw("a\0b", 3);
  const Text text(raw);
  EXPECT_EQ(text.size(), 3u);
  EXPECT_EQ(text.view(), raw);
  EXPECT_EQ(text.c_str()[3], '\0');
}

TEST(Text, FormatIsCutAtItsLimit) {
  EXPECT_STREQ(Text::format("%d %s", 7, "x").c_str(), "7 x");
  const std::string longest(4095, 'a');
  EXPECT_EQ(Text::format("%s", longest.c_str()).size(), 4095u);
  EXPECT_EQ(Text::format("%sb", longest.c_str()).view(), longest);
}

}  // namespace
}  // namespace warpool
