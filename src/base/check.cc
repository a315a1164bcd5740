// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace warpool {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "warpool: internal error: %s:%d: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace warpool
