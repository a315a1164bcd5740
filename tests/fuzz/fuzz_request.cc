// SPDX-License-Identifier: Apache-2.0
// Raw bytes as messages: each is a length (two bytes), flags (descriptors, which program) and the message. The first message of
// each program comes after a good greeting, so that malformed ones reach the handlers.
#include <unistd.h>

#include "input.h"
#include "world.h"

namespace warpool::fuzz {
namespace {

void greet(World& world, std::size_t index) {
  flatbuffers::FlatBufferBuilder builder(256);
  const auto body = wire::fb::CreateHello(builder, 1, 1).Union();
  builder.Finish(wire::fb::CreateRequest(builder, 1, wire::fb::RequestBody::Hello, body));
  world.receive(index, wire::finished(builder), {});
}

}  // namespace
}  // namespace warpool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpool;
  using namespace warpool::fuzz;
  World world;
  for (std::size_t i = 0; i < 2; ++i) {
    world.open(i);
    greet(world, i);
  }
  std::span<const std::uint8_t> rest(data, size);
  while (rest.size() >= 3) {
    const std::size_t bytes =
        std::min<std::size_t>(static_cast<std::size_t>(rest[0] | rest[1] << 8), rest.size() - 3);
    const std::uint8_t flags = rest[2];
    std::vector<os::Fd> fds;
    for (int i = 0; i < (flags >> 1 & 3); ++i)
      fds.push_back(make_memory(65536 + 1, flags >> 4));
    world.receive(flags & 1, rest.subspan(3, bytes), std::move(fds));
    rest = rest.subspan(3 + bytes);
  }
  world.finish();
  return 0;
}
