// SPDX-License-Identifier: Apache-2.0
#include "store/item_codec.h"

namespace warpool::store {
namespace {

std::vector<std::int64_t> numbers(const flatbuffers::Vector<std::int64_t>* vector) {
  const std::span<const std::int64_t> elements = wire::numbers(vector);
  return {elements.begin(), elements.end()};
}

bool too_long(const flatbuffers::Vector<std::int64_t>* vector) {
  return vector != nullptr && vector->size() > kRankMax;
}

}  // namespace

PartsOffset add_parts(flatbuffers::FlatBufferBuilder& builder, std::span<const array::Part> parts) {
  flatbuffers::Offset<wire::fb::Part> offsets[kPartsMax];
  CHECK(parts.size() <= kPartsMax);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const array::Part& part = parts[i];
    const auto path = part.path.empty() ? 0 : wire::add_text(builder, part.path.view());
    const auto shape = builder.CreateVector(part.shape.data(), part.shape.size());
    const auto strides = builder.CreateVector(part.strides.data(), part.strides.size());
    offsets[i] =
        wire::fb::CreatePart(builder, path, static_cast<std::uint8_t>(part.kind),
                             static_cast<std::uint8_t>(part.dtype), shape, strides, part.offset);
  }
  return builder.CreateVector(offsets, parts.size());
}

Result<std::vector<array::Part>> read_parts(
    const flatbuffers::Vector<flatbuffers::Offset<wire::fb::Part>>* parts, std::uint64_t size) {
  if (parts == nullptr || parts->size() > kPartsMax)
    return Error::format(Code::kInvalidArgument, "an item needs between 1 and %u parts", kPartsMax);
  std::vector<array::Part> result;
  result.reserve(parts->size());
  for (const wire::fb::Part* part : *parts) {
    if (too_long(part->shape()) || too_long(part->strides()))
      return Error::format(Code::kInvalidArgument, "an array has more than %u dimensions",
                           kRankMax);
    result.push_back({.path = Text(wire::text(part->path())),
                      .kind = static_cast<array::Kind>(part->kind()),
                      .dtype = static_cast<array::Dtype>(part->dtype()),
                      .shape = numbers(part->shape()),
                      .strides = numbers(part->strides()),
                      .offset = part->offset()});
  }
  WARPOOL_TRY(array::validate(result, size));
  return result;
}

}  // namespace warpool::store
