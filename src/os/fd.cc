// SPDX-License-Identifier: Apache-2.0
#include "os/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace warpool::os {

void Fd::reset() {
  // EINTR from close leaves the descriptor closed on Linux, so it is never repeated.
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<Fd> Fd::duplicate() const {
  return duplicate_fd(fd_);
}

Result<Fd> duplicate_fd(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return Error::from_errno(Code::kLimitReached, errno, "duplicate a file descriptor");
  return Fd(copy);
}

std::uint64_t raise_fd_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = raised.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

void close_from(int first) {
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  // Before Linux 5.9.
  const std::uint64_t limit = raise_fd_limit();
  for (int fd = first; fd < static_cast<int>(limit); ++fd)
    ::close(fd);
}

std::uint64_t count_open_fds() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  std::uint64_t count = 0;
  while (::readdir(folder) != nullptr)
    ++count;
  ::closedir(folder);
  return count > 3 ? count - 3 : 0;  // ".", ".." and the folder's own descriptor
}

}  // namespace warpool::os
