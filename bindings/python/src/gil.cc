// SPDX-License-Identifier: Apache-2.0
#include "gil.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace warpool::python {
namespace {

// State of the interpreter, of which a process has one: it cannot belong to a smaller owner.
std::atomic<int> taking_lock{0};
std::atomic<bool> exiting{false};
pthread_t exit_thread;  // written before `exiting`

// The state of the thread that released the lock through Unlocked and runs C code now; null while it holds the lock.
thread_local PyThreadState* released = nullptr;

constexpr useconds_t kExitPollMicroseconds = 100;

void take_lock(PyThreadState* state) {
  taking_lock.fetch_add(1);
  if (exiting.load() && !pthread_equal(pthread_self(), exit_thread)) {
    taking_lock.fetch_sub(1);
    for (;;)
      pause();
  }
  PyEval_RestoreThread(state);
  taking_lock.fetch_sub(1);
}

void forget_other_threads() {
  taking_lock.store(0);
}

}  // namespace

Unlocked::Unlocked() : state_(PyEval_SaveThread()), outer_(released) {
  released = state_;
}

Unlocked::~Unlocked() {
  released = outer_;
  take_lock(state_);
}

int run_signal_handlers() {
  PyThreadState* state = released;
  if (state == nullptr) return PyErr_CheckSignals();
  released = nullptr;
  take_lock(state);
  // An exception of an earlier handler is kept: it ends the call anyway.
  const int raised = PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
  PyEval_SaveThread();
  released = state;
  return raised;
}

void prepare_exit() {
  exit_thread = pthread_self();
  exiting.store(true);
  PyThreadState* state = PyEval_SaveThread();
  // Threads that passed the check before the flag was set get the lock now, while it can still be had.
  while (taking_lock.load() != 0)
    usleep(kExitPollMicroseconds);
  PyEval_RestoreThread(state);
}

void install_fork_handler() {
  pthread_atfork(nullptr, nullptr, forget_other_threads);
}

}  // namespace warpool::python
