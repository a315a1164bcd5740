// SPDX-License-Identifier: Apache-2.0
// One session of this process with the broker. Callers take turns reading the socket (leader and followers); there is no thread.
//
//   call():  register a Waiter -> send -> wait
//   wait:    the first waiter without an answer becomes the leader and receives; an answer for somebody else is put into
//            their Waiter and wakes them; a leader that has its own answer hands the lead to another waiter.
//   lost:    whoever notices marks the connection lost and wakes all; each then reconnects (one does, others wait) and sends
//            its request again, marked as repeated.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "client/buffer.h"
#include "os/fd.h"
#include "os/memory.h"
#include "warpool/warpool.h"
#include "wire/codec.h"

namespace warpool::client {

using Builder = flatbuffers::FlatBufferBuilder;

template <typename Body>
constexpr wire::fb::RequestBody type_of(flatbuffers::Offset<Body>) {
  return wire::fb::RequestBodyTraits<Body>::enum_value;
}

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() {
    if (held_) pthread_mutex_unlock(&mutex_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  void unlock() {
    pthread_mutex_unlock(&mutex_);
    held_ = false;
  }
  void lock() {
    pthread_mutex_lock(&mutex_);
    held_ = true;
  }

 private:
  pthread_mutex_t& mutex_;
  bool held_ = true;
};

/// An answer of the broker; `reply` points into `buffer`.
struct Answer {
  Buffer buffer;
  const wire::fb::Reply* reply = nullptr;
  os::Fd fd;
  std::uint64_t generation = 0;  ///< of the connection that it came through
};

/// Who this session is; changes when a lost broker is reached again.
struct Identity {
  Text socket_path;
  std::uint64_t session = 0;
  std::uint32_t protocol = 0;
};

/// What a call may do while it waits. Copied from warpool_wait, whose size may differ in an older program.
struct Patience {
  std::int64_t timeout_ms = 0;  ///< 0: the call does not wait for anybody but the broker
  int (*interrupted)(void*) = nullptr;
  void* context = nullptr;
  static Patience from(const warpool_wait* wait);
};

/// A list node for what must be told to the broker again after a lost connection.
struct Held {
  Held* previous = nullptr;
  Held* next = nullptr;
  std::uint64_t id = 0;
};

class HeldList {
 public:
  void add(Held& held);
  void remove(Held& held);
  [[nodiscard]] const Held* first() const { return first_; }

 private:
  Held* first_ = nullptr;
};

struct DraftState;
struct WatchState;
class Spare;

/// A socket that threads may still be using in a system call while another thread reconnects.
class SocketRef {
 public:
  SocketRef() = default;
  explicit SocketRef(os::Fd fd) : shared_(new Shared{{1}, std::move(fd)}) {}
  SocketRef(const SocketRef& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->references.fetch_add(1, std::memory_order_relaxed);
  }
  SocketRef(SocketRef&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  SocketRef& operator=(SocketRef other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~SocketRef() {
    if (shared_ != nullptr && shared_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete shared_;
  }
  [[nodiscard]] int get() const { return shared_ != nullptr ? shared_->fd.get() : -1; }

 private:
  struct Shared {
    std::atomic<std::uint32_t> references;
    os::Fd fd;
  };
  Shared* shared_ = nullptr;
};

struct ConnectOptions {
  Text socket_path;  ///< "": search
  Text language;
  Text label;
  std::uint32_t flags = 0;
  std::int64_t reconnect_ms = 0;
  int (*interrupted)(void*) = nullptr;
  void* context = nullptr;
};

/// Reference counted: arrays keep their connection, so that they can tell the broker when they go.
class Connection {
 public:
  static Result<Connection*> open(ConnectOptions options);
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  /// Ends the session; calls fail from now on.
  void close();

  /// Sends a request and waits for its answer; an error answer becomes the Error. `add_body` is called with a builder and returns
  /// the offset of the body, perhaps twice (after a lost connection).
  template <typename AddBody>
  Result<Answer> call(const Patience& patience, int fd, AddBody add_body) {
    return run_call(
        patience, fd,
        [](void* context, Builder& builder,
           wire::fb::RequestBody& type) -> flatbuffers::Offset<void> {
          auto body = (*static_cast<AddBody*>(context))(builder);
          type = type_of(body);
          return body.Union();
        },
        &add_body);
  }
  /// Sends without an answer; lost with the connection.
  template <typename AddBody>
  void tell(AddBody add_body) {
    run_tell(
        [](void* context, Builder& builder,
           wire::fb::RequestBody& type) -> flatbuffers::Offset<void> {
          auto body = (*static_cast<AddBody*>(context))(builder);
          type = type_of(body);
          return body.Union();
        },
        &add_body);
  }

  void interrupt();
  /// The buffer of an answer that has been read serves the next one.
  void recycle(Answer answer);
  void count_copy(std::uint32_t reason, std::uint64_t bytes);
  std::uint64_t next_number() { return next_number_.fetch_add(1, std::memory_order_relaxed); }
  /// Unique over all sessions with the broker, for repeated publishes.
  std::uint64_t next_token() { return token_base_ + next_number(); }

  void add_view(Held& array);
  /// Forgets the view and tells the broker.
  void drop_view(Held& array);
  void add_draft(DraftState& draft);
  void remove_draft(DraftState& draft);
  void add_watch(WatchState& watch);
  void remove_watch(WatchState& watch);
  Result<warpool_event> next_event(WatchState& watch, const Patience& patience);

  [[nodiscard]] Identity identity();
  [[nodiscard]] Spare& spare() { return *spare_; }

  // For fork only (fork.cc).
  void before_fork() { pthread_mutex_lock(&mutex_); }
  void after_fork_in_parent() { pthread_mutex_unlock(&mutex_); }
  void after_fork_in_child();

 private:
  using AddBodyFunction = flatbuffers::Offset<void> (*)(void*, Builder&, wire::fb::RequestBody&);
  struct Waiter {
    enum State : std::uint32_t { kWaiting, kLead, kAnswered, kLost };
    std::uint64_t id = 0;  ///< of the request, or of the watch
    bool is_watch = false;
    bool patient = false;  ///< waits for somebody else than the broker
    std::atomic<std::uint32_t> state{kWaiting};
    std::atomic<bool> interrupted{false};
    Answer answer;
    Waiter* previous = nullptr;
    Waiter* next = nullptr;
  };
  /// What ended a wait.
  enum class Wake : std::uint8_t { kAnswered, kLost, kDeadline, kInterrupted };

  explicit Connection(ConnectOptions options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<Answer> run_call(const Patience& patience, int fd, AddBodyFunction add_body,
                          void* context);
  void run_tell(AddBodyFunction add_body, void* context);
  Result<Answer> finish_call(Answer answer);
  Result<Answer> await(Lock& lock, Waiter& waiter, const Patience& patience);
  void build_request(Builder& builder, std::uint64_t id, bool repeated, AddBodyFunction add_body,
                     void* context);
  bool send(int socket, std::span<const std::uint8_t> message, int fd, const Patience& patience);
  void send_cancel(std::uint64_t request, bool timed_out);

  // With the mutex held.
  Result<void> ensure_connected(Lock& lock, const Patience& patience);
  Result<void> connect_once(Lock& lock, const Patience& patience);
  Result<void> greet(Lock& lock, SocketRef socket, const Patience& patience);
  Result<void> check_welcome(const wire::fb::Reply& reply);
  void build_hello(Builder& builder);
  void rewatch();
  Wake wait(Lock& lock, Waiter& waiter, const Patience& patience, std::int64_t deadline_ns);
  void lead(Lock& lock, Waiter& self, std::int64_t timeout_ms, bool patient);
  void dispatch(Answer answer);
  void return_view(const Answer& answer);
  void dispatch_event(const wire::fb::WatchEvent& event);
  void mark_lost(std::uint64_t generation);
  void enlist(Waiter& waiter);
  void forget_old_interrupt();
  void delist(Waiter& waiter);
  void hand_over_lead();
  Buffer take_buffer();
  void give_buffer(Buffer buffer);

  ConnectOptions options_;
  std::atomic<std::uint32_t> references_{1};
  pthread_mutex_t mutex_ =
      PTHREAD_MUTEX_INITIALIZER;  ///< guards everything below that is not atomic or set once
  SocketRef socket_;
  os::Fd wake_;                   ///< eventfd: ends the leader's poll
  std::uint64_t generation_ = 0;  ///< counts connections
  bool connected_ = false;
  bool closed_ = false;
  bool leading_ = false;
  std::atomic<std::uint32_t> connecting_{0};  ///< 1 while a thread reconnects; futex for the others
  Waiter* waiters_ = nullptr;
  HeldList views_;
  DraftState* drafts_ = nullptr;
  WatchState* watches_ = nullptr;
  std::vector<Buffer> buffers_;
  std::uint64_t fds_received_ = 0;
  std::uint64_t fds_reported_ = 0;
  std::atomic<std::uint64_t> next_number_{1};
  std::uint64_t token_base_ = 0;
  std::uint64_t session_ = 0;
  std::uint32_t protocol_ = 0;
  std::atomic<std::uint64_t> copies_[WARPOOL_COPY_REASONS] = {};
  std::atomic<std::uint64_t> copied_bytes_[WARPOOL_COPY_REASONS] = {};
  std::atomic<bool> copies_pending_{false};
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<std::uint64_t> waited_ms_{0};
  std::unique_ptr<Spare> spare_;

  friend class ConnectionList;
  Connection* list_next_ = nullptr;
  Connection* list_previous_ = nullptr;
};

/// Registers the fork handlers once and knows all connections.
class ConnectionList {
 public:
  static void add(Connection& connection);
  static void remove(Connection& connection);

 private:
  static void prepare();
  static void parent();
  static void child();
};

/// The path to talk to (search order of the design), and whether it may be started there.
struct SocketChoice {
  Text path;
  bool may_start = false;
};
Result<SocketChoice> choose_socket(const char* given);
/// Starts a private broker at `path` and returns when it serves.
Result<void> start_broker(const char* path);

}  // namespace warpool::client
