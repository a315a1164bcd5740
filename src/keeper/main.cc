// SPDX-License-Identifier: Apache-2.0
// The keeper: parent of the broker. It holds every descriptor that must outlive the broker and starts it again when it dies.
// It reads no byte that comes from a client.
//
//   warpool-keeper BROKER ARGUMENT...          starts BROKER ARGUMENT... --keeper-fd 3 and watches it
//   warpool-keeper --adopt PID BROKER ARGUMENT...  takes over a running broker whose keeper died; its socket is descriptor 3
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "os/clock.h"
#include "os/process.h"
#include "os/socket.h"
#include "wire/keeper_protocol.h"

namespace warpool::keeper {
namespace {

using wire::KeeperMessage;
using wire::KeeperOp;

/// After draining the socket the keeper naps, so that a busy broker does not wake it for each message: what is queued in the
/// socket is as safe as what is in the table.
constexpr std::int64_t kNapMs = 3;
/// A broker that dies at once again and again is started more slowly.
constexpr std::int64_t kQuickDeathNs = 2 * os::kNsPerSecond;
constexpr std::int64_t kBackoffMsMax = 2000;

class Keeper {
 public:
  Keeper(std::string broker, std::vector<std::string> arguments)
      : broker_(std::move(broker)), arguments_(std::move(arguments)) {}

  int run(std::int32_t adopted_pid) {
    // The log and other files of whoever started it would pass from keeper to broker to keeper, one more each time.
    os::close_from(adopted_pid > 0 ? wire::kInheritedSocket + 1 : wire::kInheritedSocket);
    os::raise_fd_limit();
    listen_for_signals();
    if (adopted_pid > 0) {
      socket_ = os::Fd(wire::kInheritedSocket);
      (void)::fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
      pid_ = adopted_pid;
      process_ = os::open_process(adopted_pid);
      is_child_ = false;
    } else if (!start_broker()) {
      return wire::kExitCannotStart;
    }
    for (;;) {
      wait();
      drain();
      if (abandoned()) return 0;
      if (!os::has_ended(process_)) {
        os::sleep_ms(kNapMs);
        continue;
      }
      drain();  // what the broker sent before it died counts
      const int status = exit_status();
      if (status >= 0) return status;
      back_off();
      if (!restart_broker()) return wire::kExitCannotStart;
    }
  }

 private:
  void listen_for_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    signals_ = os::Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  bool start_broker() {
    Result<os::SocketPair> pair = os::socket_pair();
    if (!pair.ok()) return complain(pair.error());
    std::vector<std::string> words;
    words.push_back(broker_);
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    words.push_back("--keeper-fd");
    words.push_back(std::to_string(wire::kInheritedSocket));
    std::vector<char*> argv;
    for (std::string& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    const int inherited[] = {pair.value().second.get()};
    const Result<std::int32_t> pid = os::spawn(broker_.c_str(), argv.data(), inherited);
    if (!pid.ok()) return complain(pid.error());
    socket_ = std::move(pair.value().first);
    closed_ = false;
    pid_ = pid.value();
    process_ = os::open_process(pid_);
    is_child_ = true;
    started_ns_ = os::monotonic_ns();
    return true;
  }

  /// While an upgrade replaces the program there is none for a moment; giving up would lose every array.
  bool restart_broker() {
    constexpr int kTries = 600;
    constexpr std::int64_t kPauseMs = 100;
    for (int i = 0; i < kTries; ++i) {
      if (start_broker()) return true;
      os::sleep_ms(kPauseMs);
    }
    return false;
  }

  static bool complain(const Error& error) {
    std::fprintf(stderr, "warpool-keeper: %s\n", error.message.c_str());
    return false;
  }

  void wait() {
    pollfd entries[3] = {
        {socket_.get(), POLLIN, 0}, {process_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    (void)::poll(entries, 3, -1);
    if ((entries[2].revents & POLLIN) != 0) pass_signal();
  }

  /// The broker ends cleanly on the signal and says kExit.
  void pass_signal() {
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      (void)::kill(pid_, info.ssi_signo == SIGHUP ? SIGHUP : SIGTERM);
  }

  void drain() {
    for (;;) {
      KeeperMessage message{};
      os::Received received = os::receive_message(
          socket_.get(), {reinterpret_cast<std::uint8_t*>(&message), sizeof message},
          os::Blocking::kNo);
      if (received.outcome == os::Received::Outcome::kClosed) closed_ = true;
      if (received.outcome != os::Received::Outcome::kMessage) return;
      if (received.bytes != sizeof message) continue;
      if (message.op == KeeperOp::kHold && received.fd_count == 1)
        held_[message.slot] = std::move(received.fds[0]);
      if (message.op == KeeperOp::kDrop) held_.erase(message.slot);
      if (message.op == KeeperOp::kReplay) replay();
      if (message.op == KeeperOp::kExit) clean_end_ = true;
    }
  }

  /// The broker lives but has closed the socket: it took this keeper for dead and has another one.
  bool abandoned() {
    if (!closed_) return false;
    pollfd entry{process_.get(), POLLIN, 0};
    constexpr int kPatienceMs =
        500;  // the end of a process is seen a moment after the end of its sockets
    return ::poll(&entry, 1, kPatienceMs) == 0;
  }

  void replay() {
    for (const auto& [slot, fd] : held_) {
      if (!send({KeeperOp::kItem, 0, slot}, fd.get())) return;
    }
    (void)send({KeeperOp::kEnd, 0, held_.size()}, -1);
  }

  /// Waits for room: the broker does nothing else than read now. False when it died.
  bool send(const KeeperMessage& message, int fd) {
    for (;;) {
      const Result<os::SendOutcome> sent = os::send_message(
          socket_.get(), {reinterpret_cast<const std::uint8_t*>(&message), sizeof message}, fd,
          os::Blocking::kNo);
      if (sent.ok() && sent.value() == os::SendOutcome::kSent) return true;
      if (sent.ok() && sent.value() == os::SendOutcome::kClosed) return false;
      if (os::has_ended(process_)) return false;
      (void)os::wait_writable(socket_.get(), 10);
      if (!sent.ok())
        os::sleep_ms(1);  // too many descriptors in flight: the broker is reading them
    }
  }

  /// The status to end with, or -1: start it again.
  int exit_status() {
    int status = 0;
    const bool reaped = is_child_ && ::waitpid(pid_, &status, 0) == pid_;
    if (clean_end_) return 0;
    if (!reaped || !WIFEXITED(status)) return -1;
    const int code = WEXITSTATUS(status);
    const bool final = code == wire::kExitUsage || code == wire::kExitAlreadyRunning ||
                       code == wire::kExitCannotStart;
    return final ? code : -1;
  }

  void back_off() {
    const bool quick = os::monotonic_ns() - started_ns_ < kQuickDeathNs;
    // The first deaths are answered at once: programs are waiting.
    quick_deaths_ = quick ? quick_deaths_ + 1 : 0;
    constexpr int kFree = 5;
    if (quick_deaths_ <= kFree) return;
    std::int64_t pause = 50;
    for (int i = kFree; i < quick_deaths_ && pause < kBackoffMsMax; ++i)
      pause *= 2;
    os::sleep_ms(pause < kBackoffMsMax ? pause : kBackoffMsMax);
  }

  std::string broker_;
  std::vector<std::string> arguments_;
  os::Fd socket_;
  os::Fd process_;
  os::Fd signals_;
  std::int32_t pid_ = 0;
  bool is_child_ = true;
  bool clean_end_ = false;
  bool closed_ = false;
  std::int64_t started_ns_ = 0;
  int quick_deaths_ = 0;
  std::unordered_map<std::uint64_t, os::Fd> held_;
};

}  // namespace
}  // namespace warpool::keeper

int main(int argc, char** argv) {
  std::int32_t adopted = 0;
  int first = 1;
  if (argc > 3 && std::strcmp(argv[1], "--adopt") == 0) {
    adopted = static_cast<std::int32_t>(std::atoi(argv[2]));
    first = 3;
  }
  if (argc <= first) {
    std::fprintf(stderr,
                 "usage: warpool-keeper BROKER ARGUMENT...\nIt is started by warpoold; see warpool "
                 "help up.\n");
    return warpool::wire::kExitUsage;
  }
  return warpool::keeper::Keeper(argv[first], {argv + first + 1, argv + argc}).run(adopted);
}
