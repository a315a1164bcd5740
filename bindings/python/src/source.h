// SPDX-License-Identifier: Apache-2.0
// A Python object as the source of one part of an item.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_SOURCE_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_SOURCE_H_

#include <nanobind/nanobind.h>

#include <cstdint>

#include "warpool/warpool.h"

namespace warpool::python {

/** Describes one object without copying it; keeps what it describes alive. Neither moves nor copies: parts point into it. */
class Source {
 public:
  Source() = default;
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /**
   * Fills `part` from `object` if that is a NumPy array, a warpool.Array, a bool, int, float, complex or str; false, with no
   * exception set, if it is anything else, or an array of elements that cannot be shared. Sets kind, dtype, shape, strides, data.
   */
  bool describe(nanobind::handle object, warpool_part& part);

 private:
  bool describe_buffer(PyObject* object, warpool_part& part);
  bool describe_integer(PyObject* object, warpool_part& part);
  void set_scalar(uint32_t dtype, const void* value, warpool_part& part);
  void describe_text(PyObject* object, warpool_part& part);

  Py_buffer view_{};
  alignas(16) char scalar_[16];
};

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_SOURCE_H_
