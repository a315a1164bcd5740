// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/fd.h"

namespace warpool::os {

/// An eventfd: readable after wake_up until taken.
Result<Fd> create_wake();
/// Async-signal-safe.
void wake_up(const Fd& wake);
/// True when it had been woken.
bool take_wake(const Fd& wake);

}  // namespace warpool::os
