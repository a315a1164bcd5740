// SPDX-License-Identifier: Apache-2.0
// Every bound of the system, each with its reason. Tests try each at the limit and one past it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpool {

/// For products and sums of sizes that may come from another program.
__extension__ typedef unsigned __int128 WideUint;

/// Bytes of an item that travel in the message. A memfd costs about 5 KiB of kernel memory and several system calls.
constexpr std::size_t kInlineBytesMax = 64 * 1024;
/// Largest message either way. SEQPACKET refuses messages beyond the socket buffer (208 KiB by default); a publish with
/// kInlineBytesMax, the largest attributes and kPartsMax parts stays below this.
constexpr std::size_t kMessageBytesMax = 160 * 1024;
/// All of an item but its contents (names, parts, attributes): with the contents of a small item, or behind a full page of a
/// listing, it still fits into a message.
constexpr std::size_t kDescriptionBytesMax = 80 * 1024;
/// NumPy 1.x has the same bound on dimensions.
constexpr std::uint32_t kRankMax = 32;
constexpr std::size_t kNameBytesMax = 255;
/// User name before ":" plus a name.
constexpr std::size_t kQualifiedNameBytesMax = kNameBytesMax + 65;
constexpr std::size_t kFieldNameBytesMax = 63;  // MATLAB's namelengthmax
constexpr std::uint32_t kPartsMax = 256;
constexpr std::size_t kPathBytesMax = 255;
constexpr std::size_t kAttributesBytesMax = 16 * 1024;
constexpr std::size_t kLabelBytesMax = 64;
constexpr std::size_t kLanguageBytesMax = 16;
constexpr std::size_t kRunBytesMax = 64;
constexpr std::size_t kPatternBytesMax = 255;
/// File descriptors in one message; ours carry one at most. The kernel's own limit is 253.
constexpr std::size_t kFdsPerMessageMax = 4;
/// A page of a listing stays below the message limit with entries of the largest size.
constexpr std::size_t kListPageBytes = 48 * 1024;
/// Replies with a file descriptor that a client has not read yet. Past about 1,000 unread ones the kernel refuses to
/// pass more for the whole user (ETOOMANYREFS), so one stalled reader must not get near.
constexpr std::uint32_t kUnreadFdRepliesMax = 8;
/// Unread messages queued in the broker for one session before it is closed: it has stopped reading.
constexpr std::size_t kQueuedBytesMax = 4 * 1024 * 1024;
/// Requests of one session that wait in the broker. A client has one per waiting thread.
constexpr std::uint32_t kPendingPerSessionMax = 1024;
constexpr std::uint32_t kWatchesPerSessionMax = 64;
constexpr std::uint32_t kDraftsPerSessionMax = 1024;
/// Events queued for one watch before they are replaced by one overflow event.
constexpr std::size_t kWatchQueueMax = 4096;
constexpr std::uint32_t kSessionsPerUserMax = 8192;
constexpr std::uint32_t kNamesPerUserMax = 1'000'000;
constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kPageBytes = 4096;
/// Largest size of one item. Beyond it offsets could overflow the arithmetic of strides.
constexpr std::uint64_t kItemBytesMax = std::uint64_t{1} << 46;
/// Versions of names that no longer exist are remembered, so that none is used twice; beyond this many the highest
/// forgotten version becomes the floor of all new names.
constexpr std::size_t kRememberedNamesMax = 100'000;

}  // namespace warpool
