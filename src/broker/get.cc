// SPDX-License-Identifier: Apache-2.0
// Reading, waiting, views, removal, permissions and expiry.
#include <algorithm>

#include "broker/replies.h"

namespace warpool::broker {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::uint32_t kModeMask = 0644;
/// About 73 years; larger times to live would overflow the clock.
constexpr std::int64_t kTtlMsMax = INT64_MAX / (4 * kNsPerMs);

std::string seconds(std::int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / 1e9);
  return text;
}

std::string program(const store::Holder& holder) {
  std::string text = holder.language.empty() ? "a program" : holder.language;
  text += " (pid " + std::to_string(holder.pid);
  if (!holder.label.empty()) text += ", " + holder.label;
  return text + ")";
}

}  // namespace

void Broker::add_view(Session& session, store::Item& item) {
  if (session.views[item.id]++ == 0) registry_.add_viewer(item);
}

void Broker::drop_view(Session& session, std::uint64_t id) {
  const auto view = session.views.find(id);
  if (view == session.views.end()) return;
  if (--view->second > 0) return;
  session.views.erase(view);
  store::Item* item = registry_.find(id);
  CHECK(item != nullptr);
  const store::RecordRef record = item->record;
  const bool memory = item->memory.valid();
  const bool was_current = item->current;
  const store::Registry::Gone gone = registry_.drop_viewer(*item);
  if (gone == store::Registry::Gone::kYes) {
    if (memory) --items_with_memory_;
    return retire(id, record, gone, memory);
  }
  if (was_current && item->viewers == 0 && while_used_.contains(id) && !item->holder->alive)
    remove_item(*item);
}

void Broker::drop_unused_items(const store::Holder& maker) {
  const std::vector<std::uint64_t> candidates(while_used_.begin(), while_used_.end());
  for (const std::uint64_t id : candidates) {
    store::Item* item = registry_.find(id);
    if (item != nullptr && item->current && item->viewers == 0 && item->holder.get() == &maker)
      remove_item(*item);
  }
}

void Broker::on_release(Session& session, const wire::fb::Release& release) {
  for (const std::uint64_t id : wire::numbers(release.ids()))
    drop_view(session, id);
  pump_creates();
}

/// Answers a get: a view from now on. Small items are copied into the answer, so nothing is viewed.
void Broker::give(Session& session, std::uint64_t request, store::Item& item) {
  if (item.memory.valid()) add_view(session, item);
  ++session.counters.arrays_got;
  session.counters.bytes_got += item.size;
  if (item.memory.valid()) session.counters.bytes_shared += item.size;
  builder_.Clear();
  const auto state = build_item_state(item);
  reply(session, request, state, item.memory.valid() ? &item : nullptr);
}

void Broker::on_get(Session& session, std::uint64_t request, const wire::fb::Get& get) {
  const Result<store::NameKey> key = resolve(session, wire::text(get.name()));
  if (!key.ok()) return reply_error(session, request, key.error());
  store::Registry::Name* name = registry_.find_name(key.value().owner_uid, key.value().name);
  store::Item* item = name == nullptr ? nullptr : name->current;
  const bool readable = item != nullptr && may_read(session, *item);
  if (readable && (get.version() == 0 || get.version() == item->version))
    return give(session, request, *item);
  const bool passed = readable && get.version() < item->version;
  const std::int64_t now = clock_.monotonic_ns();
  if (!get.wait() || passed || request == 0)
    return reply_error(session, request, explain_missing(session, key.value(), get.version(), now));
  if (session.pending.size() >= kPendingPerSessionMax)
    return reply_error(session, request,
                       Error::format(Code::kLimitReached, "%zu calls of this program wait already",
                                     session.pending.size()));
  if (session.pending.contains(request)) return reply_error(session, request, repeated_number());
  session.pending[request] = key.value();
  pending_gets_[key.value()].push_back({session.id, request, get.version(), now});
}

void Broker::on_get_memory(Session& session, std::uint64_t request,
                           const wire::fb::GetMemory& get) {
  store::Item* item = registry_.find(get.id());
  if (item == nullptr || !session.views.contains(get.id()) || !item->memory.valid())
    return reply_error(session, request,
                       Error::format(Code::kLost, "the array is no longer held by this program"));
  builder_.Clear();
  builder_.Finish(wire::fb::CreateReply(builder_, request));
  send(session, item);
}

/// Why there is nothing to give, who made it last, and who might make it.
Error Broker::explain_missing(const Session& session, const store::NameKey& key,
                              std::uint64_t version, std::int64_t since_ns) {
  const std::int64_t now = clock_.monotonic_ns();
  std::string what = "there is no array \"" + key.name + "\"";
  if (version != 0) what += " in version " + std::to_string(version);
  if (key.owner_uid != session.peer.uid)
    what += " of user " + std::string(user_name(key.owner_uid)) + " that you may read";
  if (now - since_ns > 10 * kNsPerMs) what += " after waiting " + seconds(now - since_ns);
  const bool visible = key.owner_uid == session.peer.uid || session.peer.admin;
  const auto lost = lost_names_.find(key);
  if (visible && lost != lost_names_.end()) {
    return Error::format(Code::kLost,
                         "array \"%s\" (version %llu) was lost: broker and keeper were ended "
                         "together. Run the program "
                         "that makes it again",
                         key.name.c_str(), static_cast<unsigned long long>(lost->second));
  }
  const store::Registry::Name* name =
      visible ? registry_.find_name(key.owner_uid, key.name) : nullptr;
  if (name != nullptr && name->current != nullptr) {
    what += "; the latest is version " + std::to_string(name->current->version);
  } else if (name != nullptr && name->last_maker != nullptr) {
    what += "; " + program(*name->last_maker) +
            (name->last_maker->alive ? ", still connected," : ", which has ended,") +
            " last made it " + seconds(now - name->last_made_ns) + " ago (version " +
            std::to_string(name->last_version) + ")";
  } else if (visible) {
    what += "; no program has made it since the broker started";
  }
  std::string others;
  constexpr int kNamed = 4;
  int named = 0;
  for (const auto& [id, other] : sessions_) {
    if (id == session.id || other->peer.uid != key.owner_uid || !visible || !other->greeted)
      continue;
    if (other->holder->language == "cli" || named++ >= kNamed) continue;
    others += (others.empty() ? "" : ", ") + program(*other->holder);
  }
  what += others.empty()
              ? ". No other program of this user is connected; start the one that makes it"
              : ". Connected now: " + others;
  what += ", or see warpool ls for the names that exist";
  return Error::format(Code::kNotFound, "%s", what.c_str());
}

void Broker::on_cancel(Session& session, const wire::fb::Cancel& cancel) {
  const auto pending = session.pending.find(cancel.request());
  if (pending == session.pending.end()) return;  // answered already: the answer is on its way
  const std::optional<store::NameKey> key = pending->second;
  session.pending.erase(pending);
  Error error = Error::format(Code::kInterrupted, "the wait was interrupted");
  if (key) {
    auto waiting = pending_gets_.find(*key);
    for (auto get = waiting->second.begin(); get != waiting->second.end(); ++get) {
      if (get->session != session.id || get->request != cancel.request()) continue;
      if (cancel.timed_out())
        error.message = explain_missing(session, *key, get->version, get->since_ns).message;
      waiting->second.erase(get);
      break;
    }
    if (waiting->second.empty()) pending_gets_.erase(waiting);
  } else {
    for (auto create = pending_creates_.begin(); create != pending_creates_.end(); ++create) {
      if (create->session != session.id || create->request != cancel.request()) continue;
      if (cancel.timed_out())
        error.message = refuse_memory(os::round_to_page(create->size), create->key.name).message;
      pending_creates_.erase(create);
      break;
    }
  }
  if (cancel.timed_out()) error.code = Code::kTimedOut;
  reply_error(session, cancel.request(), error);
  pump_creates();
}

/// The current item of a name that this session owns and may change.
Result<store::Item*> Broker::find_own(const Session& session, std::string_view qualified,
                                      std::uint64_t version) {
  WARPOOL_ASSIGN(const store::NameKey key, resolve(session, qualified));
  store::Registry::Name* name = registry_.find_name(key.owner_uid, key.name);
  store::Item* item = name == nullptr ? nullptr : name->current;
  const bool readable = item != nullptr && may_read(session, *item);
  if (!readable || (version != 0 && item->version != version))
    return explain_missing(session, key, version, clock_.monotonic_ns());
  if (key.owner_uid != session.peer.uid && !session.peer.admin)
    return Error::format(
        Code::kPermissionDenied,
        "array \"%s\" belongs to user %s; only they or an administrator may change it",
        key.name.c_str(), std::string(user_name(key.owner_uid)).c_str());
  return item;
}

void Broker::remove_item(store::Item& item) {
  const std::uint64_t id = item.id;
  const store::RecordRef record = item.record;
  // Telling may end sessions, and with the last viewer an array that lives while it is used: not this one, it goes already.
  while_used_.erase(id);
  tell_watchers(id, kEventRemoved);
  report_.on_event({EventKind::kArrayRemoved, 0, item.size, Text(item.key->name)});
  const bool memory = item.memory.valid();
  if (memory && item.viewers == 0) --items_with_memory_;
  retire(id, record, registry_.remove(item), memory);
  pump_creates();
}

void Broker::on_remove(Session& session, std::uint64_t request, const wire::fb::Remove& remove,
                       bool repeated) {
  const Result<store::Item*> item = find_own(session, wire::text(remove.name()), remove.version());
  // Sent again after a lost connection: the first one may have done it.
  if (!item.ok() && repeated && item.error().code == Code::kNotFound)
    return reply_ok(session, request);
  if (!item.ok()) return reply_error(session, request, item.error());
  const SessionId id = session.id;
  remove_item(*item.value());
  if (Session* still = find(id)) reply_ok(*still, request);
}

void Broker::on_chmod(Session& session, std::uint64_t request, const wire::fb::Chmod& chmod) {
  if ((chmod.mode() & ~(kModeMask | 0200U)) != 0)
    return reply_error(
        session, request,
        Error::format(
            Code::kInvalidArgument,
            "mode %04o has bits without meaning: only read bits can be set (0600, 0640, 0644), "
            "since only the owner replaces or removes an array",
            chmod.mode()));
  const Result<store::Item*> item = find_own(session, wire::text(chmod.name()), 0);
  if (!item.ok()) return reply_error(session, request, item.error());
  item.value()->mode = chmod.mode() | 0400;
  catalogue_->header(item.value()->record).mode = item.value()->mode;
  const std::uint64_t id = item.value()->id;
  const store::NameKey key = *item.value()->key;
  reply_ok(session, request);
  answer_waiting(id, key);  // others may have waited for the permission
}

/// Entries of items that are gone, or expire at another time now, would pile up until their time comes.
void Broker::forget_expiry(std::int64_t expires_ns, std::uint64_t id) {
  if (expires_ns == 0) return;
  const auto [first, last] = expiries_.equal_range(expires_ns);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second != id) continue;
    expiries_.erase(entry);
    return;
  }
}

void Broker::set_expiry(store::Item& item, std::int64_t ttl_ms) {
  forget_expiry(item.expires_ns, item.id);
  item.expires_ns =
      ttl_ms <= 0 ? 0 : clock_.monotonic_ns() + std::min(ttl_ms, kTtlMsMax) * kNsPerMs;
  catalogue_->header(item.record).expires_ns = item.expires_ns;
  if (item.expires_ns != 0) expiries_.emplace(item.expires_ns, item.id);
}

void Broker::on_expire(Session& session, std::uint64_t request, const wire::fb::Expire& expire) {
  if (expire.ttl_ms() < 0)
    return reply_error(session, request,
                       Error::format(Code::kInvalidArgument, "a time to live cannot be negative"));
  const Result<store::Item*> item = find_own(session, wire::text(expire.name()), 0);
  if (!item.ok()) return reply_error(session, request, item.error());
  set_expiry(*item.value(), expire.ttl_ms());
  reply_ok(session, request);
}

}  // namespace warpool::broker
