// SPDX-License-Identifier: Apache-2.0
// Element types and memory layout, and their forms in the buffer protocol and in DLPack.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_LAYOUT_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_LAYOUT_H_

#include <Python.h>

#include <cstdint>

#include "warpool/warpool.h"

namespace warpool::python {

static_assert(sizeof(Py_ssize_t) == sizeof(int64_t),
              "shapes are handed to the buffer protocol in place");

/** Where the elements of an array lie. A view: owns neither the elements nor the two lists of `ndim` numbers. */
struct Layout {
  void* data;
  uint32_t dtype;
  uint32_t ndim;
  const int64_t* shape;
  const int64_t* strides;  // bytes

  int64_t element_count() const;
  int64_t size_bytes() const;
  /** Dense, the last index fastest. Extents of 1 and empty arrays are dense in every order. */
  bool is_c_contiguous() const;
  /** Dense, the first index fastest. */
  bool is_f_contiguous() const;
};

/** Format of one element in the buffer protocol; null for an unknown dtype. */
const char* buffer_format(uint32_t dtype);

/** The dtype that a buffer's format and item size stand for; 0 where there is none (other byte order, structures, text, ...). */
uint32_t dtype_from_buffer(const char* format, Py_ssize_t item_size);

/** The dtype with this name ("float64"); 0 if unknown. */
uint32_t dtype_from_name(const char* name);

/** Fills `view` from `layout` as `flags` ask, with `owner` kept alive by it. Sets BufferError and returns -1 if it cannot be right. */
int fill_buffer(Py_buffer* view, PyObject* owner, const Layout& layout, bool read_only, int flags);

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_LAYOUT_H_
