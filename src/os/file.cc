// SPDX-License-Identifier: Apache-2.0
#include "os/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "os/clock.h"

namespace warpool::os {
namespace {

Error file_error(const char* verb, const char* path) {
  const int reason = errno;
  const Code code = reason == ENOENT                      ? Code::kNotFound
                    : reason == EACCES || reason == EPERM ? Code::kPermissionDenied
                                                          : Code::kIoError;
  char what[512];
  std::snprintf(what, sizeof what, "%s %s", verb, path);
  return Error::from_errno(code, reason, what);
}

bool stat_path(const char* path, bool follow, struct statx* out) {
  return ::statx(AT_FDCWD, path, follow ? 0 : AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, out) == 0;
}

}  // namespace

Result<Text> read_small_file(const char* path) {
  WARPOOL_ASSIGN(const Fd fd, open_file(path, Access::kRead));
  char buffer[4096];
  ssize_t got = 0;
  do {
    got = ::read(fd.get(), buffer, sizeof buffer);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return file_error("read", path);
  return Text({buffer, static_cast<std::size_t>(got)});
}

Result<Fd> open_file(const char* path, Access access) {
  int flags = O_CLOEXEC;
  if (access == Access::kRead) flags |= O_RDONLY;
  if (access == Access::kCreateOrTruncate) flags |= O_RDWR | O_CREAT | O_TRUNC;
  if (access == Access::kReadWriteCreate) flags |= O_RDWR | O_CREAT | O_NOFOLLOW;
  const int fd = ::open(path, flags, 0600);
  if (fd < 0) return file_error(access == Access::kRead ? "open" : "create", path);
  return Fd(fd);
}

Result<std::uint64_t> file_size(const Fd& fd) {
  struct statx status {};
  if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_SIZE, &status) != 0)
    return Error::from_errno(Code::kIoError, errno, "read the size of a file");
  return status.stx_size;
}

Result<void> set_file_size(const Fd& fd, std::uint64_t bytes) {
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return Error::from_errno(Code::kIoError, errno, "size a file");
  // Blocks now: a page of a mapped hole on a full disk would be a SIGBUS later.
  if (bytes > 0 && ::fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)) != 0 &&
      errno != EOPNOTSUPP)
    return Error::from_errno(Code::kIoError, errno, "reserve space for a file");
  return {};
}

Result<void> read_at(const Fd& fd, void* data, std::size_t bytes, std::uint64_t offset) {
  auto* place = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd.get(), place, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(Code::kIoError, errno, "read a file");
    if (got == 0) return Error::format(Code::kIoError, "the file ends %zu bytes early", bytes);
    place += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return {};
}

Result<void> write_at(const Fd& fd, const void* data, std::size_t bytes, std::uint64_t offset) {
  const auto* place = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(fd.get(), place, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const bool memory = errno == ENOMEM;
      return Error::from_errno(memory ? Code::kOutOfMemory : Code::kIoError, errno, "write");
    }
    place += put;
    offset += static_cast<std::uint64_t>(put);
    bytes -= static_cast<std::size_t>(put);
  }
  return {};
}

Result<void> sync_file(const Fd& fd) {
  if (::fsync(fd.get()) != 0)
    return Error::from_errno(Code::kIoError, errno, "write a file to disk");
  return {};
}

Result<void> rename_file(const char* from, const char* to) {
  if (::rename(from, to) != 0) return file_error("rename to", to);
  return {};
}

void remove_file(const char* path) {
  (void)::unlink(path);
}

void remove_folder(const char* path) {
  (void)::rmdir(path);
}

bool file_exists(const char* path) {
  struct statx status {};
  return stat_path(path, true, &status);
}

bool is_special(const char* path) {
  struct statx status {};
  return stat_path(path, true, &status) && !S_ISREG(status.stx_mode);
}

bool is_executable(const char* path) {
  struct statx status {};
  return stat_path(path, true, &status) && S_ISREG(status.stx_mode) && ::access(path, X_OK) == 0;
}

Result<void> ensure_private_folder(const char* path) {
  if (::mkdir(path, 0700) != 0 && errno != EEXIST) return file_error("create folder", path);
  struct statx status {};
  if (!stat_path(path, false, &status)) return file_error("look at folder", path);
  if (!S_ISDIR(status.stx_mode))
    return Error::format(Code::kPermissionDenied,
                         "%s is not a folder; remove it or set WARPOOL_SOCKET", path);
  if (status.stx_uid != ::geteuid())
    return Error::format(
        Code::kPermissionDenied,
        "folder %s belongs to user %u, not to this user (%u); remove it or set WARPOOL_SOCKET",
        path, status.stx_uid, ::geteuid());
  if ((status.stx_mode & 0022) != 0)
    return Error::format(Code::kPermissionDenied,
                         "others may write to folder %s, so a socket in it cannot be trusted; put "
                         "it into a folder of "
                         "your own, such as %s/NAME/warpool.sock, made with: mkdir -m 700",
                         path, path);
  return {};
}

Result<Fd> lock_file(const char* path, std::int64_t timeout_ms) {
  WARPOOL_ASSIGN(Fd fd, open_file(path, Access::kReadWriteCreate));
  const std::int64_t deadline = monotonic_ns() + timeout_ms * kNsPerMs;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return file_error("lock", path);
    if (monotonic_ns() >= deadline)
      return Error::format(Code::kTimedOut, "another process holds the lock %s", path);
    sleep_ms(2);
  }
  return fd;
}

Text parent_folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return Text(".");
  return Text(slash == 0 ? std::string_view("/") : std::string_view(path.data(), slash));
}

Result<Text> executable_path() {
  char buffer[4096];
  const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  if (length <= 0) return Error::from_errno(Code::kIoError, errno, "find the running executable");
  return Text({buffer, static_cast<std::size_t>(length)});
}

}  // namespace warpool::os
