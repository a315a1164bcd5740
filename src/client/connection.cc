// SPDX-License-Identifier: Apache-2.0
#include "client/connection.h"

#include <cstring>

#include "client/spare.h"
#include "client/state.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/process.h"
#include "os/socket.h"
#include "os/wake.h"

namespace warpool::client {
namespace {

/// How often a wait looks at its `interrupted` function; people do not notice less than a tenth of a second.
constexpr std::int64_t kSliceMs = 100;
/// Answers with a descriptor that are acknowledged by a message of their own when no request takes the number along.
constexpr std::uint64_t kUnreportedFdsMax = kUnreadFdRepliesMax / 2;
constexpr std::size_t kSpareBuffersMax = 8;
constexpr std::size_t kWatchEventsMax = 65536;

std::int64_t until(std::int64_t deadline_ns) {
  if (deadline_ns < 0) return -1;
  const std::int64_t left = deadline_ns - os::monotonic_ns();
  return left <= 0 ? 0 : (left + os::kNsPerMs - 1) / os::kNsPerMs;
}

bool asked_to_stop(const Patience& patience) {
  return patience.interrupted != nullptr && patience.interrupted(patience.context) != 0;
}

Error closed_error() {
  return Error::format(Code::kInvalidArgument, "the connection has been closed by this program");
}

}  // namespace

Patience Patience::from(const warpool_wait* wait) {
  if (wait == nullptr) return {};
  return {wait->timeout_ms, wait->interrupted, wait->context};
}

void HeldList::add(Held& held) {
  held.previous = nullptr;
  held.next = first_;
  if (first_ != nullptr) first_->previous = &held;
  first_ = &held;
}

void HeldList::remove(Held& held) {
  (held.previous != nullptr ? held.previous->next : first_) = held.next;
  if (held.next != nullptr) held.next->previous = held.previous;
  held.previous = held.next = nullptr;
}

Connection::Connection(ConnectOptions options)
    : options_(std::move(options)), token_base_(os::random_u64() & ~0xFFFFFFFFULL) {}

Connection::~Connection() {
  pthread_mutex_destroy(&mutex_);
}

Result<Connection*> Connection::open(ConnectOptions options) {
  WARPOOL_ASSIGN(os::Fd wake, os::create_wake());
  auto* connection = new Connection(std::move(options));
  connection->wake_ = std::move(wake);
  connection->spare_.reset(new Spare(*connection));
  const Patience patience{0, connection->options_.interrupted, connection->options_.context};
  Result<void> connected;
  {
    Lock lock(connection->mutex_);
    connected = connection->ensure_connected(lock, patience);
  }
  if (!connected.ok()) {
    connection->release();
    return connected.take_error();
  }
  ConnectionList::add(*connection);
  return connection;
}

void Connection::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void Connection::close() {
  spare_->stop();
  // What was copied since the last request still belongs into the summary.
  if (copies_pending_.load(std::memory_order_relaxed))
    tell([](Builder& builder) { return wire::fb::CreatePing(builder); });
  ConnectionList::remove(*this);
  {
    const Lock lock(mutex_);
    closed_ = true;
    connected_ = false;
    socket_ = SocketRef();
    mark_lost(generation_);
    os::wake_up(wake_);  // the thread that receives sleeps on the socket
  }
  release();
}

Identity Connection::identity() {
  const Lock lock(mutex_);
  return {options_.socket_path, session_, protocol_};
}

void Connection::interrupt() {
  os::wake_up(wake_);
}

void Connection::count_copy(std::uint32_t reason, std::uint64_t bytes) {
  if (reason >= WARPOOL_COPY_REASONS) return;
  copies_[reason].fetch_add(1, std::memory_order_relaxed);
  copied_bytes_[reason].fetch_add(bytes, std::memory_order_relaxed);
  copies_pending_.store(true, std::memory_order_relaxed);
}

Buffer Connection::take_buffer() {
  if (buffers_.empty()) return Buffer::allocate();
  Buffer buffer = std::move(buffers_.back());
  buffers_.pop_back();
  return buffer;
}

void Connection::give_buffer(Buffer buffer) {
  if (buffer.valid() && buffers_.size() < kSpareBuffersMax) buffers_.push_back(std::move(buffer));
}

void Connection::recycle(Answer answer) {
  const Lock lock(mutex_);
  give_buffer(std::move(answer.buffer));
}

/// With the mutex held. An interrupt() from before this wait is not meant for it.
void Connection::forget_old_interrupt() {
  for (const Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
    if (waiter->patient) return;  // it is meant for this one
  }
  (void)os::take_wake(wake_);
}

void Connection::enlist(Waiter& waiter) {
  waiter.previous = nullptr;
  waiter.next = waiters_;
  if (waiters_ != nullptr) waiters_->previous = &waiter;
  waiters_ = &waiter;
}

void Connection::delist(Waiter& waiter) {
  (waiter.previous != nullptr ? waiter.previous->next : waiters_) = waiter.next;
  if (waiter.next != nullptr) waiter.next->previous = waiter.previous;
}

void Connection::build_request(Builder& builder, std::uint64_t id, bool repeated,
                               AddBodyFunction add_body, void* context) {
  flatbuffers::Offset<wire::fb::CopyCount> counts[WARPOOL_COPY_REASONS];
  std::size_t count = 0;
  if (copies_pending_.exchange(false, std::memory_order_relaxed)) {
    for (std::uint8_t reason = 0; reason < WARPOOL_COPY_REASONS; ++reason) {
      const std::uint64_t copies = copies_[reason].exchange(0, std::memory_order_relaxed);
      const std::uint64_t bytes = copied_bytes_[reason].exchange(0, std::memory_order_relaxed);
      if (copies > 0) counts[count++] = wire::fb::CreateCopyCount(builder, reason, copies, bytes);
    }
  }
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<wire::fb::CopyCount>>> copies;
  if (count > 0) copies = builder.CreateVector(counts, count);
  wire::fb::RequestBody type{};
  const flatbuffers::Offset<void> body = add_body(context, builder, type);
  builder.Finish(wire::fb::CreateRequest(builder, id, type, body, repeated, fds_received_, copies,
                                         waits_.exchange(0, std::memory_order_relaxed),
                                         waited_ms_.exchange(0, std::memory_order_relaxed)));
  fds_reported_ = fds_received_;
}

/// False when the connection is gone. Waits for room in the socket: a broker that is stopped does not read.
bool Connection::send(int socket, std::span<const std::uint8_t> message, int fd,
                      const Patience& patience) {
  for (;;) {
    const Result<os::SendOutcome> sent = os::send_message(socket, message, fd, os::Blocking::kNo);
    if (sent.ok() && sent.value() == os::SendOutcome::kSent) return true;
    if (sent.ok() && sent.value() == os::SendOutcome::kClosed) return false;
    if (!sent.ok() && sent.error().code == Code::kLimitReached) os::sleep_ms(1);
    (void)os::wait_writable(socket, kSliceMs);
    if (asked_to_stop(patience)) return false;
  }
}

void Connection::run_tell(AddBodyFunction add_body, void* context) {
  Builder builder(256);
  SocketRef socket;
  {
    const Lock lock(mutex_);
    if (!connected_) return;
    build_request(builder, 0, false, add_body, context);
    socket = socket_;
  }
  (void)send(socket.get(), wire::finished(builder), -1, {});
}

void Connection::send_cancel(std::uint64_t request, bool timed_out) {
  tell([&](Builder& builder) { return wire::fb::CreateCancel(builder, request, timed_out); });
}

Result<Answer> Connection::run_call(const Patience& patience, int fd, AddBodyFunction add_body,
                                    void* context) {
  const std::int64_t started_ns = patience.timeout_ms != 0 ? os::monotonic_ns() : 0;
  Patience asking = patience;
  if (asking.interrupted == nullptr) {
    asking.interrupted = options_.interrupted;
    asking.context = options_.context;
  }
  Builder builder(512);
  for (bool repeated = false;; repeated = true) {
    Lock lock(mutex_);
    WARPOOL_TRY(ensure_connected(lock, asking));
    Waiter waiter;
    waiter.id = next_number();
    builder.Clear();
    build_request(builder, waiter.id, repeated, add_body, context);
    // The broker would end the session over it, and each new one with the repetition.
    if (builder.GetSize() > kMessageBytesMax)
      return Error::format(Code::kLimitReached,
                           "the request has %u bytes, more than a message can carry (%zu); an "
                           "array of so many parts must be split into several names",
                           builder.GetSize(), kMessageBytesMax);
    waiter.patient = patience.timeout_ms != 0;
    if (waiter.patient) forget_old_interrupt();
    enlist(waiter);
    const SocketRef socket = socket_;
    const std::uint64_t generation = generation_;
    lock.unlock();
    const bool sent = send(socket.get(), wire::finished(builder), fd, asking);
    lock.lock();
    if (!sent) mark_lost(generation);
    Result<Answer> answer = await(lock, waiter, asking);
    if (patience.timeout_ms != 0) {
      const auto waited =
          static_cast<std::uint64_t>((os::monotonic_ns() - started_ns) / os::kNsPerMs);
      if (waited > 0 && answer.ok()) {
        waits_.fetch_add(1, std::memory_order_relaxed);
        waited_ms_.fetch_add(waited, std::memory_order_relaxed);
      }
    }
    if (answer.ok()) {
      lock.unlock();
      return finish_call(std::move(answer).value());
    }
    if (answer.error().code != Code::kNoBroker) return answer.take_error();
    if (closed_) return closed_error();
    if ((options_.flags & WARPOOL_CONNECT_NO_RESTORE) != 0)
      return Error::format(Code::kNoBroker, "the connection to the broker at %s was lost",
                           options_.socket_path.c_str());
  }
}

/// Turns an error answer into an Error.
Result<Answer> Connection::finish_call(Answer answer) {
  const std::int32_t code = answer.reply->code();
  if (code == 0) return answer;
  const Code known = code > 0 && code < kCodeCount ? static_cast<Code>(code) : Code::kProtocolError;
  Error error{known, Text(wire::text(answer.reply->message()))};
  recycle(std::move(answer));
  return error;
}

/// Waits for the answer of an enlisted request and delists it. kNoBroker: the connection was lost, the request may be repeated.
Result<Answer> Connection::await(Lock& lock, Waiter& waiter, const Patience& patience) {
  // A deadline runs from here; once it has passed, the broker is asked to answer at once and say why.
  std::int64_t deadline =
      patience.timeout_ms > 0 ? os::monotonic_ns() + patience.timeout_ms * os::kNsPerMs : -1;
  bool interrupted = false;
  for (;;) {
    const Wake wake = wait(lock, waiter, patience, deadline);
    if (wake == Wake::kDeadline || wake == Wake::kInterrupted) {
      // A call that waits for nobody but a stuck broker has nothing to cancel.
      if (patience.timeout_ms == 0 || interrupted) {
        interrupted = true;
        break;
      }
      interrupted = wake == Wake::kInterrupted;
      deadline = -1;
      lock.unlock();
      send_cancel(waiter.id, wake == Wake::kDeadline);
      lock.lock();
      if (wake == Wake::kDeadline) continue;
      // The answer to the cancel is due at once; a second interruption does not wait for it.
      continue;
    }
    delist(waiter);
    hand_over_lead();
    if (wake == Wake::kLost) return Error::format(Code::kNoBroker, "lost");
    if (!interrupted) return std::move(waiter.answer);
    return_view(waiter.answer);
    give_buffer(std::move(waiter.answer.buffer));
    return Error::format(Code::kInterrupted, "the wait was interrupted");
  }
  delist(waiter);
  hand_over_lead();
  return Error::format(Code::kInterrupted,
                       "the call was interrupted while the broker did not answer");
}

Connection::Wake Connection::wait(Lock& lock, Waiter& waiter, const Patience& patience,
                                  std::int64_t deadline_ns) {
  const bool patient = patience.timeout_ms != 0;
  for (;;) {
    const std::uint32_t state = waiter.state.load(std::memory_order_acquire);
    if (state == Waiter::kAnswered) return Wake::kAnswered;
    if (state == Waiter::kLost) return Wake::kLost;
    if (waiter.interrupted.exchange(false, std::memory_order_relaxed) && patient)
      return Wake::kInterrupted;
    const std::int64_t left = until(deadline_ns);
    if (left == 0) return Wake::kDeadline;
    const bool asks = patience.interrupted != nullptr;
    const std::int64_t slice = asks && (left < 0 || left > kSliceMs) ? kSliceMs : left;
    // A lead that was handed over may have been taken by a newcomer: then this one sleeps, and does not spin.
    waiter.state.store(Waiter::kWaiting, std::memory_order_relaxed);
    if (!leading_) {
      leading_ = true;
      lead(lock, waiter, slice, patient);
      leading_ = false;
    } else {
      lock.unlock();
      os::futex_wait(waiter.state, Waiter::kWaiting, slice);
      lock.lock();
    }
    const std::uint32_t after = waiter.state.load(std::memory_order_acquire);
    if (after == Waiter::kAnswered || after == Waiter::kLost) continue;
    if (asks) {
      // The function may take other locks (the host's interpreter): never under ours.
      lock.unlock();
      const bool stop = asked_to_stop(patience);
      lock.lock();
      if (stop) return Wake::kInterrupted;
    }
  }
}

/// Receives at most one message, with the lead and without the mutex while it sleeps.
void Connection::lead(Lock& lock, Waiter& self, std::int64_t timeout_ms, bool patient) {
  const SocketRef socket = socket_;
  const std::uint64_t generation = generation_;
  Answer answer;
  answer.generation = generation;
  answer.buffer = take_buffer();
  lock.unlock();
  os::Received received;
  if (!answer.buffer.valid()) {
    os::sleep_ms(1);  // no memory for a message now: the others may free some
    lock.lock();
    return;
  }
  // An immediate call receives at once, bounded by the socket's own time-out: one system call. A patient one must also notice
  // interrupt() from another thread.
  bool woken = false;
  if (patient) {
    if (os::wait_readable(socket.get(), wake_.get(), timeout_ms)) woken = os::take_wake(wake_);
    received = os::receive_message(socket.get(), answer.buffer.bytes(), os::Blocking::kNo);
  } else {
    received = os::receive_message(socket.get(), answer.buffer.bytes(), os::Blocking::kYes);
  }
  lock.lock();
  if (woken) {
    for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
      waiter->interrupted.store(true, std::memory_order_relaxed);
      if (waiter == &self) continue;
      // One that is about to sleep would miss the wake alone.
      std::uint32_t expected = Waiter::kWaiting;
      (void)waiter->state.compare_exchange_strong(expected, Waiter::kLead,
                                                  std::memory_order_acq_rel);
      os::futex_wake(waiter->state, 1);
    }
  }
  if (received.outcome == os::Received::Outcome::kWouldBlock)
    return give_buffer(std::move(answer.buffer));
  if (received.outcome == os::Received::Outcome::kClosed || received.truncated) {
    give_buffer(std::move(answer.buffer));
    return mark_lost(generation);
  }
  const Result<const wire::fb::Reply*> reply =
      wire::read_reply(answer.buffer.bytes().first(received.bytes));
  if (!reply.ok()) {
    // Not our broker, or a broken one: nothing on this connection can be trusted.
    give_buffer(std::move(answer.buffer));
    return mark_lost(generation);
  }
  answer.reply = reply.value();
  if (received.fd_count > 0 || received.fds_lost) ++fds_received_;
  if (received.fd_count > 0) answer.fd = std::move(received.fds[0]);
  dispatch(std::move(answer));
  if (fds_received_ - fds_reported_ >= kUnreportedFdsMax) {
    lock.unlock();
    tell([](Builder& builder) { return wire::fb::CreateAcknowledge(builder); });
    lock.lock();
  }
}

void Connection::dispatch(Answer answer) {
  if (answer.reply->id() == 0) {
    if (const auto* event = answer.reply->body_as_WatchEvent()) dispatch_event(*event);
    return give_buffer(std::move(answer.buffer));
  }
  for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
    if (waiter->id != answer.reply->id() || waiter->is_watch) continue;
    waiter->answer = std::move(answer);
    waiter->state.store(Waiter::kAnswered, std::memory_order_release);
    os::futex_wake(waiter->state, 1);
    return;
  }
  return_view(answer);  // its caller has given up
  give_buffer(std::move(answer.buffer));
}

/// With the mutex held. An answer that nobody takes may give a view that nobody would ever release.
void Connection::return_view(const Answer& answer) {
  const wire::fb::ItemState* state = answer.reply->body_as_ItemState();
  if (state == nullptr || !connected_ || answer.generation != generation_) return;
  const Result<const wire::fb::Item*> item = wire::read_item(wire::bytes(state->item()));
  if (!item.ok()) return;
  const std::uint64_t id = item.value()->id();
  Builder builder(128);
  const auto body = wire::fb::CreateRelease(builder, builder.CreateVector(&id, 1));
  builder.Finish(wire::fb::CreateRequest(builder, 0, wire::fb::RequestBody::Release, body.Union()));
  (void)os::send_message(socket_.get(), wire::finished(builder), -1, os::Blocking::kNo);
}

/// The next waiter receives from now on. With the mutex held, after the caller has left the list.
void Connection::hand_over_lead() {
  if (leading_) return;
  for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
    std::uint32_t expected = Waiter::kWaiting;
    if (!waiter->state.compare_exchange_strong(expected, Waiter::kLead, std::memory_order_acq_rel))
      continue;
    os::futex_wake(waiter->state, 1);
    return;
  }
}

void Connection::mark_lost(std::uint64_t generation) {
  if (generation != generation_) return;  // somebody has reconnected since
  connected_ = false;
  for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
    if (waiter->state.load(std::memory_order_relaxed) == Waiter::kAnswered) continue;
    waiter->state.store(Waiter::kLost, std::memory_order_release);
    os::futex_wake(waiter->state, 1);
  }
}

void Connection::add_view(Held& array) {
  const Lock lock(mutex_);
  views_.add(array);
}

void Connection::drop_view(Held& array) {
  {
    const Lock lock(mutex_);
    views_.remove(array);
  }
  const std::uint64_t id = array.id;
  tell([&](Builder& builder) {
    return wire::fb::CreateRelease(builder, builder.CreateVector(&id, 1));
  });
}

void Connection::add_draft(DraftState& draft) {
  const Lock lock(mutex_);
  draft.previous = nullptr;
  draft.next = drafts_;
  if (drafts_ != nullptr) drafts_->previous = &draft;
  drafts_ = &draft;
}

void Connection::remove_draft(DraftState& draft) {
  const Lock lock(mutex_);
  (draft.previous != nullptr ? draft.previous->next : drafts_) = draft.next;
  if (draft.next != nullptr) draft.next->previous = draft.previous;
}

void Connection::add_watch(WatchState& watch) {
  const Lock lock(mutex_);
  watch.previous = nullptr;
  watch.next = watches_;
  if (watches_ != nullptr) watches_->previous = &watch;
  watches_ = &watch;
}

void Connection::remove_watch(WatchState& watch) {
  const Lock lock(mutex_);
  (watch.previous != nullptr ? watch.previous->next : watches_) = watch.next;
  if (watch.next != nullptr) watch.next->previous = watch.previous;
}

void Connection::dispatch_event(const wire::fb::WatchEvent& event) {
  for (WatchState* watch = watches_; watch != nullptr; watch = watch->next) {
    if (watch->number != event.watch()) continue;
    warpool_event copy{};
    copy.struct_size = sizeof copy;
    copy.kind = event.kind();
    copy.version = event.version();
    copy.owner_uid = event.owner_uid();
    const std::string_view name = wire::text(event.name());
    std::memcpy(copy.name, name.data(),
                name.size() < sizeof copy.name ? name.size() : sizeof copy.name - 1);
    if (watch->events.size() - watch->taken >= kWatchEventsMax) {
      // The reader takes its time while other calls of this program receive for it: keep the bound, and say so.
      watch->events.clear();
      watch->taken = 0;
      copy.kind = WARPOOL_EVENT_OVERFLOW;
      copy.name[0] = '\0';
    }
    watch->events.push_back(copy);
    for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
      if (!waiter->is_watch || waiter->id != watch->number) continue;
      waiter->state.store(Waiter::kAnswered, std::memory_order_release);
      os::futex_wake(waiter->state, 1);
    }
    return;
  }
}

Result<warpool_event> Connection::next_event(WatchState& watch, const Patience& patience) {
  Patience asking = patience;
  if (asking.timeout_ms == 0)
    asking.timeout_ms = 1;  // still a wait: it looks once at what has arrived
  const std::int64_t deadline =
      asking.timeout_ms > 0 ? os::monotonic_ns() + asking.timeout_ms * os::kNsPerMs : -1;
  Lock lock(mutex_);
  for (;;) {
    WARPOOL_TRY(ensure_connected(lock, asking));
    if (watch.taken < watch.events.size()) {
      const warpool_event event = watch.events[watch.taken++];
      if (watch.taken == watch.events.size()) {
        watch.events.clear();
        watch.taken = 0;
      }
      return event;
    }
    Waiter waiter;
    waiter.id = watch.number;
    waiter.is_watch = true;
    forget_old_interrupt();
    waiter.patient = true;
    enlist(waiter);
    const Wake wake = wait(lock, waiter, asking, deadline);
    delist(waiter);
    hand_over_lead();
    if (wake == Wake::kInterrupted)
      return Error::format(Code::kInterrupted, "the wait was interrupted");
    if (wake == Wake::kDeadline && watch.taken >= watch.events.size())
      return Error::format(Code::kTimedOut, "no event on \"%s\" in this time",
                           watch.pattern.c_str());
  }
}

void Connection::after_fork_in_child() {
  // The session is the parent's. Only this thread exists now.
  waiters_ = nullptr;
  leading_ = false;
  connecting_.store(0, std::memory_order_relaxed);
  connected_ = false;
  ++generation_;
  socket_ = SocketRef();
  session_ = 0;
  fds_received_ = fds_reported_ = 0;
  Result<os::Fd> wake = os::create_wake();
  if (wake.ok()) wake_ = std::move(wake).value();
  for (DraftState* draft = drafts_; draft != nullptr; draft = draft->next) {
    draft->lost = true;
    // Not in this process (MADV_DONTFORK); unmapping its addresses could hit something newer.
    if (!draft->sealed && draft->memory != nullptr) draft->memory->mapping.release();
  }
  spare_->forget();
  pthread_mutex_unlock(&mutex_);
}

}  // namespace warpool::client
