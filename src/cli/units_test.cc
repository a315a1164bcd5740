// SPDX-License-Identifier: Apache-2.0
#include "cli/units.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <string>

#include "cli/failure.h"

namespace warpool::cli {
namespace {

constexpr uint64_t kMiB = 1024 * 1024;

TEST(FormatBytes, ThreeDigitsInBinaryUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(256 * kMiB), "256 MiB");
  EXPECT_EQ(format_bytes(6272000), "5.98 MiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16 EiB");
}

TEST(FormatBytes, NeverShowsFourDigitsOfAUnitThatHasANext) {
  EXPECT_EQ(format_bytes(1024 * 1024 - 1), "1 MiB");
  EXPECT_EQ(format_bytes(1023 * 1024), "1023 KiB");
}

TEST(FormatDuration, OneUnitOrTwo) {
  EXPECT_EQ(format_duration_ms(0), "0 ms");
  EXPECT_EQ(format_duration_ms(999), "999 ms");
  EXPECT_EQ(format_duration_ms(1240), "1.24 s");
  EXPECT_EQ(format_duration_ms(59'999), "59.9 s");
  EXPECT_EQ(format_duration_ms(60'000), "1 min 00 s");
  EXPECT_EQ(format_duration_ms(192'345), "3 min 12 s");
  EXPECT_EQ(format_duration_ms(7'500'000), "2 h 05 min");
  EXPECT_EQ(format_duration_ms(3 * 86'400'000 + 4 * 3'600'000), "3 d 4 h");
}

TEST(ParseSize, UnderstandsWhatPeopleWrite) {
  EXPECT_EQ(parse_size("1048576"), kMiB);
  EXPECT_EQ(parse_size("512M"), 512 * kMiB);
  EXPECT_EQ(parse_size("4g"), 4096 * kMiB);
  EXPECT_EQ(parse_size("1.5GiB"), 1536 * kMiB);
  EXPECT_EQ(parse_size("2 MB"), 2 * kMiB);
  EXPECT_EQ(parse_size("17B"), 17u);
}

TEST(ParseSize, RefusesTheRestWithAForm) {
  for (const char* text : {"", "M", "-1M", "1X", "nan", "1e99", "12MM", "9000000T", "5%"}) {
    try {
      parse_size(text);
      FAIL() << "accepted " << text;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), ExitCode::kUsage);
      EXPECT_NE(std::string(failure.what()).find(text), std::string::npos);
    }
  }
}

TEST(ParseDuration, Units) {
  EXPECT_EQ(parse_duration_ms("500ms"), 500);
  EXPECT_EQ(parse_duration_ms("30"), 30'000);
  EXPECT_EQ(parse_duration_ms("1.5s"), 1500);
  EXPECT_EQ(parse_duration_ms("10m"), 600'000);
  EXPECT_EQ(parse_duration_ms("2h"), 7'200'000);
  EXPECT_EQ(parse_duration_ms("1d"), 86'400'000);
  EXPECT_THROW(parse_duration_ms("10 minutes"), Failure);
  EXPECT_THROW(parse_duration_ms("-5s"), Failure);
  EXPECT_THROW(parse_duration_ms("99999999999d"), Failure);
}

TEST(ParseMode, OctalReplaces) {
  EXPECT_EQ(parse_mode("640", 0777), 0640u);
  EXPECT_EQ(parse_mode("0644", 0), 0644u);
  EXPECT_THROW(parse_mode("9", 0), Failure);
  EXPECT_THROW(parse_mode("1000", 0), Failure);
  EXPECT_THROW(parse_mode("", 0), Failure);
}

TEST(ParseMode, SymbolicChanges) {
  EXPECT_EQ(parse_mode("g+r", 0600), 0640u);
  EXPECT_EQ(parse_mode("+r", 0600), 0644u);
  EXPECT_EQ(parse_mode("go-r", 0644), 0600u);
  EXPECT_EQ(parse_mode("a=,u+r", 0644), 0600u);
  EXPECT_THROW(parse_mode("g+w", 0600), Failure);
  EXPECT_THROW(parse_mode("x+r", 0600), Failure);
}

TEST(FormatMode, Letters) {
  EXPECT_EQ(format_mode(0640), "rw-r-----");
  EXPECT_EQ(format_mode(0), "---------");
}

TEST(VersionedName, SplitsAtTheLastAt) {
  EXPECT_EQ(parse_versioned_name("lab/x").version, 0u);
  EXPECT_EQ(parse_versioned_name("lab/x@12").version, 12u);
  EXPECT_EQ(parse_versioned_name("ann:lab/x@12").name, "ann:lab/x");
  for (const char* text : {"x@", "x@0", "x@-1", "x@1a", "x@99999999999999999999"})
    EXPECT_THROW(parse_versioned_name(text), Failure) << text;
}

TEST(NearestWord, FindsTypingMistakesOnly) {
  const std::array<std::string, 4> words = {"ls", "load", "pipeline", "run"};
  EXPECT_EQ(nearest_word("lss", words), "ls");
  EXPECT_EQ(nearest_word("pipline", words), "pipeline");
  EXPECT_EQ(nearest_word("frobnicate", words), std::nullopt);
}

TEST(EditDistance, IsAMetric) {
  EXPECT_TRUE(rc::check([](const std::string& a, const std::string& b, const std::string& c) {
    RC_ASSERT(edit_distance(a, a) == 0u);
    RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
    RC_ASSERT(edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c));
  }));
}

}  // namespace
}  // namespace warpool::cli
