// SPDX-License-Identifier: Apache-2.0
// A broker that is killed at any step goes on where it was, from what the keeper holds.
#include <gtest/gtest.h>
#include <unistd.h>

#include "broker_world.h"

namespace warpool::broker {
namespace {

using namespace testing;

constexpr std::uint64_t kLarge = 100'000;

std::uint64_t version_of(const Answer& answer) {
  EXPECT_TRUE(answer.ok()) << answer.text();
  return answer.ok() ? answer.reply->body_as_Published()->version() : 0;
}

/// A program that repeats what it got no answer for, as libwarpool does. Kills the broker before the k-th message to the keeper.
class Persistent {
 public:
  Persistent(World& world, std::int64_t kill_at) : world_(world), program_(world.program()) {
    world_.keeper.budget = kill_at;
  }
  std::uint64_t share(const std::string& name) {
    const std::uint64_t draft = ++draft_;
    EXPECT_TRUE(program_->create(draft, name, kLarge).ok());
    return version_of(twice({draft}, [&](bool repeated) {
      return program_->publish(draft, name, kLarge, {.token = 500 + draft, .repeated = repeated});
    }));
  }
  std::uint64_t put(const std::string& name) {
    const std::uint64_t token = 900 + ++draft_;
    return version_of(twice({}, [&](bool repeated) {
      return program_->put(name, 40, {.token = token, .repeated = repeated});
    }));
  }
  void remove(const std::string& name) {
    EXPECT_TRUE(twice({}, [&](bool repeated) { return program_->remove(name, 0, repeated); }).ok());
  }
  [[nodiscard]] bool killed() const { return killed_; }
  Program& program() { return *program_; }

 private:
  template <typename Call>
  Answer twice(std::vector<std::uint64_t> drafts, Call call) {
    try {
      return call(false);
    } catch (const Killed&) {
      killed_ = true;
      world_.crash();
      EXPECT_TRUE(program_->connect({}, std::move(drafts), kLarge).ok());
      return call(true);
    }
  }
  World& world_;
  std::unique_ptr<Program> program_;
  std::uint64_t draft_ = 0;
  bool killed_ = false;
};

TEST(Recovery, KilledAtEveryStepEverythingIsDoneOnce) {
  std::int64_t kill_at = 0;
  for (bool killed = true; killed; ++kill_at) {
    SCOPED_TRACE("killed before message " + std::to_string(kill_at) + " to the keeper");
    World world;
    Persistent maker(world, kill_at);
    EXPECT_EQ(maker.share("x"), 1u);
    EXPECT_EQ(maker.put("small"), 1u);
    EXPECT_EQ(maker.share("x"), 2u);
    // A new name begins above all that were removed before a recovery.
    EXPECT_GE(maker.share("y"), 1u);
    maker.remove("y");
    EXPECT_EQ(maker.put("small"), 2u);
    EXPECT_EQ(maker.share("x"), 3u);
    EXPECT_TRUE(maker.program().get("x", 3).ok());
    EXPECT_TRUE(maker.program().get("small", 2).ok());
    EXPECT_FALSE(maker.program().get("y").ok());
    EXPECT_EQ(world.core->array_count(), 2u);
    world.pass_ms(60'000);
    EXPECT_EQ(world.keeper.items(), 1u) << "nothing is held for nobody";
    EXPECT_EQ(world.core->memory().drafts, 0u);
    killed = maker.killed();
  }
  EXPECT_GT(kill_at, 6) << "the history must have had that many steps";
}

TEST(Recovery, KeepsContentsModesTimesAndVersions) {
  World world;
  auto maker = world.program(1000);
  ASSERT_TRUE(maker->put("x", 40, {.mode = 0644, .ttl_ms = 5000}).ok());
  ASSERT_TRUE(maker->share("y", kLarge).ok());
  ASSERT_TRUE(maker->chmod("y", 0640).ok());
  ASSERT_TRUE(maker->put("z").ok());
  ASSERT_TRUE(maker->expire("z", 8000).ok());
  world.crash();
  EXPECT_EQ(world.report.count(EventKind::kArraysRecovered), 1);
  auto reader = world.program(1001, 100);
  EXPECT_EQ(reader->get("1000:x").item()->contents()->size(), 40u);
  EXPECT_NE(reader->get("1000:y").fd, nullptr);
  EXPECT_FALSE(reader->get("1000:z").ok());
  auto again = world.program(1000);
  EXPECT_EQ(version_of(again->put("x")), 2u);
  EXPECT_TRUE(again->get("z").ok());
  world.pass_ms(8000);
  EXPECT_FALSE(again->get("z").ok());
}

TEST(Recovery, ViewsOfRemovedArraysComeBackOrAreDropped) {
  World world(1 << 20);
  auto maker = world.program();
  auto keeps = world.program();
  auto leaves = world.program();
  ASSERT_TRUE(maker->share("x", kLarge).ok());
  ASSERT_TRUE(maker->share("y", kLarge).ok());
  const std::uint64_t x = keeps->get("x").item()->id();
  ASSERT_TRUE(leaves->get("y").ok());
  ASSERT_TRUE(maker->remove("x").ok());
  ASSERT_TRUE(maker->remove("y").ok());
  world.crash();
  EXPECT_EQ(world.core->memory().viewed, 2 * os::round_to_page(kLarge));
  ASSERT_TRUE(keeps->connect({x}).ok());
  ASSERT_TRUE(maker->connect().ok());
  EXPECT_FALSE(maker->create(1, "w", (1 << 20) - os::round_to_page(kLarge), true).came());
  const std::uint64_t request = maker->last_request();
  EXPECT_GT(world.tick(), 0);
  world.pass_ms(10'000);
  EXPECT_EQ(world.core->memory().viewed, os::round_to_page(kLarge));
  EXPECT_TRUE(keeps->get_memory(x).ok());
  EXPECT_TRUE(maker->take(request).ok()) << "what nobody claimed has made room";
  keeps->release(x);
  EXPECT_EQ(world.core->memory().viewed, 0u);
  EXPECT_EQ(world.tick(), -1);
}

TEST(Recovery, AVersionOfARemovedArrayIsNotUsedAgain) {
  World world;
  auto maker = world.program();
  auto viewer = world.program();
  ASSERT_TRUE(maker->share("x", kLarge).ok());
  const std::uint64_t id = viewer->get("x").item()->id();
  ASSERT_TRUE(maker->put("x").ok());
  ASSERT_TRUE(maker->remove("x").ok());
  // Only version 1 is left, since it is viewed; version 2 leaves no trace but the highest version.
  world.crash();
  ASSERT_TRUE(viewer->connect({id}).ok());
  ASSERT_TRUE(maker->connect().ok());
  EXPECT_EQ(version_of(maker->put("x")), 3u);
}

TEST(Recovery, ArraysThatGoWithTheirMakerWaitForIt) {
  for (const bool comes_back : {true, false}) {
    World world;
    auto maker = world.program();
    auto reader = world.program();
    ASSERT_TRUE(maker->put("x", 8, {.flags = 4}).ok());
    world.crash();
    ASSERT_TRUE(reader->connect().ok());
    if (comes_back) {
      ASSERT_TRUE(maker->connect().ok());
    }
    EXPECT_TRUE(reader->get("x").ok());
    world.pass_ms(10'000);
    EXPECT_EQ(reader->get("x").ok(), comes_back);
    if (comes_back) maker->disconnect();
    EXPECT_FALSE(reader->get("x").ok());
  }
}

TEST(Recovery, AnotherUserCannotTakeOverAMaker) {
  World world;
  auto maker = world.program(1000);
  ASSERT_TRUE(maker->put("x", 8, {.mode = 0644, .flags = 4}).ok());
  const SessionId session = maker->session;
  world.crash();
  auto thief = world.unconnected(1001);
  thief->session = session;  // what it will claim
  ASSERT_TRUE(thief->connect().ok());
  world.pass_ms(10'000);
  EXPECT_EQ(world.core->array_count(), 0u);
}

TEST(Recovery, AnArrayWhoseMemoryIsGoneIsNamed) {
  World world;
  auto maker = world.program();
  ASSERT_TRUE(maker->share("x", kLarge).ok());
  ASSERT_TRUE(maker->share("y", kLarge).ok());
  world.keeper.erase(maker->get("x").item()->id());
  world.crash();
  EXPECT_EQ(world.report.count(EventKind::kArraysLost), 1);
  ASSERT_TRUE(maker->connect().ok());
  EXPECT_FALSE(maker->get("x").ok());
  EXPECT_TRUE(maker->get("y").ok());
  EXPECT_GE(version_of(maker->share("x", kLarge)), 2u);
}

TEST(Recovery, DraftsAndSparesAreChargedAgain) {
  World world;
  auto maker = world.program();
  ASSERT_TRUE(maker->create(5, "draft", kLarge).ok());
  world.crash();
  EXPECT_EQ(world.core->memory().drafts, 0u);
  ASSERT_TRUE(maker->connect({}, {5}, kLarge, 8192).ok());
  EXPECT_EQ(world.core->memory().drafts, os::round_to_page(kLarge));
  EXPECT_EQ(world.core->memory().spare, 8192u);
  EXPECT_EQ(version_of(maker->publish(5, "draft", kLarge)), 1u);
}

TEST(Recovery, ARepeatedPublishGivesItsViewAgain) {
  World world;
  auto maker = world.program();
  ASSERT_TRUE(maker->create(5, "x", kLarge).ok());
  const Answer first = maker->publish(5, "x", kLarge, {.token = 77, .view = true});
  world.crash();
  ASSERT_TRUE(maker->connect({}, {5}, kLarge).ok());
  const Answer second =
      maker->publish(5, "x", kLarge, {.token = 77, .repeated = true, .view = true});
  EXPECT_EQ(second.reply->body_as_Published()->id(), first.reply->body_as_Published()->id());
  EXPECT_EQ(world.core->memory().drafts, 0u);
  EXPECT_TRUE(maker->get_memory(first.reply->body_as_Published()->id()).ok());
  // Another token is another publish, and a first one is never taken for a repetition.
  EXPECT_EQ(version_of(maker->put("x", 8, {.token = 78, .repeated = true})), 2u);
  EXPECT_EQ(version_of(maker->put("x", 8, {.token = 78})), 3u);
}

TEST(Recovery, ANewKeeperGetsEverything) {
  World world;
  auto maker = world.program();
  ASSERT_TRUE(maker->share("x", kLarge).ok());
  FakeKeeper second;
  world.core->hold_all(second);
  ASSERT_TRUE(maker->share("y", kLarge).ok());
  EXPECT_EQ(second.items(), 2u);
  ASSERT_TRUE(maker->remove("x").ok());
  EXPECT_EQ(second.items(), 1u);
}

class BothKilled : public ::testing::Test {
 protected:
  BothKilled() {
    char folder[] = "/tmp/warpool-both-XXXXXX";
    folder_ = ::mkdtemp(folder);
  }
  ~BothKilled() override {
    for (const char* name : {"/names", "/names.new"})
      ::unlink((folder_ + name).c_str());
    ::rmdir(folder_.c_str());
  }
  std::string folder_;
};

TEST_F(BothKilled, LostArraysAreNamedAndVersionsGoOn) {
  std::uint64_t epoch = 0;
  {
    World world(1 << 30, 65536, folder_ + "/names");
    auto maker = world.program(1000);
    ASSERT_TRUE(maker->put("x").ok());
    ASSERT_TRUE(maker->put("x").ok());
    ASSERT_TRUE(maker->put("gone").ok());
    ASSERT_TRUE(maker->remove("gone").ok());
    epoch = maker->get("x").item()->id() >> 32;
  }
  World world(1 << 30, 65536, folder_ + "/names");
  EXPECT_EQ(world.report.count(EventKind::kArraysLost), 1);
  auto maker = world.program(1000);
  const Answer lost = maker->get("x");
  EXPECT_EQ(lost.code(), Code::kLost);
  EXPECT_NE(lost.text().find("version 2"), std::string::npos);
  EXPECT_EQ(world.program(1001)->get("1000:x").code(), Code::kNotFound) << "not everybody's news";
  EXPECT_EQ(maker->get("gone").code(), Code::kNotFound);
  EXPECT_GE(version_of(maker->put("x")), 3u);
  EXPECT_TRUE(maker->get("x").ok());
  EXPECT_GT(maker->get("x").item()->id() >> 32, epoch) << "no id comes back";
  ASSERT_TRUE(maker->remove("x").ok());
  EXPECT_EQ(maker->get("x").code(), Code::kNotFound) << "removed, not lost";
  world.core->clean_up();
  EXPECT_NE(::access((folder_ + "/names").c_str(), F_OK), 0);
}

TEST_F(BothKilled, WithoutTheListTheBrokerServesAndSaysSo) {
  World world(1 << 30, 65536, "/nowhere/names");
  EXPECT_EQ(world.report.count(EventKind::kDegraded), 1);
  auto maker = world.program();
  EXPECT_TRUE(maker->put("x").ok());
}

}  // namespace
}  // namespace warpool::broker
