// SPDX-License-Identifier: Apache-2.0
// From an Octave value to the parts that libwarpool takes.
#ifndef WARPOOL_OCT_VALUE_IN_H
#define WARPOOL_OCT_VALUE_IN_H

#include <octave/oct.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "warpool/warpool.h"

namespace warpool_oct {

/// Collects the parts of one item, parents before children. Throws Octave's error for what cannot be shared.
class Packer {
 public:
  explicit Packer(const octave_value& value) { add("", value); }

  const warpool_part* parts() const { return parts_.data(); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(parts_.size()); }

 private:
  void add(const char* path, const octave_value& value);
  void add_struct(const char* path, const octave_value& value);
  void add_chars(const char* path, const octave_value& value);
  template <typename Matrix>
  void add_sparse(const char* path, const Matrix& matrix, warpool_dtype dtype);
  /// `array` is a cheap reference to the value's memory, and keeps it alive until the item is put.
  template <typename A>
  void add_array(const char* path, const A& array, warpool_dtype dtype);
  /// Adds a part without dimensions.
  warpool_part& append(const char* path, warpool_kind kind, warpool_dtype dtype);
  void append_vector(const char* path, const char* name, const void* data, std::int64_t length,
                     warpool_dtype dtype);

  std::vector<warpool_part> parts_;
  std::deque<std::string> paths_;             // a deque keeps the addresses of what it holds
  std::vector<std::shared_ptr<void>> alive_;  // what the addresses in parts_ point into
};

}  // namespace warpool_oct

#endif
