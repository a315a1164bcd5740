// SPDX-License-Identifier: Apache-2.0
#include "os/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "os/file.h"
#include "os/process.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5
#endif

namespace warpool::os {
namespace {

/// Connections that wait to be accepted while the broker restarts.
constexpr int kBacklog = 4096;

Result<sockaddr_un> address_of(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) {
    return Error::format(Code::kInvalidArgument,
                         "the socket path %s has %zu bytes, a socket allows %zu; set "
                         "WARPOOL_SOCKET to a shorter one",
                         path, length, sizeof address.sun_path - 1);
  }
  std::memcpy(address.sun_path, path, length + 1);
  return address;
}

Result<Fd> new_socket(int flags) {
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
  if (fd < 0) return Error::from_errno(Code::kLimitReached, errno, "create a socket");
  return Fd(fd);
}

void take_fds(const cmsghdr& header, Received& received) {
  const std::size_t count = (header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int raw = -1;
    std::memcpy(&raw, CMSG_DATA(&header) + i * sizeof(int), sizeof raw);
    Fd fd(raw);  // closes what does not fit
    if (received.fd_count < kFdsPerMessageMax) received.fds[received.fd_count++] = std::move(fd);
  }
}

}  // namespace

Text private_socket_path() {
  const char* runtime = environment("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/')
    return Text::format("%s/warpool/warpool.sock", runtime);
  const char* temporary = environment("TMPDIR");
  const char* folder = temporary != nullptr && temporary[0] == '/' ? temporary : "/tmp";
  return Text::format("%s/warpool-%u/warpool.sock", folder, effective_user());
}

Text admin_socket_of(std::string_view socket_path) {
  const std::size_t slash = socket_path.rfind('/');
  const std::string_view name =
      slash == std::string_view::npos
          ? socket_path
          : std::string_view(socket_path.data() + slash + 1, socket_path.size() - slash - 1);
  return Text::format("%s-admin/%.*s", parent_folder(socket_path).c_str(),
                      static_cast<int>(name.size()), name.data());
}

Result<Fd> listen_at(const char* path, std::uint32_t mode) {
  WARPOOL_ASSIGN(const sockaddr_un address, address_of(path));
  WARPOOL_ASSIGN(Fd fd, new_socket(SOCK_NONBLOCK));
  struct statx before {};
  if (::statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &before) == 0 &&
      !S_ISSOCK(before.stx_mode))
    return Error::format(Code::kInvalidArgument,
                         "%s exists and is not a socket; choose another path", path);
  (void)::unlink(path);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path, mode) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    char what[256];
    std::snprintf(what, sizeof what, "listen at %s", path);
    return Error::from_errno(errno == EACCES ? Code::kPermissionDenied : Code::kIoError, errno,
                             what);
  }
  return fd;
}

Result<Fd> connect_to(const char* path) {
  WARPOOL_ASSIGN(const sockaddr_un address, address_of(path));
  WARPOOL_ASSIGN(Fd fd, new_socket(0));
  int status = 0;
  do {
    status = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (status != 0 && errno == EINTR);
  if (status != 0) {
    char what[256];
    std::snprintf(what, sizeof what, "connect to the broker at %s", path);
    const Code code = errno == EACCES || errno == EPERM ? Code::kPermissionDenied : Code::kNoBroker;
    return Error::from_errno(code, errno, what);
  }
  return fd;
}

Result<SocketPair> socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return Error::from_errno(Code::kLimitReached, errno, "create a socket pair");
  return SocketPair{Fd(fds[0]), Fd(fds[1])};
}

Result<Fd> accept_from(const Fd& listener) {
  const int fd = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) return Fd(fd);
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return Fd();
  return Error::from_errno(Code::kLimitReached, errno, "accept a connection");
}

Result<SendOutcome> send_message(int socket, std::span<const std::uint8_t> message, int fd_or_none,
                                 Blocking blocking) {
  iovec data{const_cast<std::uint8_t*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  if (fd_or_none >= 0) {
    std::memset(control, 0, sizeof control);
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd_or_none, sizeof(int));
  }
  const int flags = MSG_NOSIGNAL | (blocking == Blocking::kNo ? MSG_DONTWAIT : 0);
  for (;;) {
    if (::sendmsg(socket, &header, flags) >= 0) return SendOutcome::kSent;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == ENOBUFS) return SendOutcome::kWouldBlock;
    if (errno == ETOOMANYREFS)
      return Error::from_errno(Code::kLimitReached, errno,
                               "pass a file descriptor: too many are unread");
    if (errno == EMSGSIZE)
      return Error::format(Code::kLimitReached,
                           "a message of %zu bytes is too large for the socket", message.size());
    return SendOutcome::kClosed;
  }
}

Received receive_message(int socket, std::span<std::uint8_t> buffer, Blocking blocking) {
  Received received;
  iovec data{buffer.data(), buffer.size()};
  // Room for one more than we accept, so that a flood shows as too many and not as truncation.
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * (kFdsPerMessageMax + 1))];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const int flags = MSG_CMSG_CLOEXEC | (blocking == Blocking::kNo ? MSG_DONTWAIT : 0);
  const ssize_t got = ::recvmsg(socket, &header, flags);
  if (got < 0) {
    const bool again = errno == EAGAIN || errno == EINTR;
    received.outcome = again ? Received::Outcome::kWouldBlock : Received::Outcome::kClosed;
    return received;
  }
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) take_fds(*part, received);
  }
  received.outcome = got == 0 ? Received::Outcome::kClosed : Received::Outcome::kMessage;
  received.bytes = static_cast<std::size_t>(got);
  received.truncated = (header.msg_flags & MSG_TRUNC) != 0;
  received.fds_lost = (header.msg_flags & MSG_CTRUNC) != 0;
  return received;
}

bool wait_readable(int socket, int wake, std::int64_t timeout_ms) {
  pollfd entries[2] = {{socket, POLLIN, 0}, {wake, POLLIN, 0}};
  const nfds_t count = wake >= 0 ? 2 : 1;
  return ::poll(entries, count, static_cast<int>(timeout_ms)) > 0;
}

bool wait_writable(int socket, std::int64_t timeout_ms) {
  pollfd entry{socket, POLLOUT, 0};
  return ::poll(&entry, 1, static_cast<int>(timeout_ms)) > 0;
}

void set_receive_timeout(int socket, std::int64_t timeout_ms) {
  const timeval time{timeout_ms / 1000, timeout_ms % 1000 * 1000};
  (void)::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

Result<PeerFacts> inspect_peer(const Fd& socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return Error::from_errno(Code::kProtocolError, errno, "read the credentials of a client");
  PeerFacts facts;
  facts.pid = credentials.pid;
  facts.uid = credentials.uid;
  facts.gid = credentials.gid;
  gid_t groups[256];
  length = sizeof groups;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERGROUPS, groups, &length) == 0)
    facts.groups.assign(groups, groups + length / sizeof(gid_t));
  int pidfd = -1;
  length = sizeof pidfd;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) != 0 &&
      credentials.pid > 0)
    pidfd = static_cast<int>(::syscall(SYS_pidfd_open, credentials.pid, 0));
  facts.pidfd = Fd(pidfd);
  return facts;
}

}  // namespace warpool::os
