// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/limits.h"

namespace warpool::client {

/// Room for one message, aligned as FlatBuffers need it. Pages that a message does not reach cost nothing.
class Buffer {
 public:
  Buffer() = default;
  static Buffer allocate() {
    Buffer buffer;
    constexpr std::size_t kAlignmentBytes = 64;
    buffer.data_ = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignmentBytes, kBytes));
    return buffer;
  }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  [[nodiscard]] bool valid() const { return data_ != nullptr; }
  [[nodiscard]] std::span<std::uint8_t> bytes() const { return {data_, valid() ? kBytes : 0}; }

 private:
  static constexpr std::size_t kBytes = kMessageBytesMax;
  std::uint8_t* data_ = nullptr;
};

}  // namespace warpool::client
