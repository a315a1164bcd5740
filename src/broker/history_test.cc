// SPDX-License-Identifier: Apache-2.0
// Random histories of several users and programs against a plain model of what names mean. The seed is printed; set
// WARPOOL_TEST_SEED to run one history again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "broker_world.h"

namespace warpool::broker {
namespace {

using namespace testing;

constexpr int kSteps = 3000;
constexpr std::uint64_t kLarge = 70'000;

class History {
 public:
  explicit History(std::uint64_t seed) : random_(seed), world_(kLarge * 12) {
    for (int i = 0; i < 6; ++i)
      programs_.push_back(world_.unconnected(static_cast<std::uint32_t>(1000 + i % 3),
                                             static_cast<std::uint32_t>(i % 2), i == 5));
    owners_ = {1000, 1001, 1002, 1000, 1001, 1002};
    held_.resize(programs_.size());
    connected_.resize(programs_.size());
  }

  void run() {
    for (int step = 0; step < kSteps && !::testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      step_once();
      if (step % 50 == 0) compare();
    }
    compare();
    for (std::size_t i = 0; i < programs_.size(); ++i)
      leave(i);
    world_.pass_ms(100'000);
    EXPECT_EQ(world_.core->memory().viewed, 0u);
    EXPECT_EQ(world_.core->memory().drafts, 0u);
    EXPECT_EQ(world_.core->memory().spare, 0u);
  }

 private:
  struct Held {
    std::uint64_t id;
    std::uint32_t owner;
  };
  struct Name {
    std::uint64_t version = 0;  ///< of the current array; 0: none
    std::uint64_t last = 0;     ///< highest ever
    bool large = false;
    std::uint32_t mode = 0;
  };
  using Key = std::pair<std::uint32_t, std::string>;

  std::size_t below(std::size_t end) { return random_() % end; }
  std::string any_name() { return std::string("n") + std::to_string(below(5)); }

  void step_once() {
    const std::size_t who = below(programs_.size());
    if (!connected_[who]) return join(who);
    switch (below(16)) {
      case 0:
        return below(4) == 0 ? leave(who) : void();
      case 1:
        return below(12) == 0 ? crash() : void();
      case 2:
      case 3:
        return publish(who, false);
      case 4:
      case 5:
        return publish(who, true);
      case 6:
        return remove(who);
      case 7:
        return chmod(who);
      case 8:
      case 9:
      case 10:
        return get(who);
      case 11:
        return release(who);
      case 12:
        return draft(who);
      case 13:
        return wait(who);
      case 14:
        (void)programs_[who]->spare(below(2) * 4096);
        return;
      default:
        world_.pass_ms(static_cast<std::int64_t>(below(50)));
    }
  }

  void join(std::size_t who) {
    std::vector<std::uint64_t> ids;
    for (const Held& one : held_[who])
      ids.push_back(one.id);
    ASSERT_TRUE(programs_[who]->connect(ids).ok());
    connected_[who] = true;
  }

  void leave(std::size_t who) {
    programs_[who]->disconnect();
    held_[who].clear();
    connected_[who] = false;
  }

  void crash() {
    world_.crash();
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      connected_[i] = false;
      join(i);
      // A view of somebody else's array comes back only where it may still be read.
      std::erase_if(held_[i], [&](const Held& one) {
        const bool back = programs_[i]->get_memory(one.id).ok();
        EXPECT_TRUE(back || one.owner != owners_[i]);
        return !back;
      });
    }
  }

  void publish(std::size_t who, bool large) {
    const std::string name = any_name();
    const Answer answer =
        large ? programs_[who]->share(name, kLarge) : programs_[who]->put(name, 8 + below(90));
    if (large && answer.code() == Code::kOutOfMemory) return;
    ASSERT_TRUE(answer.ok()) << answer.text();
    Name& model = names_[{owners_[who], name}];
    const std::uint64_t version = answer.reply->body_as_Published()->version();
    ASSERT_GT(version, model.last) << "a version came back";
    if (model.version == 0) model.mode = 0600;
    model.version = model.last = version;
    model.large = large;
  }

  void remove(std::size_t who) {
    const std::string name = any_name();
    Name& model = names_[{owners_[who], name}];
    const Answer answer = programs_[who]->remove(name);
    ASSERT_EQ(answer.ok(), model.version != 0);
    model.version = 0;
  }

  void chmod(std::size_t who) {
    const std::string name = any_name();
    Name& model = names_[{owners_[who], name}];
    const std::uint32_t modes[] = {0600, 0640, 0644};
    const std::uint32_t mode = modes[below(3)];
    ASSERT_EQ(programs_[who]->chmod(name, mode).ok(), model.version != 0);
    model.mode = mode;
  }

  /// Own names and others': the second answer must follow the permissions.
  void get(std::size_t who) {
    const std::size_t owner = below(programs_.size());
    const std::string name = any_name();
    const Name& model = names_[{owners_[owner], name}];
    const Answer answer = programs_[who]->get(std::to_string(owners_[owner]) + ":" + name);
    const bool mine = owners_[who] == owners_[owner] || who == 5;
    if (mine || (model.mode & 0004) != 0) {
      ASSERT_EQ(answer.ok(), model.version != 0) << answer.text();
    } else if ((model.mode & 0040) == 0) {
      ASSERT_FALSE(answer.ok());
    }
    if (!answer.ok()) return;
    ASSERT_EQ(answer.item()->version(), model.version);
    ASSERT_EQ(answer.fd != nullptr, model.large);
    if (model.large) held_[who].push_back({answer.item()->id(), owners_[owner]});
  }

  void release(std::size_t who) {
    if (held_[who].empty()) return;
    const std::size_t which = below(held_[who].size());
    const std::uint64_t id = held_[who][which].id;
    ASSERT_TRUE(programs_[who]->get_memory(id).ok()) << "a view must keep its memory";
    programs_[who]->release(id);
    held_[who].erase(held_[who].begin() + static_cast<std::ptrdiff_t>(which));
  }

  void draft(std::size_t who) {
    const std::uint64_t number = 1 + below(3);
    if (below(2) == 0) {
      (void)programs_[who]->create(number, "draft", 1 + below(kLarge), below(2) == 0);
      // A create that has to wait is given up again, so that the model need not know about it.
      const std::uint64_t request = programs_[who]->last_request();
      (void)programs_[who]->cancel(request, below(2) == 0);
      (void)programs_[who]->take(request);
    }
    programs_[who]->discard(number);
  }

  void wait(std::size_t who) {
    const Answer answer = programs_[who]->get("never", 0, true);
    ASSERT_FALSE(answer.came());
    const std::uint64_t request = programs_[who]->last_request();
    if (below(2) == 0) {
      ASSERT_TRUE(programs_[who]->cancel(request, true).came());
    }
    if (below(8) == 0) leave(who);
  }

  void compare() {
    std::size_t current = 0;
    for (const auto& [key, model] : names_)
      current += model.version != 0 ? 1U : 0U;
    ASSERT_EQ(world_.core->array_count(), current);
    if (!connected_[5]) return;
    for (const auto& [key, model] : names_) {
      const Answer answer = programs_[5]->stat(std::to_string(key.first) + ":" + key.second);
      ASSERT_EQ(answer.ok(), model.version != 0);
    }
  }

  std::mt19937_64 random_;
  World world_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<std::uint32_t> owners_;
  std::vector<std::vector<Held>> held_;
  std::vector<bool> connected_;
  std::map<Key, Name> names_;
};

TEST(History, RandomOnesFollowTheModel) {
  std::vector<std::uint64_t> seeds = {1, 2, 3, 4, std::random_device{}()};
  if (const char* given = std::getenv("WARPOOL_TEST_SEED"))
    seeds = {std::strtoull(given, nullptr, 10)};
  for (const std::uint64_t seed : seeds) {
    SCOPED_TRACE("WARPOOL_TEST_SEED=" + std::to_string(seed));
    History(seed).run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace warpool::broker
