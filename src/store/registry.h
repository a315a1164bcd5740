// SPDX-License-Identifier: Apache-2.0
// Which names exist, what they mean now, who views what, and what all of it costs. Pure: no I/O, no clock.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "os/fd.h"
#include "store/catalogue.h"

namespace warpool::store {

/// The program that memory is charged to. Shared by its session and its items, which may outlive the session.
struct Holder {
  std::uint64_t session = 0;
  std::int32_t pid = 0;
  std::uint32_t uid = 0;
  std::string language;
  std::string label;
  bool alive = true;
  std::uint64_t published = 0;  ///< bytes of its current items
  std::uint64_t drafts = 0;
  std::uint64_t spare = 0;
  std::uint64_t viewed = 0;  ///< bytes of its removed items that somebody still views
  [[nodiscard]] std::uint64_t total() const { return published + drafts + spare + viewed; }
};

/// A user and a name. Ordered, so that listings are sorted and can go on from a cursor.
struct NameKey {
  std::uint32_t owner_uid = 0;
  std::string name;
  friend auto operator<=>(const NameKey&, const NameKey&) = default;
};

struct Item {
  std::uint64_t id = 0;
  std::uint64_t version = 0;
  std::uint64_t size = 0;
  std::uint64_t charge = 0;
  std::int64_t expires_ns = 0;  ///< 0: never
  std::uint64_t token = 0;
  std::uint32_t owner_uid = 0;
  std::uint32_t owner_gid = 0;
  std::uint32_t mode = 0;
  std::uint32_t flags = 0;
  std::uint32_t viewers = 0;  ///< sessions
  bool current = true;        ///< false: removed or replaced, but viewed
  RecordRef record;
  os::Fd memory;  ///< invalid for small items, whose bytes are in the record
  std::shared_ptr<Holder> holder;
  const NameKey* key = nullptr;  ///< of its name entry, which lives as long as the item
};

struct MemoryUse {
  std::uint64_t published = 0;
  std::uint64_t drafts = 0;
  std::uint64_t spare = 0;
  std::uint64_t viewed = 0;
  [[nodiscard]] std::uint64_t total() const { return published + drafts + spare + viewed; }
};

/// Owned by the broker's thread.
class Registry {
 public:
  struct Name {
    Item* current = nullptr;
    std::uint64_t last_version = 0;
    std::uint32_t items = 0;  ///< current and viewed ones
    std::shared_ptr<Holder> last_maker;
    std::int64_t last_made_ns = 0;
  };
  using Names = std::map<NameKey, Name>;

  /// New names start above this version; set after a recovery that forgot removed names.
  void set_version_floor(std::uint64_t floor) { version_floor_ = floor; }
  /// The version that the next publish of this name gets.
  [[nodiscard]] std::uint64_t next_version(std::uint32_t owner_uid, std::string_view name) const;

  /// Makes `item` the current one of its name. The one before leaves as by remove. `item.version` must be greater than the last.
  struct Added {
    Item* item;
    Item* replaced;             ///< still viewed; nullptr when there was none or it is gone
    std::uint64_t replaced_id;  ///< 0: none
  };
  Added add(std::unique_ptr<Item> item, std::uint32_t owner_uid, std::string_view name,
            std::int64_t now_ns);
  /// A recovered item that is not current.
  Item* add_removed(std::unique_ptr<Item> item, std::uint32_t owner_uid, std::string_view name);

  /// After a recovery: of names without a current item, versions up to the floor may have been used.
  void forget_last_versions();

  enum class Gone : std::uint8_t { kYes, kStillViewed };
  /// The name no longer means this item. kYes: the item has been destroyed.
  Gone remove(Item& item);
  void add_viewer(Item& item) { ++item.viewers; }
  /// kYes: it was removed before and has now been destroyed.
  Gone drop_viewer(Item& item);

  [[nodiscard]] Item* find(std::uint64_t id) const;
  [[nodiscard]] Name* find_name(std::uint32_t owner_uid, std::string_view name);
  [[nodiscard]] const Names& names() const { return names_; }
  [[nodiscard]] const std::unordered_map<std::uint64_t, std::unique_ptr<Item>>& items() const {
    return items_;
  }
  [[nodiscard]] std::size_t current_count() const { return current_count_; }
  [[nodiscard]] std::uint32_t names_of(std::uint32_t owner_uid) const;

  /// Memory that is not (yet) an item.
  void charge_draft(Holder& holder, std::uint64_t bytes);
  void discharge_draft(Holder& holder, std::uint64_t bytes);
  void charge_spare(Holder& holder, std::uint64_t bytes);
  void discharge_spare(Holder& holder);
  [[nodiscard]] const MemoryUse& memory() const { return memory_; }

 private:
  void charge(Item& item);
  void discharge(Item& item);
  void destroy(Item& item);
  void remember(Names::iterator entry);

  std::unordered_map<std::uint64_t, std::unique_ptr<Item>> items_;
  Names names_;
  std::unordered_map<std::uint32_t, std::uint32_t> names_per_user_;
  std::deque<NameKey> removed_names_;  ///< oldest first; bounds what is remembered
  std::uint64_t version_floor_ = 0;
  std::size_t current_count_ = 0;
  MemoryUse memory_;
};

}  // namespace warpool::store
