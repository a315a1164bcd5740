// SPDX-License-Identifier: Apache-2.0
// From libwarpool's errors to Octave's: the identifier is `warpool:<name of the status>`.
#ifndef WARPOOL_OCT_FAILURE_H
#define WARPOOL_OCT_FAILURE_H

#include "warpool/warpool.h"

namespace warpool_oct {

/// Throws Octave's error; for an interrupted wait, Octave's interrupt.
[[noreturn]] void raise(const warpool_error& error);

/// Throws if `status` is not OK.
inline void check(warpool_status status, const warpool_error& error) {
  if (status != WARPOOL_OK) {
    raise(error);
  }
}

/// Asked by the library during waits: lets Octave handle its pending signals, and ends the wait if one of them was Ctrl-C.
int interrupted(void* context);

}  // namespace warpool_oct

#endif
