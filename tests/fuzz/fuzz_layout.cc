// SPDX-License-Identifier: Apache-2.0
// Layouts that another program describes. What validate() accepts is walked element by element inside a block of exactly the
// item's size, so that the sanitizer sees any byte outside; what it places itself must pass its own check.
#include <memory>

#include "array/layout.h"
#include "input.h"

namespace warpool::fuzz {
namespace {

constexpr std::uint64_t kWalkedBytesMax = 1 << 16;

std::vector<array::Part> read_parts(Input& input) {
  std::vector<array::Part> parts(1 + input.below(6));
  for (array::Part& part : parts) {
    const std::string path = input.flag() ? input.text(6) : std::string();
    part.path = Text(path);
    part.kind = static_cast<array::Kind>(input.below(6));
    part.dtype = static_cast<array::Dtype>(input.below(16));
    for (std::size_t k = input.below(5); k > 0; --k)
      part.shape.push_back(static_cast<std::int64_t>(input.number()));
    for (std::size_t k = 0; k < part.shape.size() + (input.below(16) == 0 ? 1 : 0); ++k)
      part.strides.push_back(static_cast<std::int64_t>(input.number()));
    part.offset = input.flag() ? input.below(8) * kAlignment : input.number();
  }
  if (input.flag()) parts[0].path = Text();
  return parts;
}

void touch(const array::Part& part, std::size_t axis, const std::uint8_t* at, std::size_t& budget) {
  if (budget == 0) return;
  if (axis == part.shape.size()) {
    const std::size_t bytes = array::dtype_size(static_cast<std::uint32_t>(part.dtype));
    volatile std::uint8_t sum = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      sum = static_cast<std::uint8_t>(sum + at[i]);
    --budget;
    return;
  }
  // Both ends are what can lie outside; the rest lies between them.
  const std::int64_t extent = part.shape[axis];
  for (std::int64_t i = 0; i < extent && budget > 0;
       i += i + 1 < extent && extent > 4 ? std::max<std::int64_t>(1, extent - 1) : 1)
    touch(part, axis + 1, at + i * part.strides[axis], budget);
}

}  // namespace
}  // namespace warpool::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpool;
  using namespace warpool::fuzz;
  Input input(data, size);
  std::vector<array::Part> parts = read_parts(input);
  const std::uint64_t item_bytes = input.flag() ? input.below(64) * 64 : input.number();
  if (array::validate(parts, item_bytes).ok() && item_bytes <= kWalkedBytesMax) {
    const std::unique_ptr<std::uint8_t[]> item(new std::uint8_t[item_bytes]());
    for (const array::Part& part : parts) {
      if (!array::has_bytes(part.kind)) continue;
      const Result<std::uint64_t> count = array::element_count(part.shape, part.dtype);
      require(count.ok(), "an accepted part cannot be counted");
      std::size_t budget = 4096;
      if (count.value() > 0) touch(part, 0, item.get() + part.offset, budget);
      (void)array::is_compact(part);
    }
  }
  // The library's own placement.
  for (array::Part& part : parts) {
    if (!array::element_count(part.shape, part.dtype).ok()) return 0;
    part.strides = array::compact_strides(part.shape, part.dtype, array::Order::kF);
  }
  const Result<std::uint64_t> placed = array::place(parts);
  if (!placed.ok()) return 0;
  for (const array::Part& part : parts) {
    const std::uint64_t bytes = array::element_count(part.shape, part.dtype).value() *
                                array::dtype_size(static_cast<std::uint32_t>(part.dtype));
    if (array::has_bytes(part.kind))
      require(part.offset + bytes <= placed.value() && part.offset % kAlignment == 0 &&
                  array::is_compact(part),
              "a part was placed outside its item");
  }
  return 0;
}
