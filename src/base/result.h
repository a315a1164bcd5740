// SPDX-License-Identifier: Apache-2.0
// Expected failures as values: Result<T> is a T or an Error. std::expected needs C++23 with gcc 12.
#pragma once

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace warpool {

/// The closed set of failures. The numbers are those of warpool_status and of the wire; client/status.cc asserts that.
enum class Code : std::int32_t {
  kOk = 0,
  kInvalidArgument = 1,
  kNotFound = 2,
  kPermissionDenied = 3,
  kTimedOut = 4,
  kInterrupted = 5,
  kOutOfMemory = 6,
  kLimitReached = 7,
  kNoBroker = 8,
  kVersionMismatch = 9,
  kProtocolError = 10,
  kIoError = 11,
  kUnsupported = 12,
  kLost = 13,
  kConflict = 14,
};
constexpr std::int32_t kCodeCount = 15;

/// Name of a code such as "not_found"; "unknown" outside the set.
const char* code_name(std::int32_t code);

/// What failed, for which object, why, and what to do about it.
struct Error {
  Code code = Code::kOk;
  Text message;

  [[gnu::format(printf, 2, 3)]] static Error format(Code code, const char* format, ...);
  /// Appends ": " and the description of `errno_value`.
  static Error from_errno(Code code, int errno_value, std::string_view what);
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}     // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {  // NOLINT(google-explicit-constructor)
    CHECK(error_.code != Code::kOk);
  }

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T& value() & {
    CHECK(ok());
    return *value_;
  }
  const T& value() const& {
    CHECK(ok());
    return *value_;
  }
  T&& value() && {
    CHECK(ok());
    return std::move(*value_);
  }
  [[nodiscard]] const Error& error() const { return error_; }
  Error take_error() { return std::move(error_); }

 private:
  std::optional<T> value_;
  Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {  // NOLINT(google-explicit-constructor)
    CHECK(error_.code != Code::kOk);
  }

  [[nodiscard]] bool ok() const { return error_.code == Code::kOk; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return error_; }
  Error take_error() { return std::move(error_); }

 private:
  Error error_;
};

}  // namespace warpool

/// Returns the error of `expression` from the enclosing function.
#define WARPOOL_TRY(expression)                                                              \
  do {                                                                                       \
    if (auto try_result_ = (expression); !try_result_.ok()) return try_result_.take_error(); \
  } while (false)

#define WARPOOL_CONCAT_(a, b) a##b
#define WARPOOL_CONCAT(a, b) WARPOOL_CONCAT_(a, b)
/// Declares `declaration` with the value of `expression`, or returns its error.
#define WARPOOL_ASSIGN_(temporary, declaration, expression) \
  auto temporary = (expression);                            \
  if (!(temporary).ok()) return (temporary).take_error();   \
  declaration = std::move(temporary).value()
#define WARPOOL_ASSIGN(declaration, expression) \
  WARPOOL_ASSIGN_(WARPOOL_CONCAT(assign_result_, __LINE__), declaration, expression)
