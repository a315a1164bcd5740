// SPDX-License-Identifier: Apache-2.0
#include "watch.h"

#include <string>

#include "failure.h"
#include "fetch.h"
#include "gil.h"
#include "session.h"

namespace nb = nanobind;

namespace warpool::python {
namespace {

constexpr const char* kEventNames[] = {"unknown", "published", "removed", "overflow"};

const char* event_name(uint32_t kind) {
  return kind < 4 ? kEventNames[kind] : kEventNames[0];
}

/** A watch and the connection it lives on. */
class Watch {
 public:
  Watch(const Session& session, nb::handle pattern, uint32_t flags, bool existing);
  ~Watch() { close(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /** (kind, name, version, owner uid) of the next event; raises when none came in time. */
  nb::object next(int64_t wait_ms);
  void close();

 private:
  HandleRef handle_;
  warpool_watch* watch_ = nullptr;
  bool waiting_ = false;  // guarded by the GIL: one thread at a time
};

Watch::Watch(const Session& session, nb::handle pattern, uint32_t flags, bool existing)
    : handle_(session.handle()) {
  const std::string text = pattern.is_none() ? "" : text_argument(pattern, "pattern");
  const char* pattern_or_null = pattern.is_none() ? nullptr : text.c_str();
  auto opened = fetch<warpool_watch>(
      *handle_, warpool_watch_close, [&](warpool_watch** out, warpool_error* error) {
        return warpool_watch_open(handle_->get(), pattern_or_null, flags,
                                  static_cast<int>(existing), out, error);
      });
  watch_ = opened.release();
}

nb::object Watch::next(int64_t wait_ms) {
  if (watch_ == nullptr)
    raise(WARPOOL_CONFLICT, "this watch is closed: open another with warpool.watch()");
  if (handle_->closing()) raise(WARPOOL_CONFLICT, "the connection of this watch is closed");
  if (waiting_)
    raise(WARPOOL_CONFLICT, "another thread waits on this watch: open one watch for each thread");
  const Wait wait(*handle_, wait_ms);
  warpool_event event{};
  event.struct_size = sizeof(event);
  warpool_error error{};
  warpool_status status = WARPOOL_OK;
  waiting_ = true;
  {
    const Unlocked unlocked;
    status = warpool_watch_next(watch_, wait.always(), &event, &error);
  }
  waiting_ = false;
  check_call(*handle_, status, error);
  return nb::make_tuple(event_name(event.kind), text(event.name), event.version, event.owner_uid);
}

void Watch::close() {
  if (watch_ == nullptr) return;
  if (waiting_)
    raise(WARPOOL_CONFLICT,
          "another thread waits on this watch: close its connection to end the wait");
  warpool_watch_close(watch_);
  watch_ = nullptr;
}

}  // namespace

void bind_watch(nb::module_& module) {
  nb::class_<Watch>(module, "Watch", nb::is_weak_referenceable())
      .def(nb::init<const Session&, nb::handle, uint32_t, bool>(), nb::arg("session"),
           nb::arg("pattern").none(), nb::arg("flags"), nb::arg("existing"))
      .def("next", &Watch::next, nb::arg("wait_ms"))
      .def("close", &Watch::close);
}

}  // namespace warpool::python
