// SPDX-License-Identifier: Apache-2.0
// How a handler answers; included by the handlers' files only.
#pragma once

#include "broker/session.h"

namespace warpool::broker {

/// Bits of ItemState.flags; the numbers of WARPOOL_ARRAY_*.
constexpr std::uint32_t kItemInline = 1;
constexpr std::uint32_t kItemRemoved = 2;
constexpr std::uint32_t kItemWhileUsed = 4;

/// Bits of List.flags and Watch.flags; the numbers of WARPOOL_LIST_*.
constexpr std::uint32_t kListAllUsers = 1;
constexpr std::uint32_t kListRemoved = 2;

/// Kinds of watch events; the numbers of WARPOOL_EVENT_*.
constexpr std::uint8_t kEventPublished = 1;
constexpr std::uint8_t kEventRemoved = 2;
constexpr std::uint8_t kEventOverflow = 3;

/// Finishes the builder with a successful reply around `body` and sends it.
template <typename Body>
void Broker::reply(Session& session, std::uint64_t request, flatbuffers::Offset<Body> body,
                   const store::Item* memory) {
  builder_.Finish(wire::fb::CreateReply(builder_, request, 0, 0,
                                        wire::fb::ReplyBodyTraits<Body>::enum_value, body.Union()));
  send(session, memory);
}

}  // namespace warpool::broker
