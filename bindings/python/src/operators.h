// SPDX-License-Identifier: Apache-2.0
// Arithmetic and comparison of arrays and drafts: what NumPy gives for their views.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_OPERATORS_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_OPERATORS_H_

#include <nanobind/nanobind.h>

#include <vector>

namespace warpool::python {

/** Type slots end with an empty one; this is the list before that. Values need no `numpy()` of their own: their buffer is viewed. */
std::vector<PyType_Slot> operator_slots();

/** Also `d += x` and the like, which write into the memory of the object. */
std::vector<PyType_Slot> in_place_operator_slots();

/** A NumPy array over the buffer of `object`, without a copy. */
nanobind::object as_numpy(nanobind::handle object);

template <typename Function>
PyType_Slot slot(int id, Function function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_OPERATORS_H_
