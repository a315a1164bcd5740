// SPDX-License-Identifier: Apache-2.0
// The extension module warpool._core: the C interface of libwarpool for the Python files beside it.
#include <nanobind/nanobind.h>

#include "array.h"
#include "catalogue.h"
#include "draft.h"
#include "gil.h"
#include "session.h"
#include "warpool/warpool.h"
#include "watch.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  // Arrays may well live until the end of the program; the memory is the kernel's to free then.
  nb::set_leak_warnings(false);
  warpool::python::install_fork_handler();
  warpool::python::bind_session(module);
  warpool::python::bind_array(module);
  warpool::python::bind_draft(module);
  warpool::python::bind_watch(module);
  module.attr("COPY_CONVERT") = static_cast<int>(WARPOOL_COPY_CONVERT);
  module.def("version", warpool_version);
  module.def("status_name", warpool_status_name, nb::arg("code"));
  module.def("prepare_exit", warpool::python::prepare_exit);
}
