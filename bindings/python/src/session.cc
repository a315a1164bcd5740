// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <cstring>
#include <utility>
#include <vector>

#include "array.h"
#include "catalogue.h"
#include "draft.h"
#include "failure.h"
#include "gil.h"
#include "source.h"

namespace nb = nanobind;

namespace warpool::python {
namespace {

/** Runs one call of libwarpool without the GIL and raises what it reports. */
template <typename Call>
void exchange(const Handle& handle, Call&& call) {
  warpool_error error{};
  warpool_status status = WARPOOL_OK;
  {
    const Unlocked unlocked;
    status = call(&error);
  }
  check_call(handle, status, error);
}

/** A part as `put_parts` gets it. `path` is kept in `paths`, which outlives the part. */
void describe_part(nb::handle entry, Source& source, std::string& path, warpool_part& part) {
  const nb::tuple fields = nb::cast<nb::tuple>(entry);
  path = text_argument(fields[0], "path");
  const auto kind = nb::cast<uint32_t>(fields[1]);
  const nb::object object = fields[2];
  if (object.is_none()) {
    const nb::tuple shape = nb::cast<nb::tuple>(fields[4]);
    part.dtype = dtype_from_name(nb::cast<const char*>(fields[3]));
    part.ndim = static_cast<uint32_t>(nb::len(shape));
    for (uint32_t axis = 0; axis < part.ndim; ++axis)
      part.shape[axis] = nb::cast<int64_t>(shape[axis]);
  } else if (!source.describe(object, part)) {
    raise_formatted(WARPOOL_INVALID_ARGUMENT, "field '%s' cannot be shared", path.c_str());
  }
  part.path = path.c_str();
  part.kind = kind;
}

nb::object text_of(const warpool_part& part) {
  const char* bytes = part.shape[0] > 0 ? static_cast<const char*>(part.data) : "";
  nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(part.shape[0]), "strict"));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}

bool owns_bytes(const warpool_part& part) {
  return part.kind != WARPOOL_KIND_STRUCT && part.kind != WARPOOL_KIND_SPARSE;
}

nb::object part_entry(const ItemRef& item, uint32_t index, const HandleRef& handle) {
  const warpool_part& part = item.info().parts[index];
  nb::object value = nb::none();
  if (part.kind == WARPOOL_KIND_TEXT) {
    value = text_of(part);
  } else if (owns_bytes(part)) {
    value = nb::cast(Array(item, index, handle), nb::rv_policy::move);
  }
  return nb::make_tuple(part.path, part.kind, warpool_dtype_name(part.dtype),
                        number_tuple(part.shape, part.ndim), value);
}

void remove(const Session& session, nb::handle name, uint64_t version) {
  const HandleRef handle = session.handle();
  const std::string text = text_argument(name, "name");
  exchange(*handle, [&](warpool_error* error) {
    return warpool_remove(handle->get(), text.c_str(), version, error);
  });
}

void change_mode(const Session& session, nb::handle name, uint32_t mode) {
  const HandleRef handle = session.handle();
  const std::string text = text_argument(name, "name");
  exchange(*handle, [&](warpool_error* error) {
    return warpool_chmod(handle->get(), text.c_str(), mode, error);
  });
}

void expire(const Session& session, nb::handle name, int64_t ttl_ms) {
  const HandleRef handle = session.handle();
  const std::string text = text_argument(name, "name");
  exchange(*handle, [&](warpool_error* error) {
    return warpool_expire(handle->get(), text.c_str(), ttl_ms, error);
  });
}

void save(const Session& session, nb::handle name, uint64_t version, nb::handle path) {
  const HandleRef handle = session.handle();
  const std::string text = text_argument(name, "name");
  const std::string file = text_argument(path, "path");
  exchange(*handle, [&](warpool_error* error) {
    return warpool_save(handle->get(), text.c_str(), version, file.c_str(), error);
  });
}

uint64_t load(const Session& session, nb::handle path, nb::handle name, uint32_t mode,
              int64_t ttl_ms, nb::handle attributes, int64_t wait_ms) {
  const HandleRef handle = session.handle();
  const std::string file = text_argument(path, "path");
  const std::string text = text_argument(name, "name");
  const CreateOptions options(*handle, mode, ttl_ms, attributes, wait_ms);
  uint64_t version = 0;
  exchange(*handle, [&](warpool_error* error) {
    return warpool_load(handle->get(), file.c_str(), text.c_str(), options.get(), &version, error);
  });
  return version;
}

void ping(const Session& session) {
  const HandleRef handle = session.handle();
  exchange(*handle, [&](warpool_error* error) { return warpool_ping(handle->get(), error); });
}

void count_copy(const Session& session, uint32_t reason, int64_t bytes) {
  session.handle()->count_copy(static_cast<warpool_copy_reason>(reason), bytes);
}

}  // namespace

std::string text_argument(nb::handle value, const char* argument) {
  char* text = nullptr;
  Py_ssize_t size = 0;
  nb::object bytes;
  if (PyBytes_Check(value.ptr())) {
    bytes = nb::borrow(value);
  } else if (PyUnicode_Check(value.ptr())) {
    // Lone surrogates stand for bytes that are not UTF-8; the library refuses them in names with a message of its own.
    bytes = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) throw nb::python_error();
  } else {
    raise_builtin(PyExc_TypeError, "%s must be a str, not %s", argument,
                  Py_TYPE(value.ptr())->tp_name);
  }
  if (PyBytes_AsStringAndSize(bytes.ptr(), &text, &size) != 0) throw nb::python_error();
  if (std::strlen(text) != static_cast<size_t>(size)) {
    raise_formatted(WARPOOL_INVALID_ARGUMENT, "%s contains a NUL character: remove it", argument);
  }
  return std::string(text, static_cast<size_t>(size));
}

CreateOptions::CreateOptions(const Handle& handle, uint32_t mode, int64_t ttl_ms,
                             nb::handle attributes, int64_t wait_ms)
    : wait_(handle, wait_ms), options_(WARPOOL_CREATE_OPTIONS_INIT) {
  options_.mode = mode;
  options_.ttl_ms = ttl_ms;
  options_.wait = wait_.get();
  if (attributes.is_none()) return;
  attributes_ = text_argument(attributes, "attributes");
  options_.attributes = attributes_.c_str();
}

Session::Session(nb::handle socket, nb::handle label, uint32_t flags, int64_t reconnect_ms) {
  const std::string socket_text = socket.is_none() ? "" : text_argument(socket, "socket");
  const std::string label_text = label.is_none() ? "" : text_argument(label, "label");
  warpool_connect_options options = WARPOOL_CONNECT_OPTIONS_INIT;
  options.flags = flags;
  options.socket_path = socket.is_none() ? nullptr : socket_text.c_str();
  options.language = "python";
  options.label = label.is_none() ? nullptr : label_text.c_str();
  options.reconnect_ms = reconnect_ms;
  handle_ = Handle::connect(options);
}

HandleRef Session::handle() const {
  if (!handle_)
    raise(WARPOOL_CONFLICT, "this connection is closed: make another with warpool.connect()");
  return handle_;
}

void Session::close() {
  if (!handle_) return;
  const HandleRef handle = std::move(handle_);
  handle_ = nullptr;
  for (Draft* draft : handle->drafts())
    draft->discard();
  handle->close_soon();
}

nb::object Session::put(nb::handle name, nb::handle object, uint32_t mode, int64_t ttl_ms,
                        nb::handle attributes, int64_t wait_ms) {
  const HandleRef handle = this->handle();
  warpool_part part{};
  Source source;
  if (!source.describe(object, part)) return nb::none();
  part.path = "";
  const std::string text = text_argument(name, "name");
  const CreateOptions options(*handle, mode, ttl_ms, attributes, wait_ms);
  uint64_t version = 0;
  exchange(*handle, [&](warpool_error* error) {
    return warpool_put(handle->get(), text.c_str(), &part, 1, options.get(), &version, error);
  });
  return nb::cast(version);
}

uint64_t Session::put_parts(nb::handle name, nb::handle parts, uint32_t mode, int64_t ttl_ms,
                            nb::handle attributes, int64_t wait_ms) {
  const HandleRef handle = this->handle();
  const std::string text = text_argument(name, "name");
  const size_t count = nb::len(parts);
  std::vector<Source> sources(count);
  std::vector<std::string> paths(count);
  std::vector<warpool_part> described(count);
  for (size_t i = 0; i < count; ++i)
    describe_part(parts[i], sources[i], paths[i], described[i]);
  const CreateOptions options(*handle, mode, ttl_ms, attributes, wait_ms);
  uint64_t version = 0;
  exchange(*handle, [&](warpool_error* error) {
    return warpool_put(handle->get(), text.c_str(), described.data(), static_cast<uint32_t>(count),
                       options.get(), &version, error);
  });
  return version;
}

nb::object Session::get(nb::handle name, uint64_t version, int64_t wait_ms) {
  const HandleRef handle = this->handle();
  const std::string text = text_argument(name, "name");
  const Wait wait(*handle, wait_ms);
  warpool_array* got = nullptr;
  warpool_error error{};
  warpool_status status = WARPOOL_OK;
  {
    const Unlocked unlocked;
    status = warpool_get(handle->get(), text.c_str(), version, wait.get(), &got, &error);
  }
  if (status == WARPOOL_OK && PyErr_Occurred() != nullptr) warpool_array_release(got);
  check_call(*handle, status, error);
  const ItemRef item(got);
  const warpool_array_info& info = item.info();
  if (info.part_count == 1 && info.parts[0].kind == WARPOOL_KIND_ARRAY) {
    return nb::cast(Array(item, 0, handle), nb::rv_policy::move);
  }
  if (info.part_count == 1 && info.parts[0].kind == WARPOOL_KIND_TEXT)
    return text_of(info.parts[0]);
  nb::list entries;
  for (uint32_t i = 0; i < info.part_count; ++i)
    entries.append(part_entry(item, i, handle));
  return entries;
}

void bind_session(nb::module_& module) {
  nb::class_<Session>(module, "Session")
      .def(nb::init<nb::handle, nb::handle, uint32_t, int64_t>(), nb::arg("socket").none(),
           nb::arg("label").none(), nb::arg("flags"), nb::arg("reconnect_ms"))
      .def_prop_ro("closed", &Session::closed)
      .def("close", &Session::close)
      .def("put", &Session::put, nb::arg("name"), nb::arg("object").none(), nb::arg("mode"),
           nb::arg("ttl_ms"), nb::arg("attributes").none(), nb::arg("wait_ms"))
      .def("put_parts", &Session::put_parts, nb::arg("name"), nb::arg("parts"), nb::arg("mode"),
           nb::arg("ttl_ms"), nb::arg("attributes").none(), nb::arg("wait_ms"))
      .def("get", &Session::get, nb::arg("name"), nb::arg("version"), nb::arg("wait_ms"))
      .def("remove", remove, nb::arg("name"), nb::arg("version"))
      .def("chmod", change_mode, nb::arg("name"), nb::arg("mode"))
      .def("expire", expire, nb::arg("name"), nb::arg("ttl_ms"))
      .def("save", save, nb::arg("name"), nb::arg("version"), nb::arg("path"))
      .def("load", load, nb::arg("path"), nb::arg("name"), nb::arg("mode"), nb::arg("ttl_ms"),
           nb::arg("attributes").none(), nb::arg("wait_ms"))
      .def("ping", ping)
      .def("count_copy", count_copy, nb::arg("reason"), nb::arg("bytes"))
      .def("list_items", list_items, nb::arg("pattern").none(), nb::arg("flags"))
      .def("stat", stat_item, nb::arg("name"), nb::arg("version"))
      .def("sessions", list_sessions, nb::arg("run").none())
      .def("broker_info", broker_info);
}

}  // namespace warpool::python
