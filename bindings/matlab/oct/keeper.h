// SPDX-License-Identifier: Apache-2.0
// How an Octave array borrows the memory of a published item.
//
// Octave 7 to 9 know no foreign memory: the last reference to an array calls operator delete on its data. So a keeper holds one more
// reference to each borrowed array. While the program uses the array there are two or more references, and Octave copies before any
// write, which therefore never reaches the read-only mapping. When only the keeper's is left, a sweep takes the data pointer out of
// the array and releases the item. A sweep happens at every call of the gateway.
//
// From Octave 10 on (where OCTAVE_HAVE_STD_PMR_POLYMORPHIC_ALLOCATOR is defined) an array carries an allocator, which releases the
// item as soon as the array is dropped. No further reference is held then, so a program that has the only one writes in place: the
// array lies in the item's private copy-on-write mapping, and the shared bytes are out of reach all the same.
#ifndef WARPOOL_OCT_KEEPER_H
#define WARPOOL_OCT_KEEPER_H

#include <octave/oct.h>

#include <cstddef>
#include <memory>
#include <vector>

#if defined(OCTAVE_HAVE_STD_PMR_POLYMORPHIC_ALLOCATOR)
#include <memory_resource>
#endif

#include "failure.h"
#include "warpool/warpool.h"

namespace warpool_oct {

#if defined(OCTAVE_HAVE_STD_PMR_POLYMORPHIC_ALLOCATOR)

/// Releases one item when the array that was made with it is dropped, and then itself.
class ItemResource final : public std::pmr::memory_resource {
 public:
  explicit ItemResource(warpool_array* item) : item_(item) { warpool_array_retain(item); }

 private:
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    return std::pmr::get_default_resource()->allocate(size, alignment);
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {
    warpool_array_release(item_);
    delete this;  // the allocator that called keeps the pointer, but never uses it again
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  warpool_array* item_;
};

/// An array over the elements of `part`, which lies in column-major order in `item`.
template <typename T>
Array<T> borrow(warpool_array* item, const warpool_part& part, const dim_vector& dims) {
  void* base = nullptr;
  warpool_error error;
  check(warpool_array_copy_on_write(item, &base, &error), error);
  T* data = reinterpret_cast<T*>(static_cast<char*>(base) + part.offset);
  return Array<T>(data, dims, std::pmr::polymorphic_allocator<T>(new ItemResource(item)));
}

inline std::size_t sweep_all() {
  return 0;
}
inline void sweep_some() {}

#else

/// One extra reference to a borrowed array, of any element type.
class Loan {
 public:
  virtual ~Loan() = default;
  /// Whether the program has dropped the array.
  virtual bool is_over() const = 0;
};

template <typename T>
class ArrayLoan final : public Loan, private Array<T> {
 public:
  ArrayLoan(warpool_array* item, T* data, const dim_vector& dims)
      : Array<T>(data, dims), item_(item) {
    warpool_array_retain(item);
  }
  ~ArrayLoan() override {
    // The memory is not Octave's to delete.
    this->m_rep->m_data = nullptr;
    this->m_rep->m_len = 0;
    this->m_slice_data = nullptr;
    this->m_slice_len = 0;
    warpool_array_release(item_);
  }
  ArrayLoan(const ArrayLoan&) = delete;
  ArrayLoan& operator=(const ArrayLoan&) = delete;

  bool is_over() const override { return this->m_rep->m_count == 1; }
  const Array<T>& array() const { return *this; }

 private:
  warpool_array* item_;
};

/// Every loan of this process. Never destroyed: at exit Octave may drop its arrays after this file's static objects.
std::vector<std::unique_ptr<Loan>>& loans();

/// Ends the loans that are over, and returns how many are left.
std::size_t sweep_all();
/// The same for a bounded number of loans, in turn, so that a program with very many arrays does not pay for all at each call.
void sweep_some();

/// An array over the elements of `part`, which lies in column-major order in `item`.
template <typename T>
Array<T> borrow(warpool_array* item, const warpool_part& part, const dim_vector& dims) {
  // The mapping is read-only; Octave's types have no word for that, but it copies before it writes.
  T* data = static_cast<T*>(const_cast<void*>(part.data));
  auto loan = std::make_unique<ArrayLoan<T>>(item, data, dims);
  Array<T> array = loan->array();
  loans().push_back(std::move(loan));
  return array;
}

#endif

}  // namespace warpool_oct

#endif
