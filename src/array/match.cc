// SPDX-License-Identifier: Apache-2.0
#include "array/layout.h"

namespace warpool::array {
namespace {

/// Matches one character against the set that starts after "[" at `at`; moves `at` behind the "]". An unclosed set
/// matches a literal "[" as shells do.
bool match_set(std::string_view pattern, std::size_t& at, char c) {
  std::size_t i = at;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    const char low = pattern[i++];
    char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      high = pattern[i + 1];
      i += 2;
    }
    found = found || (low <= c && c <= high);
  }
  if (i >= pattern.size()) return c == '[';
  at = i + 1;
  return found != negated;
}

bool match_one(std::string_view pattern, std::size_t& at, char c) {
  const char p = pattern[at++];
  if (p == '?') return true;
  if (p == '[') return match_set(pattern, at, c);
  return p == c;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;  // where to go back to: after the last "*"
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      resume = n;
      continue;
    }
    std::size_t next = p;
    if (p < pattern.size() && match_one(pattern, next, name[n])) {
      p = next;
      ++n;
      continue;
    }
    // Only the last "*" needs another try: an earlier one could not do better.
    if (star == std::string_view::npos) return false;
    p = star;
    n = ++resume;
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

}  // namespace warpool::array
