// SPDX-License-Identifier: Apache-2.0
// Names and patterns: "pattern NUL name". A plain matcher with backtracking on short inputs says what is right.
#include "array/layout.h"
#include "input.h"

namespace {

bool set_matches(std::string_view pattern, std::size_t open, char c, std::size_t& after) {
  std::size_t i = open + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  const std::size_t first = i;
  std::size_t close = i;
  bool found = false;
  while (close < pattern.size() && (close == first || pattern[close] != ']')) {
    char low = pattern[close];
    char high = low;
    if (close + 2 < pattern.size() && pattern[close + 1] == '-' && pattern[close + 2] != ']') {
      high = pattern[close + 2];
      close += 2;
    }
    found = found || (low <= c && c <= high);
    ++close;
  }
  if (close >= pattern.size()) {
    after = open + 1;
    return c == '[';
  }
  after = close + 1;
  return found != negated;
}

/// The definition, exponential in the stars.
bool reference(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    for (std::size_t skip = 0; skip <= name.size(); ++skip) {
      if (reference(pattern.substr(1), name.substr(skip))) return true;
    }
    return false;
  }
  if (name.empty()) return false;
  std::size_t after = 1;
  const bool one = pattern[0] == '?' || (pattern[0] == '[' ? set_matches(pattern, 0, name[0], after)
                                                           : pattern[0] == name[0]);
  return one && reference(pattern.substr(after), name.substr(1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpool;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.find('\0');
  const std::string_view pattern = text.substr(0, split);
  const std::string_view name =
      split == std::string_view::npos ? std::string_view() : text.substr(split + 1);
  const bool matched = array::matches(pattern, name);
  if (pattern.size() <= 12 && name.size() <= 12)
    fuzz::require(matched == reference(pattern, name), "a pattern matches what it should not");
  if (array::check_name(name).ok()) {
    fuzz::require(name.size() <= kNameBytesMax && name.find("//") == std::string_view::npos &&
                      name.front() != '/' && name.back() != '/' &&
                      name.find(':') == std::string_view::npos,
                  "a bad name was accepted");
    fuzz::require(array::matches("*", name) && array::matches(name, name),
                  "a name does not match itself");
  }
  (void)array::is_field_name(name);
  return 0;
}
