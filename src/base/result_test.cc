// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>

#include "base/report.h"

namespace warpool {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error::format(Code::kInvalidArgument, "%d is odd", number);
  return number / 2;
}

Result<int> quarter(int number) {
  WARPOOL_ASSIGN(const int once, half(number));
  WARPOOL_ASSIGN(const int twice, half(once));
  return twice;
}

Result<void> must_be_even(int number) {
  WARPOOL_TRY(half(number));
  return {};
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(half(4).value(), 2);
  const Result<int> failed = half(3);
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::kInvalidArgument);
  EXPECT_STREQ(failed.error().message.c_str(), "3 is odd");
}

TEST(Result, MacrosReturnTheFirstError) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_STREQ(quarter(6).error().message.c_str(), "3 is odd");
  EXPECT_TRUE(must_be_even(2).ok());
  EXPECT_EQ(must_be_even(1).error().code, Code::kInvalidArgument);
}

TEST(Result, MovesOutWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(5);
  const std::unique_ptr<int> owned = std::move(made).value();
  EXPECT_EQ(*owned, 5);
}

TEST(Result, MisuseIsABugAndEndsTheProcess) {
  EXPECT_DEATH((void)Result<int>(Error{}).ok(), "internal error");
  EXPECT_DEATH((void)half(3).value(), "internal error");
}

TEST(Code, NamesAreDistinctAndBounded) {
  std::set<std::string> names;
  for (std::int32_t code = 0; code < kCodeCount; ++code)
    names.insert(code_name(code));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kCodeCount));
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(code_name(kCodeCount), "unknown");
  EXPECT_STREQ(code_name(-1), "unknown");
  EXPECT_STREQ(code_name(static_cast<std::int32_t>(Code::kLost)), "lost");
}

TEST(Error, FromErrnoSaysWhatAndWhy) {
  const Error error = Error::from_errno(Code::kIoError, ENOENT, "open x");
  EXPECT_STREQ(error.message.c_str(), "open x: No such file or directory");
}

TEST(Event, EveryKindHasAName) {
  std::set<std::string> names;
  for (int kind = 0; kind < kEventKinds; ++kind)
    names.insert(event_name(static_cast<EventKind>(kind)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kEventKinds));
}

}  // namespace
}  // namespace warpool
