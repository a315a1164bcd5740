// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <nss.h>
#include <unistd.h>

#include <cstring>

#include "input.h"
#include "os/memory.h"

namespace warpool::fuzz {

void FakeKeeper::hold(std::uint64_t slot, const os::Fd& fd) {
  Result<os::Fd> copy = fd.duplicate();
  require(copy.ok(), "the keeper got a bad descriptor");
  held_[slot] = std::move(copy).value();
}

std::vector<store::HeldFd> FakeKeeper::replay() const {
  std::vector<store::HeldFd> held;
  for (const auto& [slot, fd] : held_)
    held.push_back({slot, std::move(fd.duplicate()).value()});
  return held;
}

bool Program::send(std::span<const std::uint8_t> message, int fd) {
  require(session != 0, "a message went to a session that is closed");
  require(message.size() <= kMessageBytesMax, "a reply is larger than a message may be");
  std::vector<std::uint64_t> aligned(message.size() / 8 + 3);
  auto* place = reinterpret_cast<std::uint8_t*>(aligned.data());
  if (reinterpret_cast<std::uintptr_t>(place) % 16 != 0) place += 8;
  std::memcpy(place, message.data(), message.size());
  const Result<const wire::fb::Reply*> reply = wire::read_reply({place, message.size()});
  require(reply.ok(), "the library would refuse a reply");
  if (remembers) answers.push_back({reply.value()->id(), reply.value()->code()});
  require(fd < 0 || ::lseek(fd, 0, SEEK_CUR) >= 0, "a reply came with a closed descriptor");
  if (fd >= 0) ++fds_read;
  if (reads) return true;
  if (queued_ + message.size() * kWeight > kQueuedBytesMax) return false;
  queued_ += message.size() * kWeight;
  return true;
}

World::World() {
  // Users from the file alone: a name service behind it costs milliseconds a name, and its answers are not ours to test.
  static const int configured = __nss_configure_lookup("passwd", "files");
  require(configured == 0, "the name service cannot be configured");
  start({});
}

World::~World() = default;

void World::start(std::vector<store::HeldFd> held) {
  broker::Config config;
  config.memory_limit = kMemoryLimit;
  config.version = "0.0.0";
  config.is_private = true;
  config.owner_uid = 1000;
  Result<std::unique_ptr<broker::Broker>> started =
      broker::Broker::start(config, {clock_, report_, keeper_}, held);
  require(started.ok(), "the broker does not start");
  broker_ = std::move(started).value();
}

void World::open(std::size_t index) {
  Program& program = programs_[index];
  if (program.session != 0) return;
  program.read_all();
  program.fds_read = 0;
  program.reads = true;
  const broker::Peer peer{.uid = index == 2 ? 1001U : 1000U,
                          .gid = 100,
                          .groups = {},
                          .pid = static_cast<std::int32_t>(100 + index),
                          .command = "program",
                          .container = "",
                          .admin = index == 3};
  const Result<broker::SessionId> opened = broker_->open(peer, program);
  if (opened.ok()) program.session = opened.value();
}

void World::close(std::size_t index) {
  if (programs_[index].session == 0) return;
  broker_->closed(std::exchange(programs_[index].session, 0));
}

void World::receive(std::size_t index, std::span<const std::uint8_t> message,
                    std::vector<os::Fd> fds) {
  if (programs_[index].session == 0) return;
  buffer_.assign(message.size() / 8 + 3, 0);
  auto* place = reinterpret_cast<std::uint8_t*>(buffer_.data());
  if (reinterpret_cast<std::uintptr_t>(place) % 16 != 0) place += 8;
  std::memcpy(place, message.data(), message.size());
  broker_->receive(programs_[index].session, {place, message.size()}, std::move(fds));
}

void World::restart() {
  broker_.reset();
  for (Program& program : programs_)
    program.session = 0;
  start(keeper_.replay());
}

void World::pass_time(std::int64_t ns) {
  clock_.now_ns += ns;
  (void)broker_->tick();
}

void World::finish() {
  const std::string before = broker_->check_invariants();
  require(before.empty(), before.c_str());
  for (std::size_t i = 0; i < kPrograms; ++i)
    close(i);
  // Past the time in which programs may come back after a restart.
  pass_time(60'000'000'000);
  const std::string after = broker_->check_invariants();
  require(after.empty(), after.c_str());
  const store::MemoryUse& memory = broker_->memory();
  require(memory.drafts == 0 && memory.spare == 0 && memory.viewed == 0,
          "memory is still charged although no program is left");
  require(broker_->session_count() == 0, "a session outlived its program");
}

os::Fd make_memory(std::uint64_t bytes, unsigned faults) {
  if ((faults & 8) != 0) {
    int ends[2];
    if (::pipe(ends) != 0) return {};
    ::close(ends[1]);
    return os::Fd(ends[0]);
  }
  const std::uint64_t size = os::round_to_page(bytes) + ((faults & 4) != 0 ? kPageBytes : 0);
  Result<os::Fd> fd = os::create_memfd("fuzz", size);
  if (!fd.ok()) return {};
  if ((faults & 2) == 0) (void)os::allocate_pages(fd.value(), size);
  if ((faults & 1) == 0) (void)os::seal_writes(fd.value());
  return std::move(fd).value();
}

}  // namespace warpool::fuzz
