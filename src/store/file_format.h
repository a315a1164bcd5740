// SPDX-License-Identifier: Apache-2.0
// Files of items. One plain array in C or F order is a .npy file, with its attributes after the data, where NumPy does not look:
//
//   .npy    header | data | "WPATTR01" | JSON text to the end
//
// Everything else is a .wpool file, whose description is the wire's own, without contents:
//
//   .wpool  "WPOOLF01" | bytes of the description, 64 bit little-endian | fb::Item | zeros to a multiple of 256 | data
//
// No I/O here: these functions take the first bytes of a file.
#pragma once

#include <span>
#include <vector>

#include "array/layout.h"

namespace warpool::store {

struct FileContents {
  std::vector<array::Part> parts;
  std::uint64_t size = 0;         ///< bytes of the item
  std::uint64_t data_offset = 0;  ///< where they start in the file
  Text attributes;                ///< of a .wpool file; those of a .npy file follow the data
  bool is_npy = false;
};

/// Bytes from the start of a file that parse_file may need.
constexpr std::size_t kFileStartBytes = kMessageBytesMax;
constexpr char kNpyAttributesMagic[] = "WPATTR01";
constexpr std::size_t kFileMagicBytes = 8;

/// `file_bytes`: size of the whole file, which must hold all data that the header promises.
Result<FileContents> parse_file(std::span<const std::uint8_t> start, std::uint64_t file_bytes);
/// Everything before the data. The parts must carry their offsets.
Result<std::vector<std::uint8_t>> format_file_start(std::span<const array::Part> parts,
                                                    std::uint64_t size,
                                                    std::string_view attributes);

}  // namespace warpool::store
