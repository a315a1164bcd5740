// SPDX-License-Identifier: Apache-2.0
#include "wire/codec.h"

namespace warpool::wire {
namespace {

/// Tables in one message: a listing page has the most, with kPartsMax parts in each of its items.
constexpr flatbuffers::uoffset_t kTablesMax = 200'000;
constexpr flatbuffers::uoffset_t kDepthMax = 16;
/// FlatBuffers reads fields in place, so a message must start aligned to its widest field.
constexpr std::uintptr_t kMessageAlignment = 16;

template <typename Root>
Result<const Root*> read_root(std::span<const std::uint8_t> message, const char* what) {
  if (reinterpret_cast<std::uintptr_t>(message.data()) % kMessageAlignment != 0)
    return Error::format(Code::kProtocolError, "%s lies at an unaligned address", what);
  flatbuffers::Verifier verifier(message.data(), message.size(), kDepthMax, kTablesMax);
  if (message.size() > kMessageBytesMax || !verifier.VerifyBuffer<Root>(nullptr))
    return Error::format(Code::kProtocolError, "%s of %zu bytes is malformed", what,
                         message.size());
  return flatbuffers::GetRoot<Root>(message.data());
}

}  // namespace

Result<const fb::Request*> read_request(std::span<const std::uint8_t> message) {
  return read_root<fb::Request>(message, "a request");
}

Result<const fb::Reply*> read_reply(std::span<const std::uint8_t> message) {
  return read_root<fb::Reply>(message, "a reply");
}

Result<const fb::Item*> read_item(std::span<const std::uint8_t> bytes) {
  return read_root<fb::Item>(bytes, "an item");
}

}  // namespace warpool::wire
