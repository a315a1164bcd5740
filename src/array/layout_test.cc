// SPDX-License-Identifier: Apache-2.0
#include "array/layout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <numeric>

namespace warpool::array {
namespace {

Part plain(Dtype dtype, std::vector<std::int64_t> shape, Order order) {
  Part part;
  part.dtype = dtype;
  part.shape = std::move(shape);
  part.strides = compact_strides(part.shape, dtype, order);
  return part;
}

TEST(Dtype, SizesAndNames) {
  EXPECT_EQ(dtype_size(0), 0u);
  EXPECT_EQ(dtype_size(kDtypeMax + 1), 0u);
  EXPECT_STREQ(dtype_name(kDtypeMax + 1), "unknown");
  EXPECT_STREQ(dtype_name(static_cast<std::uint32_t>(Dtype::kComplex128)), "complex128");
  EXPECT_EQ(dtype_size(static_cast<std::uint32_t>(Dtype::kComplex128)), 16u);
  EXPECT_EQ(dtype_size(static_cast<std::uint32_t>(Dtype::kFloat16)), 2u);
}

TEST(ElementCount, AtTheLimitAndOnePast) {
  const std::int64_t most = std::int64_t{1} << 46;
  EXPECT_EQ(element_count(std::vector{most}, Dtype::kUint8).value(), kItemBytesMax);
  EXPECT_EQ(element_count(std::vector{most + 1}, Dtype::kUint8).error().code, Code::kLimitReached);
  EXPECT_TRUE(element_count(std::vector{most / 8}, Dtype::kFloat64).ok());
  EXPECT_FALSE(element_count(std::vector{most / 8 + 1}, Dtype::kFloat64).ok());
  EXPECT_EQ(element_count(std::vector<std::int64_t>{}, Dtype::kUint8).value(), 1u);
  EXPECT_EQ(element_count(std::vector<std::int64_t>{0, 3}, Dtype::kUint8).value(), 0u);
  // Zeros hide nothing: strides are computed from the other extents.
  EXPECT_FALSE(element_count(std::vector<std::int64_t>{0, INT64_MAX}, Dtype::kUint8).ok());
  EXPECT_FALSE(
      element_count(std::vector<std::int64_t>{INT64_MAX, INT64_MAX, INT64_MAX}, Dtype::kComplex128)
          .ok());
  EXPECT_FALSE(element_count(std::vector<std::int64_t>{-1}, Dtype::kUint8).ok());
  EXPECT_TRUE(element_count(std::vector<std::int64_t>(kRankMax, 1), Dtype::kUint8).ok());
  EXPECT_FALSE(element_count(std::vector<std::int64_t>(kRankMax + 1, 1), Dtype::kUint8).ok());
}

TEST(Strides, CAndFOrder) {
  using Strides = std::vector<std::int64_t>;
  EXPECT_EQ(compact_strides(Strides{2, 3, 4}, Dtype::kFloat64, Order::kC), (Strides{96, 32, 8}));
  EXPECT_EQ(compact_strides(Strides{2, 3, 4}, Dtype::kFloat64, Order::kF), (Strides{8, 16, 48}));
  EXPECT_EQ(compact_strides(Strides{0, 3}, Dtype::kUint8, Order::kC), (Strides{3, 1}));
  EXPECT_EQ(compact_strides(Strides{}, Dtype::kUint8, Order::kC), Strides{});
}

TEST(Compact, AnyOrderButNoGapsAndNoNegativeStride) {
  Part part = plain(Dtype::kInt16, {2, 3, 4}, Order::kC);
  part.strides = {6, 2, 12};  // neither C nor F
  EXPECT_TRUE(is_compact(part));
  EXPECT_FALSE(is_ordered(part, Order::kC));
  EXPECT_FALSE(is_ordered(part, Order::kF));
  part.strides = {6, 2, 14};
  EXPECT_FALSE(is_compact(part));
  part = plain(Dtype::kInt16, {3}, Order::kC);
  part.strides = {-2};
  EXPECT_FALSE(is_compact(part));
  part.shape = {1};
  EXPECT_TRUE(is_compact(part)) << "the stride of one element does not matter";
  part = plain(Dtype::kInt16, {3, 0}, Order::kC);
  part.strides = {99, 77};
  EXPECT_TRUE(is_compact(part)) << "nothing has no gaps";
}

TEST(Place, AlignsAndAddsUp) {
  std::vector<Part> parts(4);
  parts[0].kind = Kind::kStruct;
  parts[1] = plain(Dtype::kUint8, {1}, Order::kC);
  parts[2] = plain(Dtype::kUint8, {0}, Order::kC);
  parts[3] = plain(Dtype::kFloat64, {32}, Order::kC);
  EXPECT_EQ(place(parts).value(), 512u);
  EXPECT_EQ(parts[1].offset, 0u);
  EXPECT_EQ(parts[2].offset, 256u);
  EXPECT_EQ(parts[3].offset, 256u);
  parts[1] = plain(Dtype::kUint8, {std::int64_t{1} << 46}, Order::kC);
  EXPECT_EQ(place(parts).error().code, Code::kLimitReached) << "together they are too large";
}

/// Element by element, in the plainest way.
void naive_copy(const std::byte* source, const std::vector<std::int64_t>& from, std::byte* target,
                const std::vector<std::int64_t>& to, const std::vector<std::int64_t>& shape,
                std::size_t level, std::size_t element) {
  if (level == shape.size()) {
    std::memcpy(target, source, element);
    return;
  }
  for (std::int64_t i = 0; i < shape[level]; ++i)
    naive_copy(source + i * from[level], from, target + i * to[level], to, shape, level + 1,
               element);
}

RC_GTEST_PROP(CopyStrided, EqualsANaiveLoop, ()) {
  const auto rank = *rc::gen::inRange<std::size_t>(0, 6);
  const auto shape =
      *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(0, 5));
  const auto dtype = static_cast<Dtype>(*rc::gen::inRange<int>(1, kDtypeMax + 1));
  const auto element = dtype_size(static_cast<std::uint32_t>(dtype));
  // The source: a compact array of a permuted order, each dimension stepped and perhaps reversed.
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = rank; i > 1; --i)
    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  std::vector<std::int64_t> from(rank);
  auto stride = static_cast<std::int64_t>(element);
  std::int64_t start = 0;
  for (const std::size_t i : order) {
    const auto step = *rc::gen::inRange<std::int64_t>(1, 3);
    from[i] = stride * step;
    stride *= std::max<std::int64_t>(shape[i], 1) * step;
    if (*rc::gen::arbitrary<bool>() && shape[i] > 0) {
      start += from[i] * (shape[i] - 1);
      from[i] = -from[i];
    }
  }
  std::vector<std::byte> source(static_cast<std::size_t>(stride) + element);
  for (std::size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<std::byte>(i * 31 + i / 251);
  // The target: compact in any order.
  std::vector<std::size_t> target_order(order.rbegin(), order.rend());
  if (*rc::gen::arbitrary<bool>()) std::sort(target_order.begin(), target_order.end());
  std::vector<std::int64_t> to(rank);
  stride = static_cast<std::int64_t>(element);
  for (const std::size_t i : target_order) {
    to[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  std::vector<std::byte> target(static_cast<std::size_t>(stride), std::byte{0xAA});
  std::vector<std::byte> expected = target;
  copy_strided(source.data() + start, from, target.data(), to, shape, element);
  naive_copy(source.data() + start, from, expected.data(), to, shape, 0, element);
  RC_ASSERT(target == expected);
}

}  // namespace
}  // namespace warpool::array
