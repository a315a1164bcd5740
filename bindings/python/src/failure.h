// SPDX-License-Identifier: Apache-2.0
// From statuses of libwarpool to Python exceptions.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_FAILURE_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_FAILURE_H_

#include <nanobind/nanobind.h>

#include <cstdarg>

#include "warpool/warpool.h"

namespace warpool::python {

/** Raises the exception class of `code` (see warpool/_errors.py) with `message`. Needs the GIL. */
[[noreturn]] void raise(int32_t code, const char* message);

/** The same with a printf-style message. */
[[noreturn]] void raise_formatted(int32_t code, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/** Raises a Python exception of the given built-in class. */
[[noreturn]] void raise_builtin(PyObject* exception, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Call after every call of libwarpool, with the GIL: raises what a signal handler raised meanwhile (it wins), else what the
 * status says. Returns when all is well.
 */
void check(warpool_status status, const warpool_error& error);

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_FAILURE_H_
