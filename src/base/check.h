// SPDX-License-Identifier: Apache-2.0
// CHECK is for our own bugs only and always on. No input of a peer may ever trigger one: such input is an Error.
#pragma once

namespace warpool {

/// Prints where and what to stderr and ends the process by SIGABRT.
[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace warpool

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) ::warpool::check_failed(__FILE__, __LINE__, #condition); \
  } while (false)
