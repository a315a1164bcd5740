// SPDX-License-Identifier: Apache-2.0
// The memory of an array that is being filled; warpool.Draft stands on it.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_DRAFT_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_DRAFT_H_

#include <nanobind/nanobind.h>

#include <sys/types.h>

#include <memory>

#include "handle.h"
#include "layout.h"
#include "warpool/warpool.h"

namespace warpool::python {

class Session;

/**
 * What views of a draft own: the addresses, which stay valid also after the draft is published or dropped. Apart from Draft, so that
 * a view does not keep a forgotten draft from being dropped, and so that a draft may keep a view without a reference cycle.
 */
struct DraftMemory {
  std::shared_ptr<void> memory;
  warpool_part part;
  bool read_only;

  Layout layout() const {
    return {const_cast<void*>(part.data), part.dtype, part.ndim, part.shape, part.strides};
  }
};

/**
 * One draft of libwarpool.
 *
 *   filling --publish--> published        filling --discard--> dropped        filling --fork, in the child--> lost
 */
class Draft {
 public:
  enum class State { kFilling, kPublished, kDropped };

  Draft(HandleRef handle, warpool_draft* draft, const warpool_part& part);
  ~Draft();
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  /** Publishes and returns the version. Releases the GIL. */
  uint64_t publish();
  /** Drops the draft; nothing happens when it is published or dropped already. */
  void discard();

  State state() const { return state_; }
  uint64_t version() const { return version_; }
  /** Writable while the draft is being filled: a view taken later could only write privately, which nobody wants. */
  DraftMemory memory() const { return {memory_, part_, state_ != State::kFilling}; }
  const warpool_part& part() const { return part_; }
  /** Raises unless this process may write into the memory. */
  void check_filling() const;
  /** Raises in a forked child, where the memory is not mapped. */
  void check_process() const;

 private:
  HandleRef handle_;
  warpool_draft* draft_;  // null unless filling
  warpool_part part_;
  std::shared_ptr<void> memory_;
  State state_ = State::kFilling;
  bool publishing_ = false;
  uint64_t version_ = 0;
  pid_t process_;
};

void bind_draft(nanobind::module_& module);

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_DRAFT_H_
