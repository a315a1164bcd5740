// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace warpool::client {

/// With all signals blocked: the host's signals stay with the host's threads. False when the system has no thread to give.
bool start_thread(pthread_t& thread, void* (*function)(void*), void* argument);
void join_thread(pthread_t thread);

}  // namespace warpool::client
