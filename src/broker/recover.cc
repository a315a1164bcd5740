// SPDX-License-Identifier: Apache-2.0
// Starting: with nothing, after a killed broker (the keeper gives everything back), or after both were killed.
#include <algorithm>

#include "broker/replies.h"
#include "store/item_codec.h"

namespace warpool::broker {
namespace {

/// How long programs have to come back before removed arrays that nobody claims are dropped. They reconnect at their next call,
/// so this is patience with memory, not with correctness: what is dropped stays mapped in the programs that view it.
constexpr std::int64_t kRecoveryNs = 10'000'000'000;

/// Nobody but a broker writes records; this keeps what a broken machine or an older version left from doing harm.
bool is_usable(const wire::fb::Item& facts, const store::RecordHeader& header) {
  const bool inline_item = facts.contents() != nullptr;
  // Numbers that no broker writes would overflow where versions, times and charges are computed with.
  constexpr std::uint64_t kVersionMax = std::uint64_t{1} << 62;
  const bool numbers = header.id != 0 && header.version != 0 && header.version <= kVersionMax &&
                       header.expires_ns >= 0 && header.charge <= 2 * kItemBytesMax;
  return numbers && array::check_name(wire::text(facts.name())).ok() &&
         store::read_parts(facts.parts(), header.size).ok() &&
         (!inline_item || facts.contents()->size() == header.size);
}

}  // namespace

Result<std::unique_ptr<Broker>> Broker::start(const Config& config,
                                              const Dependencies& dependencies,
                                              std::vector<store::HeldFd>& held) {
  std::unique_ptr<Broker> broker(new Broker(config, dependencies));
  broker->started_ns_ = dependencies.clock.monotonic_ns();
  const bool has_catalogue = std::any_of(held.begin(), held.end(), [](const store::HeldFd& one) {
    return store::slot_kind(one.slot) == store::SlotKind::kRoot;
  });
  if (has_catalogue) {
    WARPOOL_TRY(broker->recover(held));
    broker->start_names_file();
  } else {
    const store::NamesFile::Remains remains =
        config.names_path.empty() ? store::NamesFile::Remains{}
                                  : store::NamesFile::read(config.names_path.c_str());
    // Seconds since 1970 as the first epoch: also without the file no id of an earlier broker comes back.
    const auto seconds = static_cast<std::uint64_t>(dependencies.clock.unix_ns() / 1'000'000'000);
    const std::uint64_t epoch = std::max(seconds, remains.epoch + 1) & 0xFFFFFFFF;
    WARPOOL_ASSIGN(broker->catalogue_, store::Catalogue::create(dependencies.keeper, epoch));
    broker->registry_.set_version_floor(remains.version_max);
    broker->catalogue_->root().removed_version_max = remains.version_max;
    broker->catalogue_->root().lost = remains.names.size();
    for (const store::LostName& lost : remains.names) {
      broker->lost_names_.emplace(store::NameKey{lost.owner_uid, lost.name}, lost.version);
      dependencies.report.on_event(
          {EventKind::kArraysLost, 0, lost.version,
           Text::format("%s version %llu of user %u: broker and keeper ended together",
                        lost.name.c_str(), static_cast<unsigned long long>(lost.version),
                        lost.owner_uid)});
    }
    broker->start_names_file();
  }
  dependencies.report.on_event({EventKind::kStarted, 0, broker->registry_.current_count(), {}});
  return broker;
}

/// For people who ask, and in the catalogue for a keeper that was stopped, replaced, and wakes up.
void Broker::set_keeper_pid(std::int32_t pid) {
  keeper_pid_ = pid;
  catalogue_->root().keeper = static_cast<std::uint64_t>(pid);
}

Result<void> Broker::recover(std::vector<store::HeldFd>& held) {
  WARPOOL_ASSIGN(catalogue_, store::Catalogue::recover(
                                 *keeper_, held, static_cast<std::uint64_t>(config_.keeper_pid)));
  adopt_items(held);
  registry_.set_version_floor(catalogue_->root().removed_version_max);
  registry_.forget_last_versions();
  recovery_ends_ns_ = clock_.monotonic_ns() + kRecoveryNs;
  report_.on_event({EventKind::kArraysRecovered, 0, registry_.current_count(), {}});
  return {};
}

void Broker::adopt_items(std::vector<store::HeldFd>& held) {
  std::unordered_map<std::uint64_t, os::Fd> fds;
  std::vector<store::HeldFd> others;
  for (store::HeldFd& one : held) {
    if (store::slot_kind(one.slot) == store::SlotKind::kItem) {
      fds[one.slot] = std::move(one.fd);
    } else {
      others.push_back(std::move(one));
    }
  }
  held = std::move(others);
  struct Found {
    store::RecordRef ref;
    store::RecordHeader* header;
  };
  std::vector<Found> found;
  catalogue_->for_each([&](store::RecordRef ref, store::RecordHeader& header) {
    found.push_back({ref, &header});
  });
  // In order of ids a later version replaces the one before it, as it did when they were published.
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.header->id != b.header->id ? a.header->id < b.header->id
                                        : a.header->state < b.header->state;
  });
  std::uint64_t last = 0;
  for (const Found& one : found) {
    if (one.header->id == last) {
      // Cleaning was cut off between the copy and the death of the original.
      catalogue_->kill(one.ref);
      continue;
    }
    last = one.header->id;
    adopt_item(one.ref, *one.header, fds);
  }
  // Published halfway: memory without a record. Its publisher got no answer and publishes again.
  for (const auto& [id, fd] : fds) {
    if (registry_.find(id) == nullptr) keeper_->drop(id);
  }
}

void Broker::adopt_item(store::RecordRef ref, store::RecordHeader& header,
                        std::unordered_map<std::uint64_t, os::Fd>& fds) {
  const Result<const wire::fb::Item*> blob = wire::read_item(catalogue_->blob(ref));
  if (!blob.ok() || !is_usable(*blob.value(), header)) {
    catalogue_->kill(ref);
    return;
  }
  const wire::fb::Item& facts = *blob.value();
  const std::string_view name = wire::text(facts.name());
  auto item = std::make_unique<store::Item>();
  const auto memory = fds.find(header.id);
  if (memory != fds.end()) {
    item->memory = std::move(memory->second);
  } else if (facts.contents() == nullptr && header.size > 0) {
    store::RootPage& root = catalogue_->root();
    ++root.lost;
    root.removed_version_max = std::max(root.removed_version_max, header.version);
    report_.on_event({EventKind::kArraysLost, 0, header.version, Text(name)});
    catalogue_->kill(ref);
    return;
  }
  item->id = header.id;
  item->version = header.version;
  item->size = header.size;
  item->charge = header.charge;
  item->expires_ns = header.expires_ns;
  item->token = header.token;
  item->owner_uid = header.owner_uid;
  item->owner_gid = header.owner_gid;
  item->mode = header.mode;
  item->flags = header.flags;
  item->record = ref;
  std::shared_ptr<store::Holder>& holder = recovered_holders_[facts.maker_session()];
  if (holder == nullptr) {
    holder = std::make_shared<store::Holder>();
    *holder = {.session = facts.maker_session(),
               .pid = facts.maker_pid(),
               .uid = header.owner_uid,
               .language = std::string(wire::text(facts.maker_language())),
               .label = std::string(wire::text(facts.maker_label())),
               .alive = false};
  }
  item->holder = holder;
  if (item->memory.valid()) ++items_with_memory_;
  const store::Registry::Name* before = registry_.find_name(header.owner_uid, name);
  const bool newer = before == nullptr || header.version > before->last_version;
  if (header.state == store::RecordState::kRemoved || !newer) {
    header.state = store::RecordState::kRemoved;
    registry_.add_removed(std::move(item), header.owner_uid, name);
    return;
  }
  if (header.expires_ns != 0) expiries_.emplace(header.expires_ns, header.id);
  if ((header.flags & kItemWhileUsed) != 0) while_used_.insert(header.id);
  // A replaced version keeps its record until its viewers had time to come back.
  store::Item* old = before == nullptr ? nullptr : before->current;
  if (old != nullptr) {
    registry_.add_viewer(*old);
    catalogue_->header(old->record).state = store::RecordState::kRemoved;
  }
  registry_.add(std::move(item), header.owner_uid, name, clock_.monotonic_ns());
  if (old != nullptr) --old->viewers;
}

void Broker::start_names_file() {
  if (config_.names_path.empty()) return;
  Result<store::NamesFile> file =
      store::NamesFile::create(config_.names_path, catalogue_->root().epoch);
  Result<void> noted;
  if (file.ok()) {
    for (const auto& [key, name] : registry_.names()) {
      if (name.current == nullptr || !noted.ok()) continue;
      noted = file.value().add(name.current->id, key.owner_uid, name.current->version, key.name);
    }
  }
  if (file.ok() && noted.ok()) {
    names_file_ = std::move(file).value();
    names_file_->raise_version(catalogue_->root().removed_version_max);
    return;
  }
  const Error& error = file.ok() ? noted.error() : file.error();
  report_.on_event({EventKind::kDegraded, 0, 0,
                    Text::format("the list of names cannot be written (%s): after a crash of "
                                 "broker and keeper, lost arrays "
                                 "could not be named",
                                 error.message.c_str())});
}

std::string Broker::check_invariants() {
  store::MemoryUse expected;
  std::size_t current = 0;
  std::uint64_t with_memory = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> viewers;
  for (const auto& [id, session] : sessions_) {
    for (const auto& [item_id, count] : session->views)
      ++viewers[item_id];
    for (const auto& [draft, facts] : session->drafts)
      expected.drafts += facts.charge;
    expected.spare += session->holder->spare;
  }
  for (const auto& [id, item] : registry_.items()) {
    (item->current ? expected.published : expected.viewed) += item->charge;
    current += item->current ? 1U : 0U;
    with_memory += item->memory.valid() ? 1U : 0U;
    if (item->viewers != viewers[id])
      return "item " + item->key->name + " has a wrong number of viewers";
    if (!item->current && item->viewers == 0 && recovery_ends_ns_ == 0)
      return "item " + item->key->name + " should be gone";
    if (catalogue_->header(item->record).id != id)
      return "item " + item->key->name + " has a wrong record";
  }
  const store::MemoryUse& memory = registry_.memory();
  if (memory.published != expected.published || memory.drafts != expected.drafts ||
      memory.spare != expected.spare || memory.viewed != expected.viewed)
    return "the memory accounts are wrong";
  if (current != registry_.current_count()) return "the number of current items is wrong";
  if (with_memory != items_with_memory_) return "the number of items with memory is wrong";
  std::size_t waiting_gets = 0;
  std::size_t waiting_creates = 0;
  for (const auto& [id, session] : sessions_) {
    for (const auto& [request, key] : session->pending)
      ++(key ? waiting_gets : waiting_creates);
  }
  for (const auto& [key, gets] : pending_gets_)
    waiting_gets -= gets.size();
  if (waiting_gets != 0) return "a waiting get is in one list only";
  if (waiting_creates != pending_creates_.size()) return "a waiting create is in one list only";
  std::size_t records = 0;
  catalogue_->for_each([&](store::RecordRef, store::RecordHeader&) { ++records; });
  if (records != registry_.items().size())
    return "the catalogue has another number of records than there are items";
  return {};
}

}  // namespace warpool::broker
