// SPDX-License-Identifier: Apache-2.0
#include "wire/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace warpool::wire {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;

struct alignas(64) Message {
  std::uint8_t bytes[kMessageBytesMax + 64];
  std::size_t size = 0;
  [[nodiscard]] std::span<const std::uint8_t> span() const { return {bytes, size}; }
};

Message& copy_of(std::span<const std::uint8_t> bytes) {
  static Message message;
  message.size = std::min(bytes.size(), sizeof message.bytes);
  std::memcpy(message.bytes, bytes.data(), message.size);
  return message;
}

std::string random_text() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
}
std::uint64_t random_number() {
  return *rc::gen::arbitrary<std::uint64_t>();
}
std::vector<std::uint64_t> random_numbers() {
  return *rc::gen::arbitrary<std::vector<std::uint64_t>>();
}

template <typename Body>
const fb::Request& request_of(Builder& builder, flatbuffers::Offset<Body> body) {
  builder.Finish(fb::CreateRequest(builder, 77, fb::RequestBodyTraits<Body>::enum_value,
                                   body.Union(), true, 5));
  const Result<const fb::Request*> read = read_request(copy_of(finished(builder)).span());
  RC_ASSERT(read.ok());
  RC_ASSERT(read.value()->id() == 77U);
  RC_ASSERT(read.value()->repeated());
  RC_ASSERT(read.value()->fds_received() == 5U);
  const fb::RequestBody type = fb::RequestBodyTraits<Body>::enum_value;
  RC_ASSERT(read.value()->body_type() == type);
  return *read.value();
}

template <typename Body>
const fb::Reply& reply_of(Builder& builder, flatbuffers::Offset<Body> body) {
  builder.Finish(
      fb::CreateReply(builder, 78, 0, 0, fb::ReplyBodyTraits<Body>::enum_value, body.Union()));
  const Result<const fb::Reply*> read = read_reply(copy_of(finished(builder)).span());
  RC_ASSERT(read.ok());
  RC_ASSERT(read.value()->id() == 78U);
  return *read.value();
}

RC_GTEST_PROP(RoundTrip, RequestsOfSessions, ()) {
  const std::string a = random_text();
  const std::string b = random_text();
  const std::vector<std::uint64_t> held = random_numbers();
  const std::uint64_t number = random_number();
  {
    Builder builder;
    const auto claim = fb::CreateDraftClaim(builder, number, 3, add_text(builder, a));
    const auto claims = builder.CreateVector(&claim, 1);
    const auto held_list = builder.CreateVector(held);
    const auto text_a = add_text(builder, a);
    const auto text_b = add_text(builder, b);
    const auto hello = fb::CreateHello(builder, 1, 9, text_a, text_b, text_a, text_b, -5, held_list,
                                       claims, number, number);
    const fb::Hello& read = *request_of(builder, hello).body_as_Hello();
    RC_ASSERT(text(read.library_version()) == a);
    RC_ASSERT(text(read.run()) == b);
    RC_ASSERT(read.pid() == -5);
    RC_ASSERT(std::equal(held.begin(), held.end(), read.held()->begin(), read.held()->end()));
    RC_ASSERT(text(read.drafts()->Get(0)->name()) == a);
    RC_ASSERT(read.spare() == number);
    RC_ASSERT(read.session() == number);
  }
  {
    Builder builder;
    RC_ASSERT(request_of(builder, fb::CreatePing(builder)).body_as_Ping() != nullptr);
  }
  {
    Builder builder;
    const auto body = fb::CreateSessions(builder, add_text(builder, a), number);
    const fb::Sessions& read = *request_of(builder, body).body_as_Sessions();
    RC_ASSERT(text(read.run()) == a);
    RC_ASSERT(read.cursor() == number);
  }
  {
    Builder builder;
    RC_ASSERT(request_of(builder, fb::CreateSpare(builder, number)).body_as_Spare()->bytes() ==
              number);
  }
  {
    Builder builder;
    RC_ASSERT(request_of(builder, fb::CreateShutdown(builder, true)).body_as_Shutdown()->force());
  }
  {
    Builder builder;
    RC_ASSERT(request_of(builder, fb::CreateBrokerStatus(builder)).body_as_BrokerStatus());
  }
  {
    Builder builder;
    RC_ASSERT(request_of(builder, fb::CreateAcknowledge(builder)).body_as_Acknowledge());
  }
}

RC_GTEST_PROP(RoundTrip, RequestsOfArrays, ()) {
  const std::string name = random_text();
  const std::uint64_t number = random_number();
  const auto flags = *rc::gen::arbitrary<std::uint32_t>();
  const auto contents = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
  {
    Builder builder;
    const auto body = fb::CreateCreate(builder, number, add_text(builder, name), number, true);
    const fb::Create& read = *request_of(builder, body).body_as_Create();
    RC_ASSERT(read.draft() == number);
    RC_ASSERT(text(read.name()) == name);
    RC_ASSERT(read.size() == number);
    RC_ASSERT(read.wait());
  }
  {
    Builder builder;
    const std::vector<std::int64_t> shape = {1, -2, INT64_MAX};
    const auto path = add_text(builder, name);
    const auto shape_list = builder.CreateVector(shape);
    const auto part = fb::CreatePart(builder, path, 3, 14, shape_list, shape_list, number);
    const auto parts = builder.CreateVector(&part, 1);
    const auto name_text = add_text(builder, name);
    builder.ForceVectorAlignment(contents.size(), 1, 16);
    const auto contents_list = builder.CreateVector(contents);
    const auto body = fb::CreatePublish(builder, 1, name_text, number, parts, name_text, 0644,
                                        flags, -1, contents_list, number, true, false);
    const fb::Publish& read = *request_of(builder, body).body_as_Publish();
    RC_ASSERT(read.parts()->Get(0)->shape()->Get(2) == INT64_MAX);
    RC_ASSERT(read.parts()->Get(0)->dtype() == 14);
    RC_ASSERT(read.token() == number);
    RC_ASSERT(read.ttl_ms() == -1);
    const std::span<const std::uint8_t> read_contents = bytes(read.contents());
    RC_ASSERT(
        std::equal(contents.begin(), contents.end(), read_contents.begin(), read_contents.end()));
    RC_ASSERT(contents.empty() || reinterpret_cast<std::uintptr_t>(read_contents.data()) % 16 == 0);
  }
  {
    Builder builder;
    const auto body = fb::CreateGet(builder, add_text(builder, name), number, true);
    const fb::Get& read = *request_of(builder, body).body_as_Get();
    RC_ASSERT(text(read.name()) == name);
    RC_ASSERT(read.version() == number);
  }
  {
    Builder builder;
    const std::vector<std::uint64_t> ids = random_numbers();
    const auto body = fb::CreateRelease(builder, builder.CreateVector(ids));
    const auto* read = request_of(builder, body).body_as_Release()->ids();
    RC_ASSERT(std::equal(ids.begin(), ids.end(), read->begin(), read->end()));
  }
  {
    Builder builder;
    const auto body = fb::CreateCancel(builder, number, true);
    RC_ASSERT(request_of(builder, body).body_as_Cancel()->request() == number);
  }
  {
    Builder builder;
    const auto body = fb::CreateDiscard(builder, number);
    RC_ASSERT(request_of(builder, body).body_as_Discard()->draft() == number);
  }
  {
    Builder builder;
    const auto body = fb::CreateGetMemory(builder, number);
    RC_ASSERT(request_of(builder, body).body_as_GetMemory()->id() == number);
  }
  {
    Builder builder;
    const auto body = fb::CreateRemove(builder, add_text(builder, name), number);
    RC_ASSERT(request_of(builder, body).body_as_Remove()->version() == number);
  }
  {
    Builder builder;
    const auto body = fb::CreateChmod(builder, add_text(builder, name), flags);
    RC_ASSERT(request_of(builder, body).body_as_Chmod()->mode() == flags);
  }
  {
    Builder builder;
    const auto body = fb::CreateExpire(builder, add_text(builder, name), INT64_MIN);
    RC_ASSERT(request_of(builder, body).body_as_Expire()->ttl_ms() == INT64_MIN);
  }
  {
    Builder builder;
    const auto pattern = add_text(builder, name);
    const auto body = fb::CreateList(builder, pattern, flags, add_text(builder, name));
    RC_ASSERT(text(request_of(builder, body).body_as_List()->cursor()) == name);
  }
  {
    Builder builder;
    const auto body = fb::CreateStat(builder, add_text(builder, name), number);
    RC_ASSERT(request_of(builder, body).body_as_Stat()->version() == number);
  }
  {
    Builder builder;
    const auto body = fb::CreateWatch(builder, number, add_text(builder, name), flags, true);
    const fb::Watch& read = *request_of(builder, body).body_as_Watch();
    RC_ASSERT(read.watch() == number && read.existing() && read.flags() == flags);
  }
  {
    Builder builder;
    const auto body = fb::CreateUnwatch(builder, number);
    RC_ASSERT(request_of(builder, body).body_as_Unwatch()->watch() == number);
  }
}

RC_GTEST_PROP(RoundTrip, Replies, ()) {
  const std::string name = random_text();
  const std::uint64_t number = random_number();
  const std::vector<std::uint64_t> numbers = random_numbers();
  {
    Builder builder;
    const auto version = add_text(builder, name);
    const auto body =
        fb::CreateWelcome(builder, 1, version, number, number, true, builder.CreateVector(numbers));
    const fb::Welcome& read = *reply_of(builder, body).body_as_Welcome();
    RC_ASSERT(read.epoch() == number && read.is_private());
    RC_ASSERT(read.lost_drafts()->size() == numbers.size());
  }
  {
    Builder builder;
    const auto body = fb::CreatePublished(builder, number, number, -3);
    const fb::Published& read = *reply_of(builder, body).body_as_Published();
    RC_ASSERT(read.id() == number && read.created_unix_ns() == -3);
  }
  {
    Builder item_builder;
    const auto item_name = add_text(item_builder, name);
    fb::ItemBuilder item(item_builder);
    item.add_name(item_name);
    item.add_size(number);
    item_builder.Finish(item.Finish());
    Builder builder;
    builder.ForceVectorAlignment(item_builder.GetSize(), 1, 16);
    const auto blob = builder.CreateVector(item_builder.GetBufferPointer(), item_builder.GetSize());
    const auto body =
        fb::CreateItemState(builder, blob, 0600, 1, 2, -1, true, add_text(builder, name));
    const fb::ItemState& read = *reply_of(builder, body).body_as_ItemState();
    const Result<const fb::Item*> inner = read_item(bytes(read.item()));
    RC_ASSERT(inner.ok());
    RC_ASSERT(text(inner.value()->name()) == name);
    RC_ASSERT(inner.value()->size() == number);
  }
  {
    Builder builder;
    const auto body = fb::CreateWatchEvent(builder, number, 3, add_text(builder, name), number, 7);
    const fb::WatchEvent& read = *reply_of(builder, body).body_as_WatchEvent();
    RC_ASSERT(read.kind() == 3 && text(read.name()) == name && read.owner_uid() == 7U);
  }
  {
    Builder builder;
    const auto copy = fb::CreateCopyCount(builder, 3, number, number);
    const auto copies = builder.CreateVector(&copy, 1);
    fb::SessionEntryBuilder entry(builder);
    entry.add_copies(copies);
    entry.add_waited_ms(number);
    const auto made = entry.Finish();
    const auto body = fb::CreateSessionEntries(builder, builder.CreateVector(&made, 1), number);
    const fb::SessionEntries& read = *reply_of(builder, body).body_as_SessionEntries();
    RC_ASSERT(read.sessions()->Get(0)->copies()->Get(0)->bytes() == number);
    RC_ASSERT(read.cursor() == number);
  }
  {
    Builder builder;
    fb::StatusReplyBuilder status(builder);
    status.add_memory_viewed(number);
    const auto body = status.Finish();
    RC_ASSERT(reply_of(builder, body).body_as_StatusReply()->memory_viewed() == number);
  }
}

/// Reads every field, so that a sanitizer sees an access outside.
std::size_t touch(const fb::Request& request) {
  std::size_t sum = 0;
  if (const fb::Publish* publish = request.body_as_Publish()) {
    sum += text(publish->name()).size() + bytes(publish->contents()).size();
    if (publish->parts() != nullptr) {
      for (const fb::Part* part : *publish->parts()) {
        sum += text(part->path()).size();
        if (part->shape() != nullptr)
          for (const std::int64_t extent : *part->shape())
            sum += static_cast<std::size_t>(extent);
      }
    }
  }
  return sum;
}

RC_GTEST_PROP(Malformed, DamagedMessagesAreRefusedOrReadInside, ()) {
  Builder builder;
  const std::vector<std::int64_t> shape = {1, 2};
  const auto path = add_text(builder, "path");
  const auto shape_list = builder.CreateVector(shape);
  const auto part = fb::CreatePart(builder, path, 0, 1, shape_list, shape_list, 0);
  const auto parts = builder.CreateVector(&part, 1);
  const auto name = add_text(builder, "name");
  const std::vector<std::uint8_t> data(32, 9);
  const auto contents = builder.CreateVector(data);
  const auto body = fb::CreatePublish(builder, 0, name, 32, parts, name, 0, 0, 0, contents);
  builder.Finish(fb::CreateRequest(builder, 1, fb::RequestBody::Publish, body.Union()));
  Message& message = copy_of(finished(builder));
  const auto times = *rc::gen::inRange(0, 4);
  for (int i = 0; i < times; ++i)
    message.bytes[*rc::gen::inRange<std::size_t>(0, message.size)] =
        *rc::gen::arbitrary<std::uint8_t>();
  message.size = *rc::gen::inRange<std::size_t>(0, message.size + 1);
  // A copy of exactly this size, so that a sanitizer knows its end.
  auto* exact = static_cast<std::uint8_t*>(std::aligned_alloc(16, (message.size + 31) / 16 * 16));
  std::memcpy(exact, message.bytes, message.size);
  const Result<const fb::Request*> read = read_request({exact, message.size});
  volatile std::size_t sum = read.ok() ? touch(*read.value()) : 0;
  (void)sum;
  std::free(exact);
}

TEST(Malformed, EmptyUnalignedOversizedAndWithoutBody) {
  EXPECT_EQ(read_request({}).error().code, Code::kProtocolError);
  Builder builder;
  builder.Finish(
      fb::CreateRequest(builder, 1, fb::RequestBody::Ping, fb::CreatePing(builder).Union()));
  Message& message = copy_of(finished(builder));
  EXPECT_TRUE(read_request(message.span()).ok());
  std::memmove(message.bytes + 8, message.bytes, message.size);
  EXPECT_FALSE(read_request({message.bytes + 8, message.size}).ok()) << "unaligned";

  Builder bare;
  bare.Finish(fb::CreateReply(bare, 1));
  EXPECT_FALSE(read_request(copy_of(finished(bare)).span()).ok()) << "a request needs a body";
}

TEST(Malformed, AtTheSizeLimitAndOnePast) {
  for (const bool past : {false, true}) {
    Builder builder(2 * kMessageBytesMax);
    builder.Finish(
        fb::CreateRequest(builder, 1, fb::RequestBody::Ping, fb::CreatePing(builder).Union()));
    Message& message = copy_of(finished(builder));
    message.size = kMessageBytesMax + (past ? 1 : 0);  // bytes behind the root are padding
    EXPECT_EQ(read_request(message.span()).ok(), !past);
  }
}

TEST(Negotiate, HighestCommonVersionOrNone) {
  static_assert(kProtocolMin == 1 && kProtocolMax == 1, "the cases below say what is common");
  EXPECT_EQ(negotiate(1, 1), 1);
  EXPECT_EQ(negotiate(1, 9), 1);
  EXPECT_EQ(negotiate(0, 1), 1);
  EXPECT_EQ(negotiate(0, 65535), 1);
  EXPECT_EQ(negotiate(2, 9), 0);
  EXPECT_EQ(negotiate(0, 0), 0);
  EXPECT_EQ(negotiate(9, 1), 0) << "an empty range";
}

}  // namespace
}  // namespace warpool::wire
