// SPDX-License-Identifier: Apache-2.0
#include "source.h"

#include <algorithm>
#include <cstring>

#include "array.h"
#include "layout.h"

namespace nb = nanobind;

namespace warpool::python {
namespace {

/**
 * Exactly numpy.ndarray: subclasses carry more than elements (masks, units) and are judged in warpool/_pack.py. By name, because
 * importing NumPy to ask would cost far more than the rest of a put.
 */
bool is_numpy_array(PyObject* object) {
  return std::strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") == 0;
}

}  // namespace

Source::~Source() {
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

void Source::set_scalar(uint32_t dtype, const void* value, warpool_part& part) {
  std::memcpy(scalar_, value, warpool_dtype_size(dtype));
  part.kind = WARPOOL_KIND_ARRAY;
  part.dtype = dtype;
  part.ndim = 0;
  part.data = scalar_;
}

bool Source::describe_integer(PyObject* object, warpool_part& part) {
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) {
    set_scalar(WARPOOL_INT64, &value, part);
    return true;
  }
  const uint64_t large = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  set_scalar(WARPOOL_UINT64, &large, part);
  return true;
}

void Source::describe_text(PyObject* object, warpool_part& part) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) throw nb::python_error();
  part.kind = WARPOOL_KIND_TEXT;
  part.dtype = WARPOOL_UINT8;
  part.ndim = 1;
  part.shape[0] = size;
  part.strides[0] = 1;
  part.data = text;
}

bool Source::describe_buffer(PyObject* object, warpool_part& part) {
  if (PyObject_GetBuffer(object, &view_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    view_.obj = nullptr;
    return false;
  }
  const uint32_t dtype = dtype_from_buffer(view_.format, view_.itemsize);
  if (dtype == 0 || view_.ndim > WARPOOL_MAX_NDIM) return false;
  part.kind = WARPOOL_KIND_ARRAY;
  part.dtype = dtype;
  part.ndim = static_cast<uint32_t>(view_.ndim);
  std::copy_n(view_.shape, view_.ndim, part.shape);
  std::copy_n(view_.strides, view_.ndim, part.strides);
  part.data = view_.buf;
  return true;
}

bool Source::describe(nb::handle object, warpool_part& part) {
  PyObject* value = object.ptr();
  if (is_numpy_array(value)) return describe_buffer(value, part);
  if (PyBool_Check(value)) {
    const char truth = value == Py_True ? 1 : 0;
    set_scalar(WARPOOL_BOOL, &truth, part);
    return true;
  }
  if (PyLong_CheckExact(value)) return describe_integer(value, part);
  if (PyFloat_CheckExact(value)) {
    const double number = PyFloat_AS_DOUBLE(value);
    set_scalar(WARPOOL_FLOAT64, &number, part);
    return true;
  }
  if (PyComplex_CheckExact(value)) {
    const Py_complex number = PyComplex_AsCComplex(value);
    set_scalar(WARPOOL_COMPLEX128, &number, part);
    return true;
  }
  if (PyUnicode_CheckExact(value)) {
    describe_text(value, part);
    return true;
  }
  return nb::isinstance<Array>(object) && describe_buffer(value, part);
}

}  // namespace warpool::python
