// SPDX-License-Identifier: Apache-2.0
// Finding the broker, greeting it, and coming back after it was lost.
#include <cstdlib>

#include "client/connection.h"
#include "client/spare.h"
#include "client/state.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/futex.h"
#include "os/process.h"
#include "os/socket.h"

namespace warpool::client {
namespace {

constexpr std::int64_t kReconnectMsDefault = 10'000;
constexpr std::int64_t kPauseMsMax = 50;
/// A broker that is up greets within microseconds; one that the keeper is starting takes a moment.
constexpr std::int64_t kGreetingMs = 10'000;

bool asked_to_stop(const Patience& patience) {
  return patience.interrupted != nullptr && patience.interrupted(patience.context) != 0;
}

/// Only trouble that may go away by itself is worth another try.
bool is_final(const Error& error) {
  return error.code != Code::kNoBroker && error.code != Code::kTimedOut &&
         error.code != Code::kProtocolError;
}

}  // namespace

/// Returns with the mutex held and a greeted connection, or with the reason why there is none.
Result<void> Connection::ensure_connected(Lock& lock, const Patience& patience) {
  const std::int64_t budget_ms =
      options_.reconnect_ms > 0 ? options_.reconnect_ms : kReconnectMsDefault;
  const std::int64_t deadline = connected_ ? 0 : os::monotonic_ns() + budget_ms * os::kNsPerMs;
  std::int64_t pause_ms = 1;
  while (!connected_) {
    if (closed_)
      return Error::format(Code::kInvalidArgument,
                           "the connection has been closed by this program");
    if (connecting_.load(std::memory_order_relaxed) != 0) {
      lock.unlock();
      os::futex_wait(connecting_, 1, kPauseMsMax);
      const bool stop = asked_to_stop(patience);
      lock.lock();
      if (stop)
        return Error::format(Code::kInterrupted, "interrupted while reconnecting to the broker");
      continue;
    }
    connecting_.store(1, std::memory_order_relaxed);
    Result<void> tried = connect_once(lock, patience);
    connecting_.store(0, std::memory_order_relaxed);
    os::futex_wake(connecting_, 1 << 20);
    if (tried.ok()) break;
    const bool first = generation_ == 0;
    if (first || is_final(tried.error()) || os::monotonic_ns() >= deadline) return tried;
    lock.unlock();
    os::sleep_ms(pause_ms);
    const bool stop = asked_to_stop(patience);
    lock.lock();
    if (stop)
      return Error::format(Code::kInterrupted, "interrupted while reconnecting to the broker");
    pause_ms = pause_ms * 2 < kPauseMsMax ? pause_ms * 2 : kPauseMsMax;
  }
  return {};
}

Result<void> Connection::connect_once(Lock& lock, const Patience& patience) {
  const bool first = generation_ == 0;
  Text path = options_.socket_path;
  lock.unlock();
  Result<os::Fd> socket = Error::format(Code::kNoBroker, "not tried");
  bool may_start = false;
  if (first || (options_.flags & WARPOOL_CONNECT_NO_START) == 0) {
    Result<SocketChoice> choice = choose_socket(path.empty() ? nullptr : path.c_str());
    if (!choice.ok()) {
      lock.lock();
      return choice.take_error();
    }
    path = choice.value().path;
    may_start = choice.value().may_start && (options_.flags & WARPOOL_CONNECT_NO_START) == 0;
  }
  Text target = path;
  if ((options_.flags & WARPOOL_CONNECT_ADMIN) != 0) target = os::admin_socket_of(path.view());
  socket = os::connect_to(target.c_str());
  if (!socket.ok() && socket.error().code == Code::kNoBroker && may_start) {
    const Result<void> started = start_broker(path.c_str());
    socket = started.ok() ? os::connect_to(target.c_str()) : Result<os::Fd>(started.error());
  }
  lock.lock();
  if (!socket.ok()) {
    if (socket.error().code != Code::kNoBroker || may_start) return socket.take_error();
    return Error::format(Code::kNoBroker, "%s; start one with: warpool up --socket %s",
                         socket.error().message.c_str(), path.c_str());
  }
  options_.socket_path = path;
  return greet(lock, SocketRef(std::move(socket).value()), patience);
}

void Connection::build_hello(Builder& builder) {
  std::vector<std::uint64_t> held;
  for (const Held* array = views_.first(); array != nullptr; array = array->next)
    held.push_back(array->id);
  std::vector<flatbuffers::Offset<wire::fb::DraftClaim>> claims;
  for (const DraftState* draft = drafts_; draft != nullptr; draft = draft->next) {
    if (draft->lost) continue;
    const auto name = wire::add_text(builder, draft->name.view());
    claims.push_back(wire::fb::CreateDraftClaim(builder, draft->number, draft->size, name));
  }
  const char* run = os::environment("WARPOOL_RUN");
  const auto version = builder.CreateString(warpool_version());
  const auto language = wire::add_text(builder, options_.language.view());
  const auto label = wire::add_text(builder, options_.label.view());
  const auto run_text = builder.CreateString(run != nullptr ? run : "");
  const auto held_list = builder.CreateVector(held.data(), held.size());
  const auto claim_list = builder.CreateVector(claims.data(), claims.size());
  const auto hello = wire::fb::CreateHello(builder, wire::kProtocolMin, wire::kProtocolMax, version,
                                           language, label, run_text, os::process_id(), held_list,
                                           claim_list, spare_->bytes(), session_);
  builder.Finish(wire::fb::CreateRequest(builder, 1, wire::fb::RequestBody::Hello, hello.Union()));
}

/// Exchanges the greeting on a socket that nobody else uses yet.
Result<void> Connection::greet(Lock& lock, SocketRef socket, const Patience& patience) {
  Builder builder(512);
  build_hello(builder);
  if (builder.GetSize() > kMessageBytesMax)
    return Error::format(Code::kLimitReached,
                         "this program holds too many arrays to tell the broker; release some");
  Buffer buffer = take_buffer();
  lock.unlock();
  // A broker that refuses answers at once and hangs up: its answer counts although sending then fails.
  if (buffer.valid()) (void)send(socket.get(), wire::finished(builder), -1, patience);
  os::Received received;
  const std::int64_t deadline = os::monotonic_ns() + kGreetingMs * os::kNsPerMs;
  bool stopped = !buffer.valid();
  while (!stopped && received.outcome == os::Received::Outcome::kWouldBlock &&
         os::monotonic_ns() < deadline) {
    if (os::wait_readable(socket.get(), -1, kPauseMsMax))
      received = os::receive_message(socket.get(), buffer.bytes(), os::Blocking::kNo);
    stopped = asked_to_stop(patience);
  }
  lock.lock();
  if (received.outcome != os::Received::Outcome::kMessage)
    return Error::format(Code::kNoBroker, "the broker at %s does not answer; see: warpool doctor",
                         options_.socket_path.c_str());
  WARPOOL_ASSIGN(const wire::fb::Reply* const reply,
                 wire::read_reply(buffer.bytes().first(received.bytes)));
  WARPOOL_TRY(check_welcome(*reply));
  give_buffer(std::move(buffer));
  os::set_receive_timeout(socket.get(), 100);
  socket_ = std::move(socket);
  ++generation_;
  connected_ = true;
  fds_received_ = fds_reported_ = 0;
  rewatch();
  return {};
}

Result<void> Connection::check_welcome(const wire::fb::Reply& reply) {
  if (reply.code() != 0) {
    const bool known = reply.code() > 0 && reply.code() < kCodeCount;
    return Error{known ? static_cast<Code>(reply.code()) : Code::kProtocolError,
                 Text(wire::text(reply.message()))};
  }
  const wire::fb::Welcome* welcome = reply.body_as_Welcome();
  if (welcome == nullptr)
    return Error::format(Code::kVersionMismatch,
                         "what listens at %s is no broker that this library knows",
                         options_.socket_path.c_str());
  session_ = welcome->session();
  protocol_ = welcome->protocol();
  for (const std::uint64_t number : wire::numbers(welcome->lost_drafts())) {
    for (DraftState* draft = drafts_; draft != nullptr; draft = draft->next) {
      if (draft->number == number) draft->lost = true;
    }
  }
  return {};
}

/// Watches go on, but what happened in between is unknown: the reader is told to look again.
void Connection::rewatch() {
  for (WatchState* watch = watches_; watch != nullptr; watch = watch->next) {
    Builder builder(256);
    const auto pattern = wire::add_text(builder, watch->pattern.view());
    const auto body = wire::fb::CreateWatch(builder, watch->number, pattern, watch->flags, false);
    builder.Finish(wire::fb::CreateRequest(builder, 0, wire::fb::RequestBody::Watch, body.Union()));
    (void)os::send_message(socket_.get(), wire::finished(builder), -1, os::Blocking::kNo);
    warpool_event event{};
    event.struct_size = sizeof event;
    event.kind = WARPOOL_EVENT_OVERFLOW;
    watch->events.push_back(event);
  }
}

}  // namespace warpool::client
