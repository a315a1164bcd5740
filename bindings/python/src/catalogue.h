// SPDX-License-Identifier: Apache-2.0
// Listings, sessions and facts about the broker as plain Python values.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_CATALOGUE_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_CATALOGUE_H_

#include <nanobind/nanobind.h>

#include "session.h"

namespace warpool::python {

/** A list of tuples, one an item, in the order of the fields of warpool.Info. `pattern`: str or None. */
nanobind::object list_items(const Session& session, nanobind::handle pattern, uint32_t flags);
/** One such tuple. */
nanobind::object stat_item(const Session& session, nanobind::handle name, uint64_t version);
/** A list of dicts. `run`: str or None. */
nanobind::object list_sessions(const Session& session, nanobind::handle run);
/** A dict. */
nanobind::object broker_info(const Session& session);

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_CATALOGUE_H_
