// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warpool::os {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

/// Nanoseconds of a clock that never jumps and is the same in all processes of this boot.
std::int64_t monotonic_ns();
/// Nanoseconds since 1970 (UTC).
std::int64_t unix_ns();
void sleep_ms(std::int64_t ms);
/// 64 bits from the kernel's random generator.
std::uint64_t random_u64();

}  // namespace warpool::os
