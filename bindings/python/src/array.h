// SPDX-License-Identifier: Apache-2.0
// warpool.Array: one plain array of a published item.
#ifndef WARPOOL_BINDINGS_PYTHON_SRC_ARRAY_H_
#define WARPOOL_BINDINGS_PYTHON_SRC_ARRAY_H_

#include <nanobind/nanobind.h>

#include <memory>

#include "handle.h"
#include "layout.h"
#include "warpool/warpool.h"

namespace warpool::python {

/** Keeps a published item mapped. Copies share the mapping. Needs no GIL. */
class ItemRef {
 public:
  /** Takes over the caller's reference. */
  explicit ItemRef(warpool_array* item) : item_(item) {}
  ItemRef(const ItemRef& other) : item_(other.item_) { warpool_array_retain(item_); }
  ItemRef& operator=(const ItemRef&) = delete;
  ~ItemRef() { warpool_array_release(item_); }

  warpool_array* get() const { return item_; }
  const warpool_array_info& info() const { return *warpool_array_get_info(item_); }

 private:
  warpool_array* item_;
};

/** A read-only view of one part of an item, in its own or in reversed order of dimensions. */
class Array {
 public:
  /** `session` is only counted for copies and may be gone by then. */
  Array(ItemRef item, uint32_t part_index, std::weak_ptr<Handle> session);

  const ItemRef& item() const { return item_; }
  const warpool_array_info& info() const { return item_.info(); }
  const warpool_part& part() const { return *part_; }
  Layout layout() const;
  Array transposed() const;
  void count_copy(warpool_copy_reason reason, int64_t bytes) const;

 private:
  ItemRef item_;
  const warpool_part* part_;
  std::weak_ptr<Handle> session_;
  std::unique_ptr<int64_t[]> reversed_;  // shape, then strides; null in the item's own order
};

/** A tuple of the `count` numbers. */
nanobind::object number_tuple(const int64_t* numbers, uint32_t count);

void bind_array(nanobind::module_& module);

}  // namespace warpool::python

#endif  // WARPOOL_BINDINGS_PYTHON_SRC_ARRAY_H_
