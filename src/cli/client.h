// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "warpool/warpool.h"

namespace warpool::cli {

// The C interface of libwarpool with owners and exceptions: a failed call throws Failure with the library's message and the exit
// code that belongs to its status.

struct Release {
  void operator()(warpool_connection* object) const { warpool_close(object); }
  void operator()(warpool_listing* object) const { warpool_listing_free(object); }
  void operator()(warpool_sessions* object) const { warpool_sessions_free(object); }
  void operator()(warpool_watch* object) const { warpool_watch_close(object); }
  void operator()(warpool_array* object) const { warpool_array_release(object); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

/// Throws Failure unless the status is WARPOOL_OK.
void require_ok(warpool_status status, const warpool_error& error);

/// Calls a function of the library whose last argument is the error.
template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
  warpool_error error{};
  require_ok(function(arguments..., &error), error);
}

/// Calls a function of the library that returns an object by its last argument but one.
template <typename T, typename Function, typename... Arguments>
Owned<T> make(Function function, Arguments... arguments) {
  T* object = nullptr;
  call(function, arguments..., &object);
  return Owned<T>(object);
}

/// A flag for the library's bit sets if a condition holds.
constexpr uint32_t flag_if(bool condition, uint32_t flag) {
  return condition ? flag : 0u;
}

enum class StartBroker : uint8_t { kNever, kIfNeeded };
enum class Socket : uint8_t { kUser, kAdmin };

/// Connects to the broker. `socket_path` may be empty: the library finds it. The session says "cli" as its language.
Owned<warpool_connection> connect(const std::string& socket_path, StartBroker start,
                                  Socket socket = Socket::kUser);
/// The same without throwing: the failed status and its message.
struct ConnectAttempt {
  Owned<warpool_connection> connection;
  warpool_status status = WARPOOL_OK;
  std::string message;
};
ConnectAttempt try_connect(const std::string& socket_path, StartBroker start,
                           Socket socket = Socket::kUser);

warpool_broker_info broker_info(warpool_connection* connection);

/// Options of a wait that Ctrl-C interrupts (see signals.h); a negative time-out waits without limit.
warpool_wait interruptible_wait(int64_t timeout_ms);

}  // namespace warpool::cli
