// SPDX-License-Identifier: Apache-2.0
#include "os/clock.h"

#include <sys/random.h>
#include <time.h>

#include "base/check.h"

namespace warpool::os {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec time{};
  ::clock_gettime(id, &time);
  return static_cast<std::int64_t>(time.tv_sec) * kNsPerSecond + time.tv_nsec;
}

}  // namespace

std::int64_t monotonic_ns() {
  return read_clock(CLOCK_MONOTONIC);
}
std::int64_t unix_ns() {
  return read_clock(CLOCK_REALTIME);
}

void sleep_ms(std::int64_t ms) {
  const timespec time{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000 * kNsPerMs)};
  ::nanosleep(&time, nullptr);
}

std::uint64_t random_u64() {
  std::uint64_t value = 0;
  // Up to 256 bytes the call is neither interrupted nor short once the generator is seeded.
  CHECK(::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value));
  return value;
}

}  // namespace warpool::os
