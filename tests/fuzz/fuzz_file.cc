// SPDX-License-Identifier: Apache-2.0
// .npy and .wpool files: what is accepted lies inside the file and can be written again.
#include "array/npy.h"
#include "input.h"
#include "store/file_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpool;
  using fuzz::require;
  // The first two bytes are the size of the data behind the header, so that few bytes can promise much.
  if (size < 2) return 0;
  const std::uint64_t more = std::uint64_t{data[0]} << (data[1] % 47);
  const std::span<const std::uint8_t> start(data + 2, size - 2);
  const Result<array::NpyHeader> header = array::parse_npy(start);
  if (header.ok())
    require(header.value().data_offset <= start.size(),
            "the data of a .npy start behind its header");
  const Result<store::FileContents> file = store::parse_file(start, start.size() + more);
  if (!file.ok()) return 0;
  const store::FileContents& contents = file.value();
  require(WideUint{contents.data_offset} + contents.size <= start.size() + more,
          "the data leave the file");
  require(array::validate(contents.parts, contents.size).ok(), "parts of a file are not valid");
  // Loading takes only files whose parts lie where the library places them; those are what saving must reproduce.
  std::vector<array::Part> placed = contents.parts;
  const Result<std::uint64_t> size_placed = array::place(placed);
  if (!size_placed.ok() || size_placed.value() != contents.size) return 0;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (placed[i].offset != contents.parts[i].offset) return 0;
  }
  Result<std::vector<std::uint8_t>> again =
      store::format_file_start(contents.parts, contents.size, contents.attributes.view());
  require(again.ok(), "what was read cannot be written");
  const Result<store::FileContents> twice =
      store::parse_file(again.value(), again.value().size() + contents.size);
  require(twice.ok() && twice.value().size == contents.size &&
              twice.value().parts.size() == contents.parts.size(),
          "what was written reads differently");
  return 0;
}
