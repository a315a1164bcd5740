// SPDX-License-Identifier: Apache-2.0
#include "store/catalogue.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace warpool::store {
namespace {

constexpr std::uint64_t kRootMagic = 0x57504F4F4C303031;  // "WPOOL001"

std::uint32_t padded(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + kRecordAlignment - 1) / kRecordAlignment *
                                    kRecordAlignment);
}

bool is_whole(const RecordHeader& header, std::size_t room) {
  const bool state = header.state == RecordState::kLive || header.state == RecordState::kRemoved ||
                     header.state == RecordState::kDead;
  return header.magic == kRecordMagic && state && header.record_bytes <= room &&
         header.record_bytes % kRecordAlignment == 0 &&
         header.record_bytes >= sizeof(RecordHeader) &&
         header.blob_bytes <= header.record_bytes - sizeof(RecordHeader);
}

}  // namespace

std::uint32_t scan_records(std::span<const std::byte> memory,
                           const std::function<void(std::uint32_t, const RecordHeader&)>& visit) {
  std::uint32_t offset = 0;
  while (memory.size() - offset >= sizeof(RecordHeader)) {
    RecordHeader header;
    std::memcpy(&header, memory.data() + offset, sizeof header);
    if (!is_whole(header, memory.size() - offset)) break;
    visit(offset, header);
    offset += header.record_bytes;
  }
  return offset;
}

Result<std::unique_ptr<Catalogue>> Catalogue::create(KeeperPort& keeper, std::uint64_t epoch) {
  std::unique_ptr<Catalogue> catalogue(new Catalogue(keeper));
  WARPOOL_ASSIGN(catalogue->root_fd_, os::create_memfd("warpool-root", kPageBytes));
  WARPOOL_TRY(os::allocate_pages(catalogue->root_fd_, kPageBytes));
  WARPOOL_ASSIGN(catalogue->root_,
                 os::map_memfd(catalogue->root_fd_, kPageBytes, os::MapMode::kWritableShared));
  catalogue->root() = {.magic = kRootMagic,
                       .epoch = epoch,
                       .next_item = 1,
                       .next_segment = 1,
                       .removed_version_max = 0,
                       .restarts = 0,
                       .lost = 0,
                       .next_session = 1,
                       .keeper = 0};
  keeper.hold(make_slot(SlotKind::kRoot, 0), catalogue->root_fd_);
  return catalogue;
}

Result<std::unique_ptr<Catalogue>> Catalogue::recover(KeeperPort& keeper, std::vector<HeldFd>& held,
                                                      std::uint64_t keeper_pid) {
  std::unique_ptr<Catalogue> catalogue(new Catalogue(keeper));
  std::vector<HeldFd> others;
  for (HeldFd& one : held) {
    const SlotKind kind = slot_kind(one.slot);
    if (kind == SlotKind::kRoot) {
      catalogue->root_fd_ = std::move(one.fd);
    } else if (kind == SlotKind::kSegment) {
      WARPOOL_TRY(catalogue->adopt_segment(static_cast<std::uint32_t>(slot_number(one.slot)),
                                           std::move(one.fd)));
    } else {
      others.push_back(std::move(one));
    }
  }
  if (!catalogue->root_fd_.valid())
    return Error::format(Code::kLost, "the keeper holds no catalogue");
  WARPOOL_ASSIGN(catalogue->root_,
                 os::map_memfd(catalogue->root_fd_, kPageBytes, os::MapMode::kWritableShared));
  if (catalogue->root().magic != kRootMagic)
    return Error::format(Code::kLost, "the catalogue is of another version");
  const std::uint64_t holder = catalogue->root().keeper;
  if (keeper_pid != 0 && holder != 0 && holder != keeper_pid)
    return Error::format(
        Code::kConflict, "keeper %llu was replaced by keeper %llu while it did not answer",
        static_cast<unsigned long long>(keeper_pid), static_cast<unsigned long long>(holder));
  ++catalogue->root().restarts;
  held = std::move(others);
  return catalogue;
}

Result<void> Catalogue::adopt_segment(std::uint32_t number, os::Fd fd) {
  Segment segment;
  WARPOOL_ASSIGN(segment.memory, os::map_memfd(fd, kSegmentBytes, os::MapMode::kWritableShared));
  segment.fd = std::move(fd);
  scan(segment);
  segments_[number] = std::move(segment);
  return {};
}

void Catalogue::scan(Segment& segment) {
  segment.used = scan_records({segment.memory.data(), segment.memory.size()},
                              [&](std::uint32_t, const RecordHeader& header) {
                                if (header.state != RecordState::kDead)
                                  segment.live += header.record_bytes;
                              });
}

Result<void> Catalogue::add_segment() {
  const auto number = static_cast<std::uint32_t>(root().next_segment++);
  Segment segment;
  WARPOOL_ASSIGN(segment.fd, os::create_memfd("warpool-catalogue", kSegmentBytes));
  WARPOOL_ASSIGN(segment.memory,
                 os::map_memfd(segment.fd, kSegmentBytes, os::MapMode::kWritableShared));
  keeper_->hold(make_slot(SlotKind::kSegment, number), segment.fd);
  segments_[number] = std::move(segment);
  head_ = number;
  return {};
}

Result<Catalogue::Segment*> Catalogue::make_room(std::uint32_t bytes) {
  // In steps, so that one system call serves many small records.
  constexpr std::uint32_t kStep = 256 * 1024;
  if (head_ == 0 || segments_[head_].used + bytes > kSegmentBytes) WARPOOL_TRY(add_segment());
  Segment& segment = segments_[head_];
  const std::uint32_t end = segment.used + bytes;
  if (end > segment.allocated) {
    const std::uint32_t wanted = std::min(kSegmentBytes, (end + kStep - 1) / kStep * kStep);
    WARPOOL_TRY(os::allocate_pages(segment.fd, wanted - segment.allocated, segment.allocated));
    os::populate_pages(segment.memory, segment.allocated, wanted - segment.allocated);
    segment.allocated = wanted;
  }
  return &segment;
}

Result<RecordRef> Catalogue::append(const RecordHeader& fields,
                                    std::span<const std::uint8_t> blob) {
  const std::uint32_t bytes = padded(sizeof(RecordHeader) + blob.size());
  CHECK(bytes <= kSegmentBytes);
  WARPOOL_ASSIGN(Segment* const room, make_room(bytes));
  Segment& segment = *room;
  std::byte* place = segment.memory.data() + segment.used;
  RecordHeader header = fields;
  header.magic = 0;
  header.record_bytes = bytes;
  header.blob_bytes = static_cast<std::uint32_t>(blob.size());
  std::memcpy(place, &header, sizeof header);
  std::memcpy(place + sizeof header, blob.data(), blob.size());
  std::atomic_ref<std::uint32_t>(reinterpret_cast<RecordHeader*>(place)->magic)
      .store(kRecordMagic, std::memory_order_release);
  const RecordRef ref{head_, segment.used};
  segment.used += bytes;
  segment.live += bytes;
  return ref;
}

RecordHeader& Catalogue::header(RecordRef ref) const {
  const auto found = segments_.find(ref.segment);
  CHECK(found != segments_.end() && ref.offset < found->second.used);
  return *reinterpret_cast<RecordHeader*>(found->second.memory.data() + ref.offset);
}

std::span<const std::uint8_t> Catalogue::blob(RecordRef ref) const {
  const RecordHeader& record = header(ref);
  return {reinterpret_cast<const std::uint8_t*>(&record) + sizeof(RecordHeader), record.blob_bytes};
}

void Catalogue::kill(RecordRef ref) {
  RecordHeader& record = header(ref);
  record.state = RecordState::kDead;
  Segment& segment = segments_[ref.segment];
  segment.live -= record.record_bytes;
  if (segment.live == 0 && ref.segment != head_) drop_segment(ref.segment);
}

void Catalogue::drop_segment(std::uint32_t number) {
  segments_.erase(number);
  keeper_->drop(make_slot(SlotKind::kSegment, number));
}

void Catalogue::for_each(const Visit& visit) {
  for (auto& [number, segment] : segments_) {
    for (std::uint32_t offset = 0; offset < segment.used;) {
      auto& record = *reinterpret_cast<RecordHeader*>(segment.memory.data() + offset);
      const std::uint32_t bytes = record.record_bytes;
      if (record.state != RecordState::kDead) visit({number, offset}, record);
      offset += bytes;
    }
  }
}

void Catalogue::clean_step(const Moved& moved) {
  std::uint32_t worst = 0;
  for (const auto& [number, segment] : segments_) {
    if (number != head_ && segment.live < kSegmentBytes / 2 &&
        (worst == 0 || segment.live < segments_[worst].live))
      worst = number;
  }
  if (worst == 0) return;
  const std::uint32_t end = segments_[worst].used;
  for (std::uint32_t offset = 0; offset < end;) {
    RecordHeader& record = header({worst, offset});
    const std::uint32_t bytes = record.record_bytes;
    if (record.state != RecordState::kDead) {
      const Result<RecordRef> to = append(record, blob({worst, offset}));
      if (!to.ok()) return;  // no memory: the segment stays as it is and is tried again later
      moved(record.id, to.value());
      record.state = RecordState::kDead;
      segments_[worst].live -= bytes;
    }
    offset += bytes;
  }
  drop_segment(worst);
}

std::uint64_t Catalogue::memory_bytes() const {
  std::uint64_t bytes = kPageBytes;
  for (const auto& [number, segment] : segments_)
    bytes += os::round_to_page(std::max(segment.used, segment.allocated));
  return bytes;
}

void Catalogue::hold_all(KeeperPort& keeper) {
  keeper_ = &keeper;
  keeper.hold(make_slot(SlotKind::kRoot, 0), root_fd_);
  for (const auto& [number, segment] : segments_)
    keeper.hold(make_slot(SlotKind::kSegment, number), segment.fd);
}

}  // namespace warpool::store
