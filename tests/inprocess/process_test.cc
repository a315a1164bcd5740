// SPDX-License-Identifier: Apache-2.0
// What belongs to a process: forks and file descriptors.
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>

#include "fixture.h"

namespace warpool::inprocess {
namespace {

/// Runs `body` in a forked child; its result is the exit status.
template <typename Body>
int in_child(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

TEST(Fork, AChildHasASessionOfItsOwn) {
  Broker broker;
  Program program(broker);
  EXPECT_EQ(put(program, "x", kLarge, 3), WARPOOL_OK);
  const Array array = get(program, "x");
  const std::uint64_t session = program.info().session;
  EXPECT_EQ(in_child([&] {
              if (values_of(array)[1] != 4) return 1;  // arrays stay mapped
              warpool_broker_info info{};
              if (warpool_get_broker_info(program, &info, nullptr) != WARPOOL_OK) return 2;
              if (info.session == session || info.sessions != 2) return 3;
              const std::vector<double> values = ramp(kSmall, 8);
              const warpool_part part = doubles(kSmall, values.data());
              if (warpool_put(program, "child", &part, 1, nullptr, nullptr, nullptr) != WARPOOL_OK)
                return 4;
              return 0;
            }),
            0);
  EXPECT_EQ(values_of(get(program, "child"))[0], 8);
  EXPECT_EQ(program.info().session, session) << "the parent's session is untouched";
  EXPECT_EQ(program.viewers("x"), 1u);
}

TEST(Fork, DraftsStayWithTheParent) {
  Broker broker;
  Program program(broker);
  const warpool_part part = doubles(kLarge);
  warpool_draft* draft = nullptr;
  ASSERT_EQ(warpool_create(program, "x", &part, 1, nullptr, &draft, nullptr), WARPOOL_OK);
  static_cast<double*>(warpool_draft_data(draft, 0))[0] = 11;
  EXPECT_EQ(in_child([&] {
              Error error;
              if (warpool_publish(draft, nullptr, nullptr, error.out()) != WARPOOL_LOST) return 1;
              warpool_discard(draft);
              return warpool_ping(program, nullptr) == WARPOOL_OK ? 0 : 2;
            }),
            0);
  Error error;
  EXPECT_OK(warpool_publish(draft, nullptr, nullptr, error.out()), error);
  EXPECT_EQ(values_of(get(program, "x"))[0], 11);
}

TEST(Fork, WhileOtherThreadsCall) {
  Broker broker;
  Program program(broker);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop)
      EXPECT_EQ(put(program, "busy", kSmall, 1), WARPOOL_OK);
  });
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(in_child([&] { return warpool_ping(program, nullptr) == WARPOOL_OK ? 0 : 1; }), 0);
  stop = true;
  busy.join();
}

/// No new descriptor in this process while it lives. The broker in its thread needs none for what happens meanwhile.
class NoFreeDescriptor {
 public:
  NoFreeDescriptor() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 3;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoFreeDescriptor() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(FullTable, AGetIsAnErrorAndTheArrayIsNotLost) {
  Broker broker;
  Program program(broker);
  EXPECT_EQ(put(program, "x", kLarge, 3), WARPOOL_OK);
  EXPECT_EQ(put(program, "s", kSmall, 4), WARPOOL_OK);
  warpool_array* array = nullptr;
  Error error;
  {
    const NoFreeDescriptor none;
    EXPECT_EQ(warpool_get(program, "x", 0, nullptr, &array, error.out()), WARPOOL_LIMIT_REACHED);
    EXPECT_TRUE(error.says("ulimit -n")) << error.text();
    EXPECT_OK(warpool_get(program, "s", 0, nullptr, &array, error.out()), error);
    warpool_array_release(array);
  }
  EXPECT_EQ(program.viewers("x"), 0u) << "a view that was never mapped";
  EXPECT_EQ(values_of(get(program, "x"))[0], 3);
  // More often than replies with descriptors may be unread.
  for (int i = 0; i < 30; ++i) {
    const NoFreeDescriptor none;
    EXPECT_EQ(warpool_get(program, "x", 0, nullptr, &array, nullptr), WARPOOL_LIMIT_REACHED);
  }
  EXPECT_EQ(values_of(get(program, "x"))[0], 3);
}

TEST(FullTable, ACreateOrPutIsAnErrorAndChargesNothing) {
  Broker broker;
  Program program(broker);
  const std::vector<double> values = ramp(kLarge, 1);
  const warpool_part part = doubles(kLarge, values.data());
  Error error;
  {
    const NoFreeDescriptor none;
    warpool_draft* draft = nullptr;
    EXPECT_EQ(warpool_create(program, "x", &part, 1, nullptr, &draft, error.out()),
              WARPOOL_LIMIT_REACHED);
    EXPECT_EQ(warpool_put(program, "x", &part, 1, nullptr, nullptr, error.out()),
              WARPOOL_LIMIT_REACHED);
  }
  EXPECT_EQ(program.info().memory_used, 0u);
  EXPECT_OK(warpool_put(program, "x", &part, 1, nullptr, nullptr, error.out()), error);
}

}  // namespace
}  // namespace warpool::inprocess
