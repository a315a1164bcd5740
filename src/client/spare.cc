// SPDX-License-Identifier: Apache-2.0
#include "client/spare.h"

#include <cstdlib>
#include <utility>

#include "client/connection.h"
#include "client/threads.h"
#include "os/futex.h"
#include "os/process.h"

namespace warpool::client {
namespace {

bool turned_off() {
  const char* setting = os::environment("WARPOOL_SPARE");
  return setting != nullptr && setting[0] == '0';
}

}  // namespace

bool Spare::take(std::uint64_t bytes, Memory& memory) {
  if (state_.load(std::memory_order_acquire) != kReady) return false;
  const Lock lock(mutex_);
  if (state_.load(std::memory_order_acquire) != kReady ||
      bytes_.load(std::memory_order_relaxed) != bytes)
    return false;
  memory = std::move(memory_);
  memory_ = Memory();
  bytes_.store(0, std::memory_order_relaxed);
  state_.store(kNone, std::memory_order_release);
  os::futex_wake(state_, 1);  // the thread that guarded it can end
  return true;
}

void Spare::prepare(std::uint64_t bytes) {
  if (bytes < kSpareBytesMin || state_.load(std::memory_order_relaxed) != kNone || turned_off())
    return;
  pthread_t earlier{};
  bool has_earlier = false;
  {
    const Lock lock(mutex_);
    if (state_.load(std::memory_order_relaxed) != kNone) return;
    state_.store(kMaking, std::memory_order_relaxed);
    earlier = thread_;
    has_earlier = std::exchange(has_thread_, false);
  }
  // The thread of the spare before may still be on its way out, and needs the mutex for it. It must have said what it has to say to
  // the broker before this spare is asked for.
  if (has_earlier) join_thread(earlier);
  const Result<Answer> granted = connection_.call(
      {}, -1, [&](Builder& builder) { return wire::fb::CreateSpare(builder, bytes); });
  const Lock lock(mutex_);
  if (!granted.ok()) {
    state_.store(kNone, std::memory_order_relaxed);
    return;
  }
  bytes_.store(bytes, std::memory_order_relaxed);
  has_thread_ = start_thread(thread_, &Spare::run, this);
  if (!has_thread_) {
    bytes_.store(0, std::memory_order_relaxed);
    state_.store(kNone, std::memory_order_relaxed);
  }
}

void* Spare::run(void* self) {
  static_cast<Spare*>(self)->make();
  return nullptr;
}

void Spare::make() {
  const std::uint64_t bytes = bytes_.load(std::memory_order_relaxed);
  Result<os::Fd> fd = os::create_memfd("warpool-array", bytes);
  Memory memory;
  bool made = false;
  if (fd.ok() && os::allocate_pages(fd.value(), bytes).ok()) {
    Result<os::Mapping> mapping =
        os::map_memfd(fd.value(), bytes, os::MapMode::kWritableShared, os::Populate::kYes);
    if (mapping.ok()) {
      os::exclude_from_fork(mapping.value());
      memory = {std::move(fd).value(), std::move(mapping).value()};
      made = true;
    }
  }
  {
    const Lock lock(mutex_);
    if (made && state_.load(std::memory_order_relaxed) == kMaking) {
      memory_ = std::move(memory);
      state_.store(kReady, std::memory_order_release);
    } else {
      bytes_.store(0, std::memory_order_relaxed);
      if (state_.load(std::memory_order_relaxed) == kMaking)
        state_.store(kNone, std::memory_order_relaxed);
    }
  }
  os::futex_wait(state_, kReady, kSpareIdleMs);
  {
    const Lock lock(mutex_);
    // Still there after its time, or the session ends: the memory goes back.
    if (state_.load(std::memory_order_relaxed) == kReady)
      state_.store(kNone, std::memory_order_relaxed);
    if (!memory_.fd.valid()) return;
    memory = std::move(memory_);
    memory_ = Memory();
    bytes_.store(0, std::memory_order_relaxed);
  }
  memory = Memory();
  connection_.tell([](Builder& builder) { return wire::fb::CreateSpare(builder, 0); });
}

void Spare::stop() {
  pthread_t thread{};
  {
    const Lock lock(mutex_);
    if (!has_thread_) return;
    has_thread_ = false;
    thread = thread_;
    state_.store(kStopping, std::memory_order_release);
    os::futex_wake(state_, 1);
  }
  join_thread(thread);
  state_.store(kNone, std::memory_order_relaxed);
}

void Spare::forget() {
  mutex_ = PTHREAD_MUTEX_INITIALIZER;
  has_thread_ = false;
  state_.store(kNone, std::memory_order_relaxed);
  bytes_.store(0, std::memory_order_relaxed);
  // The mapping is not in this process (MADV_DONTFORK); unmapping its addresses could hit something newer.
  memory_.mapping.release();
  memory_ = Memory();
}

}  // namespace warpool::client
