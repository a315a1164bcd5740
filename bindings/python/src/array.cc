// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "dlpack.h"
#include "failure.h"
#include "operators.h"

namespace nb = nanobind;

namespace warpool::python {
namespace {

Array& array_of(PyObject* self) {
  return *nb::inst_ptr<Array>(nb::handle(self));
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return fill_buffer(view, self, array_of(self).layout(), true, flags);
}

Py_ssize_t length(PyObject* self) {
  const Layout layout = array_of(self).layout();
  if (layout.ndim > 0) return layout.shape[0];
  PyErr_SetString(PyExc_TypeError, "len() of an array without dimensions");
  return -1;
}

PyObject* item(PyObject* self, PyObject* key) {
  try {
    return PyObject_GetItem(as_numpy(self).ptr(), key);
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  }
}

int assign(PyObject* self, PyObject*, PyObject*) {
  const warpool_array_info& info = array_of(self).info();
  PyErr_Format(PyExc_TypeError,
               "'%s' is published and so read-only: no program may change it. To make a new "
               "version, put a changed copy: "
               "x = numpy.array(a); x[...] = ...; warpool.put('%s', x)",
               info.name, info.name);
  return -1;
}

const PyType_Slot* array_slots() {
  static const std::vector<PyType_Slot> slots = [] {
    std::vector<PyType_Slot> all = operator_slots();
    all.insert(all.end(), {slot(Py_bf_getbuffer, get_buffer), slot(Py_mp_length, length),
                           slot(Py_mp_subscript, item), slot(Py_mp_ass_subscript, assign),
                           PyType_Slot{0, nullptr}});
    return all;
  }();
  return slots.data();
}

/** What NumPy calls when it does not take the buffer. */
nb::object array_protocol(nb::handle self, nb::handle dtype, nb::handle copy) {
  const Array& array = nb::cast<const Array&>(self);
  nb::object view = as_numpy(self);
  const bool changes_type =
      !dtype.is_none() &&
      !nb::module_::import_("numpy").attr("dtype")(dtype).equal(view.attr("dtype"));
  if (!changes_type && !copy.is(Py_True)) return view;
  if (copy.is(Py_False)) {
    raise_builtin(PyExc_ValueError,
                  "'%s' holds %s: another dtype needs a copy, which copy=False forbids",
                  array.info().name, warpool_dtype_name(array.part().dtype));
  }
  nb::object result = view.attr("astype")(changes_type ? nb::borrow(dtype) : view.attr("dtype"),
                                          nb::arg("order") = "K", nb::arg("copy") = true);
  array.count_copy(WARPOOL_COPY_CONVERT, nb::cast<int64_t>(result.attr("nbytes")));
  return result;
}

nb::object numpy_dtype(const Array& array) {
  return nb::module_::import_("numpy").attr("dtype")(warpool_dtype_name(array.part().dtype));
}

nb::object tobytes(nb::handle self) {
  nb::object bytes = nb::steal(PyBytes_FromObject(self.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  nb::cast<const Array&>(self).count_copy(WARPOOL_COPY_CONVERT, PyBytes_GET_SIZE(bytes.ptr()));
  return bytes;
}

nb::object helper(const char* name) {
  return nb::module_::import_("warpool._convert").attr(name);
}

}  // namespace

Array::Array(ItemRef item, uint32_t part_index, std::weak_ptr<Handle> session)
    : item_(std::move(item)),
      part_(&item_.info().parts[part_index]),
      session_(std::move(session)) {}

Layout Array::layout() const {
  const int64_t* shape = reversed_ ? reversed_.get() : part_->shape;
  const int64_t* strides = reversed_ ? reversed_.get() + part_->ndim : part_->strides;
  return {const_cast<void*>(part_->data), part_->dtype, part_->ndim, shape, strides};
}

Array Array::transposed() const {
  Array result(item_, static_cast<uint32_t>(part_ - info().parts), session_);
  if (reversed_ || part_->ndim == 0) return result;
  const uint32_t ndim = part_->ndim;
  result.reversed_ = std::make_unique<int64_t[]>(2 * static_cast<size_t>(ndim));
  std::reverse_copy(part_->shape, part_->shape + ndim, result.reversed_.get());
  std::reverse_copy(part_->strides, part_->strides + ndim, result.reversed_.get() + ndim);
  return result;
}

void Array::count_copy(warpool_copy_reason reason, int64_t bytes) const {
  if (const HandleRef session = session_.lock()) session->count_copy(reason, bytes);
}

nb::object number_tuple(const int64_t* numbers, uint32_t count) {
  nb::object tuple = nb::steal(PyTuple_New(count));
  if (!tuple.is_valid()) throw nb::python_error();
  for (uint32_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(tuple.ptr(), i, PyLong_FromLongLong(numbers[i]));
  return tuple;
}

void bind_array(nb::module_& module) {
  nb::class_<Array>(module, "Array", nb::type_slots(array_slots()), nb::is_weak_referenceable(),
                    "A published, read-only array in shared memory.\n\n"
                    "Indexing, numpy.asarray(a), memoryview(a) and a.numpy() view the shared bytes "
                    "without a copy; the memory stays\n"
                    "mapped as long as one of them lives. Arithmetic gives ordinary NumPy arrays.")
      .def_prop_ro(
          "shape", [](const Array& a) { return number_tuple(a.layout().shape, a.part().ndim); },
          "Extents.")
      .def_prop_ro(
          "strides", [](const Array& a) { return number_tuple(a.layout().strides, a.part().ndim); },
          "Bytes from one index to the next along each dimension.")
      .def_prop_ro("dtype", numpy_dtype, "Element type, as a numpy.dtype.")
      .def_prop_ro(
          "ndim", [](const Array& a) { return a.part().ndim; }, "Number of dimensions.")
      .def_prop_ro(
          "size", [](const Array& a) { return a.layout().element_count(); }, "Number of elements.")
      .def_prop_ro(
          "nbytes", [](const Array& a) { return a.layout().size_bytes(); },
          "Bytes of all elements.")
      .def_prop_ro(
          "itemsize", [](const Array& a) { return warpool_dtype_size(a.part().dtype); },
          "Bytes of one element.")
      .def_prop_ro(
          "name", [](const Array& a) { return a.info().name; },
          "Name it was published under, without the owner.")
      .def_prop_ro(
          "field", [](const Array& a) { return a.part().path; },
          "Path inside a struct, such as 'a/b'; '' for a plain array.")
      .def_prop_ro(
          "version", [](const Array& a) { return a.info().version; },
          "Version of the name: 1, 2, ...")
      .def_prop_ro(
          "owner", [](const Array& a) { return a.info().owner; },
          "Login name of the owner where known, else the number.")
      .def_prop_ro(
          "attrs", [](const Array& a) { return helper("attributes")(a.info().attributes); },
          "Attributes it was published with, as a new dict.")
      .def_prop_ro(
          "inline", [](const Array& a) { return (a.info().flags & WARPOOL_ARRAY_INLINE) != 0; },
          "Whether the bytes came in the message (items of up to 64 KiB), rather than in shared "
          "memory.")
      .def_prop_ro("T", &Array::transposed,
                   "The same memory with the dimensions reversed, without a copy.")
      .def(
          "numpy", [](nb::handle self) { return as_numpy(self); },
          "A read-only NumPy view, without a copy.")
      .def("tobytes", tobytes, "The elements as bytes in row-major order: a copy.")
      .def(
          "to", [](nb::handle self, nb::handle framework) { return helper("to")(self, framework); },
          nb::arg("framework"),
          "The array in \"numpy\", \"torch\", \"tensorflow\" or \"jax\", without a copy of large "
          "arrays.")
      .def("__array__", array_protocol, nb::arg("dtype") = nb::none(), nb::kw_only(),
           nb::arg("copy") = nb::none())
      .def("__dlpack__", array_to_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none(),
           "A DLPack capsule: versioned and marked read-only where the consumer knows that, else "
           "over a private copy-on-write view.")
      .def("__dlpack_device__", [](const Array&) { return dlpack_device(); })
      .def("__repr__", [](nb::handle self) { return helper("describe")(self); })
      .def("__str__", [](nb::handle self) { return nb::str(as_numpy(self)); })
      .def("__getattr__",
           [](nb::handle self, nb::handle name) { return helper("missing")(self, name); })
      .def("__reduce__", [](nb::handle self) { return helper("reduce")(self); });
}

}  // namespace warpool::python
