// SPDX-License-Identifier: Apache-2.0
// What is published, written so that it survives a killed broker: records in memfd segments that the keeper holds too.
//
//   root     one page: epoch, id counter, highest version of a removed name, restarts
//   segment  4 MiB: | record | record | ... | zeros |
//   record   header, then the fb::Item (with the contents of small items)
//
// A record is committed by its magic, which is written last; its state is one word that changes in place. A process that is
// killed at any instruction thus leaves whole records only. Records are never moved while live, except by cleaning: the live
// half of a mostly dead segment is appended again and the segment dropped; a crash in between leaves two equal records, of which
// recovery takes one. docs/design/keeper.md has the reasoning.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/limits.h"
#include "os/memory.h"
#include "store/keeper_port.h"

namespace warpool::store {

enum class RecordState : std::uint32_t {
  kLive = 1,
  kRemoved = 2,  ///< removed or replaced, but still viewed by a program
  kDead = 3,
};

struct RecordHeader {
  std::uint32_t magic;
  RecordState state;
  std::uint32_t record_bytes;  ///< this header, the blob and padding
  std::uint32_t blob_bytes;
  std::uint64_t id;
  std::uint64_t version;
  std::uint64_t size;       ///< bytes of the item
  std::uint64_t charge;     ///< bytes of memory that it costs
  std::int64_t expires_ns;  ///< monotonic clock; 0: never
  std::uint64_t token;      ///< of the publish that made it; 0: none
  std::uint32_t owner_uid;
  std::uint32_t owner_gid;
  std::uint32_t mode;
  std::uint32_t flags;
};
static_assert(sizeof(RecordHeader) == 80);

constexpr std::uint32_t kRecordMagic = 0x57505243;  // "WPRC"
constexpr std::uint32_t kSegmentBytes = 4 * 1024 * 1024;
constexpr std::uint32_t kRecordAlignment = 16;

struct RootPage {
  std::uint64_t magic;
  std::uint64_t epoch;
  std::uint64_t next_item;  ///< lower half of the next id
  std::uint64_t next_segment;
  std::uint64_t removed_version_max;
  std::uint64_t restarts;
  std::uint64_t lost;
  std::uint64_t next_session;
  std::uint64_t
      keeper;  ///< process that holds everything; one that was replaced must start no broker. 0: none
};
static_assert(sizeof(RootPage) == 72);

struct RecordRef {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;
};

/// Owned by the broker's thread.
class Catalogue {
 public:
  /// A new, empty catalogue; its descriptors go to the keeper.
  static Result<std::unique_ptr<Catalogue>> create(KeeperPort& keeper, std::uint64_t epoch);
  /// Takes over what an earlier broker left with the keeper; descriptors of other kinds stay in `held`. An unusable root is an
  /// error; unusable records end their segment and are reported by recover's count. `keeper_pid`: who gave them back (0: do not
  /// ask); kConflict when another keeper has taken over since, and with it perhaps another broker.
  static Result<std::unique_ptr<Catalogue>> recover(KeeperPort& keeper, std::vector<HeldFd>& held,
                                                    std::uint64_t keeper_pid = 0);

  RootPage& root() { return *reinterpret_cast<RootPage*>(root_.data()); }
  Result<RecordRef> append(const RecordHeader& fields, std::span<const std::uint8_t> blob);
  [[nodiscard]] RecordHeader& header(RecordRef ref) const;
  [[nodiscard]] std::span<const std::uint8_t> blob(RecordRef ref) const;
  /// The record no longer counts; its segment may be dropped when nothing in it is live.
  void kill(RecordRef ref);

  using Visit = std::function<void(RecordRef, RecordHeader&)>;
  /// All records that are not dead, in no particular order.
  void for_each(const Visit& visit);

  /// Moves the live records of at most one mostly dead segment; `moved` learns each new place. Bounded work: half a segment.
  using Moved = std::function<void(std::uint64_t id, RecordRef to)>;
  void clean_step(const Moved& moved);

  [[nodiscard]] std::uint64_t memory_bytes() const;
  /// Hands every descriptor to a new keeper.
  void hold_all(KeeperPort& keeper);
  [[nodiscard]] std::size_t segments() const { return segments_.size(); }

 private:
  struct Segment {
    os::Fd fd;
    os::Mapping memory;
    std::uint32_t used = 0;
    std::uint32_t live = 0;
    std::uint32_t allocated = 0;  ///< bytes from the start that are known to have memory
  };

  explicit Catalogue(KeeperPort& keeper) : keeper_(&keeper) {}
  Result<void> add_segment();
  Result<void> adopt_segment(std::uint32_t number, os::Fd fd);
  void scan(Segment& segment);
  Result<Segment*> make_room(std::uint32_t bytes);
  void drop_segment(std::uint32_t number);

  KeeperPort* keeper_;
  os::Fd root_fd_;
  os::Mapping root_;
  std::unordered_map<std::uint32_t, Segment> segments_;
  std::uint32_t head_ = 0;  ///< number of the segment that is appended to; 0: none yet
};

/// One past the last whole record in `memory`; exposed for the fuzzer. Never reads outside, whatever the bytes are.
std::uint32_t scan_records(
    std::span<const std::byte> memory,
    const std::function<void(std::uint32_t offset, const RecordHeader&)>& visit);

}  // namespace warpool::store
