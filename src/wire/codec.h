// SPDX-License-Identifier: Apache-2.0
// Verified access to messages. Nothing reads a field of a message that did not pass one of these functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "wire/protocol_generated.h"

namespace warpool::wire {

/// The protocol that this build speaks. A peer answers with the highest one that both know.
constexpr std::uint16_t kProtocolMin = 1;
constexpr std::uint16_t kProtocolMax = 1;

/// The highest protocol common to [min, max] and this build; 0 for none.
constexpr std::uint16_t negotiate(std::uint16_t min, std::uint16_t max) {
  const std::uint16_t high = max < kProtocolMax ? max : kProtocolMax;
  const std::uint16_t low = min > kProtocolMin ? min : kProtocolMin;
  return low <= high ? high : std::uint16_t{0};
}

Result<const fb::Request*> read_request(std::span<const std::uint8_t> message);
Result<const fb::Reply*> read_reply(std::span<const std::uint8_t> message);
Result<const fb::Item*> read_item(std::span<const std::uint8_t> bytes);

/// Text of an optional string field.
inline std::string_view text(const flatbuffers::String* string) {
  return string == nullptr ? std::string_view() : std::string_view(string->data(), string->size());
}
inline std::span<const std::uint8_t> bytes(const flatbuffers::Vector<std::uint8_t>* vector) {
  if (vector == nullptr) return {};
  return {vector->data(), vector->size()};
}
/// The elements of a list of 64-bit numbers. The verifier checks that a list lies inside its message, not that its elements are
/// aligned; a list that is not aligned was not written by FlatBuffers and reads as empty.
template <typename Number>
std::span<const Number> numbers(const flatbuffers::Vector<Number>* vector) {
  if (vector == nullptr || reinterpret_cast<std::uintptr_t>(vector->Data()) % sizeof(Number) != 0)
    return {};
  return {reinterpret_cast<const Number*>(vector->Data()), vector->size()};
}
inline flatbuffers::Offset<flatbuffers::String> add_text(flatbuffers::FlatBufferBuilder& builder,
                                                         std::string_view text) {
  return builder.CreateString(text.data(), text.size());
}

inline std::span<const std::uint8_t> finished(const flatbuffers::FlatBufferBuilder& builder) {
  return {builder.GetBufferPointer(), builder.GetSize()};
}

}  // namespace warpool::wire
