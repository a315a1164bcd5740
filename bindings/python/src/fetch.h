// SPDX-License-Identifier: Apache-2.0
// What the catalogue and the watch share: owning what a call gives, and text that others chose.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_FETCH_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_FETCH_H_

#include <nanobind/nanobind.h>

#include <cstring>
#include <memory>

#include "gil.h"
#include "handle.h"
#include "warpool/warpool.h"

namespace warpool::python {

/** Command lines and labels are bytes that somebody else chose: what is no UTF-8 is shown as a replacement character. */
inline nanobind::object text(const char* bytes) {
  nanobind::object result = nanobind::steal(
      PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(std::strlen(bytes)), "replace"));
  if (!result.is_valid()) throw nanobind::python_error();
  return result;
}

/** Runs `call(&out, &error)` without the GIL; `out` is freed by `release` if a signal handler raised meanwhile. */
template <typename Object, typename Call>
std::unique_ptr<Object, void (*)(Object*)> fetch(const Handle& handle, void (*release)(Object*),
                                                 Call&& call) {
  Object* out = nullptr;
  warpool_error error{};
  warpool_status status = WARPOOL_OK;
  {
    const Unlocked unlocked;
    status = call(&out, &error);
  }
  std::unique_ptr<Object, void (*)(Object*)> owned(out, release);
  check_call(handle, status, error);
  return owned;
}

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_FETCH_H_
