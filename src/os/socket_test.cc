// SPDX-License-Identifier: Apache-2.0
#include "os/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "os/file.h"
#include "os/process.h"
#include "os/wake.h"

namespace warpool::os {
namespace {

using Buffer = std::array<std::uint8_t, 64>;

std::span<const std::uint8_t> bytes_of(const char* text) {
  return {reinterpret_cast<const std::uint8_t*>(text), std::strlen(text)};
}

/// Sends a message with any number of descriptors, which send_message never does.
void send_fds(int socket, const char* text, const std::vector<int>& fds) {
  iovec data{const_cast<char*>(text), std::strlen(text)};
  std::vector<char> control(CMSG_SPACE(sizeof(int) * fds.size()));
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  ASSERT_GE(::sendmsg(socket, &header, 0), 0);
}

TEST(Message, EveryNumberOfDescriptors) {
  const SocketPair pair = std::move(socket_pair()).value();
  const std::uint64_t before = count_open_fds();
  for (std::size_t count = 0; count <= kFdsPerMessageMax + 3; ++count) {
    send_fds(pair.first.get(), "hello", std::vector<int>(count, STDIN_FILENO));
    Buffer buffer{};
    {
      const Received received = receive_message(pair.second.get(), buffer, Blocking::kNo);
      EXPECT_EQ(received.outcome, Received::Outcome::kMessage);
      EXPECT_EQ(received.bytes, 5u);
      EXPECT_EQ(received.fd_count, std::min(count, kFdsPerMessageMax));
      // A few too many are told by the count; only a flood is cut by the kernel, which rounds the room up.
      EXPECT_EQ(received.fds_lost, count > kFdsPerMessageMax + 2) << count;
      for (std::uint32_t i = 0; i < received.fd_count; ++i)
        EXPECT_NE(::fcntl(received.fds[i].get(), F_GETFD) & FD_CLOEXEC, 0);
    }
    EXPECT_EQ(count_open_fds(), before) << "leaked with " << count << " descriptors";
  }
}

TEST(Message, TruncationIsTold) {
  const SocketPair pair = std::move(socket_pair()).value();
  const std::string exact(64, 'x');
  const std::string longer(65, 'x');
  Buffer buffer{};
  (void)send_message(pair.first.get(), bytes_of(exact.c_str()), -1, Blocking::kNo);
  EXPECT_FALSE(receive_message(pair.second.get(), buffer, Blocking::kNo).truncated);
  (void)send_message(pair.first.get(), bytes_of(longer.c_str()), -1, Blocking::kNo);
  EXPECT_TRUE(receive_message(pair.second.get(), buffer, Blocking::kNo).truncated);
}

TEST(Message, NothingClosedAndFull) {
  SocketPair pair = std::move(socket_pair()).value();
  Buffer buffer{};
  EXPECT_EQ(receive_message(pair.first.get(), buffer, Blocking::kNo).outcome,
            Received::Outcome::kWouldBlock);
  SendOutcome outcome = SendOutcome::kSent;
  for (int i = 0; i < 100'000 && outcome == SendOutcome::kSent; ++i)
    outcome = send_message(pair.first.get(), bytes_of("x"), -1, Blocking::kNo).value();
  EXPECT_EQ(outcome, SendOutcome::kWouldBlock);
  pair.second.reset();
  EXPECT_EQ(send_message(pair.first.get(), bytes_of("x"), -1, Blocking::kNo).value(),
            SendOutcome::kClosed);
  EXPECT_EQ(receive_message(pair.first.get(), buffer, Blocking::kNo).outcome,
            Received::Outcome::kClosed);
}

TEST(Message, TooLargeForTheSocketIsAnError) {
  const SocketPair pair = std::move(socket_pair()).value();
  const std::vector<std::uint8_t> large(64 << 20);
  const Result<SendOutcome> sent = send_message(pair.first.get(), large, -1, Blocking::kNo);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, Code::kLimitReached);
  const std::vector<std::uint8_t> largest(kMessageBytesMax);
  EXPECT_EQ(send_message(pair.first.get(), largest, -1, Blocking::kNo).value(), SendOutcome::kSent);
}

TEST(Message, ADescriptorWithoutAFreeNumberIsLostButTheMessageIsNot) {
  const SocketPair pair = std::move(socket_pair()).value();
  (void)send_message(pair.first.get(), bytes_of("x"), STDIN_FILENO, Blocking::kNo);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;  // lower than what is open already: no new number
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  Buffer buffer{};
  const Received received = receive_message(pair.second.get(), buffer, Blocking::kNo);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(received.outcome, Received::Outcome::kMessage);
  EXPECT_EQ(received.bytes, 1u);
  EXPECT_EQ(received.fd_count, 0u);
  EXPECT_TRUE(received.fds_lost);
}

TEST(Listener, ConnectsInspectsAndReplacesAStaleFile) {
  char folder[] = "/tmp/warpool-os-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/s";
  EXPECT_EQ(connect_to(path.c_str()).error().code, Code::kNoBroker);
  { const Fd stale = std::move(listen_at(path.c_str(), 0600)).value(); }
  EXPECT_EQ(connect_to(path.c_str()).error().code, Code::kNoBroker);
  const Fd listener = std::move(listen_at(path.c_str(), 0600)).value();
  EXPECT_FALSE(accept_from(listener).value().valid()) << "nobody has connected";
  const Fd client = std::move(connect_to(path.c_str())).value();
  const Fd accepted = std::move(accept_from(listener)).value();
  const PeerFacts facts = std::move(inspect_peer(accepted)).value();
  EXPECT_EQ(facts.pid, process_id());
  EXPECT_EQ(facts.uid, effective_user());
  EXPECT_TRUE(facts.pidfd.valid());
  EXPECT_FALSE(has_ended(facts.pidfd));
  remove_file(path.c_str());
  ::rmdir(folder);
}

TEST(Listener, APathThatIsTooLongIsRefusedWithTheLimit) {
  const std::string fits(107, 'a');
  const std::string longer(108, 'a');
  EXPECT_EQ(connect_to(fits.c_str()).error().code, Code::kNoBroker);
  const Error error = connect_to(longer.c_str()).take_error();
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_NE(error.message.view().find("allows 107"), std::string_view::npos);
}

TEST(Wait, EndsByMessageWakeOrTime) {
  const SocketPair pair = std::move(socket_pair()).value();
  const Fd wake = std::move(create_wake()).value();
  EXPECT_FALSE(wait_readable(pair.first.get(), wake.get(), 1));
  wake_up(wake);
  EXPECT_TRUE(wait_readable(pair.first.get(), wake.get(), 1000));
  EXPECT_TRUE(take_wake(wake));
  EXPECT_FALSE(take_wake(wake));
  (void)send_message(pair.second.get(), bytes_of("x"), -1, Blocking::kNo);
  EXPECT_TRUE(wait_readable(pair.first.get(), -1, 1000));
  EXPECT_TRUE(wait_writable(pair.first.get(), 0));
}

}  // namespace
}  // namespace warpool::os
