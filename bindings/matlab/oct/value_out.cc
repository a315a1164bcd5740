// SPDX-License-Identifier: Apache-2.0
#include "value_out.h"

#include <octave/oct-map.h>
#include <octave/ov-complex.h>
#include <octave/ov-cx-mat.h>
#include <octave/ov-cx-sparse.h>
#include <octave/ov-flt-cx-mat.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "failure.h"
#include "keeper.h"
#include "layout.h"
#include "session.h"

namespace warpool_oct {

namespace {

/// Why Octave holds a copy rather than the shared memory; `kNone` for items that travel in the message, whose copy the library counts.
enum class Copying { kNone, kCounted };

void count_conversion(const warpool_part& part, Copying copying) {
  if (copying == Copying::kCounted) {
    const auto count = static_cast<std::uint64_t>(wpm_element_count(&part));
    wpm_count_copy(WARPOOL_COPY_CONVERT, count * warpool_dtype_size(part.dtype));
  }
}

class Unpacker {
 public:
  Unpacker(warpool_array* item, const warpool_array_info& info)
      : item_(item), info_(info), is_inline_((info.flags & WARPOOL_ARRAY_INLINE) != 0) {}

  /// Takes the next part, with everything below it.
  octave_value take() {
    if (next_ >= info_.part_count) {
      broken("it has fewer parts than it tells of");
    }
    const warpool_part& part = info_.parts[next_++];
    switch (part.kind) {
      case WARPOOL_KIND_ARRAY:
        return array(part);
      case WARPOOL_KIND_TEXT:
        return text(part);
      case WARPOOL_KIND_CHARS:
        return chars(part);
      case WARPOOL_KIND_STRUCT:
        return structure(part);
      case WARPOOL_KIND_SPARSE:
        return sparse(part);
      default:
        broken("it has a kind of part that this version does not know: update Warpool here");
    }
  }

 private:
  [[noreturn]] void broken(const char* why) const {
    warpool_error error;
    wpm_refuse(&error, "the item '%s' cannot be read: %s", info_.name, why);
    error.code = WARPOOL_PROTOCOL_ERROR;
    raise(error);
  }

  static dim_vector dims_of(const warpool_part& part) {
    const wpm_size size = wpm_matlab_size(&part);
    dim_vector dims;
    dims.resize(static_cast<int>(size.ndim));
    for (std::uint32_t d = 0; d < size.ndim; d++) {
      dims(static_cast<int>(d)) = size.extent[d];
    }
    return dims;
  }

  /// The elements as Octave's array: borrowed if they can be, else copied.
  template <typename T>
  Array<T> elements(const warpool_part& part, const dim_vector& dims) {
    // A single element becomes a scalar, which has no room for foreign memory. Items in the message are private memory already, and
    // a plain array of that size costs less than keeping track of a borrowed one.
    const std::int64_t count = wpm_element_count(&part);
    if (!is_inline_ && count > 1 && wpm_is_column_major(&part)) {
      return borrow<T>(item_, part, dims);
    }
    Array<T> copy(dims);
    if (count > 0) {
      wpm_copy_column_major(&part, copy.fortran_vec());
      count_conversion(part, is_inline_ ? Copying::kNone : Copying::kCounted);
    }
    return copy;
  }

  template <typename T>
  Array<T> elements(const warpool_part& part) {
    return elements<T>(part, dims_of(part));
  }

  octave_value half_precision(const warpool_part& part) {
    const Array<octave_uint16> halves = elements<octave_uint16>(part);
    FloatNDArray singles(halves.dims());
    float* target = singles.fortran_vec();
    for (octave_idx_type i = 0; i < halves.numel(); i++) {
      target[i] = wpm_half_to_single(halves.xelem(i).value());
    }
    count_conversion(part, Copying::kCounted);
    return octave_value(singles);
  }

  octave_value array(const warpool_part& part) {
    switch (part.dtype) {
      case WARPOOL_FLOAT64:
        return octave_value(NDArray(elements<double>(part)));
      case WARPOOL_FLOAT32:
        return octave_value(FloatNDArray(elements<float>(part)));
      case WARPOOL_FLOAT16:
        return half_precision(part);
      // octave_value(ComplexNDArray) looks at every element, and makes a real copy if no imaginary part is other than zero.
      case WARPOOL_COMPLEX128:
        return octave_value(new octave_complex_matrix(ComplexNDArray(elements<Complex>(part))));
      case WARPOOL_COMPLEX64:
        return octave_value(
            new octave_float_complex_matrix(FloatComplexNDArray(elements<FloatComplex>(part))));
      case WARPOOL_BOOL:
        return octave_value(boolNDArray(elements<bool>(part)));
      case WARPOOL_INT8:
        return octave_value(int8NDArray(elements<octave_int8>(part)));
      case WARPOOL_INT16:
        return octave_value(int16NDArray(elements<octave_int16>(part)));
      case WARPOOL_INT32:
        return octave_value(int32NDArray(elements<octave_int32>(part)));
      case WARPOOL_INT64:
        return octave_value(int64NDArray(elements<octave_int64>(part)));
      case WARPOOL_UINT8:
        return octave_value(uint8NDArray(elements<octave_uint8>(part)));
      case WARPOOL_UINT16:
        return octave_value(uint16NDArray(elements<octave_uint16>(part)));
      case WARPOOL_UINT32:
        return octave_value(uint32NDArray(elements<octave_uint32>(part)));
      case WARPOOL_UINT64:
        return octave_value(uint64NDArray(elements<octave_uint64>(part)));
      default:
        broken("it has an element type that this version does not know: update Warpool here");
    }
  }

  octave_value text(const warpool_part& part) {
    const std::int64_t size = wpm_element_count(&part);
    const dim_vector dims = size == 0 ? dim_vector(0, 0) : dim_vector(1, size);
    return octave_value(charNDArray(elements<char>(part, dims)), '\'');
  }

  octave_value chars(const warpool_part& part) {
    charNDArray result(dims_of(part));
    const octave_idx_type count = result.numel();
    if (part.dtype == WARPOOL_UINT8) {
      result = charNDArray(elements<char>(part));
    } else {
      const Array<octave_uint16> units = elements<octave_uint16>(part);
      char* target = result.fortran_vec();
      for (octave_idx_type i = 0; i < count; i++) {
        const unsigned unit = units.xelem(i).value();
        target[i] = static_cast<char>(unit < 0x80 ? unit : 0xff);
      }
      count_conversion(part, Copying::kCounted);
    }
    if (!wpm_is_ascii(result.data(), static_cast<std::size_t>(count))) {
      warpool_error error;
      wpm_refuse(&error,
                 "'%s' is a char matrix with characters beyond ASCII, which have no place in one "
                 "element of Octave's char: publish "
                 "each row as a text of its own, or the numbers of the characters",
                 info_.name);
      error.code = WARPOOL_UNSUPPORTED;
      raise(error);
    }
    return octave_value(result, '\'');
  }

  octave_value structure(const warpool_part& head) {
    octave_scalar_map fields;
    const std::string prefix = *head.path == '\0' ? std::string() : std::string(head.path) + '/';
    while (next_ < info_.part_count &&
           std::strncmp(info_.parts[next_].path, prefix.c_str(), prefix.size()) == 0) {
      const std::string name = info_.parts[next_].path + prefix.size();
      if (name.empty() || name.find('/') != std::string::npos) {
        broken("a field comes before the struct it belongs to");
      }
      fields.setfield(name, take());
    }
    return octave_value(fields);
  }

  /// One of the three arrays of a sparse matrix.
  const warpool_part& piece(const warpool_part& head, const char* name, std::int64_t count,
                            bool is_index) {
    char path[WPM_MAX_PATH];
    warpool_error error;
    check(wpm_join_path(head.path, name, path, &error), error);
    if (next_ >= info_.part_count || std::strcmp(info_.parts[next_].path, path) != 0) {
      broken("its sparse matrix has not all of its parts");
    }
    const warpool_part& part = info_.parts[next_++];
    if (part.ndim != 1 || (count >= 0 && part.shape[0] != count) ||
        (is_index && part.dtype != WARPOOL_INT64) || !wpm_is_column_major(&part)) {
      broken("the parts of its sparse matrix do not fit each other");
    }
    return part;
  }

  octave_value sparse(const warpool_part& head) {
    if (head.ndim != 2) {
      broken("its sparse matrix is none");
    }
    const warpool_part& data = piece(head, "data", -1, false);
    const warpool_part& indices = piece(head, "indices", data.shape[0], true);
    const warpool_part& starts = piece(head, "indptr", head.shape[1] + 1, true);
    check_structure(head, data.shape[0], static_cast<const std::int64_t*>(indices.data),
                    static_cast<const std::int64_t*>(starts.data));
    for (const warpool_part* part : {&data, &indices, &starts}) {
      // Octave's sparse matrices own their memory.
      count_conversion(*part, is_inline_ ? Copying::kNone : Copying::kCounted);
    }
    if (data.dtype == WARPOOL_BOOL) {
      return octave_value(filled<SparseBoolMatrix, bool>(head, data, indices, starts));
    }
    if (data.dtype == WARPOOL_COMPLEX128 || data.dtype == WARPOOL_COMPLEX64) {
      // As for full arrays: octave_value(SparseComplexMatrix) would make it real if no imaginary part is other than zero.
      return octave_value(new octave_sparse_complex_matrix(
          filled<SparseComplexMatrix, Complex>(head, data, indices, starts)));
    }
    return octave_value(filled<SparseMatrix, double>(head, data, indices, starts));
  }

  /// Octave trusts the indices of its matrices, so another program's must be right before they become Octave's.
  void check_structure(const warpool_part& head, std::int64_t stored, const std::int64_t* rows,
                       const std::int64_t* starts) const {
    bool good = starts[0] == 0 && starts[head.shape[1]] == stored;
    for (std::int64_t c = 0; good && c < head.shape[1]; c++) {
      good = starts[c] <= starts[c + 1] && starts[c + 1] <= stored;
      for (std::int64_t i = starts[c]; good && i < starts[c + 1]; i++) {
        good = rows[i] >= 0 && rows[i] < head.shape[0] && (i == starts[c] || rows[i - 1] < rows[i]);
      }
    }
    if (!good) {
      broken("the indices of its sparse matrix are out of range or not in order");
    }
  }

  template <typename Matrix, typename T>
  Matrix filled(const warpool_part& head, const warpool_part& data, const warpool_part& indices,
                const warpool_part& starts) {
    const std::int64_t stored = data.shape[0];
    Matrix matrix(static_cast<octave_idx_type>(head.shape[0]),
                  static_cast<octave_idx_type>(head.shape[1]),
                  static_cast<octave_idx_type>(stored));
    std::memcpy(matrix.cidx(), starts.data,
                static_cast<std::size_t>(head.shape[1] + 1) * sizeof(std::int64_t));
    if (stored > 0) {
      std::memcpy(matrix.ridx(), indices.data,
                  static_cast<std::size_t>(stored) * sizeof(std::int64_t));
      convert(data, matrix.data());
      matrix.maybe_compress(true);  // Octave keeps no zeros, other libraries do
    }
    return matrix;
  }

  void convert(const warpool_part& data, bool* target) {
    std::memcpy(target, data.data, static_cast<std::size_t>(data.shape[0]));
  }

  void convert(const warpool_part& data, Complex* target) {
    if (data.dtype == WARPOOL_COMPLEX128) {
      std::memcpy(target, data.data, static_cast<std::size_t>(data.shape[0]) * sizeof(Complex));
    } else {
      convert_from<FloatComplex>(data, target);
    }
  }

  void convert(const warpool_part& data, double* target) {
    switch (data.dtype) {
      case WARPOOL_FLOAT64:
        std::memcpy(target, data.data, static_cast<std::size_t>(data.shape[0]) * sizeof(double));
        return;
      case WARPOOL_FLOAT32:
        return convert_from<float>(data, target);
      case WARPOOL_FLOAT16:
        for (std::int64_t i = 0; i < data.shape[0]; i++) {
          target[i] = static_cast<double>(
              wpm_half_to_single(static_cast<const std::uint16_t*>(data.data)[i]));
        }
        return;
      case WARPOOL_INT8:
        return convert_from<std::int8_t>(data, target);
      case WARPOOL_INT16:
        return convert_from<std::int16_t>(data, target);
      case WARPOOL_INT32:
        return convert_from<std::int32_t>(data, target);
      case WARPOOL_UINT8:
        return convert_from<std::uint8_t>(data, target);
      case WARPOOL_UINT16:
        return convert_from<std::uint16_t>(data, target);
      case WARPOOL_UINT32:
        return convert_from<std::uint32_t>(data, target);
      case WARPOOL_INT64:
        return convert_exactly<std::int64_t>(data, target);
      case WARPOOL_UINT64:
        return convert_exactly<std::uint64_t>(data, target);
      default:
        broken(
            "its sparse matrix has an element type that this version does not know: update Warpool "
            "here");
    }
  }

  template <typename From, typename To>
  static void convert_from(const warpool_part& data, To* target) {
    const From* source = static_cast<const From*>(data.data);
    for (std::int64_t i = 0; i < data.shape[0]; i++) {
      target[i] = static_cast<To>(source[i]);
    }
  }

  /// Octave's sparse matrices are double: a 64-bit integer that double does not hold would come out as another number.
  template <typename From>
  void convert_exactly(const warpool_part& data, double* target) {
    const From* source = static_cast<const From*>(data.data);
    constexpr double kPastLast =
        std::is_signed<From>::value ? 9223372036854775808.0 : 18446744073709551616.0;
    for (std::int64_t i = 0; i < data.shape[0]; i++) {
      target[i] = static_cast<double>(source[i]);
      if (target[i] >= kPastLast || static_cast<From>(target[i]) != source[i]) {
        warpool_error error;
        wpm_refuse(&error,
                   "the sparse matrix '%s' holds 64-bit integers beyond 2^53, which Octave's "
                   "sparse matrices (double) cannot: publish "
                   "its values as a full array",
                   info_.name);
        error.code = WARPOOL_UNSUPPORTED;
        raise(error);
      }
    }
  }

  warpool_array* item_;
  const warpool_array_info& info_;
  bool is_inline_;
  std::uint32_t next_ = 0;
};

}  // namespace

octave_value value_of(warpool_array* item) {
  return Unpacker(item, *warpool_array_get_info(item)).take();
}

}  // namespace warpool_oct
