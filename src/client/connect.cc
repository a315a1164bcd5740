// SPDX-License-Identifier: Apache-2.0
// The connection part of the C interface.
#include <cstdlib>
#include <cstring>

#include "client/spare.h"
#include "client/state.h"
#include "os/process.h"

namespace warpool::client {
namespace {

template <std::size_t N>
void copy_text(char (&to)[N], std::string_view from) {
  const std::size_t bytes = from.size() < N ? from.size() : N - 1;
  std::memcpy(to, from.data(), bytes);
  to[bytes] = '\0';
}

ConnectOptions read_options(const warpool_connect_options* given) {
  ConnectOptions options;
  options.language = Text("c");
  const char* label = os::environment("WARPOOL_LABEL");
  if (label != nullptr) options.label = Text(label);
  if (given == nullptr) return options;
  options.flags = given->flags;
  options.reconnect_ms = given->reconnect_ms;
  options.interrupted = given->interrupted;
  options.context = given->context;
  if (given->socket_path != nullptr) options.socket_path = Text(given->socket_path);
  if (given->language != nullptr) options.language = Text(given->language);
  if (given->label != nullptr) options.label = Text(given->label);
  return options;
}

}  // namespace
}  // namespace warpool::client

using namespace warpool;
using namespace warpool::client;

warpool_status warpool_connect(const warpool_connect_options* options, warpool_connection** out,
                               warpool_error* error) {
  if (out == nullptr ||
      (options != nullptr && options->struct_size < sizeof(warpool_connect_options)))
    return report_error(
        Error::format(Code::kInvalidArgument,
                      "warpool_connect needs a place for the connection and options "
                      "made with WARPOOL_CONNECT_OPTIONS_INIT"),
        error);
  Result<Connection*> connection = Connection::open(read_options(options));
  if (!connection.ok()) return report_error(connection.error(), error);
  *out = to_handle(connection.value());
  return report_ok(error);
}

void warpool_close(warpool_connection* connection) {
  if (connection != nullptr) from_handle(connection)->close();
}

void warpool_interrupt(warpool_connection* connection) {
  if (connection != nullptr) from_handle(connection)->interrupt();
}

warpool_status warpool_ping(warpool_connection* connection, warpool_error* error) {
  Result<Answer> answer = from_handle(connection)->call({}, -1, [](Builder& builder) {
    return wire::fb::CreatePing(builder);
  });
  if (!answer.ok()) return report_error(answer.error(), error);
  from_handle(connection)->recycle(std::move(answer).value());
  return report_ok(error);
}

warpool_status warpool_get_broker_info(warpool_connection* handle, warpool_broker_info* out,
                                       warpool_error* error) {
  Connection& connection = *from_handle(handle);
  Result<Answer> answer = connection.call(
      {}, -1, [](Builder& builder) { return wire::fb::CreateBrokerStatus(builder); });
  if (!answer.ok()) return report_error(answer.error(), error);
  const wire::fb::StatusReply* status = answer.value().reply->body_as_StatusReply();
  if (status == nullptr || out == nullptr)
    return report_error(Error::format(Code::kProtocolError, "the broker gave no status"), error);
  *out = {};
  out->struct_size = sizeof *out;
  const Identity identity = connection.identity();
  out->protocol = identity.protocol;
  out->epoch = status->epoch();
  out->session = identity.session;
  out->broker_pid = status->broker_pid();
  out->keeper_pid = status->keeper_pid();
  out->restarts = status->restarts();
  out->memory_limit = status->memory_limit();
  out->memory_published = status->memory_published();
  out->memory_drafts = status->memory_drafts();
  out->memory_spare = status->memory_spare();
  out->memory_viewed = status->memory_viewed();
  out->memory_used =
      out->memory_published + out->memory_drafts + out->memory_spare + out->memory_viewed;
  out->arrays = status->arrays();
  out->sessions = status->sessions();
  out->uptime_ms = status->uptime_ms();
  out->lost = status->lost();
  out->is_private = status->is_private() ? 1 : 0;
  copy_text(out->broker_version, wire::text(status->broker_version()));
  copy_text(out->socket_path, identity.socket_path.view());
  connection.recycle(std::move(answer).value());
  return report_ok(error);
}

warpool_status warpool_shutdown(warpool_connection* connection, int force, warpool_error* error) {
  const Result<Answer> answer = from_handle(connection)->call({}, -1, [&](Builder& builder) {
    return wire::fb::CreateShutdown(builder, force != 0);
  });
  return answer.ok() ? report_ok(error) : report_error(answer.error(), error);
}

void warpool_count_copy(warpool_connection* connection, uint32_t reason, uint64_t bytes) {
  from_handle(connection)->count_copy(reason, bytes);
}
