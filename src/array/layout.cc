// SPDX-License-Identifier: Apache-2.0
#include "array/layout.h"

#include <algorithm>
#include <array>

namespace warpool::array {
namespace {

struct DtypeFacts {
  std::uint8_t size;
  const char* name;
};
constexpr std::array<DtypeFacts, kDtypeMax + 1> kDtypes = {{
    {0, "unknown"},
    {1, "bool"},
    {1, "int8"},
    {2, "int16"},
    {4, "int32"},
    {8, "int64"},
    {1, "uint8"},
    {2, "uint16"},
    {4, "uint32"},
    {8, "uint64"},
    {2, "float16"},
    {4, "float32"},
    {8, "float64"},
    {8, "complex64"},
    {16, "complex128"},
}};

/// Dimensions that decide the layout, sorted by stride: those of extent 1 can have any stride.
struct Axis {
  std::int64_t stride;
  std::int64_t extent;
};

std::size_t relevant_axes(const Part& part, Axis (&axes)[kRankMax]) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < part.shape.size(); ++i) {
    if (part.shape[i] != 1) axes[count++] = {part.strides[i], part.shape[i]};
  }
  return count;
}

bool fills_in_turn(std::span<const Axis> axes, std::int64_t element_bytes) {
  std::int64_t expected = element_bytes;
  for (const Axis& axis : axes) {
    if (axis.stride != expected) return false;
    expected *= axis.extent;
  }
  return true;
}

bool is_empty(const Part& part) {
  return std::any_of(part.shape.begin(), part.shape.end(),
                     [](std::int64_t extent) { return extent == 0; });
}

}  // namespace

std::size_t dtype_size(std::uint32_t dtype) {
  return dtype <= kDtypeMax ? kDtypes[dtype].size : 0;
}

const char* dtype_name(std::uint32_t dtype) {
  return kDtypes[dtype <= kDtypeMax ? dtype : 0].name;
}

Result<std::uint64_t> element_count(std::span<const std::int64_t> shape, Dtype dtype) {
  const auto element_bytes = dtype_size(static_cast<std::uint32_t>(dtype));
  if (shape.size() > kRankMax)
    return Error::format(Code::kInvalidArgument,
                         "an array has %zu dimensions, at most %u are possible", shape.size(),
                         kRankMax);
  WideUint product = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      return Error::format(Code::kInvalidArgument, "an extent of %lld is negative",
                           static_cast<long long>(extent));
    if (extent == 0) {
      empty = true;
      continue;
    }
    // Checked without the zeros too: strides are computed from the other extents.
    product *= static_cast<std::uint64_t>(extent);
    if (product * element_bytes > kItemBytesMax)
      return Error::format(Code::kLimitReached, "an array of this shape is larger than %llu TiB",
                           static_cast<unsigned long long>(kItemBytesMax >> 40));
  }
  return empty ? 0 : static_cast<std::uint64_t>(product);
}

std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape, Dtype dtype,
                                          Order order) {
  std::vector<std::int64_t> strides(shape.size());
  auto stride = static_cast<std::int64_t>(dtype_size(static_cast<std::uint32_t>(dtype)));
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t i = order == Order::kF ? k : shape.size() - 1 - k;
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

bool is_compact(const Part& part) {
  if (is_empty(part)) return true;
  Axis axes[kRankMax];
  const std::size_t count = relevant_axes(part, axes);
  std::sort(axes, axes + count, [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  return fills_in_turn(
      {axes, count}, static_cast<std::int64_t>(dtype_size(static_cast<std::uint32_t>(part.dtype))));
}

bool is_ordered(const Part& part, Order order) {
  if (is_empty(part)) return true;
  Axis axes[kRankMax];
  const std::size_t count = relevant_axes(part, axes);
  if (order == Order::kC) std::reverse(axes, axes + count);
  return fills_in_turn(
      {axes, count}, static_cast<std::int64_t>(dtype_size(static_cast<std::uint32_t>(part.dtype))));
}

Result<std::uint64_t> place(std::span<Part> parts) {
  std::uint64_t end = 0;
  for (Part& part : parts) {
    part.offset = 0;
    if (!has_bytes(part.kind)) continue;
    WARPOOL_ASSIGN(const std::uint64_t count, element_count(part.shape, part.dtype));
    part.offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    end = part.offset + count * dtype_size(static_cast<std::uint32_t>(part.dtype));
    if (end > kItemBytesMax)
      return Error::format(Code::kLimitReached, "the parts together are larger than %llu TiB",
                           static_cast<unsigned long long>(kItemBytesMax >> 40));
  }
  return end;
}

void copy_strided(const std::byte* source, std::span<const std::int64_t> source_strides,
                  std::byte* destination, std::span<const std::int64_t> destination_strides,
                  std::span<const std::int64_t> shape, std::size_t element_bytes) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent == 0; }))
    return;
  // Order the dimensions by the destination's stride, innermost first, so that writes stream.
  std::size_t order[kRankMax];
  const std::size_t rank = shape.size();
  for (std::size_t i = 0; i < rank; ++i)
    order[i] = i;
  std::sort(order, order + rank, [&](std::size_t a, std::size_t b) {
    return destination_strides[a] < destination_strides[b];
  });
  // Adjacent dimensions that are contiguous in both merge into one, down to a plain memcpy where nothing is strided.
  struct Loop {
    std::int64_t from, to, extent, index;
  };
  Loop loops[kRankMax];
  std::size_t depth = 0;
  auto run_bytes = static_cast<std::int64_t>(element_bytes);
  for (std::size_t k = 0; k < rank; ++k) {
    const std::size_t i = order[k];
    if (shape[i] == 1) continue;
    if (depth == 0 && source_strides[i] == run_bytes && destination_strides[i] == run_bytes) {
      run_bytes *= shape[i];
      continue;
    }
    loops[depth++] = {source_strides[i], destination_strides[i], shape[i], 0};
  }
  const auto copy_run = [&](const std::byte* from, std::byte* to) {
    // Constant sizes become single moves; one memcpy call an element would dominate a transpose.
    switch (run_bytes) {
      case 1:
        *to = *from;
        break;
      case 2:
        std::copy_n(from, 2, to);
        break;
      case 4:
        std::copy_n(from, 4, to);
        break;
      case 8:
        std::copy_n(from, 8, to);
        break;
      case 16:
        std::copy_n(from, 16, to);
        break;
      default:
        std::copy_n(from, run_bytes, to);
    }
  };
  if (depth == 0) return copy_run(source, destination);
  for (;;) {
    const Loop& inner = loops[0];
    const std::byte* from = source;
    std::byte* to = destination;
    for (std::int64_t n = 0; n < inner.extent; ++n, from += inner.from, to += inner.to)
      copy_run(from, to);
    std::size_t level = 1;
    for (; level < depth; ++level) {
      Loop& loop = loops[level];
      source += loop.from;
      destination += loop.to;
      if (++loop.index < loop.extent) break;
      source -= loop.from * loop.extent;
      destination -= loop.to * loop.extent;
      loop.index = 0;
    }
    if (level >= depth) return;
  }
}

}  // namespace warpool::array
