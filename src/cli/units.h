// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpool::cli {

// How people write and read sizes, durations, permissions and names. Pure functions; the parsers throw Failure (usage) with a
// message that shows a right form.

/// "17 B", "1.5 KiB", "256 MiB": three significant digits, binary units.
std::string format_bytes(uint64_t bytes);
/// "0 ms", "850 ms", "1.24 s", "3 min 12 s", "2 h 05 min", "3 d 4 h".
std::string format_duration_ms(uint64_t milliseconds);
/// "rw-r-----" without the type letter, from permission bits.
std::string format_mode(uint32_t mode);
/// "2026-12-01 03:30:05" in the time zone of the process.
std::string format_local_time(int64_t unix_ns);

/// "512M", "4G", "1.5GiB", "1048576": bytes.
uint64_t parse_size(std::string_view text);
/// "500ms", "30s", "10m", "2h", "1d"; a bare number is seconds. Milliseconds.
int64_t parse_duration_ms(std::string_view text);
/// Octal ("640", "0644") or symbolic ("g+r", "o-r", "a=r", several joined by commas), applied to `current`.
uint32_t parse_mode(std::string_view text, uint32_t current);
/// Whether a mode given to parse_mode depends on the current one.
bool mode_is_symbolic(std::string_view text);

/// A name as given on the command line: "features", "ann:features", "features@3".
struct VersionedName {
  std::string name;
  uint64_t version = 0;  ///< 0: the latest
};
VersionedName parse_versioned_name(std::string_view text);

/// The candidate nearest to a mistyped word, if one is near enough to be worth a question.
template <typename Range>
std::optional<std::string> nearest_word(std::string_view word, const Range& candidates);
/// Single-character edits between two words.
size_t edit_distance(std::string_view a, std::string_view b);

template <typename Range>
std::optional<std::string> nearest_word(std::string_view word, const Range& candidates) {
  std::optional<std::string> best;
  // A third of the word may be wrong: "lss" finds "ls", "frobnicate" finds nothing.
  size_t best_distance = word.size() / 3 + 1;
  for (const auto& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance <= best_distance && distance < std::string_view(candidate).size()) {
      if (best && distance == best_distance) continue;
      best = std::string(candidate);
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace warpool::cli
