// SPDX-License-Identifier: Apache-2.0
#include "cli/client.h"

#include "cli/failure.h"
#include "cli/signals.h"

namespace warpool::cli {

void require_ok(warpool_status status, const warpool_error& error) {
  if (status == WARPOOL_OK) return;
  const std::string message =
      error.message[0] != '\0' ? error.message : warpool_status_name(status);
  throw Failure(exit_code_of_status(status), message);
}

ConnectAttempt try_connect(const std::string& socket_path, StartBroker start, Socket socket) {
  warpool_connect_options options = WARPOOL_CONNECT_OPTIONS_INIT;
  options.language = "cli";
  options.socket_path = socket_path.empty() ? nullptr : socket_path.c_str();
  if (start == StartBroker::kNever)
    options.flags |= WARPOOL_CONNECT_NO_START | WARPOOL_CONNECT_NO_RESTORE;
  if (socket == Socket::kAdmin) options.flags |= WARPOOL_CONNECT_ADMIN;
  options.interrupted = [](void*) { return interrupted() ? 1 : 0; };
  warpool_connection* connection = nullptr;
  warpool_error error{};
  ConnectAttempt attempt;
  attempt.status = warpool_connect(&options, &connection, &error);
  if (attempt.status == WARPOOL_OK) {
    attempt.connection.reset(connection);
  } else {
    attempt.message = error.message;
  }
  return attempt;
}

Owned<warpool_connection> connect(const std::string& socket_path, StartBroker start,
                                  Socket socket) {
  ConnectAttempt attempt = try_connect(socket_path, start, socket);
  if (attempt.status == WARPOOL_OK) return std::move(attempt.connection);
  throw Failure(exit_code_of_status(attempt.status), attempt.message);
}

warpool_broker_info broker_info(warpool_connection* connection) {
  warpool_broker_info info{};
  info.struct_size = sizeof info;
  call(warpool_get_broker_info, connection, &info);
  return info;
}

warpool_wait interruptible_wait(int64_t timeout_ms) {
  warpool_wait wait = WARPOOL_WAIT_INIT;
  wait.timeout_ms = timeout_ms;
  wait.interrupted = [](void*) { return interrupted() ? 1 : 0; };
  return wait;
}

}  // namespace warpool::cli
