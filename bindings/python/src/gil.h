// SPDX-License-Identifier: Apache-2.0
// Releasing and taking back the interpreter lock (GIL) around calls of libwarpool.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_GIL_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_GIL_H_

#include <Python.h>

namespace warpool::python {

/**
 * Releases the GIL for its lifetime, so that other threads run while this one waits for the broker or copies.
 *
 * Taking the lock back during interpreter shutdown would end a daemon thread by unwinding it through frames that cannot be
 * unwound, which aborts the whole process. After `prepare_exit` such a thread sleeps instead, until the process ends.
 */
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
  PyThreadState* outer_;
};

/**
 * Runs pending Python signal handlers; for the `interrupted` callbacks of libwarpool, called on the thread that made the call.
 * Non-zero when a handler raised: the exception (KeyboardInterrupt) is then set and must be raised once the call has returned.
 */
int run_signal_handlers();

/** From now on only the calling thread may take the GIL through this module. Call from `atexit`, with the GIL held. */
void prepare_exit();

/** Makes the bookkeeping of `prepare_exit` right in forked children. Call once, when the module is loaded. */
void install_fork_handler();

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_GIL_H_
