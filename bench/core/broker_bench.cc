// SPDX-License-Identifier: Apache-2.0
// What the broker itself costs a message, without sockets and processes: Broker::receive through a port that drops the replies.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/report.h"
#include "broker/broker.h"
#include "os/clock.h"
#include "store/item_codec.h"

namespace {

using namespace warpool;
using Builder = flatbuffers::FlatBufferBuilder;

class SystemClock final : public broker::Clock {
 public:
  std::int64_t monotonic_ns() override { return os::monotonic_ns(); }
  std::int64_t unix_ns() override { return os::unix_ns(); }
};

[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "the bench is wrong: %s\n", why);
  std::abort();
}

class DroppingPort final : public broker::SessionPort {
 public:
  bool send(std::span<const std::uint8_t> message, int) override {
    // A bench of refusals would measure nothing of interest. The first replies are looked at; later, only the broker counts.
    if (checked_ > kCheckedReplies) return true;
    ++checked_;
    const std::vector<std::uint8_t> aligned(message.begin(), message.end());
    const auto reply = wire::read_reply(aligned);
    if (!reply.ok()) fail(reply.error().message.c_str());
    if (reply.value()->code() != 0) fail(wire::text(reply.value()->message()).data());
    return true;
  }
  [[nodiscard]] std::size_t queued_bytes() const override { return 0; }
  void close() override { fail("the broker closed the session"); }

 private:
  static constexpr int kCheckedReplies = 20;
  int checked_ = 0;
};

class SilentReport final : public Report {
 public:
  void on_event(const Event&) override {}
};

template <typename Body>
constexpr wire::fb::RequestBody type_of(flatbuffers::Offset<Body>) {
  return wire::fb::RequestBodyTraits<Body>::enum_value;
}

template <typename AddBody>
std::vector<std::uint8_t> request(AddBody add_body) {
  Builder builder(4096);
  const auto body = add_body(builder);
  builder.Finish(wire::fb::CreateRequest(builder, 1, type_of(body), body.Union()));
  // Messages lie aligned, as in the daemon's buffer: operator new aligns to 16 bytes.
  const auto bytes = wire::finished(builder);
  return {bytes.begin(), bytes.end()};
}

/// One greeted session of a broker with `names` small arrays.
class Fixture {
 public:
  explicit Fixture(std::int64_t names) {
    broker::Config config;
    config.memory_limit = std::uint64_t{8} << 30;
    std::vector<store::HeldFd> held;
    auto started = broker::Broker::start(config, {clock_, report_, keeper_}, held);
    if (!started.ok()) fail(started.error().message.c_str());
    broker_ = std::move(started).value();
    auto opened = broker_->open({}, port_);
    if (!opened.ok()) fail(opened.error().message.c_str());
    session_ = opened.value();
    receive(request([](Builder& builder) {
      return wire::fb::CreateHello(builder, wire::kProtocolMin, wire::kProtocolMax);
    }));
    for (std::int64_t i = 0; i < names; ++i)
      receive(put(i));
  }

  void receive(std::span<const std::uint8_t> message) { broker_->receive(session_, message, {}); }

  static std::string name(std::int64_t i) { return "lab/session/x" + std::to_string(i); }

  static std::vector<std::uint8_t> put(std::int64_t i) {
    return request([&](Builder& builder) {
      const std::vector<std::uint8_t> bytes(kBytes, 1);
      array::Part part;
      part.dtype = array::Dtype::kUint8;
      part.shape = {kBytes};
      part.strides = {1};
      const auto text = builder.CreateString(name(i));
      const auto parts = store::add_parts(builder, {&part, 1});
      builder.ForceVectorAlignment(kBytes, 1, 16);
      const auto contents = builder.CreateVector(bytes);
      return wire::fb::CreatePublish(builder, 0, text, kBytes, parts, 0, 0, 0, 0, contents);
    });
  }

  static std::vector<std::uint8_t> get(std::int64_t i) {
    return request([&](Builder& builder) {
      return wire::fb::CreateGet(builder, builder.CreateString(name(i)));
    });
  }

 private:
  static constexpr std::int64_t kBytes = 1024;
  SystemClock clock_;
  SilentReport report_;
  store::NoKeeper keeper_;
  DroppingPort port_;
  std::unique_ptr<broker::Broker> broker_;
  broker::SessionId session_ = 0;
};

constexpr std::int64_t kFew = 10;
constexpr std::int64_t kMany = 100'000;

void ping(benchmark::State& state) {
  Fixture fixture(0);
  const auto message = request([](Builder& builder) { return wire::fb::CreatePing(builder); });
  for (auto _ : state)
    fixture.receive(message);
}
BENCHMARK(ping);

/// Names are visited in strides, so that the caches of the processor see more than one of them.
void run_over_names(benchmark::State& state, std::vector<std::uint8_t> (*make)(std::int64_t)) {
  const std::int64_t names = state.range(0);
  Fixture fixture(names);
  std::vector<std::vector<std::uint8_t>> messages;
  constexpr std::int64_t kStride = 7919;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(names, 1000); ++i)
    messages.push_back(make(i * kStride % names));
  std::size_t next = 0;
  for (auto _ : state) {
    fixture.receive(messages[next]);
    next = next + 1 < messages.size() ? next + 1 : 0;
  }
}

void put(benchmark::State& state) {
  run_over_names(state, &Fixture::put);
}
BENCHMARK(put)->Arg(kFew)->Arg(kMany);

void get(benchmark::State& state) {
  run_over_names(state, &Fixture::get);
}
BENCHMARK(get)->Arg(kFew)->Arg(kMany);

}  // namespace

BENCHMARK_MAIN();
