// SPDX-License-Identifier: Apache-2.0
// Waits, budgets, times to live, watches, and programs that do not read.
#include <gtest/gtest.h>

#include "base/limits.h"
#include "broker_world.h"

namespace warpool::broker {
namespace {

using namespace testing;

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Wait, EndsWhenTheArrayComes) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  EXPECT_FALSE(reader->get("x", 0, true).came());
  const std::uint64_t request = reader->last_request();
  ASSERT_TRUE(maker->put("y").ok());
  EXPECT_FALSE(reader->take(request).came());
  ASSERT_TRUE(maker->put("x").ok());
  EXPECT_TRUE(reader->take(request).ok());
}

TEST(Wait, ForAVersionOrALaterOne) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  EXPECT_FALSE(reader->get("x", 2, true).came());
  const std::uint64_t second = reader->last_request();
  EXPECT_FALSE(reader->get("x", 3, true).came());
  const std::uint64_t third = reader->last_request();
  ASSERT_TRUE(maker->put("x").ok());
  EXPECT_FALSE(reader->take(second).came());
  ASSERT_TRUE(maker->put("x").ok());
  EXPECT_TRUE(reader->take(second).ok());
  EXPECT_EQ(reader->get("x", 1, true).code(), Code::kNotFound) << "version 1 never comes back";
  ASSERT_TRUE(maker->put("x").ok());
  EXPECT_TRUE(reader->take(third).ok());
}

TEST(Wait, EndsWhenThePermissionComes) {
  World world;
  auto maker = world.program(1000);
  auto reader = world.program(1001);
  ASSERT_TRUE(maker->put("x").ok());
  EXPECT_FALSE(reader->get("1000:x", 0, true).came());
  const std::uint64_t request = reader->last_request();
  ASSERT_TRUE(maker->put("x").ok());
  EXPECT_FALSE(reader->take(request).came());
  ASSERT_TRUE(maker->chmod("x", 0644).ok());
  EXPECT_TRUE(reader->take(request).ok());
}

TEST(Wait, CancelAnswersOnceAndSaysWhy) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  (void)reader->get("x", 0, true);
  const std::uint64_t first = reader->last_request();
  EXPECT_EQ(reader->cancel(first, false).code(), Code::kInterrupted);
  EXPECT_FALSE(reader->cancel(first, false).came()) << "it was answered already";
  (void)reader->get("x", 0, true);
  const std::uint64_t second = reader->last_request();
  world.clock.advance_ms(2500);
  const Answer late = reader->cancel(second, true);
  EXPECT_EQ(late.code(), Code::kTimedOut);
  EXPECT_NE(late.text().find("after waiting 2.5 s"), std::string::npos);
  ASSERT_TRUE(maker->put("x").ok());
  EXPECT_TRUE(reader->port.answers.empty()) << "nothing is answered twice";
  EXPECT_FALSE(reader->cancel(12345, true).came());
}

TEST(Wait, EndsWithItsProgram) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  (void)reader->get("x", 0, true);
  (void)reader->get("y", 0, true);
  reader->disconnect();
  EXPECT_TRUE(maker->put("x").ok());
}

TEST(Wait, SessionsSayWhatTheyWaitFor) {
  World world;
  auto reader = world.program();
  (void)reader->get("lab/x", 0, true);
  const Answer sessions = reader->call(
      [](Builder& builder) { return fb::CreateSessions(builder, wire::add_text(builder, ""), 0); });
  EXPECT_EQ(wire::text(sessions.reply->body_as_SessionEntries()->sessions()->Get(0)->waiting_for()),
            "array lab/x");
}

TEST(Budget, RefusalNamesTheLargestHolders) {
  World world(8 * kMiB);
  auto large = world.program();
  large->label = "big-one";
  large->disconnect();
  ASSERT_TRUE(large->connect().ok());
  auto small = world.program();
  ASSERT_TRUE(large->share("x", 6 * kMiB).ok());
  ASSERT_TRUE(small->create(1, "y", 2 * kMiB).ok()) << "exactly full";
  EXPECT_EQ(world.core->memory().total(), 8 * kMiB);
  const Answer refused = small->create(2, "z", 1);
  EXPECT_EQ(refused.code(), Code::kOutOfMemory);
  EXPECT_NE(refused.text().find("6.0 MiB by test"), std::string::npos) << refused.text();
  EXPECT_NE(refused.text().find("big-one"), std::string::npos);
  EXPECT_LT(refused.text().find("6.0 MiB by"), refused.text().find("2.0 MiB by"));
  EXPECT_EQ(small->put("w", 8).code(), Code::kOutOfMemory) << "small ones count too";
  EXPECT_NE(small->create(3, "v", 9 * kMiB, true).text().find("can never fit"), std::string::npos)
      << "waiting for what cannot come makes no sense";
  EXPECT_EQ(world.report.count(EventKind::kMemoryRefused), 3);
}

TEST(Budget, CountsWhatIsRemovedButViewed) {
  World world(8 * kMiB);
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(maker->share("x", 8 * kMiB).ok());
  const std::uint64_t id = reader->get("x").item()->id();
  ASSERT_TRUE(maker->remove("x").ok());
  EXPECT_EQ(maker->create(1, "y", kMiB).code(), Code::kOutOfMemory);
  reader->disconnect();
  EXPECT_TRUE(maker->create(1, "y", kMiB).ok());
  (void)id;
}

TEST(Budget, WaitingCreatesGoOnInTheirOrder) {
  World world(8 * kMiB);
  auto holder = world.program();
  auto first = world.program();
  auto second = world.program();
  ASSERT_TRUE(holder->share("x", 6 * kMiB).ok());
  EXPECT_FALSE(first->create(1, "a", 4 * kMiB, true).came());
  const std::uint64_t first_request = first->last_request();
  EXPECT_FALSE(second->create(1, "b", 2 * kMiB, true).came())
      << "it would fit, but is not its turn";
  const std::uint64_t second_request = second->last_request();
  ASSERT_TRUE(holder->remove("x").ok());
  EXPECT_TRUE(first->take(first_request).ok());
  EXPECT_TRUE(second->take(second_request).ok());
  EXPECT_EQ(world.core->memory().drafts, 6 * kMiB);
}

TEST(Budget, ACancelledCreateLetsTheNextOneGo) {
  World world(8 * kMiB);
  auto holder = world.program();
  auto first = world.program();
  auto second = world.program();
  ASSERT_TRUE(holder->share("x", 6 * kMiB).ok());
  (void)first->create(1, "a", 4 * kMiB, true);
  const std::uint64_t first_request = first->last_request();
  (void)second->create(1, "b", 2 * kMiB, true);
  const std::uint64_t second_request = second->last_request();
  const Answer cancelled = first->cancel(first_request, true);
  EXPECT_EQ(cancelled.code(), Code::kTimedOut);
  EXPECT_NE(cancelled.text().find("6.0 MiB by"), std::string::npos);
  EXPECT_TRUE(second->take(second_request).ok());
  (void)first->create(2, "a", 4 * kMiB, true);
  first->disconnect();
  EXPECT_EQ(world.core->memory().drafts, 2 * kMiB);
}

TEST(Budget, EveryWayOfFreeingWakesAWaitingCreate) {
  World world(8 * kMiB);
  auto holder = world.program();
  auto reader = world.program();
  auto waiter = world.program();
  const auto wakes = [&](auto free) {
    EXPECT_FALSE(waiter->create(1, "w", 8 * kMiB, true).came());
    free();
    const bool woken = waiter->take(waiter->last_request()).ok();
    waiter->discard(1);
    return woken;
  };
  ASSERT_TRUE(holder->create(1, "x", kMiB).ok());
  EXPECT_TRUE(wakes([&] { holder->discard(1); }));
  ASSERT_TRUE(holder->spare(kMiB).ok());
  EXPECT_TRUE(wakes([&] { EXPECT_TRUE(holder->spare(0).ok()); }));
  ASSERT_TRUE(holder->share("x", kMiB).ok());
  const std::uint64_t id = reader->get("x").item()->id();
  ASSERT_TRUE(holder->remove("x").ok());
  EXPECT_TRUE(wakes([&] { reader->release(id); }));
  ASSERT_TRUE(holder->share("x", kMiB, {.ttl_ms = 100}).ok());
  EXPECT_TRUE(wakes([&] { world.pass_ms(100); }));
  ASSERT_TRUE(holder->create(2, "x", kMiB).ok());
  EXPECT_TRUE(wakes([&] { holder->disconnect(); }));
  EXPECT_EQ(world.core->memory().total(), 0u);
}

TEST(Spare, UsesOnlyWhatNobodyNeedsSoon) {
  World world(8 * kMiB);
  auto program = world.program();
  EXPECT_TRUE(program->spare(6 * kMiB).ok());
  EXPECT_EQ(program->spare(6 * kMiB + 4096).code(), Code::kOutOfMemory);
  EXPECT_EQ(world.core->memory().spare, 0u) << "a refused one gives the earlier one back";
  EXPECT_TRUE(program->spare(kMiB).ok());
  program->disconnect();
  EXPECT_EQ(world.core->memory().spare, 0u);
}

TEST(TimeToLive, RemovesAtItsTimeAndCanBeChanged) {
  World world;
  auto program = world.program();
  ASSERT_TRUE(program->put("short", 8, {.ttl_ms = 100}).ok());
  ASSERT_TRUE(program->put("long", 8, {.ttl_ms = 1000}).ok());
  ASSERT_TRUE(program->put("stays").ok());
  world.pass_ms(99);
  EXPECT_EQ(world.core->array_count(), 3u);
  world.pass_ms(1);
  EXPECT_FALSE(program->get("short").ok());
  ASSERT_TRUE(program->expire("long", 0).ok());
  ASSERT_TRUE(program->expire("stays", 50).ok());
  EXPECT_EQ(program->expire("long", -1).code(), Code::kInvalidArgument);
  EXPECT_EQ(program->stat("stays").reply->body_as_Items()->items()->Get(0)->expires_in_ms(), 50);
  world.pass_ms(100'000);
  EXPECT_TRUE(program->get("long").ok());
  EXPECT_FALSE(program->get("stays").ok());
  ASSERT_TRUE(program->expire("long", INT64_MAX).ok()) << "larger than the clock";
  EXPECT_GT(world.tick(), world.clock.monotonic_ns());
}

TEST(TimeToLive, AReplacementHasItsOwn) {
  World world;
  auto program = world.program();
  ASSERT_TRUE(program->put("x", 8, {.ttl_ms = 100}).ok());
  ASSERT_TRUE(program->put("x").ok());
  world.pass_ms(1000);
  EXPECT_TRUE(program->get("x").ok());
  EXPECT_EQ(world.tick(), -1) << "nothing is due";
}

TEST(WhileUsed, GoesWithItsMakerAndLastViewer) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(maker->share("viewed", 100'000, {.flags = 4}).ok());
  ASSERT_TRUE(maker->put("alone", 8, {.flags = 4}).ok());
  ASSERT_TRUE(maker->put("stays").ok());
  const std::uint64_t id = reader->get("viewed").item()->id();
  maker->disconnect();
  EXPECT_FALSE(reader->get("alone").ok());
  EXPECT_TRUE(reader->get("viewed").ok());
  reader->release(id);
  EXPECT_TRUE(reader->get_memory(id).ok()) << "viewed twice";
  reader->release(id);
  EXPECT_FALSE(reader->get("viewed").ok());
  EXPECT_TRUE(reader->get("stays").ok());
}

TEST(WhileUsed, GoesEvenWhenItsMakerEndsWithTheAnswer) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(maker->put("before", 8, {.flags = 4}).ok());
  maker->port.broken = true;
  (void)maker->put("x", 8, {.flags = 4});
  EXPECT_TRUE(maker->port.closed);
  EXPECT_FALSE(reader->get("before").ok());
  EXPECT_FALSE(reader->get("x").ok()) << "nobody would ever remove it";
}

TEST(Watch, TellsWhatHappensInOrder) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(maker->put("a/old").ok());
  ASSERT_TRUE(reader->watch(1, "a/*", 0, true).ok());
  EXPECT_EQ(reader->take_events(), "P a/old 1");
  ASSERT_TRUE(maker->put("a/x").ok());
  ASSERT_TRUE(maker->put("b").ok());
  ASSERT_TRUE(maker->put("a/x").ok());
  ASSERT_TRUE(maker->remove("a/x").ok());
  ASSERT_TRUE(maker->put("a/t", 8, {.ttl_ms = 5}).ok());
  world.pass_ms(5);
  EXPECT_EQ(reader->take_events(), "P a/x 1, P a/x 2, R a/x 2, P a/t 1, R a/t 1");
  reader->send([](Builder& builder) { return fb::CreateUnwatch(builder, 1); });
  ASSERT_TRUE(maker->put("a/x").ok());
  EXPECT_EQ(reader->take_events(), "");
}

TEST(Watch, SeesOthersArraysOnlyWhereAskedAndAllowed) {
  World world;
  auto alice = world.program(1000);
  auto bob = world.program(1001);
  ASSERT_TRUE(bob->watch(1, "", 0).ok());
  ASSERT_TRUE(alice->put("x", 8, {.mode = 0644}).ok());
  EXPECT_EQ(bob->take_events(), "");
  ASSERT_TRUE(bob->watch(2, "", 1).ok());
  ASSERT_TRUE(bob->watch(3, "1000:x", 0).ok());
  ASSERT_TRUE(alice->put("x").ok());
  EXPECT_EQ(bob->take_events(), "P x 2, P x 2");
  ASSERT_TRUE(alice->put("secret").ok());
  EXPECT_EQ(bob->take_events(), "");
}

TEST(Watch, ASlowReaderGetsOneOverflowEvent) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(reader->watch(1, "").ok());
  reader->port.reads = false;
  int told = 0;
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(maker->put("x").ok());
    ++told;
  }
  ASSERT_TRUE(reader->alive()) << "events are dropped, the program is not";
  EXPECT_LT(reader->port.events.size(), 20'000u);
  reader->port.events.clear();
  reader->port.queued = 0;
  reader->port.reads = true;
  world.core->drained(reader->session);
  ASSERT_TRUE(maker->put("y").ok());
  EXPECT_EQ(reader->take_events(), "O, P y 1");
  EXPECT_EQ(told, 20'000);
}

/// The watcher whose end removes the array that is just being told to others.
TEST(Watch, AnArrayMayGoWhileItIsTold) {
  World world;
  auto maker = world.program();
  std::vector<std::unique_ptr<Program>> watchers;
  for (int i = 0; i < 20; ++i) {
    watchers.push_back(world.program());
    ASSERT_TRUE(watchers.back()->watch(1, "").ok());
  }
  ASSERT_TRUE(maker->watch(1, "").ok());
  // The answer goes out, the event does not.
  class OneMessage {};
  maker->port.reads = false;
  maker->port.queued = kQueuedBytesMax - 200;
  (void)maker->put("x", 8, {.flags = 4});
  maker->port.queued = 0;
  for (auto& watcher : watchers)
    EXPECT_TRUE(watcher->ping().ok());

  // The same with a removal: the last viewer of an array without maker cannot be told.
  auto viewer = world.program();
  auto gone = world.program();
  ASSERT_TRUE(gone->share("y", 100'000, {.flags = 4}).ok());
  ASSERT_TRUE(viewer->get("y").ok());
  gone->disconnect();
  ASSERT_TRUE(viewer->watch(1, "").ok());
  viewer->port.broken = true;
  auto remover = world.program();
  EXPECT_TRUE(remover->remove("y").ok());
  EXPECT_TRUE(viewer->port.closed);
  EXPECT_FALSE(remover->get("y").ok());
  EXPECT_EQ(world.core->memory().viewed, 0u);
}

TEST(SlowReader, RepliesWithDescriptorsWaitForAcknowledgement) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  reader->acknowledges = false;
  ASSERT_TRUE(maker->share("x", 100'000).ok());
  for (std::uint32_t i = 0; i < kUnreadFdRepliesMax; ++i)
    EXPECT_TRUE(reader->get("x").ok());
  EXPECT_FALSE(reader->get("x").came()) << "one past the limit waits";
  EXPECT_EQ(reader->port.fds, kUnreadFdRepliesMax);
  const std::uint64_t request = reader->last_request();
  EXPECT_TRUE(reader->ping().ok()) << "other replies do not wait";
  reader->acknowledges = true;
  EXPECT_TRUE(reader->ping().ok());
  const Answer late = reader->take(request);
  ASSERT_TRUE(late.ok());
  EXPECT_NE(late.fd, nullptr);
}

TEST(SlowReader, MayClaimNoMoreThanWasSent) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(maker->share("x", 100'000).ok());
  reader->acknowledges = false;
  Builder builder;
  const auto ping = fb::CreatePing(builder);
  builder.Finish(
      fb::CreateRequest(builder, 700, fb::RequestBody::Ping, ping.Union(), false, UINT64_MAX));
  reader->deliver(wire::finished(builder));
  for (std::uint32_t i = 0; i < kUnreadFdRepliesMax + 5; ++i)
    (void)reader->get("x");
  EXPECT_EQ(reader->port.fds, kUnreadFdRepliesMax);
}

TEST(SlowReader, ADeferredReplyWhoseArrayIsGoneComesWithoutMemory) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  reader->acknowledges = false;
  ASSERT_TRUE(maker->share("x", 100'000).ok());
  std::uint64_t id = 0;
  for (std::uint32_t i = 0; i < kUnreadFdRepliesMax; ++i)
    id = reader->get("x").item()->id();
  (void)reader->get("x");
  const std::uint64_t request = reader->last_request();
  for (std::uint32_t i = 0; i < kUnreadFdRepliesMax + 1; ++i)
    reader->release(id);
  ASSERT_TRUE(maker->remove("x").ok());
  reader->acknowledges = true;
  EXPECT_TRUE(reader->ping().ok());
  const Answer late = reader->take(request);
  EXPECT_TRUE(late.ok());
  EXPECT_EQ(late.fd, nullptr);
}

TEST(SlowReader, EndsWhenTooMuchIsQueued) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(maker->put("x", kInlineBytesMax).ok());
  reader->port.reads = false;
  int answered = 0;
  while (reader->alive() && answered < 1000) {
    if (reader->get("x").came()) ++answered;
  }
  EXPECT_TRUE(reader->port.closed);
  EXPECT_LT(answered, 70);
  EXPECT_TRUE(maker->ping().ok());
}

}  // namespace
}  // namespace warpool::broker
