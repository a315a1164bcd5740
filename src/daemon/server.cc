// SPDX-License-Identifier: Apache-2.0
#include "daemon/server.h"

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <unordered_map>

#include "daemon/keeper_link.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/socket.h"

namespace warpool::daemon {
namespace {

namespace asio = boost::asio;
using Stream = asio::posix::stream_descriptor;

class SystemClock final : public broker::Clock {
 public:
  std::int64_t monotonic_ns() override { return os::monotonic_ns(); }
  std::int64_t unix_ns() override { return os::unix_ns(); }
};

/// How long a private broker without arrays and programs stays: the next program may be starting already.
constexpr std::int64_t kIdleLingerMs = 5000;

}  // namespace

struct Server::State {
  class Connection;

  State(ServerOptions given, Report& given_report, std::unique_ptr<KeeperLink> given_keeper)
      : options(std::move(given)), report(given_report), keeper(std::move(given_keeper)) {}

  ServerOptions options;
  Report& report;
  std::unique_ptr<KeeperLink> keeper;
  store::NoKeeper no_keeper;
  SystemClock clock;
  asio::io_context io{1};
  std::unique_ptr<broker::Broker> core;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections;
  os::Fd lock;
  std::unique_ptr<Stream> listeners[2];  ///< for programs, for administrators
  std::unique_ptr<Stream> keeper_watch;
  asio::steady_timer timer{io};
  asio::steady_timer linger{io};
  asio::steady_timer accept_pause[2] = {asio::steady_timer{io}, asio::steady_timer{io}};
  std::int64_t timer_ns = -1;
  std::int64_t alone_since_ns = 0;
  bool keeper_restarting = false;
  std::int32_t keeper_pid = 0;
  alignas(64) std::uint8_t buffer[kMessageBytesMax + 64];

  store::KeeperPort& keeper_port() {
    if (keeper != nullptr) return *keeper;
    return no_keeper;
  }

  Result<void> start();
  Result<void> take_folder(std::vector<store::HeldFd>& held);
  Result<void> listen(std::vector<store::HeldFd>& held);
  void accept_later(int which);
  void accept_now(int which);
  void after_message();
  void schedule_tick();
  void watch_keeper();
  void restart_keeper();
  void check_linger();
  void finish();
};

/// One connected program. Owned by `connections` and by its own pending operations: an operation that has completed already runs
/// its handler even when the connection is dropped in between. Dropped by close() of the broker or by the end of the socket.
class Server::State::Connection final : public broker::SessionPort,
                                        public std::enable_shared_from_this<Connection> {
 public:
  Connection(State& state, os::Fd socket) : state_(state), stream_(state.io, socket.release()) {}

  Result<void> open(bool admin) {
    os::Fd borrowed(stream_.native_handle());
    Result<os::PeerFacts> facts = os::inspect_peer(borrowed);
    borrowed.release();
    if (!facts.ok()) return facts.take_error();
    os::PeerFacts& peer = facts.value();
    process_ = std::move(peer.pidfd);
    broker::Peer about{.uid = peer.uid,
                       .gid = peer.gid,
                       .groups = peer.groups,
                       .pid = peer.pid,
                       .command = peer.pid > 0 ? os::command_line(peer.pid).c_str() : "",
                       .container = peer.pid > 0 ? os::container_of(peer.pid).c_str() : "",
                       .admin = admin};
    WARPOOL_ASSIGN(session_, state_.core->open(about, *this));
    read_later();
    return {};
  }

  /// The answer to the greeting that will come: its reader learns why there is no session.
  void refuse(const Error& error) {
    constexpr std::uint64_t kGreetingId = 1;
    flatbuffers::FlatBufferBuilder builder(512);
    const auto message = wire::add_text(builder, error.message.view());
    builder.Finish(wire::fb::CreateReply(builder, kGreetingId,
                                         static_cast<std::int32_t>(error.code), message));
    (void)os::send_message(stream_.native_handle(), wire::finished(builder), -1, os::Blocking::kNo);
  }

  bool send(std::span<const std::uint8_t> message, int fd) override {
    if (queue_.empty()) {
      const Result<os::SendOutcome> sent =
          os::send_message(stream_.native_handle(), message, fd, os::Blocking::kNo);
      if (sent.ok() && sent.value() == os::SendOutcome::kSent) return true;
      if (sent.ok() && sent.value() == os::SendOutcome::kClosed)
        return true;  // its end is noticed by reading
      retry_ = !sent.ok();
    }
    if (queued_bytes_ + message.size() > kQueuedBytesMax) return false;
    os::Fd copy;
    if (fd >= 0) {
      Result<os::Fd> duplicate = os::duplicate_fd(fd);
      if (!duplicate.ok()) return false;
      copy = std::move(duplicate).value();
    }
    queued_bytes_ += message.size();
    queue_.push_back({{message.begin(), message.end()}, std::move(copy)});
    if (queue_.size() == 1) write_later();
    return true;
  }

  [[nodiscard]] std::size_t queued_bytes() const override { return queued_bytes_; }

  void close() override {
    session_ = 0;
    drop();
  }

 private:
  struct Queued {
    std::vector<std::uint8_t> message;
    os::Fd fd;
  };

  void drop() {
    // Not now: the broker or one of our own functions is on the stack.
    asio::post(state_.io, [self = shared_from_this()] {
      boost::system::error_code ignored;
      self->stream_.close(ignored);
      self->pause_.cancel();
      self->state_.connections.erase(self.get());
    });
  }

  void read_later() {
    stream_.async_wait(Stream::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error && self->session_ != 0) self->read_now();
                       });
  }

  /// One message a turn: the wait that follows reports at once what else is there, and other programs get their turn.
  void read_now() {
    if (session_ == 0) return;  // ended meanwhile; close() removes this connection
    os::Received received = os::receive_message(
        stream_.native_handle(), {state_.buffer, sizeof state_.buffer}, os::Blocking::kNo);
    if (received.outcome == os::Received::Outcome::kClosed) return end();
    if (received.outcome == os::Received::Outcome::kMessage) {
      std::vector<os::Fd> fds;
      for (std::uint32_t k = 0; k < received.fd_count; ++k)
        fds.push_back(std::move(received.fds[k]));
      // This process had no free number for it: its handler says so.
      if (received.fds_lost) fds.emplace_back();
      // A message that was cut has no valid end and fails verification; a descriptor that was lost is missed by its handler.
      const std::size_t bytes = received.truncated ? 0 : received.bytes;
      state_.core->receive(session_, {state_.buffer, bytes}, std::move(fds));
    }
    if (session_ != 0) read_later();
    state_.after_message();
  }

  void write_later() {
    if (retry_) {
      // Too many descriptors of this user are in flight; the socket itself would be writable at once.
      retry_ = false;
      pause_.expires_after(std::chrono::milliseconds(2));
      pause_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->write_now();
      });
      return;
    }
    stream_.async_wait(Stream::wait_write,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error) self->write_now();
                       });
  }

  void write_now() {
    while (!queue_.empty()) {
      const Queued& next = queue_.front();
      const Result<os::SendOutcome> sent =
          os::send_message(stream_.native_handle(), next.message, next.fd.get(), os::Blocking::kNo);
      if (!sent.ok()) {
        retry_ = true;
        return write_later();
      }
      if (sent.value() == os::SendOutcome::kWouldBlock) return write_later();
      if (sent.value() == os::SendOutcome::kClosed) return;
      queued_bytes_ -= next.message.size();
      queue_.pop_front();
    }
    if (session_ != 0) state_.core->drained(session_);
  }

  void end() {
    if (session_ == 0) return;
    const broker::SessionId session = session_;
    session_ = 0;
    state_.core->closed(session);
    drop();
    state_.after_message();
  }

  State& state_;
  Stream stream_;
  asio::steady_timer pause_{state_.io};
  os::Fd process_;
  broker::SessionId session_ = 0;
  std::deque<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  bool retry_ = false;
};

Result<void> Server::State::start() {
  std::vector<store::HeldFd> held;
  if (keeper != nullptr) {
    WARPOOL_ASSIGN(held, keeper->replay());
  }
  WARPOOL_TRY(take_folder(held));
  options.config.fd_limit = os::raise_fd_limit();
  options.config.broker_pid = os::process_id();
  options.config.keeper_pid = keeper_pid;
  options.config.names_path = options.socket_path + ".names";
  WARPOOL_ASSIGN(core, broker::Broker::start(options.config, {clock, report, keeper_port()}, held));
  core->set_keeper_pid(keeper_pid);
  WARPOOL_TRY(listen(held));
  alone_since_ns = os::monotonic_ns();
  return {};
}

/// The folder is ours and locked, by this process or since the broker before it.
Result<void> Server::State::take_folder(std::vector<store::HeldFd>& held) {
  for (store::HeldFd& one : held) {
    if (store::slot_kind(one.slot) == store::SlotKind::kLock) lock = std::move(one.fd);
  }
  if (lock.valid()) return {};
  const Text folder = os::parent_folder(options.socket_path);
  if (options.config.is_private) {
    WARPOOL_TRY(os::ensure_private_folder(folder.c_str()));
  } else if (!os::file_exists(folder.c_str())) {
    return Error::format(Code::kNotFound,
                         "folder %s of the socket does not exist; run: install -d -m 755 %s",
                         folder.c_str(), folder.c_str());
  }
  Result<os::Fd> taken = os::lock_file((options.socket_path + ".lock").c_str(), 0);
  if (!taken.ok() && taken.error().code == Code::kTimedOut)
    return Error::format(Code::kConflict, "another broker serves %s; see: warpool status",
                         options.socket_path.c_str());
  if (!taken.ok()) return taken.take_error();
  lock = std::move(taken).value();
  keeper_port().hold(store::make_slot(store::SlotKind::kLock, 0), lock);
  return {};
}

Result<void> Server::State::listen(std::vector<store::HeldFd>& held) {
  os::Fd sockets[2];
  for (store::HeldFd& one : held) {
    if (store::slot_kind(one.slot) == store::SlotKind::kListener &&
        store::slot_number(one.slot) < 2)
      sockets[store::slot_number(one.slot)] = std::move(one.fd);
  }
  const Text admin_path = os::admin_socket_of(options.socket_path);
  const char* const paths[2] = {options.socket_path.c_str(), admin_path.c_str()};
  const std::uint32_t modes[2] = {options.config.is_private ? 0600U : 0666U, 0600U};
  for (int i = 0; i < 2; ++i) {
    if (!sockets[i].valid()) {
      if (i == 1) {
        const Result<void> folder =
            os::ensure_private_folder(os::parent_folder(admin_path.view()).c_str());
        Result<os::Fd> admin =
            folder.ok() ? os::listen_at(paths[i], modes[i]) : Result<os::Fd>(folder.error());
        if (!admin.ok()) {
          // Programs are served all the same.
          report.on_event(
              {EventKind::kDegraded, 0, 0,
               Text::format("no socket for administrators: %s", admin.error().message.c_str())});
          break;
        }
        sockets[i] = std::move(admin).value();
      } else {
        WARPOOL_ASSIGN(sockets[i], os::listen_at(paths[i], modes[i]));
      }
      keeper_port().hold(
          store::make_slot(store::SlotKind::kListener, static_cast<std::uint64_t>(i)), sockets[i]);
    }
    listeners[i] = std::make_unique<Stream>(io, sockets[i].release());
    accept_later(i);
  }
  return {};
}

void Server::State::accept_later(int which) {
  listeners[which]->async_wait(Stream::wait_read,
                               [this, which](const boost::system::error_code& error) {
                                 if (!error) accept_now(which);
                               });
}

void Server::State::accept_now(int which) {
  os::Fd borrowed(listeners[which]->native_handle());
  for (;;) {
    Result<os::Fd> socket = os::accept_from(borrowed);
    if (!socket.ok()) {
      // Most likely no descriptor is free, which stays so for a while: others wait in the queue of the socket.
      report.on_event({EventKind::kDegraded, 0, 0, socket.error().message});
      borrowed.release();
      accept_pause[which].expires_after(std::chrono::milliseconds(100));
      accept_pause[which].async_wait([this, which](const boost::system::error_code& error) {
        if (!error) accept_later(which);
      });
      return after_message();
    }
    if (!socket.value().valid()) break;
    auto connection = std::make_shared<Connection>(*this, std::move(socket).value());
    Connection* raw = connection.get();
    connections.emplace(raw, std::move(connection));
    const Result<void> opened = raw->open(which == 1);
    if (opened.ok()) continue;
    raw->refuse(opened.error());
    connections.erase(raw);
  }
  borrowed.release();
  after_message();
  accept_later(which);
}

/// What follows from whatever was just handled.
void Server::State::after_message() {
  schedule_tick();
  if (keeper != nullptr && keeper->lost()) restart_keeper();
  if (core->stop_requested() == broker::Stop::kRequested) {
    // The reply is in the socket already; give queued ones a moment.
    asio::post(io, [this] { finish(); });
  }
  if (core->session_count() > 0) alone_since_ns = 0;
}

void Server::State::schedule_tick() {
  const std::int64_t next = core->tick();
  if (next == timer_ns) return;
  timer_ns = next;
  if (next < 0) {
    timer.cancel();
    return;
  }
  timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next)));
  timer.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    timer_ns = -1;
    schedule_tick();
  });
}

void Server::State::watch_keeper() {
  if (keeper == nullptr) return;
  Result<os::Fd> copy = os::duplicate_fd(keeper->socket());
  if (!copy.ok()) return;
  keeper_watch = std::make_unique<Stream>(io, std::move(copy).value().release());
  // The keeper never writes unasked: readable means that it is gone.
  keeper_watch->async_wait(Stream::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    keeper->mark_lost();
    restart_keeper();
  });
}

void Server::State::restart_keeper() {
  if (keeper_restarting) return;
  keeper_restarting = true;
  asio::post(io, [this] {
    keeper_restarting = false;
    if (!keeper->lost()) return;
    report.on_event({EventKind::kKeeperLost, 0, 0, {}});
    Result<AdoptedBy> adopted = start_keeper(options.keeper_path, options.broker_command);
    if (!adopted.ok()) {
      report.on_event(
          {EventKind::kDegraded, 0, 0,
           Text::format("no keeper: a crash of the broker would now lose all arrays (%s)",
                        adopted.error().message.c_str())});
      return;
    }
    auto fresh = std::make_unique<KeeperLink>(std::move(adopted.value().socket));
    fresh->hold(store::make_slot(store::SlotKind::kLock, 0), lock);
    for (int i = 0; i < 2; ++i) {
      if (listeners[i] == nullptr) continue;
      os::Fd borrowed(listeners[i]->native_handle());
      fresh->hold(store::make_slot(store::SlotKind::kListener, static_cast<std::uint64_t>(i)),
                  borrowed);
      borrowed.release();
    }
    core->hold_all(*fresh);
    keeper = std::move(fresh);
    core->set_keeper_pid(adopted.value().pid);
    report.on_event(
        {EventKind::kKeeperStarted, 0, static_cast<std::uint64_t>(adopted.value().pid), {}});
    watch_keeper();
  });
}

void Server::State::check_linger() {
  linger.expires_after(std::chrono::milliseconds(500));
  linger.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    const std::int64_t now = os::monotonic_ns();
    if (core->session_count() > 0) {
      alone_since_ns = 0;
    } else if (alone_since_ns == 0) {
      alone_since_ns = now;
    } else {
      const std::int64_t patience =
          core->array_count() > 0 ? options.linger_ms : std::min(options.linger_ms, kIdleLingerMs);
      if (now - alone_since_ns >= patience * os::kNsPerMs) return finish();
    }
    check_linger();
  });
}

/// A clean end: nothing stays behind, and nobody starts the broker again.
void Server::State::finish() {
  if (io.stopped()) return;
  if (keeper != nullptr) keeper->say_exit();
  core->clean_up();
  os::remove_file(options.socket_path.c_str());
  const Text admin = os::admin_socket_of(options.socket_path);
  os::remove_file(admin.c_str());
  os::remove_folder(os::parent_folder(admin.view()).c_str());
  io.stop();
}

Server::Server(ServerOptions options, Report& report, std::unique_ptr<KeeperLink> keeper)
    : state_(std::make_unique<State>(std::move(options), report, std::move(keeper))) {}

Server::~Server() = default;

void Server::set_keeper_pid(std::int32_t pid) {
  state_->keeper_pid = pid;
}

Result<void> Server::start() {
  return state_->start();
}

void Server::run(Signals signals) {
  State& state = *state_;
  state.watch_keeper();
  state.schedule_tick();
  if (state.options.config.is_private) state.check_linger();
  asio::signal_set ends(state.io);
  if (signals == Signals::kCatch) {
    ends.add(SIGTERM);
    ends.add(SIGINT);
    ends.async_wait([&state](const boost::system::error_code& error, int) {
      if (!error) state.finish();
    });
  }
  auto work = asio::make_work_guard(state.io);
  state.io.run();
}

void Server::stop() {
  asio::post(state_->io, [this] { state_->finish(); });
}

}  // namespace warpool::daemon
