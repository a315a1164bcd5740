// SPDX-License-Identifier: Apache-2.0
#include "dlpack.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "array.h"
#include "failure.h"
#include "gil.h"

namespace nb = nanobind;

namespace warpool::python {
namespace {

using dlpack::LegacyTensor;
using dlpack::Tensor;
using dlpack::VersionedTensor;

constexpr const char* kLegacyName = "dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";

/** What the arguments of `__dlpack__` ask for. */
struct Request {
  bool versioned;
  bool must_copy;
  bool never_copy;
};

/** Everything one capsule owns. Freed by the consumer's call of the deleter, on any thread, perhaps without the GIL. */
struct Export {
  union {
    LegacyTensor legacy;
    VersionedTensor versioned;
  };
  std::shared_ptr<void> memory;
  int64_t shape[WARPOOL_MAX_NDIM];
  int64_t strides[WARPOOL_MAX_NDIM];
};

dlpack::DataType data_type(uint32_t dtype) {
  const auto bits = static_cast<uint8_t>(warpool_dtype_size(dtype) * 8);
  switch (dtype) {
    case WARPOOL_BOOL:
      return {dlpack::kBool, bits, 1};
    case WARPOOL_INT8:
    case WARPOOL_INT16:
    case WARPOOL_INT32:
    case WARPOOL_INT64:
      return {dlpack::kInt, bits, 1};
    case WARPOOL_UINT8:
    case WARPOOL_UINT16:
    case WARPOOL_UINT32:
    case WARPOOL_UINT64:
      return {dlpack::kUInt, bits, 1};
    case WARPOOL_FLOAT16:
    case WARPOOL_FLOAT32:
    case WARPOOL_FLOAT64:
      return {dlpack::kFloat, bits, 1};
    case WARPOOL_COMPLEX64:
    case WARPOOL_COMPLEX128:
      return {dlpack::kComplex, bits, 1};
    default:
      raise_builtin(PyExc_BufferError, "DLPack has no type for dtype %u", dtype);
  }
}

/** The two numbers of a tuple such as max_version or dl_device. */
std::pair<int64_t, int64_t> number_pair(nb::handle tuple, const char* argument) {
  if (!PyTuple_Check(tuple.ptr()) || PyTuple_GET_SIZE(tuple.ptr()) != 2) {
    raise_builtin(PyExc_TypeError, "%s must be None or a tuple of two numbers", argument);
  }
  return {nb::cast<int64_t>(tuple[0]), nb::cast<int64_t>(tuple[1])};
}

Request parse(nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
  if (!stream.is_none()) {
    raise_builtin(PyExc_BufferError,
                  "the array lies in CPU memory, where no streams exist: pass stream=None");
  }
  if (!device.is_none()) {
    const auto [type, id] = number_pair(device, "dl_device");
    if (type != dlpack::kCpu || id != 0) {
      raise_builtin(PyExc_BufferError,
                    "the array lies in CPU memory; device (%lld, %lld) was asked for: take it with "
                    "device (1, 0) and move it there",
                    static_cast<long long>(type), static_cast<long long>(id));
    }
  }
  const bool versioned = !max_version.is_none() &&
                         number_pair(max_version, "max_version").first >= dlpack::kVersion.major;
  return {versioned, copy.is(Py_True), copy.is(Py_False)};
}

template <typename Managed>
void delete_export(Managed* managed) {
  delete static_cast<Export*>(managed->manager_context);
}

template <typename Managed>
void delete_unused(PyObject* capsule) {
  constexpr bool kIsVersioned = std::is_same_v<Managed, VersionedTensor>;
  const char* name = kIsVersioned ? kVersionedName : kLegacyName;
  // A consumer that took the tensor has renamed the capsule and calls the deleter itself.
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

Tensor tensor_of(const Layout& layout, Export& exported) {
  const auto item_size = static_cast<int64_t>(warpool_dtype_size(layout.dtype));
  std::copy_n(layout.shape, layout.ndim, exported.shape);
  std::transform(layout.strides, layout.strides + layout.ndim, exported.strides,
                 [item_size](int64_t bytes) { return bytes / item_size; });
  const bool empty = layout.element_count() == 0;
  return {empty ? nullptr : layout.data,
          {dlpack::kCpu, 0},
          static_cast<int32_t>(layout.ndim),
          data_type(layout.dtype),
          exported.shape,
          exported.strides,
          0};
}

nb::object make_capsule(const Layout& layout, std::shared_ptr<void> memory, bool versioned,
                        uint64_t flags) {
  auto exported = std::make_unique<Export>();
  exported->memory = std::move(memory);
  const Tensor tensor = tensor_of(layout, *exported);
  nb::object capsule;
  if (versioned) {
    exported->versioned = {dlpack::kVersion, exported.get(), delete_export<VersionedTensor>, flags,
                           tensor};
    capsule = nb::steal(
        PyCapsule_New(&exported->versioned, kVersionedName, delete_unused<VersionedTensor>));
  } else {
    exported->legacy = {tensor, exported.get(), delete_export<LegacyTensor>};
    capsule = nb::steal(PyCapsule_New(&exported->legacy, kLegacyName, delete_unused<LegacyTensor>));
  }
  if (!capsule.is_valid()) throw nb::python_error();
  exported.release();
  return capsule;
}

/** A private, writable, aligned copy with the same strides: published and drafted memory is dense in some order of dimensions. */
std::shared_ptr<void> copy_of(const Layout& layout) {
  const auto size = static_cast<size_t>(layout.size_bytes());
  const size_t rounded = (size + WARPOOL_ALIGNMENT - 1) / WARPOOL_ALIGNMENT * WARPOOL_ALIGNMENT;
  std::shared_ptr<void> memory(
      std::aligned_alloc(WARPOOL_ALIGNMENT, std::max<size_t>(rounded, WARPOOL_ALIGNMENT)),
      std::free);
  if (!memory) raise_builtin(PyExc_MemoryError, "no memory for a copy of %zu bytes", size);
  const Unlocked unlocked;
  if (size > 0) std::memcpy(memory.get(), layout.data, size);
  return memory;
}

nb::object copied_capsule(Layout layout, bool versioned) {
  std::shared_ptr<void> memory = copy_of(layout);
  layout.data = memory.get();
  return make_capsule(layout, std::move(memory), versioned, dlpack::kIsCopied);
}

/** The address of the array's elements in the item's private copy-on-write view. */
void* private_data(const Array& array) {
  warpool_error error{};
  void* base = nullptr;
  if (warpool_array_copy_on_write(array.item().get(), &base, &error) != WARPOOL_OK) {
    raise_builtin(PyExc_BufferError,
                  "no private view of '%s' for a consumer that cannot say read-only: %s; copy it "
                  "first: numpy.array(a)",
                  array.info().name, error.message);
  }
  return static_cast<char*>(base) + array.part().offset;
}

nb::object legacy_capsule(const Array& array, const Request& request) {
  Layout layout = array.layout();
  const bool is_inline = (array.info().flags & WARPOOL_ARRAY_INLINE) != 0;
  if (request.never_copy && is_inline) {
    raise_builtin(PyExc_BufferError,
                  "'%s' is small and not in shared memory: a consumer that cannot say read-only "
                  "needs a copy of it, which "
                  "copy=False forbids; ask with max_version=(1, 0) or without copy=False",
                  array.info().name);
  }
  if (layout.element_count() > 0) layout.data = private_data(array);
  // In shared memory only the pages that the consumer writes to will be copied.
  array.count_copy(WARPOOL_COPY_LEGACY_CONSUMER, is_inline ? layout.size_bytes() : 0);
  return make_capsule(layout, std::make_shared<ItemRef>(array.item()), false, 0);
}

}  // namespace

nb::object array_to_dlpack(nb::handle self, nb::handle stream, nb::handle max_version,
                           nb::handle device, nb::handle copy) {
  const Array& array = nb::cast<const Array&>(self);
  const Request request = parse(stream, max_version, device, copy);
  if (request.must_copy) {
    array.count_copy(WARPOOL_COPY_CONVERT, array.layout().size_bytes());
    return copied_capsule(array.layout(), request.versioned);
  }
  if (!request.versioned) return legacy_capsule(array, request);
  return make_capsule(array.layout(), std::make_shared<ItemRef>(array.item()), true,
                      dlpack::kReadOnly);
}

nb::object draft_to_dlpack(const Layout& layout, std::shared_ptr<void> memory, nb::handle stream,
                           nb::handle max_version, nb::handle device, nb::handle copy) {
  const Request request = parse(stream, max_version, device, copy);
  if (request.must_copy) return copied_capsule(layout, request.versioned);
  return make_capsule(layout, std::move(memory), request.versioned, 0);
}

nb::object dlpack_device() {
  return nb::make_tuple(static_cast<int32_t>(dlpack::kCpu), 0);
}

}  // namespace warpool::python
