// SPDX-License-Identifier: Apache-2.0
// A broker without sockets, threads or a real clock: programs talk to it through loopback ports, a fake keeper holds what must
// outlive it, and the test moves the time. After every message the broker's own invariants are checked.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/layout.h"
#include "base/report.h"
#include "broker/broker.h"
#include "os/memory.h"
#include "store/item_codec.h"
#include "wire/codec.h"

namespace warpool::testing {

namespace fb = wire::fb;
using Builder = flatbuffers::FlatBufferBuilder;

class FakeClock final : public broker::Clock {
 public:
  std::int64_t monotonic_ns() override { return now_ns_; }
  std::int64_t unix_ns() override { return now_ns_ + 1'700'000'000'000'000'000; }
  void advance_ms(std::int64_t ms) { now_ns_ += ms * 1'000'000; }

 private:
  std::int64_t now_ns_ = 1'000'000'000;
};

/// Thrown where a broker is killed: in the middle of whatever it does.
struct Killed {};

/// Holds duplicates, as the real one does. `budget`: how many more messages arrive before the broker is killed.
class FakeKeeper final : public store::KeeperPort {
 public:
  void hold(std::uint64_t slot, const os::Fd& fd) override {
    count();
    Result<os::Fd> copy = fd.duplicate();
    ASSERT_TRUE(copy.ok()) << "the keeper got a bad descriptor";
    held_[slot] = std::move(copy).value();
  }
  void drop(std::uint64_t slot) override {
    count();
    held_.erase(slot);
  }
  [[nodiscard]] std::vector<store::HeldFd> replay() const {
    std::vector<store::HeldFd> held;
    for (const auto& [slot, fd] : held_)
      held.push_back({slot, std::move(fd.duplicate()).value()});
    return held;
  }
  [[nodiscard]] std::size_t items() const {
    return static_cast<std::size_t>(std::count_if(held_.begin(), held_.end(), [](const auto& one) {
      return store::slot_kind(one.first) == store::SlotKind::kItem;
    }));
  }
  [[nodiscard]] const std::map<std::uint64_t, os::Fd>& held() const { return held_; }
  void erase(std::uint64_t slot) { held_.erase(slot); }
  std::int64_t budget = -1;  ///< negative: no end

 private:
  void count() {
    if (budget == 0) throw Killed{};
    if (budget > 0) --budget;
  }
  std::map<std::uint64_t, os::Fd> held_;
};

class EventLog final : public Report {
 public:
  void on_event(const Event& event) override {
    ++counts_[static_cast<int>(event.kind)];
    last_ = event;
  }
  [[nodiscard]] int count(EventKind kind) const { return counts_[static_cast<int>(kind)]; }
  [[nodiscard]] const Event& last() const { return last_; }

 private:
  int counts_[kEventKinds] = {};
  Event last_{EventKind::kStarted, 0, 0, {}};
};

/// A copy of a message at an address as aligned as FlatBuffers need it.
class AlignedMessage {
 public:
  explicit AlignedMessage(std::span<const std::uint8_t> bytes)
      : blocks_(bytes.size() / sizeof(Block) + 1), size_(bytes.size()) {
    std::memcpy(blocks_.data(), bytes.data(), bytes.size());
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(blocks_.data()), size_};
  }

 private:
  struct alignas(16) Block {
    std::uint8_t bytes[16];
  };
  std::vector<Block> blocks_;
  std::size_t size_;
};

/// One message of the broker as a program sees it.
struct Answer {
  std::shared_ptr<AlignedMessage> message;
  const fb::Reply* reply = nullptr;  ///< nullptr: no answer came
  std::shared_ptr<os::Fd> fd;

  [[nodiscard]] bool came() const { return reply != nullptr; }
  [[nodiscard]] bool ok() const { return came() && reply->code() == 0; }
  [[nodiscard]] Code code() const {
    EXPECT_TRUE(came()) << "no answer came";
    return came() ? static_cast<Code>(reply->code()) : Code::kProtocolError;
  }
  [[nodiscard]] std::string text() const {
    return came() ? std::string(wire::text(reply->message())) : "no answer came";
  }
  [[nodiscard]] const fb::Item* item() const {
    const fb::ItemState* state = reply->body_as_ItemState();
    return state == nullptr ? nullptr : wire::read_item(wire::bytes(state->item())).value();
  }
};

class Loopback final : public broker::SessionPort {
 public:
  bool send(std::span<const std::uint8_t> message, int fd) override {
    EXPECT_FALSE(closed) << "a message went to a session that is closed";
    EXPECT_LE(message.size(), kMessageBytesMax);
    if (broken || queued + message.size() > kQueuedBytesMax) return false;
    Answer answer;
    answer.message = std::make_shared<AlignedMessage>(message);
    const Result<const fb::Reply*> read = wire::read_reply(answer.message->bytes());
    EXPECT_TRUE(read.ok()) << "the library would refuse this reply";
    if (!read.ok()) return false;
    answer.reply = read.value();
    if (fd >= 0) {
      answer.fd = std::make_shared<os::Fd>(std::move(os::duplicate_fd(fd)).value());
      ++fds;
    }
    if (!reads) queued += message.size();
    (answer.reply->id() == 0 ? events : answers).push_back(std::move(answer));
    return true;
  }
  [[nodiscard]] std::size_t queued_bytes() const override { return queued; }
  void close() override { closed = true; }

  std::deque<Answer> answers;
  std::deque<Answer> events;
  bool reads = true;    ///< false: messages count as queued
  bool broken = false;  ///< true: nothing can be sent any more
  bool closed = false;
  std::size_t queued = 0;
  std::uint64_t fds = 0;  ///< descriptors that came
};

struct PutOptions {
  std::uint32_t mode = 0;
  std::uint32_t flags = 0;
  std::int64_t ttl_ms = 0;
  std::uint64_t token = 0;
  bool repeated = false;
  bool view = false;
};

class World;

/// A connected program. Calls return their answer, or none while they wait.
class Program {
 public:
  Program(World& world, broker::Peer peer) : world_(world), peer_(std::move(peer)) {}

  Result<void> open();
  /// Opens and greets.
  Answer connect(std::vector<std::uint64_t> held = {}, std::vector<std::uint64_t> drafts = {},
                 std::uint64_t draft_bytes = 0, std::uint64_t spare = 0);
  void disconnect();
  [[nodiscard]] bool alive() const { return session != 0 && !port.closed; }

  /// `add_body` gets a Builder and returns the offset of the body.
  template <typename AddBody>
  Answer call(AddBody add_body, bool repeated = false, std::vector<os::Fd> fds = {}) {
    const std::uint64_t request = send(add_body, repeated, std::move(fds));
    return take(request);
  }
  template <typename AddBody>
  std::uint64_t send(AddBody add_body, bool repeated = false, std::vector<os::Fd> fds = {}) {
    Builder builder(512);
    const auto body = add_body(builder);
    const std::uint64_t request = next_request_++;
    builder.Finish(fb::CreateRequest(builder, request, type_of(body), body.Union(), repeated,
                                     acknowledges ? port.fds : 0));
    deliver(wire::finished(builder), std::move(fds));
    return request;
  }
  void deliver(std::span<const std::uint8_t> message, std::vector<os::Fd> fds = {});
  /// The answer of a request that came earlier.
  Answer take(std::uint64_t request);
  [[nodiscard]] std::uint64_t last_request() const { return next_request_ - 1; }

  Answer ping() {
    return call([](Builder& builder) { return fb::CreatePing(builder); });
  }
  Answer put(const std::string& name, std::size_t bytes = 8, PutOptions options = {});
  Answer create(std::uint64_t draft, const std::string& name, std::uint64_t bytes,
                bool wait = false);
  /// Publishes a draft with a memfd of `bytes`, sealed as it should be.
  Answer publish(std::uint64_t draft, const std::string& name, std::uint64_t bytes,
                 PutOptions options = {});
  Answer publish_with(std::uint64_t draft, const std::string& name, std::uint64_t bytes,
                      std::vector<os::Fd> fds, PutOptions options = {});
  /// create and publish
  Answer share(const std::string& name, std::uint64_t bytes, PutOptions options = {});
  Answer get(const std::string& name, std::uint64_t version = 0, bool wait = false);
  Answer get_memory(std::uint64_t id) {
    return call([&](Builder& builder) { return fb::CreateGetMemory(builder, id); });
  }
  void release(std::uint64_t id) {
    send(
        [&](Builder& builder) { return fb::CreateRelease(builder, builder.CreateVector(&id, 1)); });
  }
  Answer cancel(std::uint64_t request, bool timed_out);
  void discard(std::uint64_t draft) {
    send([&](Builder& builder) { return fb::CreateDiscard(builder, draft); });
  }
  Answer remove(const std::string& name, std::uint64_t version = 0, bool repeated = false);
  Answer chmod(const std::string& name, std::uint32_t mode);
  Answer expire(const std::string& name, std::int64_t ttl_ms);
  Answer list(const std::string& pattern, std::uint32_t flags = 0, const std::string& cursor = "");
  Answer stat(const std::string& name, std::uint64_t version = 0);
  Answer watch(std::uint64_t watch, const std::string& pattern, std::uint32_t flags = 0,
               bool existing = false);
  Answer spare(std::uint64_t bytes) {
    return call([&](Builder& builder) { return fb::CreateSpare(builder, bytes); });
  }
  /// Kinds of the events that came, as text: "P name 1, R name 1, O".
  std::string take_events();

  Loopback port;
  broker::SessionId session = 0;
  bool acknowledges = true;
  std::uint64_t session_before = 0;  ///< said when it comes back
  std::string language = "test";
  std::string label;
  std::string run;

 private:
  template <typename Body>
  static constexpr fb::RequestBody type_of(flatbuffers::Offset<Body>) {
    return fb::RequestBodyTraits<Body>::enum_value;
  }
  World& world_;
  broker::Peer peer_;
  std::uint64_t next_request_ = 1;
};

class World {
 public:
  explicit World(std::uint64_t memory_limit = 1 << 30, std::uint64_t fd_limit = 65536,
                 const std::string& names_path = "") {
    config.memory_limit = memory_limit;
    config.fd_limit = fd_limit;
    config.names_path = names_path;
    config.version = "9.9.9";
    config.owner_uid = 1000;
    start();
  }
  /// With what the keeper holds.
  void start() {
    std::vector<store::HeldFd> held = keeper.replay();
    auto started = broker::Broker::start(config, {clock, report, keeper}, held);
    ASSERT_TRUE(started.ok()) << started.error().message.c_str();
    core = std::move(started).value();
    check();
  }
  /// Kills the broker, perhaps in the middle of a message, and starts it again; sessions are gone.
  void crash() {
    core.reset();
    keeper.budget = -1;
    start();
  }
  void check() {
    if (core == nullptr) return;
    ASSERT_EQ(core->check_invariants(), "");
  }
  std::int64_t tick() {
    const std::int64_t next = core->tick();
    check();
    return next;
  }
  void pass_ms(std::int64_t ms) {
    clock.advance_ms(ms);
    tick();
  }
  std::unique_ptr<Program> program(std::uint32_t uid = 1000, std::uint32_t gid = 100,
                                   bool admin = false) {
    auto made = unconnected(uid, gid, admin);
    EXPECT_TRUE(made->connect().ok());
    return made;
  }
  std::unique_ptr<Program> unconnected(std::uint32_t uid = 1000, std::uint32_t gid = 100,
                                       bool admin = false) {
    return std::make_unique<Program>(*this, broker::Peer{.uid = uid,
                                                         .gid = gid,
                                                         .groups = {},
                                                         .pid = next_pid_++,
                                                         .command = "program",
                                                         .container = "",
                                                         .admin = admin});
  }

  broker::Config config;
  FakeClock clock;
  EventLog report;
  FakeKeeper keeper;
  std::unique_ptr<broker::Broker> core;

 private:
  std::int32_t next_pid_ = 100;
};

/// A memfd as libwarpool would pass it.
inline os::Fd sealed_memory(std::uint64_t bytes) {
  const std::uint64_t pages = os::round_to_page(bytes);
  os::Fd fd = std::move(os::create_memfd("test", pages)).value();
  EXPECT_TRUE(os::allocate_pages(fd, pages).ok());
  EXPECT_EQ(os::seal_writes(fd).value(), os::SealOutcome::kSealed);
  return fd;
}

inline std::vector<array::Part> bytes_part(std::uint64_t bytes) {
  array::Part part;
  part.shape = {static_cast<std::int64_t>(bytes)};
  part.strides = {1};
  return {part};
}

}  // namespace warpool::testing
