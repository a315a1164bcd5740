// SPDX-License-Identifier: Apache-2.0
#include "store/file_format.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "store/item_codec.h"

namespace warpool::store {
namespace {

using array::Dtype;
using array::Kind;
using array::Order;
using array::Part;

Part part_of(const std::string& path, Kind kind, Dtype dtype, std::vector<std::int64_t> shape,
             Order order) {
  Part part;
  part.path = Text(path);
  part.kind = kind;
  part.dtype = dtype;
  part.shape = std::move(shape);
  part.strides = array::compact_strides(part.shape, dtype, order);
  return part;
}

std::vector<std::int64_t> random_shape() {
  const auto rank = *rc::gen::inRange<std::size_t>(0, 5);
  return *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(0, 5));
}

Part random_array(const std::string& path) {
  return part_of(path, Kind::kArray, static_cast<Dtype>(*rc::gen::inRange<int>(1, 15)),
                 random_shape(), static_cast<Order>(*rc::gen::inRange<int>(0, 2)));
}

std::vector<Part> random_parts() {
  if (*rc::gen::arbitrary<bool>()) return {random_array("")};
  std::vector<Part> parts = {part_of("", Kind::kStruct, Dtype::kUint8, {}, Order::kC)};
  const auto fields = *rc::gen::inRange(0, 6);
  for (int i = 0; i < fields; ++i)
    parts.push_back(random_array("f" + std::to_string(i)));
  parts.push_back(part_of("t", Kind::kText, Dtype::kUint8, {3}, Order::kC));
  return parts;
}

bool same(const Part& a, const Part& b) {
  return a.path == b.path && a.kind == b.kind && a.dtype == b.dtype && a.shape == b.shape &&
         a.offset == b.offset;
}

RC_GTEST_PROP(FileFormat, WhatIsWrittenIsReadBack, ()) {
  std::vector<Part> parts = random_parts();
  const std::uint64_t size = array::place(parts).value();
  const std::string attributes = *rc::gen::element<std::string>("", "{\"unit\":\"mV\"}");
  const std::vector<std::uint8_t> start = format_file_start(parts, size, attributes).value();
  const std::uint64_t file_bytes = start.size() + size;
  const FileContents read = std::move(parse_file(start, file_bytes)).value();
  RC_ASSERT(read.size == size);
  RC_ASSERT(read.data_offset == start.size());
  RC_ASSERT(read.parts.size() == parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    RC_ASSERT(same(read.parts[i], parts[i]));
  RC_ASSERT(read.is_npy == (parts.size() == 1));
  if (!read.is_npy) RC_ASSERT(read.attributes.view() == attributes);
  if (file_bytes > 0) RC_ASSERT(!parse_file(start, file_bytes - 1).ok());
}

RC_GTEST_PROP(FileFormat, DamagedFilesAreRefusedOrReadInside, ()) {
  std::vector<Part> parts = random_parts();
  const std::uint64_t size = array::place(parts).value();
  std::vector<std::uint8_t> start = format_file_start(parts, size, "{}").value();
  const auto times = *rc::gen::inRange(1, 6);
  for (int i = 0; i < times; ++i)
    start[*rc::gen::inRange<std::size_t>(0, start.size())] = *rc::gen::arbitrary<std::uint8_t>();
  start.resize(*rc::gen::inRange<std::size_t>(0, start.size() + 1));
  start.shrink_to_fit();
  const std::uint64_t file_bytes = start.size() + size;
  const Result<FileContents> read = parse_file(start, file_bytes);
  if (!read.ok()) return;
  RC_ASSERT(read.value().data_offset + read.value().size <= file_bytes);
  RC_ASSERT(array::validate(read.value().parts, read.value().size).ok());
}

TEST(FileFormat, LongestAttributesAndOnePast) {
  std::vector<Part> parts = {part_of("", Kind::kStruct, Dtype::kUint8, {}, Order::kC)};
  for (const bool past : {false, true}) {
    const std::string attributes(kAttributesBytesMax + (past ? 1 : 0), 'a');
    const std::vector<std::uint8_t> start = format_file_start(parts, 0, attributes).value();
    EXPECT_EQ(parse_file(start, start.size()).ok(), !past);
  }
}

TEST(FileFormat, OtherFilesAreNamedAsSuch) {
  const std::vector<std::uint8_t> text(64, 'x');
  const Error error = parse_file(text, 64).take_error();
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_NE(error.message.view().find("neither"), std::string_view::npos);
  EXPECT_FALSE(parse_file({}, 0).ok());
}

RC_GTEST_PROP(ItemCodec, PartsGoThroughAMessage, ()) {
  std::vector<Part> parts = random_parts();
  const std::uint64_t size = array::place(parts).value();
  flatbuffers::FlatBufferBuilder builder;
  const auto list = add_parts(builder, parts);
  wire::fb::ItemBuilder item(builder);
  item.add_parts(list);
  builder.Finish(item.Finish());
  const auto* read = flatbuffers::GetRoot<wire::fb::Item>(builder.GetBufferPointer());
  const std::vector<Part> back = read_parts(read->parts(), size).value();
  RC_ASSERT(back.size() == parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    RC_ASSERT(same(back[i], parts[i]));
    RC_ASSERT(back[i].strides == parts[i].strides);
  }
  if (size > 0) RC_ASSERT(!read_parts(read->parts(), size - 1).ok());
}

TEST(ItemCodec, MissingAndTooManyPartsAreRefused) {
  EXPECT_FALSE(read_parts(nullptr, 0).ok());
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<wire::fb::Part>> offsets(kPartsMax + 1,
                                                           wire::fb::CreatePart(builder, 0, 3, 6));
  const auto list = builder.CreateVector(offsets);
  wire::fb::ItemBuilder item(builder);
  item.add_parts(list);
  builder.Finish(item.Finish());
  const auto* read = flatbuffers::GetRoot<wire::fb::Item>(builder.GetBufferPointer());
  EXPECT_FALSE(read_parts(read->parts(), 0).ok());
}

}  // namespace
}  // namespace warpool::store
