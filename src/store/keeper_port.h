// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "os/fd.h"

namespace warpool::store {

/// What the keeper holds: descriptors by slot, so that they outlive the broker. Calls return once the keeper's socket holds
/// the descriptor: from then on a killed broker loses nothing.
class KeeperPort {
 public:
  virtual ~KeeperPort() = default;
  virtual void hold(std::uint64_t slot, const os::Fd& fd) = 0;
  virtual void drop(std::uint64_t slot) = 0;
};

/// For brokers without a keeper (tests): nothing outlives them.
class NoKeeper final : public KeeperPort {
 public:
  void hold(std::uint64_t, const os::Fd&) override {}
  void drop(std::uint64_t) override {}
};

/// Slots: the kind in the upper bits, a number below. Items use their id, which has the top bit clear.
constexpr std::uint64_t kSlotKindShift = 56;
enum class SlotKind : std::uint8_t {
  kItem = 0,
  kRoot = 0xF1,
  kSegment = 0xF2,
  kListener = 0xF3,
  kLock = 0xF4,
  kNames = 0xF5
};
constexpr std::uint64_t make_slot(SlotKind kind, std::uint64_t number) {
  return static_cast<std::uint64_t>(kind) << kSlotKindShift | number;
}
constexpr SlotKind slot_kind(std::uint64_t slot) {
  const auto top = static_cast<std::uint8_t>(slot >> kSlotKindShift);
  return top >= 0xF0 ? static_cast<SlotKind>(top) : SlotKind::kItem;
}
constexpr std::uint64_t slot_number(std::uint64_t slot) {
  return slot & ((std::uint64_t{1} << kSlotKindShift) - 1);
}

/// One descriptor that came back from the keeper.
struct HeldFd {
  std::uint64_t slot = 0;
  os::Fd fd;
};

}  // namespace warpool::store
