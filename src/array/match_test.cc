// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "array/layout.h"

namespace warpool::array {
namespace {

/// The definition, written down: exponential, obviously right.
bool naive(const std::string& pattern, const std::string& name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*')
    return naive(pattern.substr(1), name) || (!name.empty() && naive(pattern, name.substr(1)));
  if (name.empty()) return false;
  if (pattern[0] == '?') return naive(pattern.substr(1), name.substr(1));
  if (pattern[0] == '[') {
    const bool negated = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^');
    const std::size_t first = negated ? 2 : 1;
    const std::size_t end = pattern.find(']', first + 1);
    if (end != std::string::npos && first < pattern.size()) {
      bool found = false;
      for (std::size_t i = first; i < end;) {
        if (i + 2 < end && pattern[i + 1] == '-') {
          found = found || (pattern[i] <= name[0] && name[0] <= pattern[i + 2]);
          i += 3;
        } else {
          found = found || pattern[i] == name[0];
          ++i;
        }
      }
      return found != negated && naive(pattern.substr(end + 1), name.substr(1));
    }
  }
  return pattern[0] == name[0] && naive(pattern.substr(1), name.substr(1));
}

RC_GTEST_PROP(Matches, EqualsTheDefinition, ()) {
  const auto letter = rc::gen::element('a', 'b', 'c', '-', '/');
  const auto name = *rc::gen::container<std::string>(letter);
  const auto pattern =
      *rc::gen::resize(10, rc::gen::container<std::string>(rc::gen::element(
                               'a', 'b', 'c', '-', '/', '*', '?', '[', ']', '!', '*')));
  RC_PRE(name.size() < 14);
  RC_ASSERT(matches(pattern, name) == naive(pattern, name));
}

RC_GTEST_PROP(Matches, AcceptsWhatAPatternWasMadeFrom, ()) {
  const auto name = *rc::gen::container<std::string>(rc::gen::element('a', 'b', '/', '.'));
  std::string pattern;
  for (const char c : name) {
    const int how = *rc::gen::inRange(0, 5);
    pattern += how == 0   ? std::string("?")
               : how == 1 ? std::string("*")
               : how == 2 ? "[" + std::string(1, c) + "x]"
                          : std::string(1, c);
  }
  RC_ASSERT(matches(pattern, name));
  RC_ASSERT(matches("*", name));
}

TEST(Matches, WhatShellsDo) {
  EXPECT_TRUE(matches("lab/*", "lab/a/b")) << "a star matches slashes too";
  EXPECT_TRUE(matches("[a-c]1", "b1"));
  EXPECT_FALSE(matches("[!a-c]1", "b1"));
  EXPECT_TRUE(matches("[]a]", "]"));
  EXPECT_TRUE(matches("[a", "[a")) << "an unclosed set is itself";
  EXPECT_TRUE(matches("[a-]", "-"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("", ""));
}

TEST(Matches, ManyStarsCostLittle) {
  std::string pattern;
  for (int i = 0; i < 100; ++i)
    pattern += "*a";
  pattern += "b";
  EXPECT_FALSE(matches(pattern, std::string(255, 'a')));
}

}  // namespace
}  // namespace warpool::array
