// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace warpool::os {

/// Sleeps while `word` is `expected`, at most `timeout_ms` (negative: no limit). May return early.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t timeout_ms);
/// Wakes up to `count` sleepers.
void futex_wake(const std::atomic<std::uint32_t>& word, int count);

}  // namespace warpool::os
