// SPDX-License-Identifier: Apache-2.0
// One connection to the broker, as the Python side sees it. Arguments are checked and given defaults in warpool/_connection.py.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_SESSION_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_SESSION_H_

#include <nanobind/nanobind.h>

#include <string>

#include "handle.h"
#include "warpool/warpool.h"

namespace warpool::python {

/** The bytes of a str (as UTF-8) or bytes object without embedded NUL; raises, naming the argument, for anything else. */
std::string text_argument(nanobind::handle value, const char* argument);

/** Owns what a warpool_create_options points to. */
class CreateOptions {
 public:
  /** `attributes`: JSON text or None. */
  CreateOptions(const Handle& handle, uint32_t mode, int64_t ttl_ms, nanobind::handle attributes,
                int64_t wait_ms);
  CreateOptions(const CreateOptions&) = delete;
  CreateOptions& operator=(const CreateOptions&) = delete;
  const warpool_create_options* get() const { return &options_; }

 private:
  std::string attributes_;
  Wait wait_;
  warpool_create_options options_;
};

class Session {
 public:
  Session(nanobind::handle socket, nanobind::handle label, uint32_t flags, int64_t reconnect_ms);

  /** The open connection; raises once it is closed. */
  HandleRef handle() const;
  bool closed() const { return handle_ == nullptr; }
  /** Drops drafts, ends waits of other threads, and the session when those have returned. */
  void close();

  /** None if `object` is not one plain array, scalar or text (see Source), else the version. */
  nanobind::object put(nanobind::handle name, nanobind::handle object, uint32_t mode,
                       int64_t ttl_ms, nanobind::handle attributes, int64_t wait_ms);
  /** `parts`: (path, kind, object or None, dtype, shape) each; the last two for kinds without elements. */
  uint64_t put_parts(nanobind::handle name, nanobind::handle parts, uint32_t mode, int64_t ttl_ms,
                     nanobind::handle attributes, int64_t wait_ms);
  /** An Array or str for an item of one such part, else a list of (path, kind, dtype, shape, Array or None). */
  nanobind::object get(nanobind::handle name, uint64_t version, int64_t wait_ms);

 private:
  HandleRef handle_;
};

void bind_session(nanobind::module_& module);

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_SESSION_H_
