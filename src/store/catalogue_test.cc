// SPDX-License-Identifier: Apache-2.0
#include "store/catalogue.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <map>
#include <string>

namespace warpool::store {
namespace {

class Keeper final : public KeeperPort {
 public:
  void hold(std::uint64_t slot, const os::Fd& fd) override {
    held_[slot] = std::move(fd.duplicate()).value();
  }
  void drop(std::uint64_t slot) override { held_.erase(slot); }
  [[nodiscard]] std::vector<HeldFd> replay() const {
    std::vector<HeldFd> held;
    for (const auto& [slot, fd] : held_)
      held.push_back({slot, std::move(fd.duplicate()).value()});
    return held;
  }
  [[nodiscard]] std::size_t size() const { return held_.size(); }

 private:
  std::map<std::uint64_t, os::Fd> held_;
};

RecordHeader header_of(std::uint64_t id) {
  RecordHeader header{};
  header.state = RecordState::kLive;
  header.id = id;
  header.version = id * 3;
  return header;
}

std::vector<std::uint8_t> blob_of(std::uint64_t id, std::size_t bytes) {
  std::vector<std::uint8_t> blob(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    blob[i] = static_cast<std::uint8_t>(id * 7 + i);
  return blob;
}

/// What the catalogue should hold: id -> (blob, state).
using Model = std::map<std::uint64_t, std::pair<std::vector<std::uint8_t>, RecordState>>;

void expect_equal(Catalogue& catalogue, const Model& model) {
  std::size_t records = 0;
  catalogue.for_each([&](RecordRef ref, RecordHeader& header) {
    ++records;
    const auto expected = model.find(header.id);
    RC_ASSERT(expected != model.end());
    RC_ASSERT(header.version == header.id * 3);
    RC_ASSERT(header.state == expected->second.second);
    const std::span<const std::uint8_t> blob = catalogue.blob(ref);
    RC_ASSERT(std::equal(blob.begin(), blob.end(), expected->second.first.begin(),
                         expected->second.first.end()));
  });
  RC_ASSERT(records == model.size());
}

/// Random histories of everything the broker does with it, with restarts in between.
RC_GTEST_PROP(Catalogue, EqualsASimpleModel, ()) {
  Keeper keeper;
  auto catalogue = std::move(Catalogue::create(keeper, 7)).value();
  Model model;
  std::map<std::uint64_t, RecordRef> places;
  std::uint64_t next = 1;
  std::uint64_t restarts = 0;
  const auto steps = *rc::gen::inRange(1, 250);
  for (int step = 0; step < steps; ++step) {
    const int what = *rc::gen::weightedElement<int>({{8, 0}, {6, 1}, {2, 2}, {2, 3}, {1, 4}});
    if (what == 0) {
      // Some large ones, so that segments fill up and are cleaned.
      const auto bytes = *rc::gen::element<std::size_t>(1, 15, 16, 17, 100, 70'000, 150'000);
      const std::vector<std::uint8_t> blob = blob_of(next, bytes);
      places[next] = catalogue->append(header_of(next), blob).value();
      model[next] = {blob, RecordState::kLive};
      ++next;
    } else if (what == 1 && !model.empty()) {
      auto victim = model.begin();
      std::advance(victim, *rc::gen::inRange<std::size_t>(0, model.size()));
      catalogue->kill(places[victim->first]);
      places.erase(victim->first);
      model.erase(victim);
    } else if (what == 2 && !model.empty()) {
      auto victim = model.begin();
      std::advance(victim, *rc::gen::inRange<std::size_t>(0, model.size()));
      catalogue->header(places[victim->first]).state = RecordState::kRemoved;
      victim->second.second = RecordState::kRemoved;
    } else if (what == 3) {
      catalogue->clean_step([&](std::uint64_t id, RecordRef to) { places[id] = to; });
    } else if (what == 4) {
      catalogue.reset();
      std::vector<HeldFd> held = keeper.replay();
      catalogue = std::move(Catalogue::recover(keeper, held)).value();
      RC_ASSERT(held.empty());
      ++restarts;
      places.clear();
      catalogue->for_each([&](RecordRef ref, RecordHeader& header) { places[header.id] = ref; });
    }
    RC_ASSERT(keeper.size() == catalogue->segments() + 1);
  }
  expect_equal(*catalogue, model);
  RC_ASSERT(catalogue->root().restarts == restarts);
  RC_ASSERT(catalogue->root().epoch == 7U);
}

TEST(Catalogue, LargestRecordFitsAndASegmentIsNeverOverfilled) {
  Keeper keeper;
  auto catalogue = std::move(Catalogue::create(keeper, 1)).value();
  const std::size_t most = kSegmentBytes - sizeof(RecordHeader);
  const RecordRef first = catalogue->append(header_of(1), blob_of(1, most)).value();
  EXPECT_EQ(catalogue->segments(), 1u);
  const RecordRef second = catalogue->append(header_of(2), blob_of(2, 1)).value();
  EXPECT_EQ(catalogue->segments(), 2u);
  EXPECT_NE(first.segment, second.segment);
  EXPECT_EQ(catalogue->blob(first).size(), most);
  catalogue->kill(first);
  EXPECT_EQ(catalogue->segments(), 1u) << "a dead segment goes back at once";
  EXPECT_DEATH((void)catalogue->append(header_of(3), blob_of(3, most + 1)), "internal error");
}

TEST(Catalogue, MemoryIsBoundedUnderChurn) {
  Keeper keeper;
  auto catalogue = std::move(Catalogue::create(keeper, 1)).value();
  std::map<std::uint64_t, RecordRef> places;
  for (std::uint64_t id = 1; id <= 20'000; ++id) {
    places[id] = catalogue->append(header_of(id), blob_of(id, 2000)).value();
    // One in a hundred stays, so that segments are mostly dead but never empty.
    if (id > 100 && (id - 100) % 100 != 0) {
      catalogue->kill(places[id - 100]);
      places.erase(id - 100);
    }
    catalogue->clean_step([&](std::uint64_t moved, RecordRef to) { places[moved] = to; });
  }
  const std::size_t live = places.size() * (2000 + 80);
  EXPECT_LT(catalogue->memory_bytes(), 2 * live + 2 * kSegmentBytes);
  for (const auto& [id, ref] : places)
    ASSERT_EQ(catalogue->header(ref).id, id);
}

TEST(Catalogue, ACrashWhileARecordIsWrittenLeavesWholeRecordsOnly) {
  Keeper keeper;
  auto catalogue = std::move(Catalogue::create(keeper, 1)).value();
  (void)catalogue->append(header_of(1), blob_of(1, 100));
  const RecordRef torn = catalogue->append(header_of(2), blob_of(2, 100)).value();
  catalogue->header(torn).magic = 0;  // the magic is written last
  catalogue.reset();
  std::vector<HeldFd> held = keeper.replay();
  catalogue = std::move(Catalogue::recover(keeper, held)).value();
  std::vector<std::uint64_t> ids;
  catalogue->for_each([&](RecordRef, RecordHeader& header) { ids.push_back(header.id); });
  EXPECT_EQ(ids, std::vector<std::uint64_t>{1});
}

TEST(Catalogue, WithoutAUsableRootNothingIsRecovered) {
  Keeper keeper;
  std::vector<HeldFd> held;
  EXPECT_EQ(Catalogue::recover(keeper, held).error().code, Code::kLost);
  auto catalogue = std::move(Catalogue::create(keeper, 1)).value();
  catalogue->root().magic = 0;
  held = keeper.replay();
  EXPECT_EQ(Catalogue::recover(keeper, held).error().code, Code::kLost);
}

TEST(Catalogue, OtherDescriptorsStayInTheList) {
  Keeper keeper;
  auto catalogue = std::move(Catalogue::create(keeper, 1)).value();
  keeper.hold(42, std::move(os::create_memfd("test", 4096)).value());
  std::vector<HeldFd> held = keeper.replay();
  ASSERT_TRUE(Catalogue::recover(keeper, held).ok());
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].slot, 42u);
  EXPECT_EQ(slot_kind(held[0].slot), SlotKind::kItem);
}

TEST(Catalogue, ANewKeeperGetsEverything) {
  Keeper first;
  auto catalogue = std::move(Catalogue::create(first, 1)).value();
  (void)catalogue->append(header_of(1), blob_of(1, 100));
  Keeper second;
  catalogue->hold_all(second);
  (void)catalogue->append(header_of(2), blob_of(2, 100));
  EXPECT_EQ(second.size(), 2u);
  std::vector<HeldFd> held = second.replay();
  const auto recovered = std::move(Catalogue::recover(second, held)).value();
  std::size_t records = 0;
  recovered->for_each([&](RecordRef, RecordHeader&) { ++records; });
  EXPECT_EQ(records, 2u);
}

RC_GTEST_PROP(ScanRecords, StaysInsideWhateverTheBytesAre, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(0, 400);
  // A buffer of exactly this size on the heap, so that a sanitizer knows its end.
  std::vector<std::byte> memory(size);
  for (std::byte& byte : memory)
    byte = static_cast<std::byte>(*rc::gen::arbitrary<std::uint8_t>());
  // Plausible headers at plausible places make the scan go on.
  for (std::size_t at = 0; at + sizeof(RecordHeader) <= size; at += sizeof(RecordHeader)) {
    if (*rc::gen::inRange(0, 4) == 0) continue;
    RecordHeader header = header_of(at);
    header.magic = kRecordMagic;
    header.record_bytes = *rc::gen::element<std::uint32_t>(80, 96, 80, 64, 81, 0, UINT32_MAX - 15);
    header.blob_bytes = *rc::gen::element<std::uint32_t>(0, 0, 16, 17, UINT32_MAX);
    std::memcpy(memory.data() + at, &header, sizeof header);
  }
  std::uint32_t expected = 0;
  const std::uint32_t end =
      scan_records(memory, [&](std::uint32_t offset, const RecordHeader& header) {
        RC_ASSERT(offset == expected);
        RC_ASSERT(offset + header.record_bytes <= size);
        RC_ASSERT(sizeof header + header.blob_bytes <= header.record_bytes);
        expected = offset + header.record_bytes;
      });
  RC_ASSERT(end == expected);
}

TEST(Slots, KindsAndNumbersComeBack) {
  for (const SlotKind kind :
       {SlotKind::kRoot, SlotKind::kSegment, SlotKind::kListener, SlotKind::kLock}) {
    EXPECT_EQ(slot_kind(make_slot(kind, 99)), kind);
    EXPECT_EQ(slot_number(make_slot(kind, 99)), 99u);
  }
  EXPECT_EQ(slot_kind(std::uint64_t{0xFFFFFFFF} << 32 >> 8), SlotKind::kItem);
}

}  // namespace
}  // namespace warpool::store
