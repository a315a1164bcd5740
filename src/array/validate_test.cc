// SPDX-License-Identifier: Apache-2.0
// What may come from another program: each bound at its limit and one past it.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "array/layout.h"

namespace warpool::array {
namespace {

Part array_part(const std::string& path, std::vector<std::int64_t> shape,
                Dtype dtype = Dtype::kFloat64) {
  Part part;
  part.path = Text(path);
  part.dtype = dtype;
  part.shape = std::move(shape);
  part.strides = compact_strides(part.shape, dtype, Order::kC);
  return part;
}

Part head(const std::string& path, Kind kind) {
  Part part;
  part.path = Text(path);
  part.kind = kind;
  return part;
}

bool valid(std::vector<Part> parts, std::uint64_t size) {
  return validate(parts, size).ok();
}

TEST(Validate, BytesMustLieInsideTheItem) {
  EXPECT_TRUE(valid({array_part("", {4})}, 32));
  EXPECT_FALSE(valid({array_part("", {4})}, 31));
  EXPECT_TRUE(valid({array_part("", {0})}, 0));
  EXPECT_TRUE(valid({array_part("", {})}, 8));
  EXPECT_FALSE(valid({array_part("", {})}, 7));
  Part part = array_part("", {2, 2});
  part.strides = {0, 0};
  EXPECT_TRUE(valid({part}, 8)) << "a broadcast value";
  part.strides = {16, 8};
  EXPECT_TRUE(valid({part}, 32));
  part.strides = {17, 8};
  EXPECT_TRUE(valid({part}, 33));
  EXPECT_FALSE(valid({part}, 32));
  part.strides = {-8, 8};
  EXPECT_FALSE(valid({part}, 1024)) << "no published array has a negative stride";
  part.strides = {INT64_MAX, INT64_MAX};
  EXPECT_FALSE(valid({part}, kItemBytesMax));
}

TEST(Validate, OffsetsAreAlignedAndInside) {
  Part part = array_part("", {1});
  part.offset = 256;
  EXPECT_TRUE(valid({part}, 264));
  EXPECT_FALSE(valid({part}, 263));
  part.offset = 255;
  EXPECT_FALSE(valid({part}, 1024));
  part = array_part("", {0});
  part.offset = 256;
  EXPECT_TRUE(valid({part}, 256)) << "nothing may begin at the end";
  EXPECT_FALSE(valid({part}, 255));
  part = array_part("", {1});
  part.offset = ~std::uint64_t{255};
  EXPECT_FALSE(valid({part}, 1024));
}

TEST(Validate, RankDtypeKindAndStrideCount) {
  EXPECT_TRUE(valid({array_part("", std::vector<std::int64_t>(kRankMax, 1))}, 8));
  EXPECT_FALSE(valid({array_part("", std::vector<std::int64_t>(kRankMax + 1, 1))}, 8));
  for (const int dtype : {0, kDtypeMax + 1, 255}) {
    Part part = array_part("", {0});
    part.dtype = static_cast<Dtype>(dtype);
    EXPECT_FALSE(valid({part}, 0));
  }
  Part part = array_part("", {0});
  part.kind = static_cast<Kind>(kKindMax + 1);
  EXPECT_FALSE(valid({part}, 0));
  part = array_part("", {0});
  part.strides.push_back(1);
  EXPECT_FALSE(valid({part}, 0));
}

TEST(Validate, NumberOfParts) {
  std::vector<Part> parts = {head("", Kind::kStruct)};
  EXPECT_FALSE(validate({}, 0).ok());
  for (std::uint32_t i = 1; i < kPartsMax; ++i)
    parts.push_back(array_part("f" + std::to_string(i), {0}));
  EXPECT_TRUE(validate(parts, 0).ok());
  parts.push_back(array_part("last", {0}));
  EXPECT_FALSE(validate(parts, 0).ok());
}

TEST(Validate, PathsFormATree) {
  const Part root = head("", Kind::kStruct);
  EXPECT_TRUE(
      valid({root, array_part("a", {0}), head("b", Kind::kStruct), array_part("b/c", {0})}, 0));
  EXPECT_FALSE(valid({array_part("a", {0})}, 0)) << "the first part is the root";
  EXPECT_FALSE(valid({root, head("", Kind::kStruct)}, 0)) << "one root";
  EXPECT_FALSE(valid({root, array_part("b/c", {0}), head("b", Kind::kStruct)}, 0))
      << "parents come first";
  EXPECT_FALSE(valid({root, array_part("a", {0}), array_part("a", {0})}, 0)) << "twice";
  EXPECT_FALSE(valid({array_part("", {0}), array_part("a", {0})}, 0)) << "an array has no fields";
  EXPECT_FALSE(valid({root, array_part("a", {0}), array_part("a/b", {0})}, 0));
  EXPECT_FALSE(valid({root, array_part("1a", {0})}, 0));
  EXPECT_FALSE(valid({root, array_part("a b", {0})}, 0));
  EXPECT_FALSE(valid({root, array_part("a/", {0})}, 0));
  EXPECT_FALSE(valid({root, array_part("/a", {0})}, 0));
  EXPECT_TRUE(valid({root, array_part(std::string(kFieldNameBytesMax, 'a'), {0})}, 0));
  EXPECT_FALSE(valid({root, array_part(std::string(kFieldNameBytesMax + 1, 'a'), {0})}, 0));
}

TEST(Validate, PathsAreBounded) {
  std::vector<Part> parts = {head("", Kind::kStruct)};
  std::string path;
  // 255 bytes: four components of 50 and their slashes, and one of 51.
  for (int i = 0; i < 4; ++i) {
    path += std::string(50, 'a');
    parts.push_back(head(path, Kind::kStruct));
    path += "/";
  }
  parts.push_back(array_part(path + std::string(51, 'b'), {0}));
  EXPECT_TRUE(validate(parts, 0).ok());
  parts.back().path = Text(path + std::string(52, 'b'));
  EXPECT_FALSE(validate(parts, 0).ok());
}

std::vector<Part> sparse(std::int64_t rows, std::int64_t columns, std::int64_t nnz) {
  std::vector<Part> parts = {head("", Kind::kSparse), array_part("data", {nnz}),
                             array_part("indices", {nnz}, Dtype::kInt64),
                             array_part("indptr", {columns + 1}, Dtype::kInt64)};
  parts[0].dtype = Dtype::kFloat64;
  parts[0].shape = {rows, columns};
  parts[0].strides = {0, 0};
  return parts;
}

bool placed_and_valid(std::vector<Part> parts) {
  const Result<std::uint64_t> size = place(parts);
  return size.ok() && validate(parts, size.value()).ok();
}

TEST(Validate, SparsePiecesFitTogether) {
  EXPECT_TRUE(placed_and_valid(sparse(3, 4, 5)));
  EXPECT_TRUE(placed_and_valid(sparse(0, 0, 0)));
  std::vector<Part> parts = sparse(3, 4, 5);
  parts[3] = array_part("indptr", {4}, Dtype::kInt64);
  EXPECT_FALSE(placed_and_valid(parts)) << "indptr has columns + 1 entries";
  parts = sparse(3, 4, 5);
  parts[2] = array_part("indices", {4}, Dtype::kInt64);
  EXPECT_FALSE(placed_and_valid(parts));
  parts = sparse(3, 4, 5);
  parts[2] = array_part("indices", {5}, Dtype::kInt32);
  EXPECT_FALSE(placed_and_valid(parts));
  parts = sparse(3, 4, 5);
  parts[1] = array_part("data", {5}, Dtype::kFloat32);
  EXPECT_FALSE(placed_and_valid(parts)) << "data has the type of the head";
  parts = sparse(3, 4, 5);
  parts.pop_back();
  EXPECT_FALSE(placed_and_valid(parts));
  parts = sparse(3, 4, 5);
  parts[0].shape = {12};
  parts[0].strides = {0};
  EXPECT_FALSE(placed_and_valid(parts));
}

TEST(Validate, TheShapeOfASparseMatrixIsNoAmountOfMemory) {
  const std::int64_t ten_million = 10'000'000;
  EXPECT_TRUE(placed_and_valid(sparse(ten_million, 4, 5)));
  EXPECT_TRUE(placed_and_valid(sparse(std::int64_t{1} << 46, 4, 5)));
  EXPECT_FALSE(placed_and_valid(sparse((std::int64_t{1} << 46) + 1, 4, 5)));
  EXPECT_FALSE(placed_and_valid(sparse(-1, 4, 5)));
  // A graph of ten million nodes: 1e14 possible elements, five of them there.
  EXPECT_TRUE(placed_and_valid(sparse(ten_million, ten_million, 5)));
}

TEST(Validate, TextIsBytesOfOneDimension) {
  Part text = array_part("", {3}, Dtype::kUint8);
  text.kind = Kind::kText;
  EXPECT_TRUE(valid({text}, 3));
  text.dtype = Dtype::kUint16;
  EXPECT_FALSE(valid({text}, 6));
  text = array_part("", {3, 1}, Dtype::kUint8);
  text.kind = Kind::kText;
  EXPECT_FALSE(valid({text}, 3));
  Part chars = array_part("", {2, 2}, Dtype::kUint16);
  chars.kind = Kind::kChars;
  EXPECT_TRUE(valid({chars}, 8));
  chars = array_part("", {2, 2}, Dtype::kInt16);
  chars.kind = Kind::kChars;
  EXPECT_FALSE(valid({chars}, 8));
}

/// Whatever passes can be read element by element inside the item.
RC_GTEST_PROP(Validate, AcceptedPartsStayInside, ()) {
  const auto size = *rc::gen::inRange<std::uint64_t>(0, 600);
  const auto rank = *rc::gen::inRange<std::size_t>(0, 4);
  Part part;
  part.dtype = static_cast<Dtype>(*rc::gen::inRange<int>(0, kDtypeMax + 2));
  part.offset = *rc::gen::element<std::uint64_t>(0, 256, 512, 1, 1024);
  part.shape =
      *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(-1, 6));
  part.strides =
      *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(-2, 70));
  if (!valid({part}, size)) return;
  std::uint64_t last = part.offset;
  bool empty = false;
  for (std::size_t i = 0; i < rank; ++i) {
    empty = empty || part.shape[i] == 0;
    RC_ASSERT(part.strides[i] >= 0);
    last +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(part.shape[i] - 1, 0) * part.strides[i]);
  }
  RC_ASSERT(empty || last + dtype_size(static_cast<std::uint32_t>(part.dtype)) <= size);
}

TEST(Names, WhatIsAllowedAndWhatIsNot) {
  for (const char* name : {"a", "lab/session-3/x.y_z", "0", "...", ".hidden", "A/b/C"})
    EXPECT_TRUE(check_name(name).ok()) << name;
  for (const char* name :
       {"", "/", "a/", "/a", "a//b", ".", "..", "a/..", "./a", "a b", "a:b", "a\n", "ä", "a*"})
    EXPECT_FALSE(check_name(name).ok()) << name;
  EXPECT_TRUE(check_name(std::string(kNameBytesMax, 'a')).ok());
  EXPECT_FALSE(check_name(std::string(kNameBytesMax + 1, 'a')).ok());
  EXPECT_FALSE(check_name(std::string_view("a\0b", 3)).ok());
}

TEST(Names, FieldNames) {
  EXPECT_TRUE(is_field_name("a_1"));
  EXPECT_FALSE(is_field_name("_a"));
  EXPECT_FALSE(is_field_name("1a"));
  EXPECT_FALSE(is_field_name(""));
  EXPECT_TRUE(is_field_name(std::string(63, 'x')));
  EXPECT_FALSE(is_field_name(std::string(64, 'x')));
}

}  // namespace
}  // namespace warpool::array
