// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include <cstring>

namespace warpool::python {
namespace {

// Consumers want an address for empty arrays too: NumPy would otherwise allocate writable memory of its own.
alignas(WARPOOL_ALIGNMENT) char empty_memory[WARPOOL_ALIGNMENT];

constexpr const char* kFormats[] = {nullptr, "?", "b", "h", "i", "q",  "B", "H",
                                    "I",     "Q", "e", "f", "d", "Zf", "Zd"};
constexpr uint32_t kDtypeCount = sizeof(kFormats) / sizeof(kFormats[0]);
static_assert(kDtypeCount == WARPOOL_COMPLEX128 + 1);

uint32_t by_size(Py_ssize_t item_size, uint32_t one, uint32_t two, uint32_t four, uint32_t eight) {
  switch (item_size) {
    case 1:
      return one;
    case 2:
      return two;
    case 4:
      return four;
    case 8:
      return eight;
    default:
      return 0;
  }
}

uint32_t complex_by_size(char letter, Py_ssize_t item_size) {
  if (letter == 'f' && item_size == 8) return WARPOOL_COMPLEX64;
  if (letter == 'd' && item_size == 16) return WARPOOL_COMPLEX128;
  return 0;
}

bool is_contiguous(const Layout& layout, bool last_fastest) {
  if (layout.element_count() == 0) return true;
  int64_t expected = static_cast<int64_t>(warpool_dtype_size(layout.dtype));
  for (uint32_t step = 0; step < layout.ndim; ++step) {
    const uint32_t axis = last_fastest ? layout.ndim - 1 - step : step;
    if (layout.shape[axis] == 1) continue;
    if (layout.strides[axis] != expected) return false;
    expected *= layout.shape[axis];
  }
  return true;
}

/** What a request for contiguous memory lacks; null when `layout` serves it. */
const char* missing_order(const Layout& layout, int flags) {
  const bool c_order = layout.is_c_contiguous();
  const bool f_order = layout.is_f_contiguous();
  if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c_order) return "row-major";
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !f_order) return "column-major";
  if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c_order && !f_order)
    return "contiguous";
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !c_order) return "row-major";
  return nullptr;
}

}  // namespace

int64_t Layout::element_count() const {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < ndim; ++axis)
    count *= shape[axis];
  return count;
}

int64_t Layout::size_bytes() const {
  return element_count() * static_cast<int64_t>(warpool_dtype_size(dtype));
}

bool Layout::is_c_contiguous() const {
  return is_contiguous(*this, true);
}

bool Layout::is_f_contiguous() const {
  return is_contiguous(*this, false);
}

const char* buffer_format(uint32_t dtype) {
  return dtype < kDtypeCount ? kFormats[dtype] : nullptr;
}

uint32_t dtype_from_buffer(const char* format, Py_ssize_t item_size) {
  if (format == nullptr) return item_size == 1 ? WARPOOL_UINT8 : 0;
  // Native byte order, with or without alignment; ">" (and "!") would need the bytes turned.
  if (strchr("@=^<", *format) != nullptr && *format != '\0') ++format;
  if (format[0] == 'Z' && format[1] != '\0' && format[2] == '\0')
    return complex_by_size(format[1], item_size);
  if (format[0] == '\0' || format[1] != '\0') return 0;
  switch (format[0]) {
    case '?':
      return item_size == 1 ? WARPOOL_BOOL : 0;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return by_size(item_size, WARPOOL_INT8, WARPOOL_INT16, WARPOOL_INT32, WARPOOL_INT64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return by_size(item_size, WARPOOL_UINT8, WARPOOL_UINT16, WARPOOL_UINT32, WARPOOL_UINT64);
    case 'e':
    case 'f':
    case 'd':
      return by_size(item_size, 0, WARPOOL_FLOAT16, WARPOOL_FLOAT32, WARPOOL_FLOAT64);
    default:
      return 0;
  }
}

uint32_t dtype_from_name(const char* name) {
  for (uint32_t dtype = 1; dtype < kDtypeCount; ++dtype) {
    if (strcmp(name, warpool_dtype_name(dtype)) == 0) return dtype;
  }
  return 0;
}

int fill_buffer(Py_buffer* view, PyObject* owner, const Layout& layout, bool read_only, int flags) {
  view->obj = nullptr;
  if (read_only && (flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "published arrays are read-only; copy it first: numpy.array(a)");
    return -1;
  }
  if (const char* order = missing_order(layout, flags)) {
    PyErr_Format(PyExc_BufferError,
                 "a %s buffer was asked for, but the array lies in memory in another order; use "
                 "a.T, or copy it with "
                 "numpy.ascontiguousarray(a) or numpy.asfortranarray(a)",
                 order);
    return -1;
  }
  const bool with_shape = (flags & PyBUF_ND) == PyBUF_ND;
  const bool with_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  view->buf = layout.data != nullptr ? layout.data : empty_memory;
  view->len = layout.size_bytes();
  view->itemsize = static_cast<Py_ssize_t>(warpool_dtype_size(layout.dtype));
  view->readonly = read_only;
  view->format =
      (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(buffer_format(layout.dtype)) : nullptr;
  view->ndim = with_shape ? static_cast<int>(layout.ndim) : 1;
  view->shape = with_shape && layout.ndim > 0 ? const_cast<Py_ssize_t*>(layout.shape) : nullptr;
  view->strides =
      with_strides && layout.ndim > 0 ? const_cast<Py_ssize_t*>(layout.strides) : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  view->obj = Py_NewRef(owner);
  return 0;
}

}  // namespace warpool::python
