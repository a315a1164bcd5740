// SPDX-License-Identifier: Apache-2.0
// Memory for the next put, made ready while the program computes: the kernel needs three times as long to find and map fresh pages as a
// copy takes. After a large put one short-lived thread (all signals blocked) allocates and maps a memfd of the same size; a
// later put of that size fills it at the speed of memcpy. It is charged to the session's budget and given back when unused
// for kSpareIdleMs. WARPOOL_SPARE=0 in the environment turns it off. docs/design/put.md has the measurements.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "os/memory.h"

namespace warpool::client {

class Connection;

constexpr std::uint64_t kSpareBytesMin = 1024 * 1024;
constexpr std::int64_t kSpareIdleMs = 10'000;

class Spare {
 public:
  explicit Spare(Connection& connection) : connection_(connection) {}
  ~Spare() { stop(); }
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;

  struct Memory {
    os::Fd fd;
    os::Mapping mapping;
  };
  /// The spare, if it is ready and has exactly this many bytes (whole pages). The caller's draft is charged for it by then.
  bool take(std::uint64_t bytes, Memory& memory);
  /// Asks the broker for the budget and starts making one. Not an error when there is none.
  void prepare(std::uint64_t bytes);
  /// Drops it and waits for the thread.
  void stop();
  /// In a forked child: the thread and the mapping are the parent's.
  void forget();
  /// Bytes charged for it, also while it is being made.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// Whether take() of so many bytes would succeed now. One that is still being made is worth no wait: writing is faster.
  [[nodiscard]] bool ready(std::uint64_t bytes) const {
    return state_.load(std::memory_order_acquire) == kReady &&
           bytes_.load(std::memory_order_relaxed) == bytes;
  }

 private:
  enum State : std::uint32_t { kNone, kMaking, kReady, kStopping };
  static void* run(void* self);
  void make();

  Connection& connection_;
  std::atomic<std::uint32_t> state_{
      kNone};  ///< futex; memory_ belongs to the thread in kMaking, to take() in kReady
  std::atomic<std::uint64_t> bytes_{0};
  Memory memory_;
  pthread_t thread_{};
  bool has_thread_ = false;
  pthread_mutex_t mutex_ =
      PTHREAD_MUTEX_INITIALIZER;  ///< guards thread_, has_thread_ and changes of state_
};

}  // namespace warpool::client
