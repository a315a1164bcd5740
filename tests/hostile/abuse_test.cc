// SPDX-License-Identifier: Apache-2.0
// Single faults that a hostile or dying program could cause, against a broker in this process. The fuzz targets look for their kind.
#include <gtest/gtest.h>

#include "fuzz/world.h"
#include "os/memory.h"
#include "store/item_codec.h"

namespace warpool {
namespace {

namespace fb = wire::fb;
using Body = flatbuffers::Offset<void>;
using Builder = flatbuffers::FlatBufferBuilder;

constexpr std::uint32_t kWhileUsed = 4;

class Abuse : public ::testing::Test {
 protected:
  template <typename AddBody>
  void ask(std::size_t program, std::uint64_t number, fb::RequestBody type, AddBody add_body,
           std::vector<os::Fd> fds = {}) {
    Builder builder;
    const Body body = add_body(builder);
    builder.Finish(fb::CreateRequest(builder, number, type, body));
    world_.receive(program, wire::finished(builder), std::move(fds));
  }
  void join(std::size_t program, std::uint64_t earlier = 0) {
    world_.open(program);
    world_.program(program).remembers = true;
    world_.program(program).answers.clear();
    ask(program, 1, fb::RequestBody::Hello, [&](Builder& builder) {
      return fb::CreateHello(builder, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, earlier).Union();
    });
  }
  void get(std::size_t program, std::uint64_t number, const char* name) {
    ask(program, number, fb::RequestBody::Get, [&](Builder& builder) {
      return fb::CreateGet(builder, builder.CreateString(name), 0, true).Union();
    });
  }
  void create(std::size_t program, std::uint64_t number, std::uint64_t draft, std::uint64_t size) {
    ask(program, number, fb::RequestBody::Create, [&](Builder& builder) {
      return fb::CreateCreate(builder, draft, builder.CreateString("d"), size, true).Union();
    });
  }
  void put(std::size_t program, std::uint64_t number, const char* name, std::size_t size,
           std::uint32_t flags) {
    ask(program, number, fb::RequestBody::Publish, [&](Builder& builder) {
      std::vector<array::Part> parts(1);
      parts[0].shape = {static_cast<std::int64_t>(size)};
      parts[0].strides = {1};
      const auto text = builder.CreateString(name);
      const auto list = store::add_parts(builder, parts);
      const std::vector<std::uint8_t> bytes(size, 1);
      builder.ForceVectorAlignment(size, 1, 16);
      const auto contents = builder.CreateVector(bytes);
      return fb::CreatePublish(builder, 0, text, size, list, 0, 0, flags, 0, contents).Union();
    });
  }
  /// The program stops reading, and its queue has room for `bytes` of answers, or a little less.
  void fill_queue(std::size_t program, std::size_t bytes) {
    world_.program(program).reads = false;
    while (world_.program(program).queued_bytes() + (bytes + 24) * 1000 <= kQueuedBytesMax)
      ask(program, 99, fb::RequestBody::Ping,
          [](Builder& builder) { return fb::CreatePing(builder).Union(); });
  }
  /// -1: not answered yet.
  std::int32_t code_of(std::size_t program, std::uint64_t number) {
    for (const fuzz::Program::Answer& answer : world_.program(program).answers) {
      if (answer.request == number) return answer.code;
    }
    return -1;
  }

  fuzz::World world_;
};

// The publisher waits for the name itself; its queue is full, so answering it ends its session and takes the array away. Those that
// come after it in the list must go on waiting, and can be cancelled.
TEST_F(Abuse, PublisherThatEndsWhileItsArrayIsGiven) {
  join(0);
  join(1);
  get(0, 5, "x");
  get(1, 6, "x");
  fill_queue(0, 400);
  put(0, 7, "x", 60'000, kWhileUsed);
  EXPECT_EQ(world_.program(0).session, 0U);
  EXPECT_EQ(code_of(1, 6), -1);
  EXPECT_EQ(world_.core().check_invariants(), "");
  ask(1, 0, fb::RequestBody::Cancel,
      [](Builder& builder) { return fb::CreateCancel(builder, 6).Union(); });
  EXPECT_EQ(code_of(1, 6), 5);
  world_.finish();
}

// The same program ends earlier, at the answer that it has published.
TEST_F(Abuse, PublisherThatEndsAtItsAnswer) {
  join(0);
  join(1);
  get(1, 6, "x");
  fill_queue(0, 0);
  put(0, 7, "x", 10, kWhileUsed);
  EXPECT_EQ(world_.program(0).session, 0U);
  EXPECT_EQ(code_of(1, 6), -1);
  EXPECT_EQ(world_.core().array_count(), 0U);
  world_.finish();
}

// Giving a spare back lets a waiting create of the same program go on, whose answer ends the session: the sanitizer sees any use
// of it afterwards.
TEST_F(Abuse, SpareThatEndsItsOwnSession) {
  join(0);
  const auto spare = [&](std::uint64_t bytes) {
    ask(0, 0, fb::RequestBody::Spare,
        [&](Builder& builder) { return fb::CreateSpare(builder, bytes).Union(); });
  };
  spare(fuzz::World::kMemoryLimit / 2);
  create(0, 5, 1, fuzz::World::kMemoryLimit);
  EXPECT_EQ(code_of(0, 5), -1);
  fill_queue(0, 0);
  spare(0);
  EXPECT_EQ(world_.program(0).session, 0U);
  EXPECT_EQ(world_.core().memory().total(), 0U);
  world_.finish();
}

// A refused spare has given the one before it back; that memory is for whoever waits.
TEST_F(Abuse, RefusedSpareFreesTheOldOne) {
  join(0);
  join(1);
  const auto spare = [&](std::uint64_t bytes) {
    ask(0, 3, fb::RequestBody::Spare,
        [&](Builder& builder) { return fb::CreateSpare(builder, bytes).Union(); });
  };
  spare(fuzz::World::kMemoryLimit / 2);
  create(1, 5, 1, fuzz::World::kMemoryLimit);
  EXPECT_EQ(code_of(1, 5), -1);
  spare(fuzz::World::kMemoryLimit);
  EXPECT_EQ(code_of(1, 5), 0);
  world_.finish();
}

TEST_F(Abuse, TwoWaitingCreatesOfOneDraft) {
  join(0);
  join(1);
  create(1, 4, 9, fuzz::World::kMemoryLimit);
  create(0, 5, 1, 65'536);
  create(0, 6, 1, 65'536);
  world_.close(1);
  EXPECT_EQ(code_of(0, 5), 0);
  EXPECT_EQ(code_of(0, 6), 1);
  EXPECT_EQ(world_.core().check_invariants(), "");
  world_.finish();
}

// Waiting for an array of somebody else who then allows it.
TEST_F(Abuse, PermissionEndsAWait) {
  join(0);
  join(2);
  get(2, 5, "1000:x");
  put(0, 3, "x", 10, 0);
  EXPECT_EQ(code_of(2, 5), -1);
  ask(0, 4, fb::RequestBody::Chmod, [](Builder& builder) {
    return fb::CreateChmod(builder, builder.CreateString("x"), 0644).Union();
  });
  EXPECT_EQ(code_of(2, 5), 0);
  world_.finish();
}

// An array that lives as long as its maker outlives the broker with it, whether its maker comes back at once or has ended.
TEST_F(Abuse, ArraysOfLivingMakersOutliveTheBroker) {
  join(0);
  join(1);
  const std::uint64_t first = world_.program(0).session;
  put(0, 3, "mine", 10, kWhileUsed);
  put(1, 3, "orphan", 10, kWhileUsed);
  world_.restart();
  join(0, first);
  world_.pass_time(60'000'000'000);
  EXPECT_EQ(world_.core().array_count(), 1U);
  get(0, 4, "mine");
  EXPECT_EQ(code_of(0, 4), 0);
  world_.close(0);
  EXPECT_EQ(world_.core().array_count(), 0U);
  world_.finish();
}

// The number of a session alone makes nobody its successor.
TEST_F(Abuse, OthersCannotTakeOverASession) {
  join(0);
  const std::uint64_t first = world_.program(0).session;
  put(0, 3, "mine", 10, kWhileUsed);
  world_.restart();
  join(1, first);
  world_.pass_time(60'000'000'000);
  EXPECT_EQ(world_.core().array_count(), 0U);
  world_.finish();
}

}  // namespace
}  // namespace warpool
