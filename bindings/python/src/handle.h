// SPDX-License-Identifier: Apache-2.0
// Ownership of a connection of libwarpool, and how a Python caller waits on it.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_HANDLE_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_HANDLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_set>

#include "warpool/warpool.h"

namespace warpool::python {

class Draft;

/**
 * Owns a warpool_connection. Every call in progress and every draft and watch shares it, so that closing a session while other
 * threads wait on it ends those waits before the connection goes.
 */
class Handle {
 public:
  /** Connects; raises if it cannot. `options` without the callback, which is set here. Releases the GIL. */
  static std::shared_ptr<Handle> connect(warpool_connect_options options);
  ~Handle() { warpool_close(connection_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  warpool_connection* get() const { return connection_; }
  bool closing() const { return closing_.load(); }
  /** Ends the waits in progress, and those that have yet to begin. */
  void close_soon();
  void count_copy(warpool_copy_reason reason, int64_t bytes) const;
  /** The drafts to drop when the session is closed. Guarded by the GIL. */
  std::unordered_set<Draft*>& drafts() { return drafts_; }

 private:
  Handle() = default;

  warpool_connection* connection_ = nullptr;
  std::atomic<bool> closing_{false};
  std::unordered_set<Draft*> drafts_;
};

using HandleRef = std::shared_ptr<Handle>;

/** A warpool_wait that Ctrl-C and closing the session interrupt. Outlives the call it is given to. */
class Wait {
 public:
  /** `timeout_ms` as in warpool_wait: 0 means not to wait, negative without limit. */
  Wait(const Handle& handle, int64_t timeout_ms);
  /** Null when there is nothing to wait for. */
  const warpool_wait* get() const { return wait_.timeout_ms == 0 ? nullptr : &wait_; }
  /** Also for a zero timeout, where the call wants a struct. */
  const warpool_wait* always() const { return &wait_; }

 private:
  warpool_wait wait_;
};

/** Raises as `check` does, and says so when the wait ended because the session was closed. Needs the GIL. */
void check_call(const Handle& handle, warpool_status status, const warpool_error& error);

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_HANDLE_H_
