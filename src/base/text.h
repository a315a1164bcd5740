// SPDX-License-Identifier: Apache-2.0
// An owned, immutable, NUL-terminated string that needs nothing but libc, so that layers under libwarpool can carry
// messages and names without the C++ runtime.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <string_view>
#include <utility>

namespace warpool {

/// Value type: copies are deep. An empty Text owns nothing. Not thread-safe.
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view text);
  Text(const Text& other) : Text(other.view()) {}
  Text(Text&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Text& operator=(const Text& other) {
    if (this != &other) *this = Text(other);
    return *this;
  }
  Text& operator=(Text&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Text();

  /// printf-style construction; the result is cut at 4 KiB, which no message here reaches.
  [[gnu::format(printf, 1, 2)]] static Text format(const char* format, ...);
  static Text format_list(const char* format, std::va_list arguments);

  [[nodiscard]] const char* c_str() const { return data_ != nullptr ? data_ : ""; }
  [[nodiscard]] std::string_view view() const { return {c_str(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  friend bool operator==(const Text& a, const Text& b) { return a.view() == b.view(); }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace warpool
