// SPDX-License-Identifier: Apache-2.0
// The list of names that an earlier broker left beside the socket.
#include "input.h"
#include "store/names_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpool;
  const store::NamesFile::Remains remains =
      store::NamesFile::parse({reinterpret_cast<const std::byte*>(data), size});
  std::size_t bytes = 0;
  for (const store::LostName& lost : remains.names)
    bytes += lost.name.size();
  fuzz::require(bytes <= size, "more names came out of the file than are in it");
  return 0;
}
