// SPDX-License-Identifier: Apache-2.0
// Decisions read from the bytes that libFuzzer gives. Past the end everything is zero, so that short inputs mean something.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace warpool::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_[0];
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
      value = value << 8 | byte();
    return value;
  }
  /// Mostly small numbers, sometimes the ones at the edges.
  std::uint64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 0xC0) return kind;
    constexpr std::uint64_t kEdges[] = {0,
                                        std::uint64_t{1} << 31,
                                        (std::uint64_t{1} << 32) - 1,
                                        (std::uint64_t{1} << 46) - 1,
                                        std::uint64_t{1} << 46,
                                        (std::uint64_t{1} << 46) + 1,
                                        std::uint64_t{1} << 62,
                                        (std::uint64_t{1} << 63) - 1,
                                        std::uint64_t{1} << 63,
                                        ~std::uint64_t{0}};
    if (kind < 0xE0) return kEdges[kind % std::size(kEdges)];
    return static_cast<std::uint64_t>(word()) << (kind % 33);
  }
  std::uint32_t below(std::uint32_t bound) { return bound == 0 ? 0 : byte() % bound; }
  bool flag() { return (byte() & 1) != 0; }
  std::string text(std::uint32_t bytes_max) {
    const std::size_t bytes = std::min<std::size_t>(below(bytes_max + 1), rest_.size());
    std::string result(reinterpret_cast<const char*>(rest_.data()), bytes);
    rest_ = rest_.subspan(bytes);
    return result;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// What a target found out to be wrong: libFuzzer keeps the input that led here.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

}  // namespace warpool::fuzz
