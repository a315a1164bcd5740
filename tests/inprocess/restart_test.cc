// SPDX-License-Identifier: Apache-2.0
// The broker ends and starts again under programs that go on.
#include <atomic>

#include "fixture.h"

namespace warpool::inprocess {
namespace {

TEST(Restart, CallsGoOn) {
  Broker broker;
  Program program(broker);
  const std::uint64_t before = program.info().session;
  EXPECT_EQ(put(program, "x", kLarge, 1), WARPOOL_OK);
  const Array array = get(program, "x");
  broker.stop();
  EXPECT_EQ(values_of(array)[0], 1) << "what is mapped stays";
  broker.start();
  EXPECT_EQ(warpool_ping(program, nullptr), WARPOOL_OK);
  EXPECT_EQ(program.info().arrays, 0u) << "a clean end without a keeper keeps nothing";
  EXPECT_EQ(put(program, "x", kLarge, 2), WARPOOL_OK);
  EXPECT_EQ(values_of(get(program, "x"))[0], 2);
  EXPECT_EQ(values_of(array)[0], 1);
  (void)before;
}

TEST(Restart, DraftsArePublishedToTheNewBroker) {
  Broker broker;
  Program program(broker);
  const warpool_part part = doubles(kLarge);
  warpool_draft* draft = nullptr;
  Error error;
  EXPECT_OK(warpool_create(program, "x", &part, 1, nullptr, &draft, error.out()), error);
  static_cast<double*>(warpool_draft_data(draft, 0))[0] = 17;
  broker.stop();
  broker.start();
  EXPECT_OK(warpool_ping(program, error.out()), error);
  EXPECT_GT(program.info().memory_drafts, 0u);
  EXPECT_OK(warpool_publish(draft, nullptr, nullptr, error.out()), error);
  EXPECT_EQ(values_of(get(program, "x"))[0], 17);
  EXPECT_EQ(program.info().memory_drafts, 0u);
}

TEST(Restart, WaitingGetsGoOnWaiting) {
  Broker broker;
  Program reader(broker);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&] {
      const Array array = get(reader, "x", 60'000);
      if (array != nullptr && values_of(array)[0] == 9) ++right;
    });
  }
  ::usleep(30'000);
  broker.stop();
  ::usleep(30'000);
  broker.start();
  Program maker(broker);
  EXPECT_EQ(put(maker, "x", kLarge, 9), WARPOOL_OK);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(right, 5);
}

TEST(Restart, WatchesSayThatSomethingMayBeMissing) {
  Broker broker;
  Program reader(broker);
  warpool_watch* watch = nullptr;
  Error error;
  ASSERT_EQ(warpool_watch_open(reader, "x*", 0, 0, &watch, error.out()), WARPOOL_OK);
  broker.stop();
  broker.start();
  const warpool_wait wait = wait_ms(60'000);
  warpool_event event{};
  EXPECT_OK(warpool_watch_next(watch, &wait, &event, error.out()), error);
  EXPECT_EQ(event.kind, static_cast<std::uint32_t>(WARPOOL_EVENT_OVERFLOW));
  Program maker(broker);
  EXPECT_EQ(put(maker, "x1", kSmall, 0), WARPOOL_OK);
  EXPECT_OK(warpool_watch_next(watch, &wait, &event, error.out()), error);
  EXPECT_EQ(event.kind, static_cast<std::uint32_t>(WARPOOL_EVENT_PUBLISHED));
  EXPECT_STREQ(event.name, "x1");
  warpool_watch_close(watch);
}

TEST(Restart, ManyThreadsWorkThroughRestarts) {
  Broker broker;
  Program program(broker);
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const std::string name = "n" + std::to_string(i);
      while (!stop) {
        Error error;
        EXPECT_OK(put(program, name.c_str(), i % 2 == 0 ? kSmall : kLarge, i, error.out()), error);
        // Between the two the broker may have lost it with all the others.
        warpool_array* array = nullptr;
        const warpool_status status =
            warpool_get(program, name.c_str(), 0, nullptr, &array, nullptr);
        EXPECT_TRUE(status == WARPOOL_OK || status == WARPOOL_NOT_FOUND || status == WARPOOL_LOST)
            << status;
        if (status == WARPOOL_OK) {
          EXPECT_EQ(static_cast<const double*>(warpool_array_get_info(array)->data)[0], i);
          warpool_array_release(array);
        }
        EXPECT_EQ(program.info().socket_path, broker.socket());
        ++rounds;
      }
    });
  }
  for (int i = 0; i < 5; ++i) {
    const int before = rounds;
    while (rounds < before + 20)
      ::usleep(1000);
    broker.stop();
    broker.start();
  }
  const int before = rounds;
  while (rounds < before + 20)
    ::usleep(1000);
  stop = true;
  for (std::thread& thread : threads)
    thread.join();
}

TEST(Restart, WithoutRestoringALostBrokerIsAnError) {
  Broker broker;
  Program program(broker, "", WARPOOL_CONNECT_NO_RESTORE);
  broker.stop();
  Error error;
  EXPECT_EQ(warpool_ping(program, error.out()), WARPOOL_NO_BROKER);
  EXPECT_TRUE(error.says(broker.socket().c_str())) << error.text();
  broker.start();
}

TEST(Restart, ABrokerThatStaysAwayIsAnErrorInTime) {
  Broker broker;
  Program program(broker, "", 0, 100);
  broker.stop();
  Error error;
  EXPECT_EQ(warpool_ping(program, error.out()), WARPOOL_NO_BROKER);
  EXPECT_TRUE(error.says("warpool up")) << error.text();
  broker.start();
  EXPECT_OK(warpool_ping(program, error.out()), error);
}

}  // namespace
}  // namespace warpool::inprocess
