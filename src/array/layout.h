// SPDX-License-Identifier: Apache-2.0
// What an item looks like in memory: element types, shapes, strides and the tree of parts. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace warpool::array {

/// The numbers are those of warpool_dtype and of the wire.
enum class Dtype : std::uint8_t {
  kBool = 1,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};
constexpr std::uint8_t kDtypeMax = 14;

/// Bytes of one element; 0 for a number that is no dtype.
std::size_t dtype_size(std::uint32_t dtype);
/// NumPy's name; "unknown" for a number that is no dtype.
const char* dtype_name(std::uint32_t dtype);

enum class Kind : std::uint8_t { kArray = 0, kText = 1, kChars = 2, kStruct = 3, kSparse = 4 };
constexpr std::uint8_t kKindMax = 4;

enum class Order : std::uint8_t { kC = 0, kF = 1 };

/// One part of an item. A plain array is one part with the empty path. Strides and offset are bytes.
struct Part {
  Text path;
  Kind kind = Kind::kArray;
  Dtype dtype = Dtype::kUint8;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::uint64_t offset = 0;
};

/// Does this part own bytes? Structs and the heads of sparse matrices do not.
inline bool has_bytes(Kind kind) {
  return kind != Kind::kStruct && kind != Kind::kSparse;
}

/// Product of the extents; kLimitReached when it, or it times the element size, exceeds kItemBytesMax.
Result<std::uint64_t> element_count(std::span<const std::int64_t> shape, Dtype dtype);
std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape, Dtype dtype,
                                          Order order);
/// Do the elements fill count * size bytes without gaps, in any order of dimensions, with no negative stride?
bool is_compact(const Part& part);
/// Is it compact with the last (C) or first (F) index running fastest? Dimensions of extent 1 do not matter.
bool is_ordered(const Part& part, Order order);

/// Checks everything that may come from another program, so that no view of the item can leave its `size` bytes:
/// number of parts, paths, kinds, ranks, extents, strides, offsets, and that sparse pieces fit together.
Result<void> validate(std::span<const Part> parts, std::uint64_t size);

/// Gives each part its offset (multiples of kAlignment) and returns the size of the item.
Result<std::uint64_t> place(std::span<Part> parts);

/// [A-Za-z0-9_.-]+ joined by "/", no "." or ".." component, at most kNameBytesMax bytes.
Result<void> check_name(std::string_view name);
/// [A-Za-z][A-Za-z0-9_]{0,62}: valid as a field in MATLAB, Octave and as an identifier in Python.
bool is_field_name(std::string_view name);

/// Shell-style match: "*" any characters ("/" too), "?" one, "[a-z]" and "[!a-z]" sets. Linear in name times stars.
bool matches(std::string_view pattern, std::string_view name);

/// Copies an array of any strides into a compact place with the given strides. Both start at the element with all
/// indices 0. Runs along the dimension in which the destination is contiguous.
void copy_strided(const std::byte* source, std::span<const std::int64_t> source_strides,
                  std::byte* destination, std::span<const std::int64_t> destination_strides,
                  std::span<const std::int64_t> shape, std::size_t element_bytes);

}  // namespace warpool::array
