// SPDX-License-Identifier: Apache-2.0
// From a published item to an Octave value, without a copy where Octave can borrow the memory.
#ifndef WARPOOL_OCT_VALUE_OUT_H
#define WARPOOL_OCT_VALUE_OUT_H

#include <octave/oct.h>

#include "warpool/warpool.h"

namespace warpool_oct {

/// The value of `item`. Arrays that borrow memory hold references of their own; the caller keeps its one.
octave_value value_of(warpool_array* item);

}  // namespace warpool_oct

#endif
