// SPDX-License-Identifier: Apache-2.0
#include "os/wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace warpool::os {

Result<Fd> create_wake() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return Error::from_errno(Code::kLimitReached, errno, "create an eventfd");
  return Fd(fd);
}

void wake_up(const Fd& wake) {
  const std::uint64_t one = 1;
  (void)!::write(wake.get(), &one, sizeof one);
}

bool take_wake(const Fd& wake) {
  std::uint64_t count = 0;
  return ::read(wake.get(), &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

}  // namespace warpool::os
