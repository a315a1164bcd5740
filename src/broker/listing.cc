// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "broker/replies.h"
#include "os/process.h"

namespace warpool::broker {
namespace {

/// Events beyond this much unread output are replaced by one overflow event.
constexpr std::size_t kWatchQueuedBytesMax = 512 * 1024;

std::string cursor_of(const store::NameKey& key) {
  return std::to_string(key.owner_uid) + ":" + key.name;
}

/// A listing goes on with removed items when its names are done: "!" and the last id, which no name can look like.
bool is_removed_cursor(std::string_view cursor) {
  return !cursor.empty() && cursor[0] == '!';
}
std::string removed_cursor(std::uint64_t id) {
  return "!" + std::to_string(id);
}
std::uint64_t id_of_cursor(std::string_view cursor) {
  return is_removed_cursor(cursor)
             ? std::strtoull(std::string(cursor.substr(1)).c_str(), nullptr, 10)
             : 0;
}

store::NameKey key_of_cursor(std::string_view cursor) {
  const std::size_t colon = cursor.find(':');
  if (colon == std::string_view::npos) return {};
  const auto uid = static_cast<std::uint32_t>(
      std::strtoul(std::string(cursor.substr(0, colon)).c_str(), nullptr, 10));
  return {uid, std::string(cursor.substr(colon + 1))};
}

}  // namespace

/// Splits "user:pattern" and bounds the pattern.
Result<std::string> Broker::check_pattern(std::string_view pattern, std::string_view& owner) {
  const std::size_t colon = pattern.find(':');
  if (colon != std::string_view::npos) {
    owner = pattern.substr(0, colon);
    pattern = pattern.substr(colon + 1);
  }
  if (pattern.size() > kPatternBytesMax)
    return Error::format(Code::kInvalidArgument, "the pattern has more than %zu bytes",
                         kPatternBytesMax);
  return std::string(pattern.empty() ? "*" : pattern);
}

void Broker::on_list(Session& session, std::uint64_t request, const wire::fb::List& query) {
  std::string_view owner;
  const Result<std::string> pattern = check_pattern(wire::text(query.pattern()), owner);
  if (!pattern.ok()) return reply_error(session, request, pattern.error());
  const bool all = (query.flags() & kListAllUsers) != 0;
  std::uint32_t uid = session.peer.uid;
  if (!owner.empty()) {
    const Result<std::uint32_t> found = os::user_id(std::string(owner).c_str());
    if (!found.ok()) return reply_error(session, request, found.error());
    uid = found.value();
  }
  const bool one_user = !all || !owner.empty();
  builder_.Clear();
  std::vector<flatbuffers::Offset<wire::fb::ItemState>> items;
  std::string cursor;
  const std::string_view from = wire::text(query.cursor());
  auto entry = from.empty() ? (one_user ? registry_.names().lower_bound({uid, ""})
                                        : registry_.names().begin())
                            : registry_.names().upper_bound(key_of_cursor(from));
  std::string last;
  // A page ends by its bytes or by the names that were looked at, so that no listing holds the loop for long.
  constexpr int kNamesPerPageMax = 20'000;
  int looked = 0;
  const bool names_done = is_removed_cursor(from);
  for (; !names_done && entry != registry_.names().end(); ++entry) {
    if (one_user && entry->first.owner_uid != uid) break;
    if (builder_.GetSize() > kListPageBytes || ++looked > kNamesPerPageMax) {
      cursor = last;
      break;
    }
    last = cursor_of(entry->first);
    const store::Item* item = entry->second.current;
    if (item == nullptr || !may_read(session, *item) ||
        !array::matches(pattern.value(), entry->first.name))
      continue;
    if (!item->memory.valid() && item->size > 0) {
      // A listing shows no contents; the description is built again without them.
      items.push_back(build_listed_item(*item));
    } else {
      items.push_back(build_item_state(*item));
    }
  }
  if (cursor.empty() && (query.flags() & kListRemoved) != 0) {
    std::vector<const store::Item*> removed;
    for (const auto& [id, item] : registry_.items()) {
      if (item->current || (one_user && item->owner_uid != uid) || !may_read(session, *item))
        continue;
      if (id > id_of_cursor(from) && array::matches(pattern.value(), item->key->name))
        removed.push_back(item.get());
    }
    std::sort(removed.begin(), removed.end(),
              [](const store::Item* a, const store::Item* b) { return a->id < b->id; });
    std::uint64_t last_id = id_of_cursor(from);
    for (const store::Item* item : removed) {
      if (builder_.GetSize() > kListPageBytes) {
        cursor = removed_cursor(last_id);
        break;
      }
      last_id = item->id;
      items.push_back(build_listed_item(*item));
    }
  }
  const auto list = builder_.CreateVector(items);
  const auto next = wire::add_text(builder_, cursor);
  reply(session, request, wire::fb::CreateItems(builder_, list, next));
}

flatbuffers::Offset<wire::fb::ItemState> Broker::build_listed_item(const store::Item& item) {
  const auto* full = flatbuffers::GetRoot<wire::fb::Item>(catalogue_->blob(item.record).data());
  flatbuffers::FlatBufferBuilder blob(512);
  std::vector<flatbuffers::Offset<wire::fb::Part>> parts;
  for (const wire::fb::Part* part : *full->parts()) {
    const auto path = part->path() == nullptr ? 0 : wire::add_text(blob, wire::text(part->path()));
    const auto extents = wire::numbers(part->shape());
    const auto shape = blob.CreateVector(extents.data(), extents.size());
    const auto steps = wire::numbers(part->strides());
    const auto strides = blob.CreateVector(steps.data(), steps.size());
    parts.push_back(wire::fb::CreatePart(blob, path, part->kind(), part->dtype(), shape, strides,
                                         part->offset()));
  }
  const auto part_list = blob.CreateVector(parts);
  const auto name = wire::add_text(blob, wire::text(full->name()));
  const auto attributes = wire::add_text(blob, wire::text(full->attributes()));
  const auto language = wire::add_text(blob, wire::text(full->maker_language()));
  const auto label = wire::add_text(blob, wire::text(full->maker_label()));
  blob.Finish(wire::fb::CreateItem(blob, name, full->owner_uid(), full->id(), full->version(),
                                   full->size(), full->created_unix_ns(), part_list, attributes,
                                   full->maker_pid(), full->maker_session(), language, label));
  return build_item_state(item, wire::finished(blob));
}

void Broker::on_stat(Session& session, std::uint64_t request, const wire::fb::Stat& query) {
  const Result<store::NameKey> key = resolve(session, wire::text(query.name()));
  if (!key.ok()) return reply_error(session, request, key.error());
  store::Registry::Name* name = registry_.find_name(key.value().owner_uid, key.value().name);
  const store::Item* item = name == nullptr ? nullptr : name->current;
  const bool readable = item != nullptr && may_read(session, *item);
  if (!readable || (query.version() != 0 && query.version() != item->version))
    return reply_error(
        session, request,
        explain_missing(session, key.value(), query.version(), clock_.monotonic_ns()));
  builder_.Clear();
  const auto state = build_listed_item(*item);
  const auto list = builder_.CreateVector(&state, 1);
  reply(session, request, wire::fb::CreateItems(builder_, list));
}

void Broker::on_watch(Session& session, std::uint64_t request, const wire::fb::Watch& query) {
  std::string_view owner;
  const Result<std::string> pattern = check_pattern(wire::text(query.pattern()), owner);
  if (!pattern.ok()) return reply_error(session, request, pattern.error());
  if (session.watches.size() >= kWatchesPerSessionMax)
    return reply_error(
        session, request,
        Error::format(Code::kLimitReached, "this program has %u watches, more are not possible",
                      kWatchesPerSessionMax));
  Watch watch{pattern.value(), session.peer.uid, false};
  if ((query.flags() & kListAllUsers) != 0) watch.owner.reset();
  if (!owner.empty()) {
    const Result<std::uint32_t> found = os::user_id(std::string(owner).c_str());
    if (!found.ok()) return reply_error(session, request, found.error());
    watch.owner = found.value();
  }
  const SessionId id = session.id;
  session.watches[query.watch()] = watch;
  reply_ok(session, request);
  if (!query.existing()) return;
  std::vector<std::uint64_t> existing;
  for (const auto& [key, name] : registry_.names()) {
    if (name.current != nullptr) existing.push_back(name.current->id);
  }
  for (const std::uint64_t item_id : existing) {
    Session* still = find(id);
    const store::Item* item = registry_.find(item_id);
    if (still == nullptr || item == nullptr) return;
    if (!send_event(*still, query.watch(), still->watches[query.watch()], *item, kEventPublished))
      return;
  }
}

/// False when the session is gone.
bool Broker::send_event(Session& session, std::uint64_t watch_id, Watch& watch,
                        const store::Item& item, std::uint8_t kind) {
  if (watch.overflowed || (watch.owner && *watch.owner != item.owner_uid) ||
      !may_read(session, item) || !array::matches(watch.pattern, item.key->name))
    return true;
  if (session.port->queued_bytes() > kWatchQueuedBytesMax) {
    watch.overflowed = true;  // told when the program has read what is queued
    return true;
  }
  const SessionId id = session.id;
  builder_.Clear();
  const auto name = wire::add_text(builder_, item.key->name);
  reply(session, 0,
        wire::fb::CreateWatchEvent(builder_, watch_id, kind, name, item.version, item.owner_uid));
  return find(id) != nullptr;
}

/// Telling one program may end it, and the array with it: there is nothing more to tell then.
void Broker::tell_watchers(std::uint64_t item_id, std::uint8_t kind) {
  std::vector<SessionId> watching;
  for (const auto& [id, session] : sessions_) {
    if (!session->watches.empty()) watching.push_back(id);
  }
  for (const SessionId id : watching) {
    Session* session = find(id);
    const store::Item* item = registry_.find(item_id);
    if (item == nullptr || !item->current) return;
    if (session == nullptr) continue;
    for (auto& [watch_id, watch] : session->watches) {
      if (!send_event(*session, watch_id, watch, *item, kind)) break;
    }
  }
}

}  // namespace warpool::broker
