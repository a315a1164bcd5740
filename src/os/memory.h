// SPDX-License-Identifier: Apache-2.0
// Memory that programs share: memfds, their seals, and mappings. docs/design/publish.md explains the protocol.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/fd.h"

namespace warpool::os {

/// Rounds up to whole pages; a mapping has no other sizes.
std::uint64_t round_to_page(std::uint64_t bytes);

/// A new memfd of `bytes`, all holes, that can neither shrink nor grow: nobody can make a reader fault by truncating it.
Result<Fd> create_memfd(const char* label, std::uint64_t bytes);

/// Gives every page of the range memory now, so that lack of memory is an error here and no SIGBUS later.
Result<void> allocate_pages(const Fd& fd, std::uint64_t bytes, std::uint64_t offset = 0);

enum class SealOutcome : std::uint8_t {
  kSealed,
  kBusy,  ///< a shared writable mapping exists somewhere or a page is pinned
};
/// Forbids all writes for ever. kBusy is an outcome, not an error: the caller then copies.
Result<SealOutcome> seal_writes(const Fd& fd);

/// What a received descriptor really is.
struct MemfdFacts {
  std::uint64_t size = 0;
  std::uint64_t allocated = 0;  ///< bytes of memory that it occupies
  bool sealed = false;          ///< write, shrink and grow are all forbidden
};
/// Fails with kInvalidArgument when the descriptor is not a memfd.
Result<MemfdFacts> inspect_memfd(const Fd& fd);

/// Owns one mapping.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* address, std::size_t bytes) : address_(address), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(address_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] bool valid() const { return address_ != nullptr; }
  /// Forgets the addresses without unmapping them.
  void release() { address_ = nullptr; }

 private:
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

enum class MapMode : std::uint8_t {
  kWritableShared,   ///< the writer of a draft
  kReadOnly,         ///< a reader; private, which on a sealed file shows the very same pages
  kWritablePrivate,  ///< copy on write
};
enum class Populate : std::uint8_t { kNo, kYes };
Result<Mapping> map_memfd(const Fd& fd, std::uint64_t bytes, MapMode mode,
                          Populate populate = Populate::kNo);

/// Brings the pages of a range of a shared writable mapping in at once, where each would cost a fault at its first write. Does
/// nothing on kernels before 5.14: the faults then come one by one.
void populate_pages(const Mapping& mapping, std::uint64_t offset, std::uint64_t bytes);

/// Keeps a mapping out of children: an inherited writable mapping would make sealing fail.
void exclude_from_fork(const Mapping& mapping);

/// Replaces a shared writable mapping by a private one over the same addresses and file: old views stay valid, later
/// writes through them stay in this process, and the file can be sealed.
Result<void> make_private(const Mapping& mapping, const Fd& fd);

/// Bytes of a private mapping that this process has changed since (whole pages).
std::uint64_t private_bytes(const Mapping& mapping);

/// Bytes of RAM of this machine, or of the memory cgroup where that is less.
std::uint64_t physical_memory();

}  // namespace warpool::os
