// SPDX-License-Identifier: Apache-2.0
// AF_UNIX SOCK_SEQPACKET: whole messages, each with up to kFdsPerMessageMax file descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/limits.h"
#include "os/fd.h"

namespace warpool::os {

enum class Blocking : std::uint8_t { kNo, kYes };

/// Where the broker of all users of a machine listens.
constexpr const char* kSystemSocket = "/run/warpool/warpool.sock";
/// Where the private broker of this user listens: in $XDG_RUNTIME_DIR/warpool, else in warpool-UID below $TMPDIR or /tmp.
Text private_socket_path();
/// Where a broker at `socket_path` listens for administrators: in a folder of its own beside that of the socket, which is mounted into
/// containers while this one is not. /run/warpool/warpool.sock has /run/warpool-admin/warpool.sock.
Text admin_socket_of(std::string_view socket_path);

/// Binds and listens. A socket already at `path` is replaced (any other file is an error), so the caller must hold the lock of that folder.
/// `mode` is the permission of the socket file.
Result<Fd> listen_at(const char* path, std::uint32_t mode);
/// kNoBroker when nobody listens there.
Result<Fd> connect_to(const char* path);
/// A connected pair, both close-on-exec.
struct SocketPair {
  Fd first;
  Fd second;
};
Result<SocketPair> socket_pair();
/// The next waiting connection (non-blocking socket); an invalid Fd when none waits.
Result<Fd> accept_from(const Fd& listener);

enum class SendOutcome : std::uint8_t { kSent, kWouldBlock, kClosed };
/// Sends one message. kLimitReached: too many descriptors in flight for this user (ETOOMANYREFS): try again later.
Result<SendOutcome> send_message(int socket, std::span<const std::uint8_t> message, int fd_or_none,
                                 Blocking blocking);

struct Received {
  enum class Outcome : std::uint8_t { kMessage, kWouldBlock, kClosed };
  Outcome outcome = Outcome::kWouldBlock;
  std::size_t bytes = 0;
  bool truncated = false;  ///< the message was longer than the buffer
  bool fds_lost = false;   ///< descriptors were sent, but this process has no free number for them
  std::uint32_t fd_count = 0;
  Fd fds[kFdsPerMessageMax];
};
/// Receives one message into `buffer`. EINTR is returned as kWouldBlock, so that the caller can look around.
Received receive_message(int socket, std::span<std::uint8_t> buffer, Blocking blocking);

/// Waits until `socket` or `wake` (may be -1) is readable. Returns false after `timeout_ms` (negative: no limit) or on a signal.
bool wait_readable(int socket, int wake, std::int64_t timeout_ms);
bool wait_writable(int socket, std::int64_t timeout_ms);
/// A blocking receive returns kWouldBlock after this long, and on a signal.
void set_receive_timeout(int socket, std::int64_t timeout_ms);

/// Who is at the other end, as of its connect().
struct PeerFacts {
  std::int32_t pid = 0;  ///< 0: not visible from here (another PID namespace)
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;
  Fd pidfd;  ///< invalid where the kernel has no SO_PEERPIDFD and the process could not be opened
};
Result<PeerFacts> inspect_peer(const Fd& socket);

}  // namespace warpool::os
