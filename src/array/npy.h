// SPDX-License-Identifier: Apache-2.0
// Header of NumPy's .npy files (source: the NumPy format description "numpy.lib.format", versions 1.0 to 3.0). No I/O.
#pragma once

#include <span>
#include <string_view>

#include "array/layout.h"

namespace warpool::array {

/// Longest header that is accepted; NumPy writes fewer than 200 bytes for rank 32.
constexpr std::size_t kNpyHeaderBytesMax = 8192;

struct NpyHeader {
  Part part;                    ///< plain array, compact in C or F order, offset 0
  std::size_t data_offset = 0;  ///< where the elements start in the file
};

/// Parses the first bytes of a file. `start` should hold kNpyHeaderBytesMax bytes, or the whole file where it is shorter.
Result<NpyHeader> parse_npy(std::span<const std::uint8_t> start);
/// Formats a version 1.0 header, padded to a multiple of 64 bytes. The part must be compact in C or F order.
Result<Text> format_npy(const Part& part);
/// Does it begin like a .npy file?
bool looks_like_npy(std::span<const std::uint8_t> start);

}  // namespace warpool::array
