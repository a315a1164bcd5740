// SPDX-License-Identifier: Apache-2.0
#include "store/names_file.h"

#include <algorithm>
#include <cstring>

#include "base/limits.h"
#include "os/file.h"

namespace warpool::store {
namespace {

constexpr std::uint64_t kMagic = 0x57504E414D455331;  // "WPNAMES1"
constexpr std::uint64_t kFirstBytes = 64 * 1024;

struct FileHeader {
  std::uint64_t magic;
  std::uint64_t epoch;
  std::uint64_t version_max;
  std::uint64_t reserved;
};
static_assert(sizeof(FileHeader) == 32);

enum class State : std::uint32_t { kEmpty = 0, kLive = 0x4C495645, kDead = 0x44454144 };

struct Entry {
  State state;  ///< written last
  std::uint32_t bytes;
  std::uint32_t owner_uid;
  std::uint32_t name_bytes;
  std::uint64_t version;
};
static_assert(sizeof(Entry) == 24);

std::uint32_t entry_bytes(std::size_t name_bytes) {
  return static_cast<std::uint32_t>((sizeof(Entry) + name_bytes + 7) / 8 * 8);
}

}  // namespace

namespace {

/// Only a list of an earlier broker (or what a full disk left of one) may be replaced, never somebody's file.
bool may_replace(const char* path) {
  if (!os::file_exists(path)) return true;
  const Result<os::Fd> fd = os::open_file(path, os::Access::kRead);
  const Result<std::uint64_t> size =
      fd.ok() ? os::file_size(fd.value()) : Result<std::uint64_t>(fd.error());
  if (!size.ok()) return false;
  std::uint64_t magic = 0;
  if (size.value() < sizeof magic) return size.value() == 0;
  return os::read_at(fd.value(), &magic, sizeof magic, 0).ok() && (magic == kMagic || magic == 0);
}

}  // namespace

NamesFile::Remains NamesFile::parse(std::span<const std::byte> bytes) {
  Remains remains;
  FileHeader header;
  if (bytes.size() < sizeof header) return remains;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) return remains;
  remains.version_max = header.version_max;
  remains.epoch = header.epoch;
  std::size_t at = sizeof header;
  while (bytes.size() - at >= sizeof(Entry)) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.name_bytes > kNameBytesMax || entry.bytes != entry_bytes(entry.name_bytes) ||
        entry.bytes > bytes.size() - at)
      break;
    if (entry.state == State::kLive) {
      remains.names.push_back(
          {entry.owner_uid, entry.version,
           std::string(reinterpret_cast<const char*>(bytes.data()) + at + sizeof entry,
                       entry.name_bytes)});
    } else if (entry.state != State::kDead) {
      break;
    }
    at += entry.bytes;
  }
  return remains;
}

NamesFile::Remains NamesFile::read(const char* path) {
  const Result<os::Fd> fd = os::open_file(path, os::Access::kRead);
  if (!fd.ok()) return {};
  const Result<std::uint64_t> size = os::file_size(fd.value());
  if (!size.ok()) return {};
  std::vector<std::byte> bytes(size.value());
  if (!os::read_at(fd.value(), bytes.data(), bytes.size(), 0).ok()) return {};
  return parse(bytes);
}

Result<NamesFile> NamesFile::create(std::string path, std::uint64_t epoch) {
  if (!may_replace(path.c_str()))
    return Error::format(Code::kConflict, "%s exists and is not a list of names", path.c_str());
  NamesFile file;
  file.path_ = std::move(path);
  file.epoch_ = epoch;
  WARPOOL_TRY(file.compact(0));
  return file;
}

/// Writes the live entries to a new file with `room` more bytes free, and swaps it in.
Result<void> NamesFile::compact(std::uint64_t room) {
  const std::string fresh = path_ + ".new";
  const std::uint64_t bytes = std::max(kFirstBytes, (live_ + room) * 2 + sizeof(FileHeader));
  WARPOOL_ASSIGN(os::Fd fd, os::open_file(fresh.c_str(), os::Access::kCreateOrTruncate));
  WARPOOL_TRY(os::set_file_size(fd, bytes));
  WARPOOL_ASSIGN(os::Mapping memory, os::map_memfd(fd, bytes, os::MapMode::kWritableShared));
  FileHeader header{kMagic, epoch_, 0, 0};
  if (memory_.valid())
    header.version_max = reinterpret_cast<const FileHeader*>(memory_.data())->version_max;
  std::memcpy(memory.data(), &header, sizeof header);
  std::uint64_t used = sizeof header;
  std::unordered_map<std::uint64_t, std::uint64_t> places;
  for (const auto& [id, offset] : places_) {
    const auto* entry = reinterpret_cast<const Entry*>(memory_.data() + offset);
    std::memcpy(memory.data() + used, entry, entry->bytes);
    places[id] = used;
    used += entry->bytes;
  }
  WARPOOL_TRY(os::rename_file(fresh.c_str(), path_.c_str()));
  fd_ = std::move(fd);
  memory_ = std::move(memory);
  used_ = used;
  places_ = std::move(places);
  return {};
}

Result<void> NamesFile::add(std::uint64_t id, std::uint32_t owner_uid, std::uint64_t version,
                            std::string_view name) {
  const std::uint32_t bytes = entry_bytes(name.size());
  // Room for the entry and for the zeros that end the list.
  if (used_ + bytes + sizeof(Entry) > memory_.size()) WARPOOL_TRY(compact(bytes));
  auto* header = reinterpret_cast<FileHeader*>(memory_.data());
  header->version_max = std::max(header->version_max, version);
  std::byte* place = memory_.data() + used_;
  Entry entry{State::kEmpty, bytes, owner_uid, static_cast<std::uint32_t>(name.size()), version};
  std::memcpy(place, &entry, sizeof entry);
  std::memcpy(place + sizeof entry, name.data(), name.size());
  reinterpret_cast<Entry*>(place)->state = State::kLive;
  places_[id] = used_;
  used_ += bytes;
  live_ += bytes;
  return {};
}

void NamesFile::raise_version(std::uint64_t version) {
  auto* header = reinterpret_cast<FileHeader*>(memory_.data());
  header->version_max = std::max(header->version_max, version);
}

void NamesFile::remove(std::uint64_t id) {
  const auto found = places_.find(id);
  if (found == places_.end()) return;
  auto* entry = reinterpret_cast<Entry*>(memory_.data() + found->second);
  entry->state = State::kDead;
  live_ -= entry->bytes;
  places_.erase(found);
}

void NamesFile::discard() {
  if (!path_.empty()) os::remove_file(path_.c_str());
  places_.clear();
}

}  // namespace warpool::store
