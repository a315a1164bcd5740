// SPDX-License-Identifier: Apache-2.0
#include "handle.h"

#include "failure.h"
#include "gil.h"

namespace warpool::python {
namespace {

int interrupted(void* context) {
  const auto* handle = static_cast<const Handle*>(context);
  return static_cast<int>(handle->closing() || run_signal_handlers() != 0);
}

}  // namespace

std::shared_ptr<Handle> Handle::connect(warpool_connect_options options) {
  std::shared_ptr<Handle> handle(new Handle());
  options.interrupted = interrupted;
  options.context = handle.get();
  warpool_error error{};
  warpool_status status = WARPOOL_OK;
  {
    const Unlocked unlocked;
    status = warpool_connect(&options, &handle->connection_, &error);
  }
  check(status, error);
  return handle;
}

void Handle::close_soon() {
  closing_.store(true);
  warpool_interrupt(connection_);
}

void Handle::count_copy(warpool_copy_reason reason, int64_t bytes) const {
  warpool_count_copy(connection_, reason, static_cast<uint64_t>(bytes));
}

Wait::Wait(const Handle& handle, int64_t timeout_ms) : wait_(WARPOOL_WAIT_INIT) {
  wait_.timeout_ms = timeout_ms;
  wait_.interrupted = interrupted;
  wait_.context = const_cast<Handle*>(&handle);
}

void check_call(const Handle& handle, warpool_status status, const warpool_error& error) {
  if (status == WARPOOL_INTERRUPTED && handle.closing() && PyErr_Occurred() == nullptr) {
    raise(WARPOOL_INTERRUPTED,
          "the wait ended because this connection was closed by another thread");
  }
  check(status, error);
}

}  // namespace warpool::python
