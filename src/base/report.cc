// SPDX-License-Identifier: Apache-2.0
#include "base/report.h"

namespace warpool {

const char* event_name(EventKind kind) {
  static constexpr const char* kNames[kEventKinds] = {
      "started",         "stopping",           "session opened",  "session closed",
      "session refused", "protocol violation", "array published", "array removed",
      "arrays lost",     "arrays recovered",   "memory refused",  "keeper lost",
      "keeper started",  "degraded",
  };
  return kNames[static_cast<int>(kind)];
}

}  // namespace warpool
