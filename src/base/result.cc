// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cstring>

namespace warpool {
namespace {

constexpr const char* kCodeNames[kCodeCount] = {
    "ok",
    "invalid_argument",
    "not_found",
    "permission_denied",
    "timed_out",
    "interrupted",
    "out_of_memory",
    "limit_reached",
    "no_broker",
    "version_mismatch",
    "protocol_error",
    "io_error",
    "unsupported",
    "lost",
    "conflict",
};

}  // namespace

const char* code_name(std::int32_t code) {
  return code >= 0 && code < kCodeCount ? kCodeNames[code] : "unknown";
}

Error Error::format(Code code, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  Error error{code, Text::format_list(format, arguments)};
  va_end(arguments);
  return error;
}

Error Error::from_errno(Code code, int errno_value, std::string_view what) {
  char buffer[128];
  // The GNU strerror_r returns the text; strerror itself is not thread-safe.
  const char* reason = strerror_r(errno_value, buffer, sizeof buffer);
  return format(code, "%.*s: %s", static_cast<int>(what.size()), what.data(), reason);
}

}  // namespace warpool
