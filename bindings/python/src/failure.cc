// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include <cstdio>

namespace nb = nanobind;

namespace warpool::python {

void raise(int32_t code, const char* message) {
  // Messages may quote bytes of paths that are not UTF-8.
  nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(strlen(message)), "replace"));
  if (!text.is_valid()) throw nb::python_error();
  nb::object exception = nb::module_::import_("warpool._errors").attr("from_status")(code, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

void raise_formatted(int32_t code, const char* format, ...) {
  char message[WARPOOL_MAX_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  raise(code, message);
}

void raise_builtin(PyObject* exception, const char* format, ...) {
  char message[WARPOOL_MAX_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  PyErr_SetString(exception, message);
  throw nb::python_error();
}

void check(warpool_status status, const warpool_error& error) {
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  if (status != WARPOOL_OK) raise(status, error.message);
}

}  // namespace warpool::python
