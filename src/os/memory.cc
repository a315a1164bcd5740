// SPDX-License-Identifier: Apache-2.0
#include "os/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "os/file.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U  // Linux 6.3
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace warpool::os {
namespace {

constexpr int kBirthSeals = F_SEAL_SHRINK | F_SEAL_GROW;

int memfd(const char* label, unsigned flags) {
  return static_cast<int>(::syscall(SYS_memfd_create, label, flags));
}

}  // namespace

std::uint64_t round_to_page(std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

Result<Fd> create_memfd(const char* label, std::uint64_t bytes) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  // Kernels before 6.3 do not know the flag that keeps shared memory from being executed.
  int raw = memfd(label, flags | MFD_NOEXEC_SEAL);
  if (raw < 0 && errno == EINVAL) raw = memfd(label, flags);
  if (raw < 0) {
    const Code code = errno == EMFILE || errno == ENFILE ? Code::kLimitReached : Code::kOutOfMemory;
    return Error::from_errno(code, errno, "create shared memory (memfd_create)");
  }
  Fd fd(raw);
  if (::ftruncate(raw, static_cast<off_t>(bytes)) != 0)
    return Error::from_errno(Code::kOutOfMemory, errno, "size shared memory (ftruncate)");
  if (::fcntl(raw, F_ADD_SEALS, kBirthSeals) != 0)
    return Error::from_errno(Code::kUnsupported, errno,
                             "seal the size of shared memory (F_ADD_SEALS)");
  return fd;
}

Result<void> allocate_pages(const Fd& fd, std::uint64_t bytes, std::uint64_t offset) {
  if (bytes == 0) return {};
  int status = 0;
  do {
    status = ::fallocate(fd.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (status != 0 && errno == EINTR);
  if (status != 0) {
    return Error::from_errno(
        Code::kOutOfMemory, errno,
        "reserve memory for an array (fallocate); free memory or raise the limit of the "
        "memory cgroup");
  }
  return {};
}

Result<SealOutcome> seal_writes(const Fd& fd) {
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE) == 0) return SealOutcome::kSealed;
  if (errno == EBUSY) return SealOutcome::kBusy;
  return Error::from_errno(Code::kInvalidArgument, errno, "seal shared memory (F_SEAL_WRITE)");
}

Result<MemfdFacts> inspect_memfd(const Fd& fd) {
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0) {
    return Error::from_errno(
        Code::kInvalidArgument, errno,
        "the file descriptor passed with the array is not sealable shared memory");
  }
  struct stat status {};
  if (::syscall(SYS_fstat, fd.get(), &status) != 0)
    return Error::from_errno(Code::kInvalidArgument, errno, "fstat shared memory");
  constexpr int kNeeded = F_SEAL_WRITE | kBirthSeals;
  return MemfdFacts{.size = static_cast<std::uint64_t>(status.st_size),
                    .allocated = static_cast<std::uint64_t>(status.st_blocks) * 512,
                    .sealed = (seals & kNeeded) == kNeeded};
}

Mapping::~Mapping() {
  if (address_ != nullptr) ::munmap(address_, bytes_);
}

Result<Mapping> map_memfd(const Fd& fd, std::uint64_t bytes, MapMode mode, Populate populate) {
  if (bytes == 0) return Mapping();
  const int protection = mode == MapMode::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  int flags = mode == MapMode::kWritableShared ? MAP_SHARED : MAP_PRIVATE;
  if (mode == MapMode::kWritablePrivate) flags |= MAP_NORESERVE;
  if (populate == Populate::kYes) flags |= MAP_POPULATE;
  void* address = ::mmap(nullptr, bytes, protection, flags, fd.get(), 0);
  if (address == MAP_FAILED)
    return Error::from_errno(Code::kOutOfMemory, errno, "map an array into memory (mmap)");
  return Mapping(address, bytes);
}

void populate_pages(const Mapping& mapping, std::uint64_t offset, std::uint64_t bytes) {
  (void)::madvise(mapping.data() + offset, bytes, MADV_POPULATE_WRITE);
}

void exclude_from_fork(const Mapping& mapping) {
  // A failure only means that sealing may later report kBusy, which is handled and counted.
  if (mapping.valid()) (void)::madvise(mapping.data(), mapping.size(), MADV_DONTFORK);
}

Result<void> make_private(const Mapping& mapping, const Fd& fd) {
  if (!mapping.valid()) return {};
  void* address = ::mmap(mapping.data(), mapping.size(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd.get(), 0);
  if (address == MAP_FAILED)
    return Error::from_errno(Code::kOutOfMemory, errno, "turn a draft's mapping private (mmap)");
  return {};
}

std::uint64_t private_bytes(const Mapping& mapping) {
  // One 64-bit word a page; bit 63: present, bit 61: still a page of the file (Linux: Documentation/admin-guide/mm/pagemap).
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
  constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
  constexpr std::size_t kWords = 512;
  const Result<Fd> pagemap = open_file("/proc/self/pagemap", Access::kRead);
  if (!pagemap.ok()) return 0;
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(mapping.data()) / 4096;
  const std::uint64_t pages = round_to_page(mapping.size()) / 4096;
  std::uint64_t changed = 0;
  std::uint64_t words[kWords];
  for (std::uint64_t done = 0; done < pages; done += kWords) {
    const std::uint64_t count = pages - done < kWords ? pages - done : kWords;
    if (!read_at(pagemap.value(), words, count * sizeof words[0], (first + done) * sizeof words[0])
             .ok())
      break;
    for (std::uint64_t i = 0; i < count; ++i) {
      if ((words[i] & kPresent) != 0 && (words[i] & kOfFile) == 0) changed += 4096;
    }
  }
  return changed;
}

std::uint64_t physical_memory() {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t bytes = pages * page_bytes;
  const Result<Text> limit = read_small_file("/sys/fs/cgroup/memory.max");
  if (limit.ok()) {
    const std::uint64_t cgroup = std::strtoull(limit.value().c_str(), nullptr, 10);
    if (cgroup > 0 && cgroup < bytes) bytes = cgroup;
  }
  return bytes;
}

}  // namespace warpool::os
