// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "store/keeper_port.h"

namespace warpool::daemon {

/// The broker's end of the socket to its keeper.
class KeeperLink final : public store::KeeperPort {
 public:
  /// Takes the socket that the keeper gave this process.
  explicit KeeperLink(os::Fd socket) : socket_(std::move(socket)) {}

  /// Everything that an earlier broker left; blocks until the keeper has sent it all.
  Result<std::vector<store::HeldFd>> replay();
  void hold(std::uint64_t slot, const os::Fd& fd) override;
  void drop(std::uint64_t slot) override;
  /// A clean end: the keeper must not start a broker again.
  void say_exit();

  [[nodiscard]] int socket() const { return socket_.get(); }
  /// The keeper is gone or does not read; somebody must start a new one.
  [[nodiscard]] bool lost() const { return lost_; }
  void mark_lost() { lost_ = true; }

 private:
  void send(std::uint32_t op, std::uint64_t slot, int fd);
  os::Fd socket_;
  bool lost_ = false;
};

/// Starts a keeper that adopts this process (`arguments`: how to start a broker like this one).
struct AdoptedBy {
  os::Fd socket;
  std::int32_t pid = 0;
};
Result<AdoptedBy> start_keeper(const std::string& keeper_path,
                               const std::vector<std::string>& broker_command);

/// Path of the keeper's program: beside this one, or in the libexec folder of the installation.
Result<std::string> find_keeper();

}  // namespace warpool::daemon
