// SPDX-License-Identifier: Apache-2.0
// DLPack exchange: the structures of the public specification (version 1.1) and the exports of arrays and drafts.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_DLPACK_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_DLPACK_H_

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "layout.h"

namespace warpool::python::dlpack {

// Field names and numbers are those of the specification; the layout is an ABI between unrelated libraries.

struct Version {
  uint32_t major;
  uint32_t minor;
};

enum DeviceType : int32_t { kCpu = 1 };

struct Device {
  int32_t device_type;
  int32_t device_id;
};

enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kComplex = 5, kBool = 6 };

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;  // null when there are no elements
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // elements, not bytes
  uint64_t byte_offset;
};

/** What consumers that do not speak of versions get; it cannot say read-only. */
struct LegacyTensor {
  Tensor tensor;
  void* manager_context;
  void (*deleter)(LegacyTensor*);
};

constexpr uint64_t kReadOnly = 1u << 0;
constexpr uint64_t kIsCopied = 1u << 1;

struct VersionedTensor {
  Version version;
  void* manager_context;
  void (*deleter)(VersionedTensor*);
  uint64_t flags;
  Tensor tensor;
};

static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, byte_offset) == 40);
static_assert(sizeof(LegacyTensor) == 64 && offsetof(LegacyTensor, deleter) == 56);
static_assert(sizeof(VersionedTensor) == 80 && offsetof(VersionedTensor, tensor) == 32);

constexpr Version kVersion{1, 1};

}  // namespace warpool::python::dlpack

namespace warpool::python {

/** `__dlpack__` of warpool.Array. Arguments as in the Python array API; raises BufferError where no capsule can be right. */
nanobind::object array_to_dlpack(nanobind::handle self, nanobind::handle stream,
                                 nanobind::handle max_version, nanobind::handle device,
                                 nanobind::handle copy);

/** `__dlpack__` of a draft: writable, over `layout`, with `memory` kept alive by the capsule (released without the GIL). */
nanobind::object draft_to_dlpack(const Layout& layout, std::shared_ptr<void> memory,
                                 nanobind::handle stream, nanobind::handle max_version,
                                 nanobind::handle device, nanobind::handle copy);

/** `__dlpack_device__`: everything lies in the memory of the CPU. */
nanobind::object dlpack_device();

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_DLPACK_H_
