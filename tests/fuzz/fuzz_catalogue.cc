// SPDX-License-Identifier: Apache-2.0
// Recovery from a catalogue of any bytes: a segment as a killed or broken broker might have left it. Whatever it holds, the broker
// starts, its accounts agree, and it goes on serving.
#include <cstring>

#include "input.h"
#include "os/memory.h"
#include "store/catalogue.h"
#include "world.h"

namespace warpool::fuzz {
namespace {

os::Fd memory_with(std::span<const std::byte> bytes, std::uint64_t size) {
  Result<os::Fd> fd = os::create_memfd("fuzz", size);
  require(fd.ok(), "no memory");
  const Result<os::Mapping> mapping = os::map_memfd(fd.value(), size, os::MapMode::kWritableShared);
  require(mapping.ok(), "no mapping");
  std::memcpy(mapping.value().data(), bytes.data(), std::min<std::size_t>(bytes.size(), size));
  return std::move(fd).value();
}

void scan(std::span<const std::byte> bytes) {
  const std::uint32_t end =
      store::scan_records(bytes, [&](std::uint32_t offset, const store::RecordHeader& header) {
        require(offset + std::uint64_t{header.record_bytes} <= bytes.size(), "a record is cut off");
        require(sizeof header + header.blob_bytes <= header.record_bytes,
                "a blob is longer than its record");
      });
  require(end <= bytes.size(), "the scan left the segment");
}

}  // namespace
}  // namespace warpool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpool;
  using namespace warpool::fuzz;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  scan(bytes);
  FakeKeeper keeper;
  FakeClock clock;
  NullReport report;
  {
    const Result<std::unique_ptr<store::Catalogue>> fresh = store::Catalogue::create(keeper, 5);
    require(fresh.ok(), "no catalogue");
    fresh.value()->root().next_segment = 2;
  }
  keeper.hold(store::make_slot(store::SlotKind::kSegment, 1),
              memory_with(bytes, store::kSegmentBytes));
  // Memory for the first few ids that the records may name.
  for (std::uint64_t id = 1; id < 4; ++id)
    keeper.hold(id, make_memory(kPageBytes, 0));
  broker::Config config;
  config.memory_limit = std::uint64_t{1} << 40;
  config.version = "0.0.0";
  std::vector<store::HeldFd> held = keeper.replay();
  Result<std::unique_ptr<broker::Broker>> broker =
      broker::Broker::start(config, {clock, report, keeper}, held);
  require(broker.ok(), "the broker does not start after a crash");
  std::string wrong = broker.value()->check_invariants();
  require(wrong.empty(), wrong.c_str());
  Program program;
  const Result<broker::SessionId> session =
      broker.value()->open({.uid = 0, .admin = true}, program);
  require(session.ok(), "no session");
  program.session = session.value();
  flatbuffers::FlatBufferBuilder builder;
  const auto ask = [&](wire::fb::RequestBody type, flatbuffers::Offset<void> body) {
    builder.Finish(wire::fb::CreateRequest(builder, 1, type, body));
    std::vector<std::uint64_t> aligned(builder.GetSize() / 8 + 3);
    auto* place = reinterpret_cast<std::uint8_t*>(aligned.data());
    if (reinterpret_cast<std::uintptr_t>(place) % 16 != 0) place += 8;
    std::memcpy(place, builder.GetBufferPointer(), builder.GetSize());
    if (program.session != 0)
      broker.value()->receive(program.session, {place, builder.GetSize()}, {});
    builder.Clear();
  };
  ask(wire::fb::RequestBody::Hello, wire::fb::CreateHello(builder, 1, 1).Union());
  // Listing shows every recovered item to the program, in a message that it must be able to read.
  const auto all = wire::add_text(builder, "*");
  ask(wire::fb::RequestBody::List, wire::fb::CreateList(builder, all, 3).Union());
  clock.now_ns += 60'000'000'000;
  (void)broker.value()->tick();
  wrong = broker.value()->check_invariants();
  require(wrong.empty(), wrong.c_str());
  return 0;
}
