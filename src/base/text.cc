// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace warpool {

Text::Text(std::string_view text) : size_(text.size()) {
  if (text.empty()) return;
  data_ = static_cast<char*>(std::malloc(size_ + 1));
  CHECK(data_ != nullptr);
  std::memcpy(data_, text.data(), size_);
  data_[size_] = '\0';
}

Text::~Text() {
  std::free(data_);
}

Text Text::format_list(const char* format, std::va_list arguments) {
  char buffer[4096];
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  if (length <= 0) return {};
  const auto wanted = static_cast<std::size_t>(length);
  return Text({buffer, wanted < sizeof buffer ? wanted : sizeof buffer - 1});
}

Text Text::format(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  Text text = format_list(format, arguments);
  va_end(arguments);
  return text;
}

}  // namespace warpool
