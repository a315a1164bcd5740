// SPDX-License-Identifier: Apache-2.0
// Between layouts and messages. Free of the C++ runtime: libwarpool uses it too.
#pragma once

#include <span>
#include <vector>

#include "array/layout.h"
#include "wire/codec.h"

namespace warpool::store {

using PartsOffset = flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<wire::fb::Part>>>;

PartsOffset add_parts(flatbuffers::FlatBufferBuilder& builder, std::span<const array::Part> parts);

/// Reads and validates the parts of an item of `size` bytes that another program described.
Result<std::vector<array::Part>> read_parts(
    const flatbuffers::Vector<flatbuffers::Offset<wire::fb::Part>>* parts, std::uint64_t size);

}  // namespace warpool::store
