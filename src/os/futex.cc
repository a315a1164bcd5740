// SPDX-License-Identifier: Apache-2.0
#include "os/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"

namespace warpool::os {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "a futex is one 32-bit word");

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t timeout_ms) {
  timespec time{static_cast<time_t>(timeout_ms / 1000),
                static_cast<long>(timeout_ms % 1000 * kNsPerMs)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout_ms < 0 ? nullptr : &time,
            nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word, int count) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace warpool::os
