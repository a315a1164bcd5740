// SPDX-License-Identifier: Apache-2.0
#include "store/file_format.h"

#include <cstring>

#include "array/npy.h"
#include "store/item_codec.h"

namespace warpool::store {
namespace {

constexpr char kMagic[] = "WPOOLF01";
constexpr std::size_t kPrefixBytes = kFileMagicBytes + sizeof(std::uint64_t);

Error bad_file(const char* why) {
  return Error::format(Code::kInvalidArgument, "not a .wpool file that can be read: %s", why);
}

Result<void> check_length(std::uint64_t data_offset, std::uint64_t size, std::uint64_t file_bytes) {
  if (WideUint{data_offset} + size <= file_bytes) return {};
  return Error::format(Code::kInvalidArgument,
                       "the file is cut off: it has %llu bytes, its header promises %llu",
                       static_cast<unsigned long long>(file_bytes),
                       static_cast<unsigned long long>(data_offset + size));
}

Result<FileContents> parse_npy_file(std::span<const std::uint8_t> start, std::uint64_t file_bytes) {
  WARPOOL_ASSIGN(array::NpyHeader header, array::parse_npy(start));
  FileContents contents;
  WARPOOL_ASSIGN(const std::uint64_t count,
                 array::element_count(header.part.shape, header.part.dtype));
  contents.size = count * array::dtype_size(static_cast<std::uint32_t>(header.part.dtype));
  contents.data_offset = header.data_offset;
  contents.is_npy = true;
  contents.parts.push_back(std::move(header.part));
  WARPOOL_TRY(check_length(contents.data_offset, contents.size, file_bytes));
  return contents;
}

bool is_npy_item(std::span<const array::Part> parts) {
  return parts.size() == 1 && parts[0].kind == array::Kind::kArray &&
         (array::is_ordered(parts[0], array::Order::kC) ||
          array::is_ordered(parts[0], array::Order::kF));
}

}  // namespace

Result<FileContents> parse_file(std::span<const std::uint8_t> start, std::uint64_t file_bytes) {
  if (array::looks_like_npy(start)) return parse_npy_file(start, file_bytes);
  if (start.size() < kPrefixBytes || std::memcmp(start.data(), kMagic, kFileMagicBytes) != 0)
    return bad_file("it begins neither like a .npy nor like a .wpool file");
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, start.data() + kFileMagicBytes, sizeof bytes);
  if (bytes > start.size() - kPrefixBytes)
    return bad_file("its description is cut off or too long");
  // The description starts at byte 16 of an aligned buffer, as FlatBuffers need it; a caller's buffer may not be aligned.
  std::vector<std::uint64_t> aligned((bytes + 31) / 8);
  auto* place = reinterpret_cast<std::uint8_t*>(aligned.data());
  while (reinterpret_cast<std::uintptr_t>(place) % 16 != 0)
    ++place;
  std::memcpy(place, start.data() + kPrefixBytes, bytes);
  WARPOOL_ASSIGN(const wire::fb::Item* const item, wire::read_item({place, bytes}));
  FileContents contents;
  contents.size = item->size();
  contents.data_offset = (kPrefixBytes + bytes + kAlignment - 1) / kAlignment * kAlignment;
  contents.attributes = Text(wire::text(item->attributes()));
  if (contents.attributes.size() > kAttributesBytesMax)
    return bad_file("its attributes are too long");
  WARPOOL_ASSIGN(contents.parts, read_parts(item->parts(), item->size()));
  WARPOOL_TRY(check_length(contents.data_offset, contents.size, file_bytes));
  return contents;
}

Result<std::vector<std::uint8_t>> format_file_start(std::span<const array::Part> parts,
                                                    std::uint64_t size,
                                                    std::string_view attributes) {
  if (is_npy_item(parts)) {
    WARPOOL_ASSIGN(const Text header, array::format_npy(parts[0]));
    return std::vector<std::uint8_t>(header.view().begin(), header.view().end());
  }
  flatbuffers::FlatBufferBuilder builder(1024);
  const auto part_list = add_parts(builder, parts);
  const auto attribute_text = wire::add_text(builder, attributes);
  wire::fb::ItemBuilder item(builder);
  item.add_parts(part_list);
  item.add_attributes(attribute_text);
  item.add_size(size);
  builder.Finish(item.Finish());
  const std::uint64_t bytes = builder.GetSize();
  std::vector<std::uint8_t> start((kPrefixBytes + bytes + kAlignment - 1) / kAlignment *
                                  kAlignment);
  std::memcpy(start.data(), kMagic, kFileMagicBytes);
  std::memcpy(start.data() + kFileMagicBytes, &bytes, sizeof bytes);
  std::memcpy(start.data() + kPrefixBytes, builder.GetBufferPointer(), bytes);
  return start;
}

}  // namespace warpool::store
