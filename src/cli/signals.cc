// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <pthread.h>

namespace warpool::cli {
namespace {

// A signal handler can reach nothing but static storage.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t g_interrupted = 0;

extern "C" void remember_interrupt(int) {
  g_interrupted = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember_interrupt;
  sigemptyset(&action.sa_mask);
  // SA_RESETHAND: the second Ctrl-C has its ordinary effect, should a call not come back.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() {
  return g_interrupted != 0;
}

BlockedSignals::BlockedSignals(const sigset_t& signals) {
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

BlockedSignals::~BlockedSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace warpool::cli
