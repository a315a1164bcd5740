// SPDX-License-Identifier: Apache-2.0
#include "store/registry.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

namespace warpool::store {
namespace {

std::unique_ptr<Item> item_of(std::uint64_t id, std::uint64_t version, std::uint64_t charge,
                              std::shared_ptr<Holder> holder) {
  auto item = std::make_unique<Item>();
  item->id = id;
  item->version = version;
  item->charge = charge;
  item->holder = std::move(holder);
  return item;
}

/// The plainest thing that means the same.
struct Model {
  struct Entry {
    NameKey key;
    std::uint64_t version, charge;
    std::uint32_t viewers = 0;
    bool current = true;
    std::size_t holder;
  };
  std::map<std::uint64_t, Entry> items;
  std::map<NameKey, std::set<std::uint64_t>> used_versions;

  [[nodiscard]] std::uint64_t current_of(const NameKey& key) const {
    for (const auto& [id, entry] : items)
      if (entry.current && entry.key == key) return id;
    return 0;
  }
  void leave(std::uint64_t id) {
    items.at(id).current = false;
    if (items.at(id).viewers == 0) items.erase(id);
  }
};

void expect_equal(Registry& registry, const Model& model,
                  const std::vector<std::shared_ptr<Holder>>& holders) {
  MemoryUse use;
  std::vector<std::uint64_t> published(holders.size());
  std::vector<std::uint64_t> viewed(holders.size());
  std::map<std::uint32_t, std::uint32_t> names;
  std::size_t current = 0;
  for (const auto& [id, entry] : model.items) {
    const Item* item = registry.find(id);
    RC_ASSERT(item != nullptr);
    RC_ASSERT(item->viewers == entry.viewers);
    RC_ASSERT(item->current == entry.current);
    RC_ASSERT(*item->key == entry.key);
    (entry.current ? use.published : use.viewed) += entry.charge;
    (entry.current ? published : viewed)[entry.holder] += entry.charge;
    if (!entry.current) continue;
    ++current;
    ++names[entry.key.owner_uid];
    RC_ASSERT(registry.find_name(entry.key.owner_uid, entry.key.name)->current == item);
  }
  RC_ASSERT(registry.items().size() == model.items.size());
  RC_ASSERT(registry.current_count() == current);
  RC_ASSERT(registry.memory().published == use.published);
  RC_ASSERT(registry.memory().viewed == use.viewed);
  for (std::uint32_t uid = 0; uid < 3; ++uid)
    RC_ASSERT(registry.names_of(uid) == names[uid]);
  for (std::size_t i = 0; i < holders.size(); ++i) {
    RC_ASSERT(holders[i]->published == published[i]);
    RC_ASSERT(holders[i]->viewed == viewed[i]);
  }
}

RC_GTEST_PROP(Registry, EqualsASimpleModel, ()) {
  Registry registry;
  Model model;
  std::vector<std::shared_ptr<Holder>> holders;
  for (int i = 0; i < 3; ++i)
    holders.push_back(std::make_shared<Holder>());
  std::uint64_t next_id = 1;
  const auto steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    const NameKey key{*rc::gen::inRange<std::uint32_t>(0, 3),
                      *rc::gen::element<std::string>("a", "b", "c/d")};
    const int what = *rc::gen::inRange(0, 5);
    const std::uint64_t current = model.current_of(key);
    if (what <= 1) {
      const std::uint64_t version = registry.next_version(key.owner_uid, key.name);
      RC_ASSERT(model.used_versions[key].insert(version).second);
      const auto holder = *rc::gen::inRange<std::size_t>(0, 3);
      const auto charge = *rc::gen::inRange<std::uint64_t>(0, 10'000);
      const Registry::Added added = registry.add(item_of(next_id, version, charge, holders[holder]),
                                                 key.owner_uid, key.name, step);
      RC_ASSERT(added.replaced_id == current);
      if (current != 0) {
        RC_ASSERT((added.replaced != nullptr) == (model.items.at(current).viewers > 0));
        model.leave(current);
      }
      model.items.emplace(next_id, Model::Entry{key, version, charge, 0, true, holder});
      ++next_id;
    } else if (what == 2 && current != 0) {
      const bool viewed = model.items.at(current).viewers > 0;
      const Registry::Gone gone = registry.remove(*registry.find(current));
      RC_ASSERT((gone == Registry::Gone::kStillViewed) == viewed);
      model.leave(current);
    } else if (what == 3 && current != 0) {
      registry.add_viewer(*registry.find(current));
      ++model.items.at(current).viewers;
    } else if (what == 4 && !model.items.empty()) {
      auto entry = model.items.begin();
      std::advance(entry, *rc::gen::inRange<std::size_t>(0, model.items.size()));
      if (entry->second.viewers == 0) continue;
      const bool last = --entry->second.viewers == 0 && !entry->second.current;
      const Registry::Gone gone = registry.drop_viewer(*registry.find(entry->first));
      RC_ASSERT((gone == Registry::Gone::kYes) == last);
      if (last) model.items.erase(entry);
    }
    expect_equal(registry, model, holders);
  }
}

TEST(Registry, VersionsAreNeverUsedTwiceEvenWhenNamesAreForgotten) {
  Registry registry;
  const auto holder = std::make_shared<Holder>();
  std::uint64_t next_id = 1;
  const auto publish_and_remove = [&](const std::string& name) {
    const std::uint64_t version = registry.next_version(5, name);
    registry.add(item_of(next_id, version, 1, holder), 5, name, 0);
    registry.remove(*registry.find(next_id));
    ++next_id;
    return version;
  };
  for (int i = 1; i <= 7; ++i)
    ASSERT_EQ(publish_and_remove("old"), static_cast<std::uint64_t>(i));
  EXPECT_NE(registry.find_name(5, "old"), nullptr);
  // Six entries of "old" are in the list already; the name itself is forgotten with its last one at the latest.
  for (std::size_t i = 0; i < kRememberedNamesMax; ++i)
    publish_and_remove("n" + std::to_string(i));
  EXPECT_EQ(registry.find_name(5, "old"), nullptr) << "the memory of removed names has a bound";
  EXPECT_LE(registry.names().size(), kRememberedNamesMax);
  EXPECT_EQ(publish_and_remove("old"), 8u);
  EXPECT_GT(publish_and_remove("new"), 7u) << "a new name could be a forgotten one";
}

TEST(Registry, AFloorLiftsNewNames) {
  Registry registry;
  registry.set_version_floor(41);
  EXPECT_EQ(registry.next_version(1, "a"), 42u);
  registry.add(item_of(1, 42, 1, std::make_shared<Holder>()), 1, "a", 0);
  EXPECT_EQ(registry.next_version(1, "a"), 43u);
}

TEST(Registry, MisuseIsABug) {
  Registry registry;
  const auto holder = std::make_shared<Holder>();
  registry.add(item_of(1, 5, 1, holder), 1, "a", 0);
  EXPECT_DEATH(registry.add(item_of(2, 5, 1, holder), 1, "a", 0), "internal error");
  EXPECT_DEATH((void)registry.drop_viewer(*registry.find(1)), "internal error");
}

TEST(Registry, DraftsAndSparesAreCharged) {
  Registry registry;
  Holder holder;
  registry.charge_draft(holder, 100);
  registry.charge_spare(holder, 50);
  EXPECT_EQ(registry.memory().total(), 150u);
  EXPECT_EQ(holder.total(), 150u);
  registry.discharge_draft(holder, 100);
  registry.discharge_spare(holder);
  EXPECT_EQ(registry.memory().total(), 0u);
  EXPECT_EQ(holder.total(), 0u);
}

}  // namespace
}  // namespace warpool::store
