// SPDX-License-Identifier: Apache-2.0
// Messages between broker and keeper, both ours, over a socket pair: fixed 16 bytes, host byte order, one descriptor at most.
#pragma once

#include <cstdint>

namespace warpool::wire {

enum class KeeperOp : std::uint32_t {
  kHold = 1,    ///< broker: keep this descriptor under this slot (replaces)
  kDrop = 2,    ///< broker: close that slot
  kReplay = 3,  ///< broker: send me everything
  kItem = 4,    ///< keeper: one slot with its descriptor
  kEnd = 5,     ///< keeper: that was all
  kExit = 6,    ///< broker: a clean end; do not start me again
};

struct KeeperMessage {
  KeeperOp op;
  std::uint32_t reserved;
  std::uint64_t slot;
};
static_assert(sizeof(KeeperMessage) == 16);

/// Exit status of a broker that must not be started again: the reason will not go away by itself.
constexpr int kExitUsage = 2;
constexpr int kExitAlreadyRunning = 75;
constexpr int kExitCannotStart = 78;

/// Number that the broker's end of the socket pair has in a broker that the keeper starts, and the keeper's end in a keeper
/// that the broker starts.
constexpr int kInheritedSocket = 3;

}  // namespace warpool::wire
