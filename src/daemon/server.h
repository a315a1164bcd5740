// SPDX-License-Identifier: Apache-2.0
// Sockets around the broker: one thread, one event loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/broker.h"

namespace warpool::daemon {

class KeeperLink;

struct ServerOptions {
  broker::Config config;
  std::string socket_path;
  std::int64_t linger_ms = 0;  ///< private brokers end this long after their last program
  /// How to start a keeper when the one that was there died; empty: run without one.
  std::string keeper_path;
  std::vector<std::string> broker_command;
};

/// Runs in the thread that calls run(). Also used by tests inside one process, without a keeper.
class Server {
 public:
  Server(ServerOptions options, Report& report, std::unique_ptr<KeeperLink> keeper);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Takes the folder's lock, recovers or starts the broker, and listens. kConflict: another broker has the socket.
  Result<void> start();
  /// Serves until stop(), a signal (with `catch_signals`), a shutdown request, or until nobody needs a private broker.
  enum class Signals : std::uint8_t { kIgnore, kCatch };
  void run(Signals signals);
  /// From any thread.
  void stop();
  /// For people who ask; before start().
  void set_keeper_pid(std::int32_t pid);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpool::daemon
