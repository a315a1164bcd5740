// SPDX-License-Identifier: Apache-2.0
#include "client/threads.h"

#include <signal.h>

// glibc 2.34 moved the thread functions into libc and gave them a new version. The old version works with every glibc, and keeps
// libwarpool loadable on systems from glibc 2.28 on. The sanitizers intercept the plain names.
#if defined(WARPOOL_SHARED_LIBRARY) && defined(__x86_64__)
__asm__(".symver pthread_create,pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_join,pthread_join@GLIBC_2.2.5");
__asm__(".symver pthread_sigmask,pthread_sigmask@GLIBC_2.2.5");
#elif defined(WARPOOL_SHARED_LIBRARY) && defined(__aarch64__)
__asm__(".symver pthread_create,pthread_create@GLIBC_2.17");
__asm__(".symver pthread_join,pthread_join@GLIBC_2.17");
__asm__(".symver pthread_sigmask,pthread_sigmask@GLIBC_2.17");
#endif

namespace warpool::client {

bool start_thread(pthread_t& thread, void* (*function)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, nullptr, function, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void join_thread(pthread_t thread) {
  pthread_join(thread, nullptr);
}

}  // namespace warpool::client
