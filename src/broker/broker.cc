// SPDX-License-Identifier: Apache-2.0
#include "broker/broker.h"

#include <algorithm>

#include "base/limits.h"
#include "broker/replies.h"

namespace warpool::broker {

using wire::fb::RequestBody;

Broker::Broker(const Config& config, const Dependencies& dependencies)
    : config_(config),
      clock_(dependencies.clock),
      report_(dependencies.report),
      keeper_(&dependencies.keeper) {}

Broker::~Broker() = default;

Result<SessionId> Broker::open(const Peer& peer, SessionPort& port) {
  // Two descriptors a session; half of all are for arrays.
  const std::uint64_t sessions_max = std::max<std::uint64_t>(config_.fd_limit / 4, 16);
  std::uint32_t& count = sessions_per_user_[peer.uid];
  if (sessions_.size() >= sessions_max || count >= kSessionsPerUserMax) {
    report_.on_event(
        {EventKind::kSessionRefused, 0, sessions_.size(), Text("too many programs are connected")});
    return Error::format(
        Code::kLimitReached,
        "%zu programs are connected to the broker, more are not possible; close some or raise the "
        "limit of open files (LimitNOFILE)",
        sessions_.size());
  }
  ++count;
  auto session = std::make_unique<Session>();
  session->id = catalogue_->root().next_session++;
  session->peer = peer;
  session->port = &port;
  session->opened_ns = session->last_request_ns = clock_.monotonic_ns();
  session->holder = std::make_shared<store::Holder>();
  session->holder->session = session->id;
  session->holder->pid = peer.pid;
  session->holder->uid = peer.uid;
  const SessionId id = session->id;
  sessions_.emplace(id, std::move(session));
  report_.on_event(
      {EventKind::kSessionOpened, id, static_cast<std::uint64_t>(peer.pid), Text(peer.command)});
  return id;
}

Broker::Session* Broker::find(SessionId id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

void Broker::receive(SessionId id, std::span<const std::uint8_t> message, std::vector<os::Fd> fds) {
  Session* session = find(id);
  if (session == nullptr) return;
  const Result<const wire::fb::Request*> request = wire::read_request(message);
  if (!request.ok()) {
    report_.on_event({EventKind::kProtocolViolation, id, message.size(), request.error().message});
    return end_session(id, request.error().message.c_str());
  }
  session->last_request_ns = clock_.monotonic_ns();
  note_counters(*session, *request.value());
  if (find(id) == nullptr) return;
  const bool hello = request.value()->body_type() == RequestBody::Hello;
  if (hello == session->greeted) {
    report_.on_event(
        {EventKind::kProtocolViolation, id, 0, Text("a session begins with exactly one greeting")});
    return end_session(id, "a session begins with exactly one greeting");
  }
  dispatch(*session, *request.value(), fds);
}

void Broker::note_counters(Session& session, const wire::fb::Request& request) {
  session.counters.waits += request.waits();
  session.counters.waited_ms += request.waited_ms();
  if (request.copies() != nullptr) {
    for (const wire::fb::CopyCount* copy : *request.copies()) {
      if (copy->reason() >= std::size(session.counters.copies)) continue;
      session.counters.copies[copy->reason()] += copy->count();
      session.counters.copied_bytes[copy->reason()] += copy->bytes();
    }
  }
  if (request.fds_received() > session.fds_received) {
    session.fds_received = std::min(request.fds_received(), session.fds_sent);
    flush_deferred(session);
  }
}

void Broker::dispatch(Session& session, const wire::fb::Request& request,
                      std::vector<os::Fd>& fds) {
  const std::uint64_t id = request.id();
  switch (request.body_type()) {
    case RequestBody::Hello:
      return on_hello(session, id, *request.body_as_Hello());
    case RequestBody::Ping:
      return reply_ok(session, id);
    case RequestBody::BrokerStatus:
      return on_status(session, id);
    case RequestBody::Create:
      return on_create(session, id, *request.body_as_Create());
    case RequestBody::Discard:
      return on_discard(session, *request.body_as_Discard());
    case RequestBody::Publish:
      return on_publish(session, id, *request.body_as_Publish(), request.repeated(), fds);
    case RequestBody::Get:
      return on_get(session, id, *request.body_as_Get());
    case RequestBody::GetMemory:
      return on_get_memory(session, id, *request.body_as_GetMemory());
    case RequestBody::Release:
      return on_release(session, *request.body_as_Release());
    case RequestBody::Cancel:
      return on_cancel(session, *request.body_as_Cancel());
    case RequestBody::Remove:
      return on_remove(session, id, *request.body_as_Remove(), request.repeated());
    case RequestBody::Chmod:
      return on_chmod(session, id, *request.body_as_Chmod());
    case RequestBody::Expire:
      return on_expire(session, id, *request.body_as_Expire());
    case RequestBody::List:
      return on_list(session, id, *request.body_as_List());
    case RequestBody::Stat:
      return on_stat(session, id, *request.body_as_Stat());
    case RequestBody::Watch:
      return on_watch(session, id, *request.body_as_Watch());
    case RequestBody::Unwatch:
      session.watches.erase(request.body_as_Unwatch()->watch());
      return;
    case RequestBody::Sessions:
      return on_sessions(session, id, *request.body_as_Sessions());
    case RequestBody::Spare: {
      registry_.discharge_spare(*session.holder);
      const std::uint64_t bytes = request.body_as_Spare()->bytes();
      // A spare is only a convenience: it may use what nobody else is likely to need soon.
      const bool fits =
          registry_.memory().total() + WideUint{bytes} <= config_.memory_limit / 4 * 3;
      if (bytes > 0 && !fits) {
        reply_error(session, id, Error::format(Code::kOutOfMemory, "no memory for a spare"));
      } else {
        registry_.charge_spare(*session.holder, bytes);
        reply_ok(session, id);
      }
      return pump_creates();  // last: it may end this session
    }
    case RequestBody::Acknowledge:
      return;
    case RequestBody::Shutdown:
      return on_shutdown(session, id, *request.body_as_Shutdown());
    default:
      return reply_error(
          session, id,
          Error::format(
              Code::kVersionMismatch,
              "this broker (%s) does not know that request; update the broker to the version "
              "of the library (%s)",
              config_.version.c_str(), session.library_version.c_str()));
  }
}

void Broker::closed(SessionId id) {
  Session* session = find(id);
  if (session == nullptr) return;
  session->ending = true;
  for (const auto& [request, key] : session->pending) {
    if (!key) continue;
    const auto waiting = pending_gets_.find(*key);
    if (waiting == pending_gets_.end()) continue;
    waiting->second.remove_if([&](const PendingGet& get) { return get.session == id; });
    if (waiting->second.empty()) pending_gets_.erase(waiting);
  }
  pending_creates_.remove_if([&](const PendingCreate& create) { return create.session == id; });
  for (const auto& [draft, facts] : session->drafts)
    registry_.discharge_draft(*session->holder, facts.charge);
  registry_.discharge_spare(*session->holder);
  const auto views = std::move(session->views);
  session->views.clear();
  for (const auto& [item_id, count] : views) {
    session->views[item_id] = 1;
    drop_view(*session, item_id);
  }
  session->holder->alive = false;
  if (!session->run.empty()) {
    ended_.push_back(facts_of(*session));
    ended_.back().alive = false;
    constexpr std::size_t kEndedMax = 4096;  // summaries of runs are read right after the run
    if (ended_.size() > kEndedMax) ended_.pop_front();
  }
  drop_unused_items(*session->holder);
  const auto user = sessions_per_user_.find(session->peer.uid);
  if (--user->second == 0) sessions_per_user_.erase(user);
  report_.on_event({EventKind::kSessionClosed, id, 0, Text(session->holder->language)});
  sessions_.erase(id);
  pump_creates();
}

void Broker::end_session(SessionId id, const char* why) {
  Session* session = find(id);
  if (session == nullptr || session->ending) return;
  SessionPort& port = *session->port;
  (void)why;
  closed(id);
  port.close();
}

void Broker::drained(SessionId id) {
  Session* session = find(id);
  if (session == nullptr) return;
  for (auto& [watch_id, watch] : session->watches) {
    if (!watch.overflowed) continue;
    watch.overflowed = false;
    builder_.Clear();
    const auto event = wire::fb::CreateWatchEvent(builder_, watch_id, kEventOverflow);
    reply(*session, 0, event);
    if (find(id) == nullptr) return;
  }
}

std::int64_t Broker::tick() {
  const std::int64_t now = clock_.monotonic_ns();
  while (!expiries_.empty() && expiries_.begin()->first <= now) {
    const auto [when, id] = *expiries_.begin();
    expiries_.erase(expiries_.begin());
    store::Item* item = registry_.find(id);
    if (item != nullptr && item->current && item->expires_ns == when) remove_item(*item);
  }
  if (recovery_ends_ns_ != 0 && recovery_ends_ns_ <= now) {
    recovery_ends_ns_ = 0;
    std::vector<std::uint64_t> unseen;
    for (const auto& [id, item] : registry_.items()) {
      if (!item->current && item->viewers == 0) unseen.push_back(id);
    }
    for (const std::uint64_t id : unseen) {
      store::Item& item = *registry_.find(id);
      const store::RecordRef record = item.record;
      const bool memory = item.memory.valid();
      registry_.add_viewer(item);
      if (memory) --items_with_memory_;
      retire(id, record, registry_.drop_viewer(item), memory);
    }
    pump_creates();
    for (const std::uint64_t id :
         std::vector<std::uint64_t>(while_used_.begin(), while_used_.end())) {
      store::Item* item = registry_.find(id);
      if (item != nullptr && item->current && item->viewers == 0 && !item->holder->alive)
        remove_item(*item);
    }
  }
  std::int64_t next = expiries_.empty() ? -1 : expiries_.begin()->first;
  if (recovery_ends_ns_ != 0 && (next < 0 || recovery_ends_ns_ < next)) next = recovery_ends_ns_;
  return next;
}

void Broker::clean_up() {
  if (names_file_) names_file_->discard();
  report_.on_event({EventKind::kStopping, 0, registry_.current_count(), {}});
}

void Broker::hold_all(store::KeeperPort& keeper) {
  keeper_ = &keeper;
  catalogue_->hold_all(keeper);
  for (const auto& [id, item] : registry_.items()) {
    if (item->memory.valid()) keeper.hold(id, item->memory);
  }
}

}  // namespace warpool::broker
