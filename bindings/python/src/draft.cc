// SPDX-License-Identifier: Apache-2.0
#include "draft.h"

#include <unistd.h>

#include <new>
#include <utility>
#include <vector>

#include "array.h"
#include "dlpack.h"
#include "failure.h"
#include "gil.h"
#include "operators.h"
#include "session.h"

namespace nb = nanobind;

namespace warpool::python {
namespace {

int get_memory_buffer(PyObject* self, Py_buffer* view, int flags) {
  const DraftMemory& memory = *nb::inst_ptr<DraftMemory>(nb::handle(self));
  return fill_buffer(view, self, memory.layout(), memory.read_only, flags);
}

/** Exports the buffer of a new DraftMemory, which then owns the view. */
int get_draft_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    const Draft& draft = *nb::inst_ptr<Draft>(nb::handle(self));
    draft.check_process();
    return PyObject_GetBuffer(nb::cast(draft.memory()).ptr(), view, flags);
  } catch (nb::python_error& error) {
    error.restore();
    return -1;
  }
}

const PyType_Slot kMemorySlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_memory_buffer)},
                                    {0, nullptr}};

const PyType_Slot* draft_slots() {
  static const std::vector<PyType_Slot> slots = [] {
    std::vector<PyType_Slot> all = operator_slots();
    const std::vector<PyType_Slot> in_place = in_place_operator_slots();
    all.insert(all.end(), in_place.begin(), in_place.end());
    all.insert(all.end(), {slot(Py_bf_getbuffer, get_draft_buffer), PyType_Slot{0, nullptr}});
    return all;
  }();
  return slots.data();
}

warpool_part plain_part(nb::handle shape, const char* dtype, const char* order) {
  const uint32_t code = dtype_from_name(dtype);
  if (code == 0) {
    raise_formatted(WARPOOL_INVALID_ARGUMENT,
                    "dtype %s cannot be shared: use bool, int8 to int64, uint8 to uint64, float16 "
                    "to float64, complex64 or complex128",
                    dtype);
  }
  const size_t ndim = nb::len(shape);
  if (ndim > WARPOOL_MAX_NDIM) {
    raise_formatted(WARPOOL_INVALID_ARGUMENT,
                    "the shape has %zu dimensions, at most %d are possible", ndim,
                    WARPOOL_MAX_NDIM);
  }
  int64_t extents[WARPOOL_MAX_NDIM];
  for (size_t axis = 0; axis < ndim; ++axis)
    extents[axis] = nb::cast<int64_t>(shape[axis]);
  warpool_part part{};
  warpool_error error{};
  const uint32_t memory_order = *order == 'F' ? WARPOOL_ORDER_F : WARPOOL_ORDER_C;
  check(warpool_part_init(&part, code, static_cast<uint32_t>(ndim), extents, memory_order, &error),
        error);
  return part;
}

void init_draft(Draft* self, Session& session, nb::handle name, nb::handle shape, const char* dtype,
                const char* order, uint32_t mode, int64_t ttl_ms, nb::handle attributes,
                int64_t wait_ms) {
  const HandleRef handle = session.handle();
  const std::string name_text = text_argument(name, "name");
  const warpool_part part = plain_part(shape, dtype, order);
  const CreateOptions options(*handle, mode, ttl_ms, attributes, wait_ms);
  warpool_draft* draft = nullptr;
  warpool_error error{};
  warpool_status status = WARPOOL_OK;
  {
    const Unlocked unlocked;
    status =
        warpool_create(handle->get(), name_text.c_str(), &part, 1, options.get(), &draft, &error);
  }
  if (status == WARPOOL_OK && PyErr_Occurred() != nullptr) warpool_discard(draft);
  check_call(*handle, status, error);
  new (self) Draft(handle, draft, part);
}

const char* state_name(const Draft& draft) {
  switch (draft.state()) {
    case Draft::State::kFilling:
      return "filling";
    case Draft::State::kPublished:
      return "published";
    case Draft::State::kDropped:
      return "dropped";
  }
  return "unknown";
}

nb::object version_of(const Draft& draft) {
  return draft.state() == Draft::State::kPublished ? nb::cast(draft.version())
                                                   : nb::object(nb::none());
}

nb::object to_dlpack(const Draft& draft, nb::handle stream, nb::handle max_version,
                     nb::handle device, nb::handle copy) {
  draft.check_filling();
  const DraftMemory memory = draft.memory();
  return draft_to_dlpack(memory.layout(), memory.memory, stream, max_version, device, copy);
}

}  // namespace

Draft::Draft(HandleRef handle, warpool_draft* draft, const warpool_part& part)
    : handle_(std::move(handle)),
      draft_(draft),
      part_(part),
      memory_(warpool_draft_retain_memory(draft), warpool_memory_release),
      process_(getpid()) {
  part_.path = "";
  part_.data = warpool_draft_data(draft, 0);
  handle_->drafts().insert(this);
}

Draft::~Draft() {
  discard();
  handle_->drafts().erase(this);
}

void Draft::check_process() const {
  if (getpid() == process_) return;
  raise(WARPOOL_LOST,
        "this draft belongs to the parent process: a forked child cannot fill it; create one in "
        "the child");
}

void Draft::check_filling() const {
  check_process();
  if (publishing_) raise(WARPOOL_CONFLICT, "the draft is being published by another thread");
  if (state_ == State::kPublished) {
    raise_formatted(WARPOOL_CONFLICT,
                    "the draft is published as version %llu and so read-only: create the next "
                    "version for changes",
                    static_cast<unsigned long long>(version_));
  }
  if (state_ == State::kDropped) raise(WARPOOL_CONFLICT, "the draft was dropped: create it again");
}

uint64_t Draft::publish() {
  check_filling();
  warpool_error error{};
  warpool_status status = WARPOOL_OK;
  uint64_t version = 0;
  publishing_ = true;
  {
    const Unlocked unlocked;
    status = warpool_publish(draft_, nullptr, &version, &error);
  }
  publishing_ = false;
  if (status == WARPOOL_OK) {
    draft_ = nullptr;
    state_ = State::kPublished;
    version_ = version;
    handle_->drafts().erase(this);
  }
  check_call(*handle_, status, error);
  return version;
}

void Draft::discard() {
  if (state_ != State::kFilling || publishing_) return;
  warpool_discard(draft_);
  draft_ = nullptr;
  state_ = State::kDropped;
}

void bind_draft(nb::module_& module) {
  nb::class_<DraftMemory>(module, "DraftMemory", nb::type_slots(kMemorySlots));
  nb::class_<Draft>(module, "Draft", nb::type_slots(draft_slots()), nb::is_weak_referenceable())
      .def("__init__", init_draft, nb::arg("session"), nb::arg("name"), nb::arg("shape"),
           nb::arg("dtype"), nb::arg("order"), nb::arg("mode"), nb::arg("ttl_ms"),
           nb::arg("attributes").none(), nb::arg("wait_ms"))
      .def("publish", &Draft::publish)
      .def("discard", &Draft::discard)
      .def("check_filling", &Draft::check_filling)
      .def_prop_ro("state", state_name)
      .def_prop_ro("version", version_of)
      .def_prop_ro("shape",
                   [](const Draft& d) { return number_tuple(d.part().shape, d.part().ndim); })
      .def("__dlpack__", to_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const Draft&) { return dlpack_device(); });
}

}  // namespace warpool::python
