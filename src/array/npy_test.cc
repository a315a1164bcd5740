// SPDX-License-Identifier: Apache-2.0
#include "array/npy.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace warpool::array {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Result<NpyHeader> parse(const std::string& text) {
  return parse_npy(bytes_of(text));
}

/// The bytes that NumPy 2.4.6 writes before the data: the signature, and the dict with spaces and a line feed up to `length`.
std::string numpy_start(const std::string& signature, const std::string& dict, std::size_t length) {
  return signature + dict + std::string(length - dict.size() - 1, ' ') + "\n";
}
const std::string kVersion1("\x93NUMPY\x01\x00v\x00", 10);
const std::string kVersion2("\x93NUMPY\x02\x00t\x00\x00\x00", 12);
const std::string kVersion3("\x93NUMPY\x03\x00t\x00\x00\x00", 12);

using Numbers = std::vector<std::int64_t>;

TEST(NpyFromNumpy, ColumnMajorDoubles) {
  const NpyHeader header =
      parse(
          numpy_start(kVersion1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", 118))
          .value();
  EXPECT_EQ(header.part.dtype, Dtype::kFloat64);
  EXPECT_EQ(header.part.shape, (Numbers{2, 3}));
  EXPECT_EQ(header.part.strides, (Numbers{8, 16}));
  EXPECT_EQ(header.data_offset, 128u);
}

TEST(NpyFromNumpy, ScalarAndLaterVersions) {
  NpyHeader header =
      parse(numpy_start(kVersion1, "{'descr': '<c16', 'fortran_order': False, 'shape': (), }", 118))
          .value();
  EXPECT_EQ(header.part.dtype, Dtype::kComplex128);
  EXPECT_TRUE(header.part.shape.empty());
  header = parse(numpy_start(kVersion2, "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }",
                             116))
               .value();
  EXPECT_EQ(header.part.dtype, Dtype::kInt16);
  EXPECT_EQ(header.part.shape, Numbers{3});
  EXPECT_EQ(header.data_offset, 128u);
  header = parse(numpy_start(kVersion3, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }",
                             116))
               .value();
  EXPECT_EQ(header.part.dtype, Dtype::kBool);
}

TEST(NpyFromNumpy, WhatCannotBeShownIsRefusedWithARemedy) {
  const Error big =
      parse(
          numpy_start(kVersion1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 118))
          .take_error();
  EXPECT_EQ(big.code, Code::kUnsupported);
  EXPECT_NE(big.message.view().find("astype"), std::string_view::npos);
  const Error fields =
      parse(numpy_start(kVersion1,
                        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", 118))
          .take_error();
  EXPECT_EQ(fields.code, Code::kInvalidArgument);
  EXPECT_NE(fields.message.view().find("structured"), std::string_view::npos);
}

Part random_part() {
  Part part;
  part.dtype = static_cast<Dtype>(*rc::gen::inRange<int>(1, kDtypeMax + 1));
  const auto rank = *rc::gen::inRange<std::size_t>(0, kRankMax + 1);
  for (std::size_t i = 0; i < rank; ++i)
    part.shape.push_back(*rc::gen::inRange<std::int64_t>(0, 3));
  const auto order = static_cast<Order>(*rc::gen::inRange<int>(0, 2));
  part.strides = compact_strides(part.shape, part.dtype, order);
  return part;
}

RC_GTEST_PROP(Npy, WhatIsWrittenIsReadBack, ()) {
  const Part part = random_part();
  const Text header = format_npy(part).value();
  RC_ASSERT(header.size() % 64 == 0);
  const Result<NpyHeader> read = parse(std::string(header.view()));
  RC_ASSERT(read.ok());
  RC_ASSERT(read.value().data_offset == header.size());
  RC_ASSERT(read.value().part.dtype == part.dtype);
  RC_ASSERT(read.value().part.shape == part.shape);
  RC_ASSERT(is_ordered(read.value().part, Order::kC) == is_ordered(part, Order::kC));
}

RC_GTEST_PROP(Npy, DamagedHeadersAreReadInsideTheirBytesOnly, ()) {
  std::string header(format_npy(random_part()).value().view());
  const auto times = *rc::gen::inRange(1, 5);
  for (int i = 0; i < times; ++i)
    header[*rc::gen::inRange<std::size_t>(0, header.size())] =
        *rc::gen::element('0', '9', '(', ')', '{', '}', '\'', ',', ':', ' ', '\xff');
  header.resize(*rc::gen::inRange<std::size_t>(0, header.size() + 1));
  const Result<NpyHeader> read = parse(header);
  if (!read.ok()) return;
  RC_ASSERT(read.value().data_offset <= header.size());
  RC_ASSERT(is_compact(read.value().part));
}

TEST(Npy, LargestExtentsAndOnePast) {
  const auto with_shape = [](const std::string& shape) {
    std::string start = kVersion1;
    start[8] = static_cast<char>(246);
    return parse(numpy_start(
        start, "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }", 246));
  };
  EXPECT_TRUE(with_shape("(70368744177664,)").ok());
  EXPECT_FALSE(with_shape("(70368744177665,)").ok());
  EXPECT_FALSE(with_shape("(0, 70368744177665)").ok());
  EXPECT_FALSE(with_shape("(-1,)").ok());
  EXPECT_FALSE(with_shape("(2,").ok());
  std::string ones = "(";
  for (std::uint32_t i = 0; i < kRankMax; ++i)
    ones += "1,";
  EXPECT_TRUE(with_shape(ones + ")").ok());
  EXPECT_FALSE(with_shape(ones + "1)").ok());
}

TEST(Npy, LengthIsBounded) {
  std::string start = kVersion2;
  start[8] = 0;
  start[9] = static_cast<char>(kNpyHeaderBytesMax >> 8);
  const std::string dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }";
  EXPECT_TRUE(parse(numpy_start(start, dict, kNpyHeaderBytesMax)).ok());
  EXPECT_FALSE(parse(numpy_start(start, dict, kNpyHeaderBytesMax - 1)).ok()) << "cut off";
  start[8] = 1;
  EXPECT_FALSE(parse(numpy_start(start, dict, kNpyHeaderBytesMax + 1)).ok());
}

TEST(Npy, OnlyPlainOrders) {
  Part part;
  part.dtype = Dtype::kUint8;
  part.shape = {2, 2, 2};
  part.strides = {2, 4, 1};
  EXPECT_FALSE(format_npy(part).ok());
  EXPECT_FALSE(looks_like_npy({}));
  EXPECT_FALSE(parse("").ok());
  EXPECT_FALSE(parse("\x93NUMPY").ok());
  EXPECT_FALSE(parse(std::string("\x93NUMPY\x04\x00\x00\x00\x00\x00", 12)).ok()) << "version 4";
}

}  // namespace
}  // namespace warpool::array
