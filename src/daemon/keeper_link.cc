// SPDX-License-Identifier: Apache-2.0
#include "daemon/keeper_link.h"

#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/socket.h"
#include "wire/keeper_protocol.h"

namespace warpool::daemon {
namespace {

using wire::KeeperMessage;
using wire::KeeperOp;

/// A keeper that does not read for this long is stopped or stuck; the loop must not wait for it.
constexpr std::int64_t kKeeperPatienceMs = 1000;

std::span<const std::uint8_t> as_bytes(const KeeperMessage& message) {
  return {reinterpret_cast<const std::uint8_t*>(&message), sizeof message};
}

}  // namespace

Result<std::vector<store::HeldFd>> KeeperLink::replay() {
  const KeeperMessage ask{KeeperOp::kReplay, 0, 0};
  WARPOOL_TRY(os::send_message(socket_.get(), as_bytes(ask), -1, os::Blocking::kYes));
  std::vector<store::HeldFd> held;
  for (;;) {
    KeeperMessage message{};
    os::Received received = os::receive_message(
        socket_.get(), {reinterpret_cast<std::uint8_t*>(&message), sizeof message},
        os::Blocking::kYes);
    if (received.outcome == os::Received::Outcome::kWouldBlock) continue;
    if (received.outcome == os::Received::Outcome::kClosed)
      return Error::format(Code::kLost, "the keeper died");
    if (received.fds_lost)
      return Error::format(
          Code::kLimitReached,
          "the limit of open files is too low for the arrays that exist; raise it (LimitNOFILE)");
    if (message.op == KeeperOp::kEnd) return held;
    if (message.op == KeeperOp::kItem && received.fd_count == 1)
      held.push_back({message.slot, std::move(received.fds[0])});
  }
}

void KeeperLink::send(std::uint32_t op, std::uint64_t slot, int fd) {
  const KeeperMessage message{static_cast<KeeperOp>(op), 0, slot};
  for (int tries = 0; !lost_; ++tries) {
    const Result<os::SendOutcome> sent =
        os::send_message(socket_.get(), as_bytes(message), fd, os::Blocking::kNo);
    if (sent.ok() && sent.value() == os::SendOutcome::kSent) return;
    constexpr int kTriesMax = 200;  // of 5 ms, while the kernel has too many descriptors in flight
    const bool closed = sent.ok() && sent.value() == os::SendOutcome::kClosed;
    if (closed || tries > kTriesMax) {
      lost_ = true;
    } else if (!sent.ok()) {
      os::sleep_ms(kKeeperPatienceMs / kTriesMax);
    } else if (!os::wait_writable(socket_.get(), kKeeperPatienceMs)) {
      lost_ = true;
    }
  }
}

void KeeperLink::hold(std::uint64_t slot, const os::Fd& fd) {
  send(static_cast<std::uint32_t>(KeeperOp::kHold), slot, fd.get());
}
void KeeperLink::drop(std::uint64_t slot) {
  send(static_cast<std::uint32_t>(KeeperOp::kDrop), slot, -1);
}
void KeeperLink::say_exit() {
  send(static_cast<std::uint32_t>(KeeperOp::kExit), 0, -1);
}

Result<AdoptedBy> start_keeper(const std::string& keeper_path,
                               const std::vector<std::string>& broker_command) {
  WARPOOL_ASSIGN(os::SocketPair pair, os::socket_pair());
  std::vector<std::string> words = {keeper_path, "--adopt", std::to_string(os::process_id())};
  words.insert(words.end(), broker_command.begin(), broker_command.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  const int inherited[] = {pair.second.get()};
  WARPOOL_ASSIGN(const std::int32_t pid, os::spawn(keeper_path.c_str(), argv.data(), inherited));
  return AdoptedBy{std::move(pair.first), pid};
}

Result<std::string> find_keeper() {
  WARPOOL_ASSIGN(const Text self, os::executable_path());
  const std::string folder = os::parent_folder(self.view()).c_str();
  for (const std::string& candidate :
       {folder + "/warpool-keeper", folder + "/../libexec/warpool/warpool-keeper",
        folder + "/../lib/warpool/warpool-keeper"}) {
    if (os::is_executable(candidate.c_str())) return candidate;
  }
  return Error::format(
      Code::kNotFound,
      "warpool-keeper is neither beside %s nor in ../libexec/warpool; install it again",
      self.c_str());
}

}  // namespace warpool::daemon
