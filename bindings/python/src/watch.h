// SPDX-License-Identifier: Apache-2.0
// Events on names.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_WATCH_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_WATCH_H_

#include <nanobind/nanobind.h>

namespace warpool::python {

/** warpool._core.Watch, under which warpool.Watch stands. */
void bind_watch(nanobind::module_& module);

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_WATCH_H_
