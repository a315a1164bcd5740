// SPDX-License-Identifier: Apache-2.0
#include "broker/replies.h"

#include "os/process.h"

namespace warpool::broker {

void Broker::reply_ok(Session& session, std::uint64_t request) {
  if (request == 0) return;
  builder_.Clear();
  builder_.Finish(wire::fb::CreateReply(builder_, request));
  send(session, nullptr);
}

void Broker::reply_error(Session& session, std::uint64_t request, const Error& error) {
  if (request == 0) return;
  builder_.Clear();
  const auto message = wire::add_text(builder_, error.message.view());
  builder_.Finish(
      wire::fb::CreateReply(builder_, request, static_cast<std::int32_t>(error.code), message));
  send(session, nullptr);
}

/// Sends what is in the builder. Replies with a descriptor wait while the program has kUnreadFdRepliesMax unread ones.
void Broker::send(Session& session, const store::Item* memory) {
  if (session.ending) return;
  const std::span<const std::uint8_t> message = wire::finished(builder_);
  if (memory == nullptr) {
    if (!session.port->send(message, -1))
      end_session(session.id, "the program does not read its replies");
    return;
  }
  if (session.deferred.empty() && session.fds_sent - session.fds_received < kUnreadFdRepliesMax) {
    ++session.fds_sent;
    if (!session.port->send(message, memory->memory.get()))
      end_session(session.id, "the program does not read its replies");
    return;
  }
  if (session.deferred_bytes + message.size() > kQueuedBytesMax)
    return end_session(session.id, "the program does not read its replies");
  session.deferred_bytes += message.size();
  session.deferred.push_back({{message.begin(), message.end()}, memory->id});
}

void Broker::flush_deferred(Session& session) {
  const SessionId id = session.id;
  while (!session.deferred.empty() &&
         session.fds_sent - session.fds_received < kUnreadFdRepliesMax) {
    const Deferred next = std::move(session.deferred.front());
    session.deferred.pop_front();
    session.deferred_bytes -= next.message.size();
    // The view that the reply gives keeps the item; a program that released it unseen gets the reply alone.
    const store::Item* item = registry_.find(next.item);
    if (item != nullptr) ++session.fds_sent;
    if (!session.port->send(next.message, item != nullptr ? item->memory.get() : -1))
      return end_session(id, "the program does not read its replies");
  }
}

std::string_view Broker::user_name(std::uint32_t uid) {
  // Programs may name users that do not exist, so the memory of names has a bound.
  constexpr std::size_t kRememberedUsersMax = 4096;
  if (user_names_.size() >= kRememberedUsersMax && !user_names_.contains(uid)) user_names_.clear();
  const auto [entry, fresh] = user_names_.try_emplace(uid);
  if (fresh) entry->second = os::user_name(uid).c_str();
  return entry->second;
}

flatbuffers::Offset<wire::fb::ItemState> Broker::build_item_state(const store::Item& item) {
  return build_item_state(item, catalogue_->blob(item.record));
}

flatbuffers::Offset<wire::fb::ItemState> Broker::build_item_state(
    const store::Item& item, std::span<const std::uint8_t> blob) {
  builder_.ForceVectorAlignment(blob.size(), 1, 16);
  const auto bytes = builder_.CreateVector(blob.data(), blob.size());
  const auto owner = wire::add_text(builder_, user_name(item.owner_uid));
  std::int64_t expires_in_ms = -1;
  if (item.expires_ns != 0)
    expires_in_ms =
        std::max<std::int64_t>(0, (item.expires_ns - clock_.monotonic_ns()) / 1'000'000);
  std::uint32_t flags = item.flags;
  if (!item.memory.valid()) flags |= kItemInline;
  if (!item.current) flags |= kItemRemoved;
  return wire::fb::CreateItemState(builder_, bytes, item.mode, flags, item.viewers, expires_in_ms,
                                   item.holder->alive, owner);
}

}  // namespace warpool::broker
