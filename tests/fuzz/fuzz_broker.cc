// SPDX-License-Identifier: Apache-2.0
// A stream of well-formed requests in any order and with any values, of four programs of two users, some of which stop reading,
// with time passing and with the broker killed in between. fuzz_request covers malformed ones.
#include "input.h"
#include "os/memory.h"
#include "store/item_codec.h"
#include "world.h"

namespace warpool::fuzz {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Body = flatbuffers::Offset<void>;
namespace fb = wire::fb;

std::string name_of(Input& input) {
  static constexpr const char* kNames[] = {"a",      "b",   "c/d",    "1000:a",
                                           "1001:a", "9:a", "root:a", ""};
  const std::size_t which = input.below(12);
  if (which < std::size(kNames)) return kNames[which];
  if (which == 8) return std::string(255, 'n');
  if (which == 9) return std::string(256, 'n');
  return input.text(40);
}

std::vector<array::Part> parts_of(Input& input, std::uint64_t size) {
  std::vector<array::Part> parts(1);
  parts[0].shape = {static_cast<std::int64_t>(size)};
  parts[0].strides = {1};
  const std::size_t fields = input.below(4);
  if (fields == 0) return parts;
  if (fields == 3) {
    parts[0].shape = {static_cast<std::int64_t>(input.number())};
    parts[0].strides = {static_cast<std::int64_t>(input.number())};
    parts[0].offset = input.number();
    return parts;
  }
  parts[0].kind = array::Kind::kStruct;
  parts[0].shape.clear();
  parts[0].strides.clear();
  for (std::size_t i = 0; i < fields * 40; ++i) {
    array::Part field;
    const std::string path(1 + i / 26, static_cast<char>('a' + i % 26));
    field.path = Text(path);
    field.shape = std::vector<std::int64_t>(input.below(4) * 8, 1);
    field.strides = std::vector<std::int64_t>(field.shape.size(), 1);
    parts.push_back(std::move(field));
  }
  return parts;
}

Body publish(Input& input, Builder& builder, std::uint64_t size, bool inline_item) {
  const auto name = wire::add_text(builder, name_of(input));
  const auto parts = store::add_parts(builder, parts_of(input, size));
  const auto attributes = wire::add_text(builder, std::string(input.below(5) * 4096, ' '));
  flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> contents = 0;
  if (inline_item) {
    const std::vector<std::uint8_t> bytes(size, 7);
    builder.ForceVectorAlignment(bytes.size(), 1, 16);
    contents = builder.CreateVector(bytes);
  }
  const std::uint64_t draft = inline_item ? 0 : 1 + input.below(3);
  return fb::CreatePublish(builder, draft, name, size, parts, attributes,
                           input.below(4) == 0 ? 0644 : 0, input.flag() ? 4 : 0,
                           input.below(3) == 0 ? static_cast<std::int64_t>(input.number()) : 0,
                           contents, input.below(3), input.flag(), input.flag())
      .Union();
}

Body hello(Input& input, Builder& builder) {
  std::vector<std::uint64_t> held;
  for (std::size_t i = input.below(4); i > 0; --i)
    held.push_back((1'700'000'001ULL << 32) + input.below(8));
  std::vector<flatbuffers::Offset<fb::DraftClaim>> claims;
  for (std::size_t i = input.below(3); i > 0; --i) {
    const auto name = wire::add_text(builder, name_of(input));
    claims.push_back(fb::CreateDraftClaim(builder, input.below(4), input.number(), name));
  }
  const auto language = wire::add_text(builder, input.text(20));
  const auto run = wire::add_text(builder, input.flag() ? "run" : "");
  const auto held_list = builder.CreateVector(held);
  const auto claim_list = builder.CreateVector(claims);
  const std::uint16_t protocol = input.below(8) == 0 ? 9 : 1;
  return fb::CreateHello(builder, protocol, protocol, language, language, language, run, 7,
                         held_list, claim_list, input.below(2) * input.number())
      .Union();
}

/// One request; the descriptor that belongs to it goes to `fds`.
Body body_of(Input& input, fb::RequestBody type, Builder& builder, std::vector<os::Fd>& fds) {
  switch (type) {
    case fb::RequestBody::Hello:
      return hello(input, builder);
    case fb::RequestBody::BrokerStatus:
      return fb::CreateBrokerStatus(builder).Union();
    case fb::RequestBody::Create: {
      const auto name = wire::add_text(builder, name_of(input));
      const std::uint64_t size = input.flag() ? 65536 + 65536 * input.below(20) : input.number();
      return fb::CreateCreate(builder, 1 + input.below(3), name, size, input.flag()).Union();
    }
    case fb::RequestBody::Discard:
      return fb::CreateDiscard(builder, input.below(4)).Union();
    case fb::RequestBody::Publish: {
      const std::uint8_t kind = input.byte();
      if (kind % 2 == 0) return publish(input, builder, input.below(3) * 32768 % 65537, true);
      const std::uint64_t size = 65536 + 65536 * input.below(20);
      const bool good = kind % 4 == 1;
      fds.push_back(make_memory(size, good ? 0 : input.below(16)));
      if (!good && input.flag()) fds.push_back(make_memory(kPageBytes, 0));
      return publish(input, builder, size, false);
    }
    case fb::RequestBody::Get: {
      const auto name = wire::add_text(builder, name_of(input));
      return fb::CreateGet(builder, name, input.below(4), input.flag()).Union();
    }
    case fb::RequestBody::GetMemory:
      return fb::CreateGetMemory(builder, (1'700'000'001ULL << 32) + input.below(8)).Union();
    case fb::RequestBody::Release: {
      const std::vector<std::uint64_t> ids(1 + input.below(3),
                                           (1'700'000'001ULL << 32) + input.below(8));
      return fb::CreateRelease(builder, builder.CreateVector(ids)).Union();
    }
    case fb::RequestBody::Cancel:
      return fb::CreateCancel(builder, input.below(8), input.flag()).Union();
    case fb::RequestBody::Remove: {
      const auto name = wire::add_text(builder, name_of(input));
      return fb::CreateRemove(builder, name, input.below(3)).Union();
    }
    case fb::RequestBody::Chmod: {
      const auto name = wire::add_text(builder, name_of(input));
      return fb::CreateChmod(builder, name, input.below(2) == 0 ? 0644 : input.word()).Union();
    }
    case fb::RequestBody::Expire: {
      const auto name = wire::add_text(builder, name_of(input));
      return fb::CreateExpire(builder, name, static_cast<std::int64_t>(input.number())).Union();
    }
    case fb::RequestBody::List: {
      const auto pattern = wire::add_text(builder, input.text(12));
      const auto cursor = wire::add_text(builder, input.text(12));
      return fb::CreateList(builder, pattern, input.byte(), cursor).Union();
    }
    case fb::RequestBody::Stat: {
      const auto name = wire::add_text(builder, name_of(input));
      return fb::CreateStat(builder, name, input.below(3)).Union();
    }
    case fb::RequestBody::Watch: {
      const auto pattern = wire::add_text(builder, input.flag() ? "*" : input.text(12));
      return fb::CreateWatch(builder, input.below(4), pattern, input.below(4), input.flag())
          .Union();
    }
    case fb::RequestBody::Unwatch:
      return fb::CreateUnwatch(builder, input.below(4)).Union();
    case fb::RequestBody::Sessions: {
      const auto run = wire::add_text(builder, input.flag() ? "run" : "");
      return fb::CreateSessions(builder, run, input.below(8)).Union();
    }
    case fb::RequestBody::Spare:
      return fb::CreateSpare(builder, input.flag() ? 65536 * input.below(12) : input.number())
          .Union();
    case fb::RequestBody::Acknowledge:
      return fb::CreateAcknowledge(builder).Union();
    case fb::RequestBody::Shutdown:
      return fb::CreateShutdown(builder, input.flag()).Union();
    default:
      return fb::CreatePing(builder).Union();
  }
}

void request(Input& input, World& world, std::size_t index) {
  // A program that has just connected greets most of the time, or nothing behind the greeting would be reached.
  const std::uint8_t kind = input.byte();
  const auto type = static_cast<fb::RequestBody>(1 + kind % static_cast<int>(fb::RequestBody::MAX));
  Builder builder(1024);
  std::vector<os::Fd> fds;
  const Body body = body_of(input, type, builder, fds);
  const std::uint64_t read = input.below(4) == 0 ? input.number() : world.program(index).fds_read;
  builder.Finish(fb::CreateRequest(builder, input.below(8), type, body, kind >= 0xC0, read));
  world.receive(index, wire::finished(builder), std::move(fds));
}

void greet(World& world, std::size_t index) {
  Builder builder(256);
  const Body body = fb::CreateHello(builder, 1, 1).Union();
  builder.Finish(fb::CreateRequest(builder, 1, fb::RequestBody::Hello, body));
  world.receive(index, wire::finished(builder), {});
}

void step(Input& input, World& world) {
  const std::uint8_t what = input.byte();
  const std::size_t index = what % World::kPrograms;
  Program& program = world.program(index);
  if (what < 0xC0) {
    if (program.session == 0) {
      world.open(index);
      if (what < 0xA0) greet(world, index);
    }
    return request(input, world, index);
  }
  if (what < 0xD0) return world.close(index);
  if (what < 0xE0) {
    program.reads = !program.reads;
    if (!program.reads || program.session == 0) return;
    program.read_all();
    return world.core().drained(program.session);
  }
  if (what < 0xF8) return world.pass_time(static_cast<std::int64_t>(input.byte()) * 50'000'000);
  world.restart();
}

}  // namespace
}  // namespace warpool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  warpool::fuzz::Input input(data, size);
  warpool::fuzz::World world;
  constexpr int kSteps = 200;
  for (int i = 0; i < kSteps && !input.empty(); ++i)
    warpool::fuzz::step(input, world);
  world.finish();
  return 0;
}
