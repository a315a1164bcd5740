// SPDX-License-Identifier: Apache-2.0
// Budgets, drafts and publishing.
#include <algorithm>

#include "broker/replies.h"
#include "os/process.h"
#include "store/item_codec.h"

namespace warpool::broker {
namespace {

constexpr std::uint32_t kModeDefault = 0600;
/// Nobody but the owner replaces or removes an array, so other users' write and all execute bits mean nothing.
constexpr std::uint32_t kModeMask = 0644;

/// Of a small item: its share of the catalogue. Of others: whole pages of the memfd.
std::uint64_t charge_of_contents(std::uint64_t blob_bytes) {
  return blob_bytes + sizeof(store::RecordHeader);
}

std::string in_words(std::uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value,
                units[unit]);
  return text;
}

}  // namespace

/// "name" is one's own, "user:name" somebody else's.
Result<store::NameKey> Broker::resolve(const Session& session, std::string_view qualified) {
  std::uint32_t owner = session.peer.uid;
  if (qualified.size() > kQualifiedNameBytesMax)
    return Error::format(Code::kInvalidArgument, "a name of %zu bytes is longer than any can be",
                         qualified.size());
  std::string_view name = qualified;
  const std::size_t colon = name.find(':');
  if (colon != std::string_view::npos) {
    const std::string user(name.substr(0, colon));
    WARPOOL_ASSIGN(owner, os::user_id(user.c_str()));
    name = name.substr(colon + 1);
  }
  WARPOOL_TRY(array::check_name(name));
  return store::NameKey{owner, std::string(name)};
}

bool Broker::may_read(const Session& session, const store::Item& item) const {
  if (session.peer.admin || session.peer.uid == item.owner_uid) return true;
  if ((item.mode & 0004) != 0) return true;
  if ((item.mode & 0040) == 0) return false;
  const auto& groups = session.peer.groups;
  return session.peer.gid == item.owner_gid ||
         std::find(groups.begin(), groups.end(), item.owner_gid) != groups.end();
}

Error Broker::refuse_memory(std::uint64_t bytes, std::string_view name) {
  std::map<const store::Holder*, std::uint64_t> totals;
  for (const auto& [id, session] : sessions_)
    totals[session->holder.get()] = session->holder->total();
  for (const auto& [id, item] : registry_.items())
    totals[item->holder.get()] = item->holder->total();
  std::vector<std::pair<std::uint64_t, const store::Holder*>> order;
  for (const auto& [holder, total] : totals) {
    if (total > 0) order.emplace_back(total, holder);
  }
  std::sort(order.begin(), order.end(), std::greater<>());
  std::string holders;
  constexpr std::size_t kNamed = 3;
  for (std::size_t i = 0; i < std::min(order.size(), kNamed); ++i) {
    const store::Holder& holder = *order[i].second;
    holders += (i == 0 ? "" : ", ") + in_words(order[i].first) + " by " + holder.language +
               " (pid " + std::to_string(holder.pid) +
               (holder.label.empty() ? "" : ", " + holder.label) +
               (holder.alive ? ")" : ", ended)");
  }
  if (holders.empty()) holders = "nobody";
  const std::uint64_t used = registry_.memory().total();
  const bool never = bytes > config_.memory_limit;
  report_.on_event({EventKind::kMemoryRefused, 0, bytes, Text(name)});
  return Error::format(
      Code::kOutOfMemory, "array \"%.*s\" needs %s, but %s of the %s budget are in use: %s. %s",
      static_cast<int>(name.size()), name.data(), in_words(bytes).c_str(), in_words(used).c_str(),
      in_words(config_.memory_limit).c_str(), holders.c_str(),
      never
          ? "It can never fit: restart the broker with a larger --max-memory, or split the array"
          : "Remove arrays (warpool ls, warpool rm), wait for room (wait=), or restart the broker "
            "with a larger --max-memory");
}

/// Two waiting requests of one number could be neither answered nor cancelled apart.
Error Broker::repeated_number() {
  return Error::format(Code::kProtocolError, "a request with this number waits already");
}

void Broker::on_create(Session& session, std::uint64_t request, const wire::fb::Create& create) {
  const Result<store::NameKey> key = resolve(session, wire::text(create.name()));
  if (!key.ok()) return reply_error(session, request, key.error());
  if (key.value().owner_uid != session.peer.uid)
    return reply_error(
        session, request,
        Error::format(Code::kPermissionDenied,
                      "array \"%s\" belongs to user %s; publish under a name of your own",
                      key.value().name.c_str(),
                      std::string(user_name(key.value().owner_uid)).c_str()));
  const auto existing = session.drafts.find(create.draft());
  // Asked again after a lost connection: the greeting may have brought it back already.
  if (existing != session.drafts.end() && existing->second.size == create.size() &&
      existing->second.key == key.value())
    return reply_ok(session, request);
  if (create.size() > kItemBytesMax || create.draft() == 0 || existing != session.drafts.end())
    return reply_error(session, request,
                       Error::format(Code::kInvalidArgument, "the draft has a bad size or number"));
  if (session.pending.contains(request)) return reply_error(session, request, repeated_number());
  if (session.drafts.size() + session.pending.size() >= kDraftsPerSessionMax)
    return reply_error(
        session, request,
        Error::format(Code::kLimitReached,
                      "this program has %zu unpublished arrays; publish or discard some",
                      session.drafts.size()));
  const PendingCreate pending{session.id, request, create.draft(), create.size(), key.value()};
  // One that would wait goes behind those that wait already; one that would not takes what is free now, or is refused.
  if ((pending_creates_.empty() || !create.wait()) && try_create(pending)) return;
  const std::uint64_t charge = os::round_to_page(create.size());
  if (!create.wait() || charge > config_.memory_limit)
    return reply_error(session, request, refuse_memory(charge, key.value().name));
  session.pending[request] = std::nullopt;
  pending_creates_.push_back(pending);
}

/// Charges and answers when it fits now.
bool Broker::try_create(const PendingCreate& create) {
  Session& session = *find(create.session);
  const std::uint64_t charge = os::round_to_page(create.size);
  if (registry_.memory().total() + WideUint{charge} > config_.memory_limit) return false;
  if (!session.drafts.try_emplace(create.draft, Draft{create.size, charge, create.key}).second) {
    reply_error(session, create.request,
                Error::format(Code::kInvalidArgument, "the draft has a number that is in use"));
    return true;
  }
  registry_.charge_draft(*session.holder, charge);
  reply_ok(session, create.request);
  return true;
}

/// Memory has become free: waiting creates go on in their order. The first that does not fit stops the rest.
void Broker::pump_creates() {
  while (!pending_creates_.empty()) {
    const PendingCreate create = pending_creates_.front();
    Session* session = find(create.session);
    if (session != nullptr && !try_create(create)) return;
    // The reply may have ended the session, which then has removed its entries.
    session = find(create.session);
    if (session == nullptr) continue;
    session->pending.erase(create.request);
    pending_creates_.pop_front();
  }
}

void Broker::on_discard(Session& session, const wire::fb::Discard& discard) {
  const auto found = session.drafts.find(discard.draft());
  if (found == session.drafts.end()) return;
  registry_.discharge_draft(*session.holder, found->second.charge);
  session.drafts.erase(found);
  pump_creates();
}

/// Returns the bytes to charge. Everything about the memory is checked here: seals, size and that it has all its pages.
Result<std::uint64_t> Broker::check_contents(const Session& session,
                                             const wire::fb::Publish& publish,
                                             const std::vector<os::Fd>& fds) {
  const std::uint64_t size = publish.size();
  if (publish.draft() == 0) {
    if (!fds.empty() || wire::bytes(publish.contents()).size() != size || size > kInlineBytesMax)
      return Error::format(Code::kInvalidArgument,
                           "a small array must come with exactly its %llu bytes, at most %zu",
                           static_cast<unsigned long long>(size), kInlineBytesMax);
    return charge_of_contents(size);
  }
  const auto draft = session.drafts.find(publish.draft());
  if (draft == session.drafts.end())
    return Error::format(Code::kLost,
                         "the broker does not know this draft of \"%s\"; create it again",
                         publish.name() == nullptr ? "" : publish.name()->c_str());
  if (fds.size() == 1 && !fds[0].valid())
    return Error::format(Code::kLimitReached,
                         "the broker has no free file descriptor for the array; remove some "
                         "arrays, or raise its limit (LimitNOFILE, ulimit -n)");
  if (fds.size() != 1 || publish.contents() != nullptr || size != draft->second.size || size == 0)
    return Error::format(Code::kInvalidArgument, "the published memory is not that of the draft");
  WARPOOL_ASSIGN(const os::MemfdFacts facts, os::inspect_memfd(fds[0]));
  if (!facts.sealed)
    return Error::format(Code::kInvalidArgument,
                         "the memory of the array is not sealed against write, shrink and grow");
  if (facts.size != os::round_to_page(size) || facts.allocated < size ||
      facts.allocated > draft->second.charge)
    return Error::format(
        Code::kInvalidArgument,
        "the memory of the array has %llu bytes, %llu of them allocated, but the draft is of %llu",
        static_cast<unsigned long long>(facts.size),
        static_cast<unsigned long long>(facts.allocated), static_cast<unsigned long long>(size));
  const std::uint64_t items_max = config_.fd_limit / 2;
  if (items_with_memory_ >= items_max)
    return Error::format(Code::kLimitReached,
                         "the broker holds %llu arrays larger than 64 KiB, more are not possible "
                         "with its limit of open "
                         "files; remove some, or raise the limit (LimitNOFILE)",
                         static_cast<unsigned long long>(items_with_memory_));
  return draft->second.charge;
}

Result<store::RecordRef> Broker::write_record(const store::Item& item,
                                              std::span<const array::Part> parts,
                                              const wire::fb::Publish& publish,
                                              const Session& session, std::string_view name) {
  flatbuffers::FlatBufferBuilder& blob = record_builder_;
  blob.Clear();
  const auto name_text = wire::add_text(blob, name);
  const auto part_list = store::add_parts(blob, parts);
  const auto attributes = wire::add_text(blob, wire::text(publish.attributes()));
  const auto language = wire::add_text(blob, session.holder->language);
  const auto label = wire::add_text(blob, session.holder->label);
  flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> contents = 0;
  if (publish.draft() == 0) {
    const std::span<const std::uint8_t> bytes = wire::bytes(publish.contents());
    blob.ForceVectorAlignment(bytes.size(), 1, 16);
    contents = blob.CreateVector(bytes.data(), bytes.size());
  }
  blob.Finish(wire::fb::CreateItem(blob, name_text, item.owner_uid, item.id, item.version,
                                   item.size, clock_.unix_ns(), part_list, attributes,
                                   session.holder->pid, session.id, language, label, contents));
  if (blob.GetSize() - wire::bytes(publish.contents()).size() > kDescriptionBytesMax)
    return Error::format(Code::kLimitReached,
                         "the description of the array (%u parts, their shapes, attributes) has "
                         "more than %zu bytes; split it into several names",
                         static_cast<unsigned>(parts.size()), kDescriptionBytesMax);
  const store::RecordHeader header{.magic = 0,
                                   .state = store::RecordState::kLive,
                                   .record_bytes = 0,
                                   .blob_bytes = 0,
                                   .id = item.id,
                                   .version = item.version,
                                   .size = item.size,
                                   .charge = item.charge,
                                   .expires_ns = item.expires_ns,
                                   .token = item.token,
                                   .owner_uid = item.owner_uid,
                                   .owner_gid = item.owner_gid,
                                   .mode = item.mode,
                                   .flags = item.flags};
  return catalogue_->append(header, wire::finished(blob));
}

Result<store::Item*> Broker::publish(Session& session, const wire::fb::Publish& publish,
                                     std::vector<os::Fd>& fds) {
  WARPOOL_ASSIGN(const store::NameKey key, resolve(session, wire::text(publish.name())));
  if (key.owner_uid != session.peer.uid)
    return Error::format(Code::kPermissionDenied,
                         "array \"%s\" belongs to user %s; publish under a name of your own",
                         key.name.c_str(), std::string(user_name(key.owner_uid)).c_str());
  if (wire::text(publish.attributes()).size() > kAttributesBytesMax)
    return Error::format(Code::kLimitReached, "the attributes have more than %zu bytes",
                         kAttributesBytesMax);
  WARPOOL_ASSIGN(const std::vector<array::Part> parts,
                 store::read_parts(publish.parts(), publish.size()));
  WARPOOL_ASSIGN(const std::uint64_t charge, check_contents(session, publish, fds));
  const store::Registry::Name* before = registry_.find_name(key.owner_uid, key.name);
  const bool new_name = before == nullptr || before->current == nullptr;
  if (new_name && registry_.names_of(key.owner_uid) >= kNamesPerUserMax)
    return Error::format(Code::kLimitReached,
                         "this user has %u arrays, more are not possible; remove some",
                         kNamesPerUserMax);
  if (publish.draft() == 0 && registry_.memory().total() + WideUint{charge} > config_.memory_limit)
    return refuse_memory(charge, key.name);

  auto item = std::make_unique<store::Item>();
  item->id = catalogue_->root().epoch << 32 | catalogue_->root().next_item++;
  item->version = registry_.next_version(key.owner_uid, key.name);
  item->size = publish.size();
  item->charge = charge;
  item->token = publish.token();
  item->owner_uid = key.owner_uid;
  item->owner_gid = session.peer.gid;
  const std::uint32_t inherited = new_name ? kModeDefault : before->current->mode;
  item->mode = ((publish.mode() == 0 ? inherited : publish.mode()) & kModeMask) | 0400;
  item->flags = publish.flags() & kItemWhileUsed;
  item->holder = session.holder;
  if (publish.ttl_ms() > 0)
    item->expires_ns = clock_.monotonic_ns() +
                       std::min<std::int64_t>(publish.ttl_ms(), INT64_MAX / 4'000'000) * 1'000'000;
  if (!fds.empty()) {
    // The keeper first: once the record says that the array exists, its memory must outlive this process.
    keeper_->hold(item->id, fds[0]);
    item->memory = std::move(fds[0]);
  }
  const Result<store::RecordRef> record = write_record(*item, parts, publish, session, key.name);
  if (!record.ok()) {
    if (item->memory.valid()) keeper_->drop(item->id);
    return record.error();
  }
  item->record = record.value();
  if (item->memory.valid()) ++items_with_memory_;
  if (publish.draft() != 0) {
    registry_.discharge_draft(*session.holder, session.drafts[publish.draft()].charge);
    session.drafts.erase(publish.draft());
  }
  const store::Item* replaced = new_name ? nullptr : before->current;
  const store::RecordRef old_record = replaced == nullptr ? store::RecordRef{} : replaced->record;
  const bool old_memory = replaced != nullptr && replaced->memory.valid();
  if (old_memory && replaced->viewers == 0) --items_with_memory_;
  const store::Registry::Added added =
      registry_.add(std::move(item), key.owner_uid, key.name, clock_.monotonic_ns());
  if (added.replaced_id != 0) {
    retire(added.replaced_id, old_record,
           added.replaced == nullptr ? store::Registry::Gone::kYes
                                     : store::Registry::Gone::kStillViewed,
           old_memory);
  }
  note_name(*added.item);
  // Before the answer: it may end the session of the maker, and then these decide what becomes of the array.
  if (added.item->expires_ns != 0) expiries_.emplace(added.item->expires_ns, added.item->id);
  if ((added.item->flags & kItemWhileUsed) != 0) while_used_.insert(added.item->id);
  return added.item;
}

/// Writes down that an item is no longer current, or gone.
void Broker::retire(std::uint64_t id, store::RecordRef record, store::Registry::Gone gone,
                    bool had_memory) {
  store::RootPage& root = catalogue_->root();
  root.removed_version_max = std::max(root.removed_version_max, catalogue_->header(record).version);
  if (names_file_) names_file_->remove(id);
  while_used_.erase(id);
  forget_expiry(catalogue_->header(record).expires_ns, id);
  if (gone == store::Registry::Gone::kStillViewed) {
    catalogue_->header(record).state = store::RecordState::kRemoved;
    return;
  }
  catalogue_->kill(record);
  if (had_memory) keeper_->drop(id);  // it never heard of small items; do not wake it for them
  catalogue_->clean_step([&](std::uint64_t moved, store::RecordRef to) {
    if (store::Item* item = registry_.find(moved)) item->record = to;
  });
}

void Broker::on_publish(Session& session, std::uint64_t request, const wire::fb::Publish& message,
                        bool repeated, std::vector<os::Fd>& fds) {
  if (repeated && message.token() != 0) {
    const Result<store::NameKey> key = resolve(session, wire::text(message.name()));
    store::Registry::Name* name =
        key.ok() ? registry_.find_name(key.value().owner_uid, key.value().name) : nullptr;
    if (name != nullptr && name->current != nullptr && name->current->token == message.token()) {
      const auto draft = session.drafts.find(message.draft());
      if (draft != session.drafts.end()) {
        registry_.discharge_draft(*session.holder, draft->second.charge);
        session.drafts.erase(draft);
      }
      if (message.view()) add_view(session, *name->current);
      builder_.Clear();
      reply(session, request,
            wire::fb::CreatePublished(builder_, name->current->id, name->current->version));
      return pump_creates();
    }
  }
  const Result<store::Item*> result = publish(session, message, fds);
  if (!result.ok()) return reply_error(session, request, result.error());
  store::Item& item = *result.value();
  const std::uint64_t id = item.id;
  ++session.counters.arrays_published;
  session.counters.bytes_published += item.size;
  if (message.view()) add_view(session, item);
  builder_.Clear();
  reply(session, request,
        wire::fb::CreatePublished(builder_, item.id, item.version, clock_.unix_ns()));
  if (store::Item* still = registry_.find(id); still != nullptr && still->current)
    after_publish(*still);
}

/// Answers the gets that waited for this array. Answering may end sessions, and with them the array: those that are not answered
/// then go on waiting.
void Broker::answer_waiting(std::uint64_t id, const store::NameKey& name) {
  const auto waiting = pending_gets_.find(name);
  if (waiting == pending_gets_.end()) return;
  const store::NameKey key = name;  // the argument may belong to the array
  const std::list<PendingGet> gets = std::move(waiting->second);
  pending_gets_.erase(waiting);
  for (const PendingGet& get : gets) {
    Session* session = find(get.session);
    if (session == nullptr) continue;
    store::Item* item = registry_.find(id);
    if (item == nullptr || !item->current || get.version > item->version ||
        !may_read(*session, *item)) {
      pending_gets_[key].push_back(get);
      continue;
    }
    session->pending.erase(get.request);
    if (get.version != 0 && get.version < item->version) {
      reply_error(*session, get.request, explain_missing(*session, key, get.version, get.since_ns));
    } else {
      give(*session, get.request, *item);
    }
  }
}

/// Before the publisher is told: otherwise a version that it has seen could be given again after a crash of broker and keeper.
void Broker::note_name(const store::Item& item) {
  if (!names_file_) return;
  const Result<void> noted =
      names_file_->add(item.id, item.owner_uid, item.version, item.key->name);
  if (noted.ok()) return;
  report_.on_event(
      {EventKind::kDegraded, 0, 0,
       Text::format("the list of names cannot be written (%s): after a crash of broker and keeper, "
                    "lost arrays could not be named",
                    noted.error().message.c_str())});
  names_file_.reset();
}

/// What follows from a new array but need not delay its publisher.
void Broker::after_publish(store::Item& item) {
  const std::uint64_t id = item.id;
  if (!lost_names_.empty()) lost_names_.erase(*item.key);
  report_.on_event(
      {EventKind::kArrayPublished, item.holder->session, item.size, Text(item.key->name)});
  answer_waiting(id, *item.key);
  tell_watchers(id, kEventPublished);
  pump_creates();
}

}  // namespace warpool::broker
