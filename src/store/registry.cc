// SPDX-License-Identifier: Apache-2.0
#include "store/registry.h"

#include <algorithm>

namespace warpool::store {

std::uint64_t Registry::next_version(std::uint32_t owner_uid, std::string_view name) const {
  const auto found = names_.find(NameKey{owner_uid, std::string(name)});
  return (found == names_.end() ? version_floor_ : found->second.last_version) + 1;
}

Registry::Name* Registry::find_name(std::uint32_t owner_uid, std::string_view name) {
  const auto found = names_.find(NameKey{owner_uid, std::string(name)});
  return found == names_.end() ? nullptr : &found->second;
}

Item* Registry::find(std::uint64_t id) const {
  const auto found = items_.find(id);
  return found == items_.end() ? nullptr : found->second.get();
}

std::uint32_t Registry::names_of(std::uint32_t owner_uid) const {
  const auto found = names_per_user_.find(owner_uid);
  return found == names_per_user_.end() ? 0 : found->second;
}

void Registry::charge(Item& item) {
  const std::uint64_t bytes = item.charge;
  (item.current ? memory_.published : memory_.viewed) += bytes;
  (item.current ? item.holder->published : item.holder->viewed) += bytes;
}

void Registry::discharge(Item& item) {
  const std::uint64_t bytes = item.charge;
  (item.current ? memory_.published : memory_.viewed) -= bytes;
  (item.current ? item.holder->published : item.holder->viewed) -= bytes;
}

Registry::Added Registry::add(std::unique_ptr<Item> owned, std::uint32_t owner_uid,
                              std::string_view name, std::int64_t now_ns) {
  const auto [entry, fresh] = names_.try_emplace(NameKey{owner_uid, std::string(name)});
  Name& state = entry->second;
  CHECK(owned->version > state.last_version);
  Added added{owned.get(), nullptr, 0};
  Item* const before = state.current;
  Item& item = *owned;
  item.current = true;
  item.owner_uid = owner_uid;
  item.key = &entry->first;
  state.current = &item;
  state.last_version = item.version;
  state.last_maker = item.holder;
  state.last_made_ns = now_ns;
  ++state.items;
  ++current_count_;
  if (before == nullptr) ++names_per_user_[owner_uid];
  charge(item);
  items_.emplace(item.id, std::move(owned));
  if (before != nullptr) {
    added.replaced_id = before->id;
    discharge(*before);
    before->current = false;
    --current_count_;
    if (before->viewers > 0) {
      charge(*before);
      added.replaced = before;
    } else {
      destroy(*before);
    }
  }
  return added;
}

Item* Registry::add_removed(std::unique_ptr<Item> owned, std::uint32_t owner_uid,
                            std::string_view name) {
  const auto [entry, fresh] = names_.try_emplace(NameKey{owner_uid, std::string(name)});
  Item& item = *owned;
  item.current = false;
  item.owner_uid = owner_uid;
  item.key = &entry->first;
  entry->second.last_version = std::max(entry->second.last_version, item.version);
  ++entry->second.items;
  charge(item);
  items_.emplace(item.id, std::move(owned));
  return &item;
}

void Registry::forget_last_versions() {
  for (auto& [key, name] : names_) {
    if (name.current == nullptr) name.last_version = std::max(name.last_version, version_floor_);
  }
}

Registry::Gone Registry::remove(Item& item) {
  CHECK(item.current);
  const auto entry = names_.find(*item.key);
  CHECK(entry != names_.end() && entry->second.current == &item);
  discharge(item);
  item.current = false;
  entry->second.current = nullptr;
  --current_count_;
  const std::uint32_t owner_uid = item.owner_uid;
  if (--names_per_user_[owner_uid] == 0) names_per_user_.erase(owner_uid);
  if (item.viewers > 0) {
    charge(item);
    return Gone::kStillViewed;
  }
  destroy(item);
  return Gone::kYes;
}

Registry::Gone Registry::drop_viewer(Item& item) {
  CHECK(item.viewers > 0);
  if (--item.viewers > 0 || item.current) return Gone::kStillViewed;
  discharge(item);
  destroy(item);
  return Gone::kYes;
}

void Registry::destroy(Item& item) {
  const auto entry = names_.find(*item.key);
  CHECK(entry != names_.end());
  items_.erase(item.id);
  if (--entry->second.items == 0) remember(entry);
}

/// Keeps the last version of a name without items, and forgets the oldest such name beyond the bound.
void Registry::remember(Names::iterator entry) {
  removed_names_.push_back(entry->first);
  while (removed_names_.size() > kRememberedNamesMax) {
    const auto oldest = names_.find(removed_names_.front());
    removed_names_.pop_front();
    if (oldest == names_.end() || oldest->second.items > 0) continue;
    version_floor_ = std::max(version_floor_, oldest->second.last_version);
    names_.erase(oldest);
  }
}

void Registry::charge_draft(Holder& holder, std::uint64_t bytes) {
  memory_.drafts += bytes;
  holder.drafts += bytes;
}

void Registry::discharge_draft(Holder& holder, std::uint64_t bytes) {
  memory_.drafts -= bytes;
  holder.drafts -= bytes;
}

void Registry::charge_spare(Holder& holder, std::uint64_t bytes) {
  memory_.spare += bytes;
  holder.spare += bytes;
}

void Registry::discharge_spare(Holder& holder) {
  memory_.spare -= holder.spare;
  holder.spare = 0;
}

}  // namespace warpool::store
