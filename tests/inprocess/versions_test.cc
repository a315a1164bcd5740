// SPDX-License-Identifier: Apache-2.0
// Library and broker of different versions, one of them made by hand.
#include <array>

#include "base/limits.h"
#include "fixture.h"
#include "os/socket.h"
#include "wire/codec.h"

namespace warpool::inprocess {
namespace {

namespace fb = wire::fb;
using Builder = flatbuffers::FlatBufferBuilder;

struct alignas(16) Message {
  std::array<std::uint8_t, kMessageBytesMax> bytes;
};

const fb::Reply* exchange(const os::Fd& socket, const Builder& builder, Message& message) {
  EXPECT_EQ(os::send_message(socket.get(), wire::finished(builder), -1, os::Blocking::kYes).value(),
            os::SendOutcome::kSent);
  const os::Received received =
      os::receive_message(socket.get(), message.bytes, os::Blocking::kYes);
  if (received.outcome != os::Received::Outcome::kMessage) return nullptr;
  return wire::read_reply({message.bytes.data(), received.bytes}).value();
}

const fb::Reply* greet(const os::Fd& socket, std::uint16_t min, std::uint16_t max,
                       Message& message) {
  Builder builder;
  const auto hello = fb::CreateHello(builder, min, max, wire::add_text(builder, "5.0.0"));
  builder.Finish(fb::CreateRequest(builder, 1, fb::RequestBody::Hello, hello.Union()));
  return exchange(socket, builder, message);
}

TEST(OtherLibraries, OlderAndNewerOnesAreToldWhatToUpdate) {
  Broker broker;
  Message message;
  const os::Fd older = std::move(os::connect_to(broker.socket().c_str())).value();
  const fb::Reply* refused = greet(older, 0, 0, message);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code(), WARPOOL_VERSION_MISMATCH);
  EXPECT_NE(wire::text(refused->message()).find("update the library"), std::string_view::npos);
  const os::Fd newer = std::move(os::connect_to(broker.socket().c_str())).value();
  refused = greet(newer, 2, 9, message);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code(), WARPOOL_VERSION_MISMATCH);
  EXPECT_NE(wire::text(refused->message()).find("update the broker"), std::string_view::npos);
}

TEST(OtherLibraries, ANewerOneThatKnowsThisProtocolIsServed) {
  Broker broker;
  Message message;
  const os::Fd newer = std::move(os::connect_to(broker.socket().c_str())).value();
  const fb::Reply* welcome = greet(newer, 1, 9, message);
  ASSERT_NE(welcome, nullptr);
  ASSERT_NE(welcome->body_as_Welcome(), nullptr);
  EXPECT_EQ(welcome->body_as_Welcome()->protocol(), 1);
  Builder builder;
  builder.Finish(
      fb::CreateRequest(builder, 7, fb::RequestBody::Ping, fb::CreatePing(builder).Union()));
  const fb::Reply* pong = exchange(newer, builder, message);
  ASSERT_NE(pong, nullptr);
  EXPECT_EQ(pong->id(), 7u);
}

/// Accepts one program after the other and answers each greeting with `answer`.
class OtherBroker {
 public:
  explicit OtherBroker(Builder& answer) : answer_(answer) {
    char folder[] = "/tmp/warpool-inprocess-XXXXXX";
    folder_ = ::mkdtemp(folder);
    path_ = folder_ + "/w.sock";
    listener_ = std::move(os::listen_at(path_.c_str(), 0600)).value();
    thread_ = std::thread([this] { serve(); });
  }
  ~OtherBroker() {
    thread_.join();
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  [[nodiscard]] const char* path() const { return path_.c_str(); }

 private:
  void serve() {
    ASSERT_TRUE(os::wait_readable(listener_.get(), -1, 20'000));
    const os::Fd socket = std::move(os::accept_from(listener_)).value();
    Message message;
    ASSERT_TRUE(os::wait_readable(socket.get(), -1, 20'000));
    (void)os::receive_message(socket.get(), message.bytes, os::Blocking::kNo);
    (void)os::send_message(socket.get(), wire::finished(answer_), -1, os::Blocking::kYes);
    // Until the program has read it and gone.
    ASSERT_TRUE(os::wait_readable(socket.get(), -1, 20'000));
  }
  Builder& answer_;
  std::string folder_;
  std::string path_;
  os::Fd listener_;
  std::thread thread_;
};

warpool_status connect_to(const char* path, Error& error) {
  warpool_connect_options options = WARPOOL_CONNECT_OPTIONS_INIT;
  options.socket_path = path;
  options.flags = WARPOOL_CONNECT_NO_START;
  warpool_connection* connection = nullptr;
  const warpool_status status = warpool_connect(&options, &connection, error.out());
  warpool_close(connection);
  return status;
}

TEST(OtherBrokers, TheirRefusalReachesTheUser) {
  Builder builder;
  const auto text = wire::add_text(builder, "update the library of this program");
  builder.Finish(fb::CreateReply(builder, 1, WARPOOL_VERSION_MISMATCH, text));
  OtherBroker broker(builder);
  Error error;
  EXPECT_EQ(connect_to(broker.path(), error), WARPOOL_VERSION_MISMATCH);
  EXPECT_TRUE(error.says("update the library")) << error.text();
}

TEST(OtherBrokers, AnUnknownAnswerIsNoWelcome) {
  Builder builder;
  builder.Finish(fb::CreateReply(builder, 1));
  OtherBroker broker(builder);
  Error error;
  EXPECT_EQ(connect_to(broker.path(), error), WARPOOL_VERSION_MISMATCH);
  EXPECT_TRUE(error.says("no broker that this library knows")) << error.text();
}

}  // namespace
}  // namespace warpool::inprocess
