// SPDX-License-Identifier: Apache-2.0
// Every request, who may do what, and versions of the protocol.
#include <gtest/gtest.h>

#include "base/limits.h"
#include "broker_world.h"

namespace warpool::broker {
namespace {

using namespace testing;

constexpr std::uint64_t kLarge = 100'000;  // more than travels in a message

TEST(Greeting, ComesFirstAndOnce) {
  World world;
  auto early = world.unconnected();
  ASSERT_TRUE(early->open().ok());
  EXPECT_FALSE(early->ping().came());
  EXPECT_TRUE(early->port.closed);
  EXPECT_EQ(world.report.count(EventKind::kProtocolViolation), 1);
  auto twice = world.program();
  twice->call([](Builder& builder) { return fb::CreateHello(builder, 1, 1); });
  EXPECT_TRUE(twice->port.closed);
  EXPECT_EQ(world.core->session_count(), 0u);
}

TEST(Greeting, VersionsThatDoNotMeetSayWhichToUpdate) {
  World world;
  const auto greet = [&](std::uint16_t min, std::uint16_t max) {
    auto program = world.unconnected();
    EXPECT_TRUE(program->open().ok());
    return program->call([&](Builder& builder) {
      return fb::CreateHello(builder, min, max, wire::add_text(builder, "7.7"));
    });
  };
  const Answer newer = greet(wire::kProtocolMax + 1, wire::kProtocolMax + 5);
  EXPECT_EQ(newer.code(), Code::kVersionMismatch);
  EXPECT_NE(newer.text().find("update the broker"), std::string::npos);
  EXPECT_NE(newer.text().find("7.7"), std::string::npos);
  EXPECT_NE(newer.text().find("9.9.9"), std::string::npos);
  const Answer older = greet(0, wire::kProtocolMin - 1);
  EXPECT_EQ(older.code(), Code::kVersionMismatch);
  EXPECT_NE(older.text().find("update the library"), std::string::npos);
  const Answer both = greet(0, wire::kProtocolMax + 5);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both.reply->body_as_Welcome()->protocol(), wire::kProtocolMax);
}

TEST(Greeting, ARefusedProgramMayTryAgain) {
  World world;
  auto program = world.unconnected();
  ASSERT_TRUE(program->open().ok());
  EXPECT_FALSE(program->call([](Builder& builder) { return fb::CreateHello(builder, 9, 9); }).ok());
  EXPECT_TRUE(program->call([](Builder& builder) { return fb::CreateHello(builder, 1, 9); }).ok());
}

TEST(Requests, AnUnknownOneIsAnErrorThatNamesBothVersions) {
  World world;
  auto program = world.program();
  Builder builder;
  const auto ping = fb::CreatePing(builder);
  builder.Finish(fb::CreateRequest(builder, 500, static_cast<fb::RequestBody>(99), ping.Union()));
  program->deliver(wire::finished(builder));
  const Answer answer = program->take(500);
  // A union member that this build does not know fails verification only where its table is broken.
  if (program->alive()) {
    EXPECT_EQ(answer.code(), Code::kVersionMismatch);
    EXPECT_NE(answer.text().find("update the broker"), std::string::npos);
  }
  EXPECT_TRUE(program->alive()) << "a newer library must be able to go on";
}

TEST(Requests, GarbageEndsTheSessionAlone) {
  World world;
  auto bad = world.program();
  auto good = world.program();
  const std::vector<std::uint8_t> garbage(100, 0xAB);
  bad->deliver(garbage);
  EXPECT_TRUE(bad->port.closed);
  EXPECT_TRUE(good->ping().ok());
  bad->deliver(garbage);  // late messages of a session that is gone
}

TEST(Arrays, SmallOnesTravelInline) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  const Answer made = maker->put("lab/x", 24);
  ASSERT_TRUE(made.ok()) << made.text();
  EXPECT_EQ(made.reply->body_as_Published()->version(), 1u);
  const Answer got = reader->get("lab/x");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.fd, nullptr);
  ASSERT_NE(got.item(), nullptr);
  EXPECT_EQ(got.item()->contents()->size(), 24u);
  EXPECT_EQ(got.item()->contents()->Get(23), 7);
  EXPECT_EQ(wire::text(got.item()->maker_language()), "test");
  EXPECT_TRUE(got.reply->body_as_ItemState()->maker_alive());
  maker->disconnect();
  EXPECT_FALSE(reader->get("lab/x").reply->body_as_ItemState()->maker_alive());
}

TEST(Arrays, LargeOnesComeAsTheSameMemory) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(maker->share("x", kLarge).ok());
  EXPECT_EQ(world.keeper.items(), 1u);
  const Answer got = reader->get("x");
  ASSERT_TRUE(got.ok());
  ASSERT_NE(got.fd, nullptr);
  EXPECT_EQ(got.item()->contents(), nullptr);
  EXPECT_TRUE(os::inspect_memfd(*got.fd).value().sealed);
  EXPECT_TRUE(reader->get_memory(got.item()->id()).ok());
  EXPECT_EQ(maker->get_memory(got.item()->id()).code(), Code::kLost) << "no view, no memory";
  reader->release(got.item()->id());
  EXPECT_EQ(reader->get_memory(got.item()->id()).code(), Code::kLost);
}

TEST(Arrays, AReplacedOneLivesWhileItIsViewed) {
  World world;
  auto maker = world.program();
  auto reader = world.program();
  ASSERT_TRUE(maker->share("x", kLarge).ok());
  const std::uint64_t first = reader->get("x").item()->id();
  ASSERT_TRUE(maker->share("x", kLarge).ok());
  EXPECT_EQ(world.core->memory().viewed, os::round_to_page(kLarge));
  EXPECT_EQ(world.keeper.items(), 2u);
  EXPECT_TRUE(reader->get_memory(first).ok());
  EXPECT_EQ(reader->get("x", 1).code(), Code::kNotFound);
  EXPECT_TRUE(reader->get("x", 2).ok());
  reader->release(first);
  EXPECT_EQ(world.core->memory().viewed, 0u);
  EXPECT_EQ(world.keeper.items(), 1u);
  reader->release(first);  // twice: nothing to do
}

TEST(Arrays, RemovedOnesAreGoneButVersionsGoOn) {
  World world;
  auto program = world.program();
  EXPECT_EQ(program->remove("x").code(), Code::kNotFound);
  ASSERT_TRUE(program->put("x").ok());
  EXPECT_EQ(program->remove("x", 2).code(), Code::kNotFound);
  EXPECT_TRUE(program->remove("x", 1).ok());
  EXPECT_EQ(program->get("x").code(), Code::kNotFound);
  EXPECT_EQ(program->put("x").reply->body_as_Published()->version(), 2u);
  EXPECT_EQ(world.core->array_count(), 1u);
}

TEST(Arrays, TheMessageSaysWhoMadeIt) {
  World world;
  auto maker = world.program();
  maker->label = "prep";
  maker->disconnect();
  ASSERT_TRUE(maker->connect().ok());
  ASSERT_TRUE(maker->put("x").ok());
  ASSERT_TRUE(maker->remove("x").ok());
  auto reader = world.program();
  EXPECT_NE(reader->get("x").text().find("prep"), std::string::npos);
  EXPECT_NE(reader->get("x").text().find("still connected"), std::string::npos);
  maker->disconnect();
  EXPECT_NE(reader->get("x").text().find("has ended"), std::string::npos);
  EXPECT_NE(reader->get("y").text().find("no program has made it"), std::string::npos);
}

TEST(Publish, MemoryThatIsNotAsPromisedIsRefused) {
  World world;
  auto program = world.program();
  const std::uint64_t pages = os::round_to_page(kLarge);
  std::uint64_t draft = 1;
  const auto attempt = [&](os::Fd fd, std::uint64_t size) {
    EXPECT_TRUE(program->create(draft, "x", kLarge).ok());
    std::vector<os::Fd> fds;
    if (fd.valid()) fds.push_back(std::move(fd));
    const Answer answer = program->publish_with(draft, "x", size, std::move(fds));
    program->discard(draft++);
    return answer.code();
  };
  EXPECT_EQ(attempt(sealed_memory(kLarge), kLarge), Code::kOk);
  EXPECT_EQ(attempt(os::Fd(), kLarge), Code::kInvalidArgument) << "no descriptor";
  os::Fd open = std::move(os::create_memfd("test", pages)).value();
  ASSERT_TRUE(os::allocate_pages(open, pages).ok());
  EXPECT_EQ(attempt(std::move(open), kLarge), Code::kInvalidArgument) << "not sealed";
  os::Fd holes = std::move(os::create_memfd("test", pages)).value();
  ASSERT_TRUE(os::seal_writes(holes).ok());
  EXPECT_EQ(attempt(std::move(holes), kLarge), Code::kInvalidArgument) << "no pages";
  EXPECT_EQ(attempt(sealed_memory(kLarge + 4096), kLarge), Code::kInvalidArgument) << "too large";
  EXPECT_EQ(attempt(sealed_memory(kLarge - 4096), kLarge), Code::kInvalidArgument) << "too small";
  EXPECT_EQ(attempt(sealed_memory(kLarge), kLarge - 1), Code::kInvalidArgument) << "another size";
  EXPECT_EQ(attempt(std::move(os::duplicate_fd(0)).value(), kLarge), Code::kInvalidArgument);
  std::vector<os::Fd> two;
  two.push_back(sealed_memory(kLarge));
  two.push_back(sealed_memory(kLarge));
  EXPECT_TRUE(program->create(draft, "x", kLarge).ok());
  EXPECT_EQ(program->publish_with(draft, "x", kLarge, std::move(two)).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(program->publish(999, "x", kLarge).code(), Code::kLost) << "an unknown draft";
  EXPECT_EQ(world.core->array_count(), 1u);
  EXPECT_EQ(world.core->memory().drafts, pages);
  program->disconnect();
  EXPECT_EQ(world.core->memory().drafts, 0u);
}

TEST(Publish, InlineBytesMustBeExact) {
  World world;
  auto program = world.program();
  const Answer answer = program->call([](Builder& builder) {
    const auto name = wire::add_text(builder, "x");
    const auto parts = store::add_parts(builder, bytes_part(8));
    const std::vector<std::uint8_t> contents(9);
    return fb::CreatePublish(builder, 0, name, 8, parts, 0, 0, 0, 0,
                             builder.CreateVector(contents));
  });
  EXPECT_EQ(answer.code(), Code::kInvalidArgument);
  EXPECT_TRUE(program->put("x", kInlineBytesMax).ok());
  EXPECT_EQ(program->put("x", kInlineBytesMax + 1).code(), Code::kInvalidArgument);
  EXPECT_TRUE(program->put("empty", 0).ok());
}

TEST(Names, QualifiedOnesBelongToTheirUser) {
  World world;
  auto alice = world.program(1000);
  auto bob = world.program(1001);
  ASSERT_TRUE(alice->put("x").ok());
  EXPECT_TRUE(alice->get("1000:x").ok());
  EXPECT_EQ(bob->get("x").code(), Code::kNotFound) << "a name of one's own";
  EXPECT_EQ(bob->put("1000:x").code(), Code::kPermissionDenied);
  EXPECT_EQ(bob->create(1, "1000:x", 10).code(), Code::kPermissionDenied);
  EXPECT_EQ(bob->get("nobody-of-this-name:x").code(), Code::kNotFound);
  EXPECT_EQ(bob->get("1000:").code(), Code::kInvalidArgument);
  EXPECT_EQ(bob->get(":x").code(), Code::kNotFound);
  EXPECT_EQ(bob->put("a b").code(), Code::kInvalidArgument);
}

TEST(Names, ATooLongOneIsRefusedAndNeverCut) {
  World world;
  auto program = world.program(1000);
  EXPECT_TRUE(program->put(std::string(kNameBytesMax, 'n')).ok());
  EXPECT_EQ(program->put(std::string(kNameBytesMax + 1, 'n')).code(), Code::kInvalidArgument);
  // 1000 with many zeros is the same user; what follows would be cut to a name that fits.
  const std::string user = std::string(100, '0') + "1000:";
  EXPECT_EQ(program->put(user + std::string(kNameBytesMax, 'm')).code(), Code::kInvalidArgument);
  EXPECT_EQ(world.core->array_count(), 1u);
}

TEST(Permissions, ModesDecideBetweenTwoUsers) {
  World world;
  auto alice = world.program(1000, 100);
  auto friend_of_group = world.program(1001, 100);
  auto stranger = world.program(1002, 200);
  auto admin = world.program(1003, 300, true);
  ASSERT_TRUE(alice->put("x").ok());
  EXPECT_EQ(friend_of_group->get("1000:x").code(), Code::kNotFound) << "not even its existence";
  EXPECT_EQ(stranger->stat("1000:x").code(), Code::kNotFound);
  EXPECT_TRUE(admin->get("1000:x").ok());
  ASSERT_TRUE(alice->chmod("x", 0640).ok());
  EXPECT_TRUE(friend_of_group->get("1000:x").ok());
  EXPECT_EQ(stranger->get("1000:x").code(), Code::kNotFound);
  ASSERT_TRUE(alice->chmod("x", 0644).ok());
  EXPECT_TRUE(stranger->get("1000:x").ok());
  EXPECT_EQ(stranger->remove("1000:x").code(), Code::kPermissionDenied);
  EXPECT_EQ(stranger->chmod("1000:x", 0600).code(), Code::kPermissionDenied);
  EXPECT_EQ(stranger->expire("1000:x", 5).code(), Code::kPermissionDenied);
  ASSERT_TRUE(alice->chmod("x", 0).ok());
  EXPECT_EQ(alice->stat("x").reply->body_as_Items()->items()->Get(0)->mode(), 0400u);
  EXPECT_EQ(alice->chmod("x", 0666).code(), Code::kInvalidArgument);
  EXPECT_EQ(alice->chmod("x", 0700).code(), Code::kInvalidArgument);
  EXPECT_TRUE(admin->remove("1000:x").ok());
}

TEST(Permissions, SupplementaryGroupsCount) {
  World world;
  auto alice = world.program(1000, 100);
  auto member = std::make_unique<Program>(world, broker::Peer{.uid = 1001,
                                                              .gid = 7,
                                                              .groups = {8, 100},
                                                              .pid = 1,
                                                              .command = "",
                                                              .container = "",
                                                              .admin = false});
  ASSERT_TRUE(member->connect().ok());
  ASSERT_TRUE(alice->put("x", 8, {.mode = 0640}).ok());
  EXPECT_TRUE(member->get("1000:x").ok());
}

TEST(Permissions, LaterVersionsKeepTheMode) {
  World world;
  auto alice = world.program(1000, 100);
  auto stranger = world.program(1002, 200);
  ASSERT_TRUE(alice->put("x", 8, {.mode = 0644}).ok());
  ASSERT_TRUE(alice->put("x").ok());
  EXPECT_TRUE(stranger->get("1000:x").ok());
  ASSERT_TRUE(alice->remove("x").ok());
  ASSERT_TRUE(alice->put("x").ok());
  EXPECT_FALSE(stranger->get("1000:x").ok()) << "a new array begins private";
}

std::vector<std::string> names_in(const Answer& answer) {
  std::vector<std::string> names;
  EXPECT_TRUE(answer.ok()) << answer.text();
  if (!answer.ok()) return names;
  for (const fb::ItemState* state : *answer.reply->body_as_Items()->items())
    names.emplace_back(wire::text(wire::read_item(wire::bytes(state->item())).value()->name()));
  return names;
}

TEST(Listing, PatternsUsersAndRemovedOnes) {
  World world;
  auto alice = world.program(1000);
  auto bob = world.program(1001);
  using Names = std::vector<std::string>;
  for (const char* name : {"b", "a/1", "a/2"})
    ASSERT_TRUE(alice->put(name).ok());
  ASSERT_TRUE(bob->put("theirs", 8, {.mode = 0644}).ok());
  ASSERT_TRUE(bob->put("secret").ok());
  EXPECT_EQ(names_in(alice->list("")), (Names{"a/1", "a/2", "b"}));
  EXPECT_EQ(names_in(alice->list("a/*")), (Names{"a/1", "a/2"}));
  EXPECT_EQ(names_in(alice->list("", 1)), (Names{"a/1", "a/2", "b", "theirs"}));
  EXPECT_EQ(names_in(alice->list("1001:*")), (Names{"theirs"}));
  EXPECT_EQ(alice->list("nobody-of-this-name:*").code(), Code::kNotFound);
  ASSERT_TRUE(alice->share("large", kLarge).ok());
  ASSERT_TRUE(bob->get("1000:large").came());
  const std::uint64_t id = alice->get("large").item()->id();
  ASSERT_TRUE(alice->remove("large").ok());
  EXPECT_EQ(names_in(alice->list("l*")), Names{});
  EXPECT_EQ(names_in(alice->list("l*", 2)), Names{"large"});
  alice->release(id);
  EXPECT_EQ(names_in(alice->list("l*", 2)), Names{});
}

TEST(Listing, PagesGoOnWhereTheyStopped) {
  World world;
  auto program = world.program();
  constexpr int kCount = 1000;
  for (int i = 0; i < kCount; ++i)
    ASSERT_TRUE(program->put("n" + std::to_string(i)).ok());
  std::set<std::string> seen;
  std::string cursor;
  int pages = 0;
  do {
    const Answer page = program->list("", 0, cursor);
    for (const std::string& name : names_in(page))
      EXPECT_TRUE(seen.insert(name).second) << name << " came twice";
    cursor = std::string(wire::text(page.reply->body_as_Items()->cursor()));
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kCount));
  EXPECT_GT(pages, 1);
}

TEST(Sessions, AreShownToTheirUserAndAdministrators) {
  World world;
  auto alice = world.program(1000);
  auto other = world.unconnected(1000);
  other->run = "r1";
  other->label = "bad\x1b[31mlabel";
  ASSERT_TRUE(other->connect().ok());
  auto bob = world.program(1001);
  auto admin = world.program(1002, 1, true);
  const auto sessions = [](Program& program, const std::string& run) {
    return program.call([&](Builder& builder) {
      return fb::CreateSessions(builder, wire::add_text(builder, run), 0);
    });
  };
  EXPECT_EQ(sessions(*alice, "").reply->body_as_SessionEntries()->sessions()->size(), 2u);
  EXPECT_EQ(sessions(*bob, "").reply->body_as_SessionEntries()->sessions()->size(), 1u);
  EXPECT_EQ(sessions(*admin, "").reply->body_as_SessionEntries()->sessions()->size(), 4u);
  ASSERT_TRUE(other->put("x", 100).ok());
  other->disconnect();
  EXPECT_EQ(sessions(*alice, "").reply->body_as_SessionEntries()->sessions()->size(), 1u);
  const Answer of_run = sessions(*alice, "r1");
  const auto* entries = of_run.reply->body_as_SessionEntries()->sessions();
  ASSERT_EQ(entries->size(), 1u) << "runs are summed up after their programs ended";
  EXPECT_FALSE(entries->Get(0)->alive());
  EXPECT_EQ(entries->Get(0)->bytes_published(), 100u);
  EXPECT_EQ(wire::text(entries->Get(0)->label()).find('\x1b'), std::string_view::npos);
}

TEST(Shutdown, IsForAdministratorsAndOwnersOfPrivateBrokers) {
  World world;
  auto alice = world.program(1000);
  auto admin = world.program(1001, 1, true);
  const auto ask = [](Program& program, bool force) {
    return program.call([&](Builder& builder) { return fb::CreateShutdown(builder, force); });
  };
  EXPECT_EQ(ask(*alice, true).code(), Code::kPermissionDenied);
  EXPECT_EQ(ask(*admin, false).code(), Code::kConflict) << "somebody is connected";
  EXPECT_EQ(world.core->stop_requested(), Stop::kNo);
  EXPECT_TRUE(ask(*admin, true).ok());
  EXPECT_EQ(world.core->stop_requested(), Stop::kRequested);
  World private_world;
  private_world.config.is_private = true;
  private_world.crash();
  auto owner = private_world.program(1000);
  auto stranger = private_world.program(1001);
  EXPECT_EQ(ask(*stranger, true).code(), Code::kPermissionDenied);
  stranger->disconnect();
  EXPECT_TRUE(ask(*owner, false).ok());
}

TEST(Counters, AreSummedFromTheRequests) {
  World world;
  auto program = world.program();
  Builder builder;
  const auto copy = fb::CreateCopyCount(builder, 2, 3, 4000);
  const auto bad = fb::CreateCopyCount(builder, 250, 1, 1);
  const flatbuffers::Offset<fb::CopyCount> list[] = {copy, bad};
  const auto copies = builder.CreateVector(list, 2);
  const auto ping = fb::CreatePing(builder);
  builder.Finish(fb::CreateRequest(builder, 900, fb::RequestBody::Ping, ping.Union(), false, 0,
                                   copies, 2, 50));
  program->deliver(wire::finished(builder));
  EXPECT_TRUE(program->take(900).ok());
  const Answer sessions = program->call(
      [](Builder& body) { return fb::CreateSessions(body, wire::add_text(body, ""), 0); });
  const fb::SessionEntry& entry = *sessions.reply->body_as_SessionEntries()->sessions()->Get(0);
  ASSERT_EQ(entry.copies()->size(), 1u);
  EXPECT_EQ(entry.copies()->Get(0)->bytes(), 4000u);
  EXPECT_EQ(entry.waits(), 2u);
  EXPECT_EQ(entry.waited_ms(), 50u);
}

}  // namespace
}  // namespace warpool::broker
