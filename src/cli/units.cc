// SPDX-License-Identifier: Apache-2.0
#include "cli/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <vector>

#include "cli/failure.h"

namespace warpool::cli {
namespace {

constexpr uint64_t kMsPerSecond = 1000;
constexpr uint64_t kMsPerMinute = 60 * kMsPerSecond;
constexpr uint64_t kMsPerHour = 60 * kMsPerMinute;
constexpr uint64_t kMsPerDay = 24 * kMsPerHour;

/// Three significant digits without trailing zeros after the point: 1.5, 17, 256, 1020.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals == 0) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// A number and the letters behind it.
struct NumberAndUnit {
  double number;
  std::string unit;
};

std::optional<NumberAndUnit> split_number(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string unit(rest, end);
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  return NumberAndUnit{number, unit};
}

[[noreturn]] void bad(std::string_view what, std::string_view text, std::string_view forms) {
  throw Failure(ExitCode::kUsage,
                fmt::format("{} \"{}\" is not understood; write {}", what, text, forms));
}

/// The bits that "u", "g", "o", "a" select for reading.
uint32_t read_bit_of(char who, std::string_view text) {
  switch (who) {
    case 'u':
      return 0400;
    case 'g':
      return 0040;
    case 'o':
      return 0004;
    case 'a':
      return 0444;
    default:
      bad("mode", text, "octal digits (600, 640, 644) or changes such as g+r, o-r, a=r");
  }
}

uint32_t apply_mode_change(std::string_view change, std::string_view text, uint32_t mode) {
  const size_t sign_at = change.find_first_of("+-=");
  if (sign_at == std::string_view::npos ||
      change.substr(sign_at + 1).find_first_not_of('r') != std::string_view::npos)
    bad("mode", text,
        "octal digits (600, 640, 644) or changes such as g+r, o-r, a=r (arrays can only be read)");
  uint32_t who = 0;
  for (const char letter : change.substr(0, sign_at))
    who |= read_bit_of(letter, text);
  if (sign_at == 0) who = 0444;
  const bool reads = sign_at + 1 < change.size();
  switch (change[sign_at]) {
    case '+':
      return reads ? mode | who : mode;
    case '-':
      return reads ? mode & ~who : mode;
    default:
      return (mode & ~who) | (reads ? who : 0);
  }
}

}  // namespace

std::string format_bytes(uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // 1023.5 would print as "1024 KiB": go on to the next unit instead.
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string format_duration_ms(uint64_t milliseconds) {
  if (milliseconds < kMsPerSecond) return fmt::format("{} ms", milliseconds);
  if (milliseconds < kMsPerMinute) {
    const double seconds = static_cast<double>(milliseconds) / kMsPerSecond;
    return fmt::format("{} s", seconds < 59.95 ? three_digits(seconds) : "59.9");
  }
  if (milliseconds < kMsPerHour)
    return fmt::format("{} min {:02} s", milliseconds / kMsPerMinute,
                       milliseconds % kMsPerMinute / kMsPerSecond);
  if (milliseconds < kMsPerDay)
    return fmt::format("{} h {:02} min", milliseconds / kMsPerHour,
                       milliseconds % kMsPerHour / kMsPerMinute);
  return fmt::format("{} d {} h", milliseconds / kMsPerDay, milliseconds % kMsPerDay / kMsPerHour);
}

std::string format_mode(uint32_t mode) {
  constexpr std::string_view kLetters = "rwxrwxrwx";
  std::string text(kLetters.size(), '-');
  for (size_t i = 0; i < kLetters.size(); ++i) {
    if (mode & (0400u >> i)) text[i] = kLetters[i];
  }
  return text;
}

std::string format_local_time(int64_t unix_ns) {
  const time_t seconds = static_cast<time_t>(unix_ns / 1'000'000'000);
  tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const size_t length = strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return std::string(text.data(), length);
}

uint64_t parse_size(std::string_view text) {
  constexpr std::string_view kForms = "bytes, or a number with K, M, G or T, such as 512M or 4G";
  const auto parsed = split_number(text);
  if (!parsed) bad("size", text, kForms);
  std::string unit = parsed->unit;
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  if (unit.ends_with("IB")) {
    unit.resize(unit.size() - 2);
  } else if (unit.size() > 1 && unit.back() == 'B') {
    unit.pop_back();
  }
  constexpr std::string_view kPrefixes = "KMGT";
  double factor = 1;
  if (unit.size() == 1 && kPrefixes.find(unit[0]) != std::string_view::npos) {
    factor = std::pow(1024.0, static_cast<double>(kPrefixes.find(unit[0]) + 1));
  } else if (!unit.empty() && unit != "B") {
    bad("size", text, kForms);
  }
  const double bytes = parsed->number * factor;
  if (bytes >= 9.2e18) bad("size", text, "less than 8 EiB");
  return static_cast<uint64_t>(bytes);
}

int64_t parse_duration_ms(std::string_view text) {
  constexpr std::string_view kForms = "a number with ms, s, m, h or d, such as 30s or 10m";
  const auto parsed = split_number(text);
  if (!parsed) bad("duration", text, kForms);
  double factor = 0;
  if (parsed->unit == "ms") {
    factor = 1;
  } else if (parsed->unit.empty() || parsed->unit == "s") {
    factor = kMsPerSecond;
  } else if (parsed->unit == "m" || parsed->unit == "min") {
    factor = kMsPerMinute;
  } else if (parsed->unit == "h") {
    factor = kMsPerHour;
  } else if (parsed->unit == "d") {
    factor = kMsPerDay;
  } else {
    bad("duration", text, kForms);
  }
  const double milliseconds = parsed->number * factor;
  // A hundred thousand years, so that sums of times cannot overflow anywhere.
  if (milliseconds > 3.2e15) bad("duration", text, "less than 100,000 years");
  return std::llround(milliseconds);
}

bool mode_is_symbolic(std::string_view text) {
  return text.find_first_of("+-=") != std::string_view::npos;
}

uint32_t parse_mode(std::string_view text, uint32_t current) {
  if (mode_is_symbolic(text)) {
    uint32_t mode = current;
    size_t start = 0;
    while (start <= text.size()) {
      const size_t comma = std::min(text.find(',', start), text.size());
      mode = apply_mode_change(text.substr(start, comma - start), text, mode);
      start = comma + 1;
    }
    return mode;
  }
  uint32_t mode = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc() || rest != text.data() + text.size() || mode > 0777)
    bad("mode", text, "octal digits (600, 640, 644) or changes such as g+r, o-r, a=r");
  return mode;
}

VersionedName parse_versioned_name(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos) return VersionedName{std::string(text), 0};
  uint64_t version = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at + 1, end, version);
  if (error != std::errc() || rest != end || version == 0)
    bad("name", text, "NAME for the latest version or NAME@3 for version 3");
  return VersionedName{std::string(text.substr(0, at)), version};
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace warpool::cli
