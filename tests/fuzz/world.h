// SPDX-License-Identifier: Apache-2.0
// A broker with everything around it made of plain objects: a clock that is moved, a keeper in memory, programs that read or do not.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "broker/broker.h"

namespace warpool::fuzz {

class FakeClock final : public broker::Clock {
 public:
  std::int64_t monotonic_ns() override { return now_ns; }
  std::int64_t unix_ns() override { return now_ns + 1'700'000'000'000'000'000; }
  std::int64_t now_ns = 1'000'000'000;
};

/// Holds duplicates as the real one does.
class FakeKeeper final : public store::KeeperPort {
 public:
  void hold(std::uint64_t slot, const os::Fd& fd) override;
  void drop(std::uint64_t slot) override { held_.erase(slot); }
  [[nodiscard]] std::vector<store::HeldFd> replay() const;
  [[nodiscard]] std::size_t count() const { return held_.size(); }

 private:
  std::map<std::uint64_t, os::Fd> held_;
};

/// The program's end of a session. Every message to it must be one that the library would accept.
class Program final : public broker::SessionPort {
 public:
  bool send(std::span<const std::uint8_t> message, int fd) override;
  [[nodiscard]] std::size_t queued_bytes() const override { return queued_; }
  void close() override { session = 0; }

  broker::SessionId session = 0;
  /// A program that does not read: each byte weighs as many, so that the limit of 4 MiB is reached within few messages.
  bool reads = true;
  std::uint64_t fds_read = 0;
  /// What it was told, request and code; only where a test asks for it.
  struct Answer {
    std::uint64_t request;
    std::int32_t code;
  };
  bool remembers = false;
  std::vector<Answer> answers;
  void read_all() { queued_ = 0; }

 private:
  static constexpr std::size_t kWeight = 1000;
  std::size_t queued_ = 0;
};

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  static constexpr std::size_t kPrograms = 4;
  static constexpr std::uint64_t kMemoryLimit = 1024 * 1024;

  broker::Broker& core() { return *broker_; }
  Program& program(std::size_t index) { return programs_[index]; }
  /// Connects a program that is not connected. Two users; the last program comes through the admin socket.
  void open(std::size_t index);
  void close(std::size_t index);
  /// One message of a program, copied to an aligned place as the daemon's buffer is.
  void receive(std::size_t index, std::span<const std::uint8_t> message, std::vector<os::Fd> fds);
  /// The broker is killed and the keeper starts another: no session is told, all come back as new ones.
  void restart();
  void pass_time(std::int64_t ns);
  /// Ends all sessions and checks that nothing but published arrays is left, in the accounts, the catalogue and the keeper.
  void finish();

 private:
  void start(std::vector<store::HeldFd> held);

  FakeClock clock_;
  NullReport report_;
  FakeKeeper keeper_;
  Program programs_[kPrograms];
  std::unique_ptr<broker::Broker> broker_;
  std::vector<std::uint64_t> buffer_;
};

/// A memfd of whole pages; `faults` leaves out what makes it acceptable: 1 seals, 2 pages, 4 size, 8 it is a pipe instead.
os::Fd make_memory(std::uint64_t bytes, unsigned faults);

}  // namespace warpool::fuzz
