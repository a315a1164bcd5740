// SPDX-License-Identifier: Apache-2.0
// Many threads on one connection: waits, interruptions, time-outs.
#include <atomic>
#include <chrono>

#include "fixture.h"

namespace warpool::inprocess {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

TEST(Threads, SeveralWaitAtOnceAndGetTheirOwn) {
  Broker broker;
  Program reader(broker);
  Program maker(broker);
  constexpr int kThreads = 12;
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const Array array = get(reader, ("n" + std::to_string(i)).c_str(), 60'000);
      if (array != nullptr && values_of(array)[0] == i) ++right;
    });
  }
  for (int i = kThreads - 1; i >= 0; --i) {
    const std::size_t count = i % 2 == 0 ? kSmall : kLarge;
    EXPECT_EQ(put(maker, ("n" + std::to_string(i)).c_str(), count, i), WARPOOL_OK);
    EXPECT_EQ(warpool_ping(reader, nullptr), WARPOOL_OK) << "calls go on beside the waits";
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(right, kThreads);
}

TEST(Threads, AHundredPutAndGet) {
  Broker broker;
  Program program(broker);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([&, i] {
      const std::string name = "n" + std::to_string(i);
      for (int round = 0; round < 5; ++round) {
        const std::size_t count = round % 2 == 0 ? kSmall : 9000;
        if (put(program, name.c_str(), count, i + round) != WARPOOL_OK) return;
        const Array array = get(program, name.c_str());
        if (array == nullptr ||
            values_of(array)[count - 1] != i + round + static_cast<double>(count - 1))
          return;
      }
      ++right;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(right, 100);
  const warpool_broker_info info = program.info();
  EXPECT_EQ(info.arrays, 100u);
  EXPECT_EQ(info.memory_viewed, 0u);
  EXPECT_EQ(info.memory_drafts, 0u);
}

TEST(Threads, InterruptEndsEveryWait) {
  Broker broker;
  Program program(broker);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> interrupted{0};
    std::atomic<int> waiting{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        warpool_array* array = nullptr;
        const warpool_wait wait = wait_ms(-1);
        ++waiting;
        if (warpool_get(program, "never", 0, &wait, &array, nullptr) == WARPOOL_INTERRUPTED)
          ++interrupted;
      });
    }
    // An interrupt that comes before a wait is not meant for it, so it is repeated until all have ended.
    while (interrupted < 4) {
      warpool_interrupt(program);
      ::usleep(1000);
    }
    for (std::thread& thread : threads)
      thread.join();
    EXPECT_EQ(interrupted, 4);
  }
  EXPECT_EQ(warpool_ping(program, nullptr), WARPOOL_OK);
}

TEST(Threads, OneInterruptReachesAllThatWait) {
  Broker broker;
  Program program(broker);
  Program other(broker);
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> interrupted{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        warpool_array* array = nullptr;
        const warpool_wait wait = wait_ms(20'000);
        if (warpool_get(program, "never", 0, &wait, &array, nullptr) == WARPOOL_INTERRUPTED)
          ++interrupted;
      });
    }
    // All three have been seen waiting by the broker; then they sleep within a moment.
    for (bool all = false; !all; ::usleep(1000)) {
      warpool_sessions* sessions = nullptr;
      ASSERT_EQ(warpool_list_sessions(other, nullptr, &sessions, nullptr), WARPOOL_OK);
      for (std::size_t i = 0; i < warpool_sessions_count(sessions); ++i)
        all = all || std::strlen(warpool_sessions_get(sessions, i)->waiting_for) > 0;
      warpool_sessions_free(sessions);
    }
    ::usleep(20'000);
    warpool_interrupt(program);
    for (std::thread& thread : threads)
      thread.join();
    ASSERT_EQ(interrupted, 3);
  }
}

TEST(Threads, TimeoutsAreKeptAndExplained) {
  Broker broker;
  Program program(broker);
  warpool_array* array = nullptr;
  Error error;
  EXPECT_EQ(warpool_get(program, "x", 0, nullptr, &array, error.out()), WARPOOL_NOT_FOUND);
  const auto start = Clock::now();
  const warpool_wait wait = wait_ms(80);
  EXPECT_EQ(warpool_get(program, "x", 0, &wait, &array, error.out()), WARPOOL_TIMED_OUT);
  EXPECT_GE(ms_since(start), 80);
  EXPECT_TRUE(error.says("no program has made it")) << error.text();
}

struct Context {
  Program* maker;
  int calls;
};

TEST(Callback, IsAskedWhileAWaitLastsAndEndsIt) {
  Broker broker;
  Program program(broker);
  Context context{nullptr, 0};
  warpool_wait wait = wait_ms(-1);
  wait.context = &context;
  wait.interrupted = [](void* given) { return ++static_cast<Context*>(given)->calls >= 3 ? 1 : 0; };
  warpool_array* array = nullptr;
  const auto start = Clock::now();
  EXPECT_EQ(warpool_get(program, "x", 0, &wait, &array, nullptr), WARPOOL_INTERRUPTED);
  EXPECT_EQ(context.calls, 3);
  EXPECT_LT(ms_since(start), 5000);
}

TEST(Callback, AnArrayThatComesWithTheInterruptionIsNotKept) {
  Broker broker;
  Program reader(broker);
  Program maker(broker);
  Context context{&maker, 0};
  warpool_wait wait = wait_ms(-1);
  wait.context = &context;
  // The array comes first, then the wait is ended: the answer and its view are on the way.
  wait.interrupted = [](void* given) {
    auto& about = *static_cast<Context*>(given);
    EXPECT_EQ(put(*about.maker, "x", kLarge, 1), WARPOOL_OK);
    return 1;
  };
  warpool_array* array = nullptr;
  EXPECT_EQ(warpool_get(reader, "x", 0, &wait, &array, nullptr), WARPOOL_INTERRUPTED);
  EXPECT_EQ(warpool_ping(reader, nullptr), WARPOOL_OK);
  EXPECT_EQ(maker.viewers("x"), 0u) << "a view that nobody releases holds its memory for ever";
}

TEST(Callback, MemoryThatComesWithTheInterruptionIsNotKept) {
  Broker broker(8 << 20);
  Program holder(broker);
  Program waiter(broker);
  EXPECT_EQ(put(holder, "x", 6 << 17, 1), WARPOOL_OK);
  EXPECT_EQ(warpool_ping(holder, nullptr), WARPOOL_OK);
  Context context{&holder, 0};
  warpool_wait wait = wait_ms(-1);
  wait.context = &context;
  wait.interrupted = [](void* given) {
    auto& about = *static_cast<Context*>(given);
    EXPECT_EQ(warpool_remove(*about.maker, "x", 0, nullptr), WARPOOL_OK);
    return 1;
  };
  warpool_create_options options = WARPOOL_CREATE_OPTIONS_INIT;
  options.wait = &wait;
  const warpool_part part = doubles(6 << 17);
  warpool_draft* draft = nullptr;
  EXPECT_EQ(warpool_create(waiter, "y", &part, 1, &options, &draft, nullptr), WARPOOL_INTERRUPTED);
  EXPECT_EQ(waiter.info().memory_drafts, 0u);
}

TEST(Close, ArraysOutliveTheirConnection) {
  Broker broker;
  auto program = std::make_unique<Program>(broker);
  EXPECT_EQ(put(*program, "x", kLarge, 5), WARPOOL_OK);
  EXPECT_EQ(put(*program, "s", kSmall, 6), WARPOOL_OK);
  const Array large = get(*program, "x");
  const Array small = get(*program, "s");
  program.reset();
  EXPECT_EQ(values_of(large)[kLarge - 1], 5 + kLarge - 1);
  EXPECT_EQ(values_of(small)[0], 6);
  void* copy = nullptr;
  Error error;
  EXPECT_NE(warpool_array_copy_on_write(large.get(), &copy, error.out()), WARPOOL_OK);
  EXPECT_TRUE(error.says("closed")) << error.text();
  Program other(broker);
  EXPECT_EQ(other.viewers("x"), 0u);
}

TEST(Close, WakesAThreadThatStillWaits) {
  Broker broker;
  auto program = std::make_unique<Program>(broker);
  // The thread keeps the connection by an array: a handle must not be used after its close otherwise.
  EXPECT_EQ(put(*program, "x", kLarge, 5), WARPOOL_OK);
  warpool_watch* watch = nullptr;
  ASSERT_EQ(warpool_watch_open(*program, "*", 0, 0, &watch, nullptr), WARPOOL_OK);
  warpool_status status = WARPOOL_OK;
  std::thread waiter([&] {
    warpool_event event{};
    const warpool_wait wait = wait_ms(60'000);
    status = warpool_watch_next(watch, &wait, &event, nullptr);
  });
  ::usleep(50'000);
  const auto start = Clock::now();
  program->close();
  waiter.join();
  EXPECT_LT(ms_since(start), 20'000);
  EXPECT_EQ(status, WARPOOL_INVALID_ARGUMENT);
  warpool_watch_close(watch);
}

TEST(Spare, RepeatedPutsUseItAndGiveItBack) {
  Broker broker;
  Program program(broker);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(put(program, "x", kHuge, i), WARPOOL_OK);
    const Array array = get(program, "x");
    EXPECT_EQ(values_of(array)[kHuge - 1], i + static_cast<double>(kHuge - 1));
    if (i % 3 == 0) ::usleep(20'000);  // long enough for the spare to be ready, sometimes
  }
  EXPECT_LE(program.info().memory_spare, kHuge * 8);
  EXPECT_EQ(put(program, "x", kHuge + 1024, 1), WARPOOL_OK) << "another size";
  program.close();
  Program other(broker);
  EXPECT_EQ(other.info().memory_spare, 0u);
}

TEST(Spare, ManyThreadsShareOne) {
  Broker broker;
  Program program(broker);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string name = "n" + std::to_string(i);
      for (int round = 0; round < 6; ++round) {
        if (put(program, name.c_str(), kHuge, i) != WARPOOL_OK) return;
        if (values_of(get(program, name.c_str()))[1] != i + 1) return;
      }
      ++right;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(right, 4);
  EXPECT_EQ(program.info().memory_drafts, 0u);
}

}  // namespace
}  // namespace warpool::inprocess
