// SPDX-License-Identifier: Apache-2.0
// Sizes on the command line of the broker ("4G", "50%").
#include "daemon/options.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpool;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<std::uint64_t> bytes = daemon::parse_size(text, std::uint64_t{64} << 30);
  if (bytes.ok())
    fuzz::require(bytes.value() >= 1 && bytes.value() <= 1'000'000'000'000'000'000,
                  "a size outside the limits was accepted");
  return 0;
}
