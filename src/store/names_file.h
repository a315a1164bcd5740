// SPDX-License-Identifier: Apache-2.0
// The list of published names in a file beside the socket. It serves one purpose: when broker and keeper die together, the next
// broker can say which arrays were lost, and never uses a version twice. It holds no data of arrays. Written through a mapping:
// publishing costs no system call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "os/memory.h"

namespace warpool::store {

struct LostName {
  std::uint32_t owner_uid = 0;
  std::uint64_t version = 0;
  std::string name;
};

/// Owned by the broker's thread.
class NamesFile {
 public:
  /// What an earlier broker left behind; empty for a missing file. Whatever the bytes are, this reads inside them only.
  struct Remains {
    std::uint64_t version_max = 0;
    std::uint64_t epoch = 0;
    std::vector<LostName> names;
  };
  static Remains read(const char* path);
  static Remains parse(std::span<const std::byte> bytes);

  /// Starts a new file; the old one is replaced when the new one is complete.
  static Result<NamesFile> create(std::string path, std::uint64_t epoch);

  /// Errors (disk full) leave the file usable and are reported once: names of lost arrays would then be missing.
  Result<void> add(std::uint64_t id, std::uint32_t owner_uid, std::uint64_t version,
                   std::string_view name);
  void remove(std::uint64_t id);
  /// Versions up to this one have been used.
  void raise_version(std::uint64_t version);
  /// Deletes the file: a clean end loses nothing unexpectedly.
  void discard();

 private:
  NamesFile() = default;
  Result<void> compact(std::uint64_t room);

  std::string path_;
  std::uint64_t epoch_ = 0;
  os::Fd fd_;
  os::Mapping memory_;
  std::uint64_t used_ = 0;
  std::uint64_t live_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  ///< id -> offset
};

}  // namespace warpool::store
