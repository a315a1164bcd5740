// SPDX-License-Identifier: Apache-2.0
// What the broker needs from the world. The daemon gives it sockets and clocks, tests give it loopbacks and a clock they move.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "os/fd.h"

namespace warpool::broker {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t monotonic_ns() = 0;
  virtual std::int64_t unix_ns() = 0;
};

/// The way back to one program.
class SessionPort {
 public:
  virtual ~SessionPort() = default;
  /// Sends or queues one message. `fd` is -1 or stays owned by the caller. False: the program has stopped reading and too much is
  /// queued; the broker then ends the session.
  virtual bool send(std::span<const std::uint8_t> message, int fd) = 0;
  /// Bytes queued because the program does not read.
  [[nodiscard]] virtual std::size_t queued_bytes() const = 0;
  /// Ends the connection; the broker has already forgotten the session and gets no further call for it.
  virtual void close() = 0;
};

/// Who is at the other end, as the kernel says.
struct Peer {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;
  std::int32_t pid = 0;
  std::string command;
  std::string container;
  bool admin = false;  ///< came through the admin socket
};

struct Config {
  std::uint64_t memory_limit = 0;  ///< bytes
  std::uint64_t fd_limit = 1024;   ///< descriptors that this process may hold
  std::uint32_t owner_uid = 0;     ///< user that runs the broker
  bool is_private = false;
  std::int32_t broker_pid = 0;
  std::int32_t keeper_pid = 0;  ///< who started this broker and holds its descriptors; 0: nobody
  std::string names_path;       ///< "" : do not keep the list of names
  std::string version;
};

}  // namespace warpool::broker
