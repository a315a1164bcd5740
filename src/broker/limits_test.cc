// SPDX-License-Identifier: Apache-2.0
// Each bound at its limit and one past it.
#include <gtest/gtest.h>

#include "base/limits.h"
#include "broker_world.h"

namespace warpool::broker {
namespace {

using namespace testing;

TEST(Limits, SessionsOfOneUser) {
  World world(1 << 30, 4 * (kSessionsPerUserMax + 10));
  std::vector<std::unique_ptr<Program>> programs;
  for (std::uint32_t i = 0; i < kSessionsPerUserMax; ++i) {
    programs.push_back(world.unconnected());
    ASSERT_TRUE(programs.back()->open().ok());
  }
  auto one_more = world.unconnected();
  const Result<void> refused = one_more->open();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kLimitReached);
  EXPECT_TRUE(world.unconnected(1001)->open().ok()) << "another user has room";
  programs.back()->disconnect();
  EXPECT_TRUE(one_more->open().ok());
}

TEST(Limits, SessionsOfAllUsersLeaveDescriptorsForArrays) {
  World world(1 << 30, 100);
  std::vector<std::unique_ptr<Program>> programs;
  for (std::uint32_t i = 0; i < 25; ++i) {
    programs.push_back(world.unconnected(1000 + i));
    ASSERT_TRUE(programs.back()->open().ok());
  }
  EXPECT_FALSE(world.unconnected(2000)->open().ok());
}

TEST(Limits, ArraysWithMemoryLeaveDescriptorsForSessions) {
  World world(1 << 30, 100);
  auto program = world.program();
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(program->share("n" + std::to_string(i), 70'000).ok());
  const Answer refused = program->share("one-more", 70'000);
  EXPECT_EQ(refused.code(), Code::kLimitReached);
  EXPECT_NE(refused.text().find("LimitNOFILE"), std::string::npos);
  EXPECT_TRUE(program->put("small").ok()) << "small ones need none";
  ASSERT_TRUE(program->remove("n0").ok());
  EXPECT_TRUE(program->share("one-more", 70'000).ok());
}

TEST(Limits, DraftsOfOneSession) {
  World world;
  auto program = world.program();
  for (std::uint64_t draft = 1; draft <= kDraftsPerSessionMax; ++draft)
    ASSERT_TRUE(program->create(draft, "x", 1).ok());
  EXPECT_EQ(program->create(kDraftsPerSessionMax + 1, "x", 1).code(), Code::kLimitReached);
  program->discard(1);
  EXPECT_TRUE(program->create(kDraftsPerSessionMax + 1, "x", 1).ok());
  EXPECT_EQ(program->create(7, "x", 2).code(), Code::kInvalidArgument) << "the number is in use";
  EXPECT_EQ(program->create(7, "y", 1).code(), Code::kInvalidArgument);
  EXPECT_TRUE(program->create(7, "x", 1).ok()) << "asked again for the same";
  EXPECT_EQ(program->create(0, "x", 1).code(), Code::kInvalidArgument);
}

TEST(Limits, WaitingRequestsOfOneSession) {
  World world;
  auto maker = world.program();
  auto program = world.program();
  for (std::uint32_t i = 0; i < kPendingPerSessionMax; ++i)
    ASSERT_FALSE(program->get("x", 0, true).came());
  EXPECT_EQ(program->get("x", 0, true).code(), Code::kLimitReached);
  ASSERT_TRUE(maker->put("x").ok());
  EXPECT_EQ(program->port.answers.size(), kPendingPerSessionMax);
  EXPECT_FALSE(program->get("y", 0, true).came());
}

TEST(Limits, WatchesOfOneSession) {
  World world;
  auto program = world.program();
  for (std::uint32_t i = 0; i < kWatchesPerSessionMax; ++i)
    ASSERT_TRUE(program->watch(i, "a").ok());
  EXPECT_EQ(program->watch(1000, "a").code(), Code::kLimitReached);
  EXPECT_EQ(program->watch(1, std::string(kPatternBytesMax + 1, 'a')).code(),
            Code::kInvalidArgument);
  EXPECT_TRUE(program->list(std::string(kPatternBytesMax, 'a')).ok());
  EXPECT_EQ(program->list(std::string(kPatternBytesMax + 1, 'a')).code(), Code::kInvalidArgument);
}

TEST(Limits, SizeOfADraft) {
  World world(UINT64_MAX);
  auto program = world.program();
  EXPECT_TRUE(program->create(1, "x", kItemBytesMax).ok());
  EXPECT_EQ(program->create(2, "x", kItemBytesMax + 1).code(), Code::kInvalidArgument);
  EXPECT_EQ(program->create(2, "x", UINT64_MAX).code(), Code::kInvalidArgument);
}

Answer put_with(Program& program, std::size_t attribute_bytes, std::size_t fields,
                std::size_t path_bytes) {
  return program.call([&](Builder& builder) {
    const auto name = wire::add_text(builder, "x");
    std::vector<array::Part> parts = bytes_part(0);
    if (fields > 0) {
      parts[0].kind = array::Kind::kStruct;
      parts[0].shape.clear();
      parts[0].strides.clear();
    }
    for (std::size_t i = 0; i < fields; ++i) {
      array::Part field = bytes_part(0)[0];
      std::string path = "f" + std::to_string(i);
      path.resize(path_bytes, 'x');
      field.path = Text(path);
      field.shape.assign(kRankMax, 0);
      field.strides.assign(kRankMax, 0);
      parts.push_back(std::move(field));
    }
    const auto part_list = store::add_parts(builder, parts);
    const auto attributes = wire::add_text(builder, std::string(attribute_bytes, 'a'));
    return fb::CreatePublish(builder, 0, name, 0, part_list, attributes);
  });
}

TEST(Limits, AttributesAndDescriptionsFitIntoEveryMessage) {
  World world;
  auto program = world.program();
  EXPECT_TRUE(put_with(*program, kAttributesBytesMax, 0, 0).ok());
  EXPECT_EQ(put_with(*program, kAttributesBytesMax + 1, 0, 0).code(), Code::kLimitReached);
  EXPECT_TRUE(put_with(*program, 0, 100, 60).ok());
  const Answer refused = put_with(*program, 0, 200, 60);
  EXPECT_EQ(refused.code(), Code::kLimitReached) << "too large behind a page of a listing";
  EXPECT_NE(refused.text().find("split it"), std::string::npos);
  // A listing of the largest that is accepted comes through; the port refuses messages beyond the limit.
  ASSERT_TRUE(put_with(*program, kAttributesBytesMax, 100, 60).ok());
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(program->put("a" + std::to_string(i), 8).ok());
  EXPECT_TRUE(program->list("").ok());
  EXPECT_TRUE(program->get("x").ok());
}

TEST(Limits, RepeatedNumbersOfWaitingRequestsAreRefused) {
  World world;
  auto program = world.program();
  const auto get = [&](std::uint64_t number) {
    Builder builder;
    const auto body = fb::CreateGet(builder, wire::add_text(builder, "x"), 0, true);
    builder.Finish(fb::CreateRequest(builder, number, fb::RequestBody::Get, body.Union()));
    program->deliver(wire::finished(builder));
    return program->take(number);
  };
  EXPECT_FALSE(get(5000).came());
  EXPECT_EQ(get(5000).code(), Code::kProtocolError);
  EXPECT_FALSE(get(5001).came());
}

TEST(Limits, WhatAProgramClaimsToHoldIsBounded) {
  World world(8 << 20);
  auto program = world.unconnected();
  const Answer welcome = program->connect({1, 2, 3, UINT64_MAX}, {1, 2, 3, 0}, 3 << 20, UINT64_MAX);
  ASSERT_TRUE(welcome.ok());
  // Two drafts of 3 MiB fit into the budget; the third and the one without a number do not come back.
  const auto* lost = welcome.reply->body_as_Welcome()->lost_drafts();
  EXPECT_EQ(lost->size(), 2u);
  EXPECT_LE(world.core->memory().drafts, std::uint64_t{8} << 20);
  EXPECT_LE(world.core->memory().spare, std::uint64_t{8} << 20);
}

}  // namespace
}  // namespace warpool::broker
