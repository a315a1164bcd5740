// SPDX-License-Identifier: Apache-2.0
#include "value_in.h"

#include <octave/ov-struct.h>

#include <cstring>
#include <utility>

#include "failure.h"
#include "layout.h"
#include "session.h"

namespace warpool_oct {

static_assert(sizeof(octave_int64) == 8 && sizeof(octave_uint8) == 1 && sizeof(bool) == 1 &&
                  sizeof(Complex) == 16,
              "Octave's elements are the ones that are published");
static_assert(sizeof(octave_idx_type) == sizeof(std::int64_t),
              "indices of sparse matrices are published as they are");

warpool_part& Packer::append(const char* path, warpool_kind kind, warpool_dtype dtype) {
  warpool_error error;
  if (parts_.size() == WARPOOL_MAX_PARTS) {
    wpm_refuse(&error,
               "more than %d fields in one item: put groups of fields under names of their own, "
               "such as 'run1/a'",
               static_cast<int>(WARPOOL_MAX_PARTS));
    raise(error);
  }
  parts_.emplace_back();
  warpool_part& part = parts_.back();
  if (*path == '\0') {
    part.path = "";
  } else {
    part.path = paths_.emplace_back(path).c_str();
  }
  part.kind = kind;
  part.dtype = dtype;
  part.ndim = 0;
  part.reserved = 0;
  part.offset = 0;
  part.data = nullptr;
  return part;
}

template <typename A>
void Packer::add_array(const char* path, const A& array, warpool_dtype dtype) {
  warpool_error error;
  const dim_vector dims = array.dims();
  std::int64_t shape[WARPOOL_MAX_NDIM];
  if (dims.ndims() > WARPOOL_MAX_NDIM) {
    wpm_refuse(&error, "%d dimensions: at most %d are possible", static_cast<int>(dims.ndims()),
               static_cast<int>(WARPOOL_MAX_NDIM));
    raise(error);
  }
  for (int d = 0; d < dims.ndims(); d++) {
    shape[d] = dims(d);
  }
  warpool_part& part = append(path, WARPOOL_KIND_ARRAY, dtype);
  const char* const kept_path = part.path;
  check(warpool_part_init(&part, dtype, static_cast<std::uint32_t>(dims.ndims()), shape,
                          WARPOOL_ORDER_F, &error),
        error);
  part.path = kept_path;
  auto holder = std::make_shared<A>(array);
  part.data = holder->data();
  alive_.push_back(std::move(holder));
}

void Packer::add_chars(const char* path, const octave_value& value) {
  warpool_error error;
  const charNDArray chars = value.char_array_value();
  const dim_vector dims = chars.dims();
  const std::size_t size = static_cast<std::size_t>(chars.numel());
  const bool is_row =
      dims.ndims() == 2 && ((dims(0) == 1 && dims(1) > 0) || (dims(0) == 0 && dims(1) == 0));
  if (is_row && wpm_is_utf8(chars.data(), size)) {
    auto holder = std::make_shared<charNDArray>(chars);
    warpool_part& part = append(path, WARPOOL_KIND_TEXT, WARPOOL_UINT8);
    part.ndim = 1;
    part.shape[0] = static_cast<std::int64_t>(size);
    part.strides[0] = 1;
    part.data = holder->data();
    alive_.push_back(std::move(holder));
    return;
  }
  if (!wpm_is_ascii(chars.data(), size)) {
    wpm_refuse(&error,
               is_row
                   ? "%s%s%stext that is not UTF-8 cannot be shared; put its bytes, uint8(x), or "
                     "convert it, "
                     "unicode2native(x, 'UTF-8')"
                   : "%s%s%sa char matrix with characters beyond ASCII cannot be shared, as Octave "
                     "stores several bytes for each; "
                     "put each row as a text of its own, strtrim(x(k,:)), or the bytes, uint8(x)",
               *path ? "field '" : "", path, *path ? "': " : "");
    raise(error);
  }
  add_array(path, chars, WARPOOL_UINT8);
  parts_.back().kind = WARPOOL_KIND_CHARS;
}

void Packer::append_vector(const char* path, const char* name, const void* data,
                           std::int64_t length, warpool_dtype dtype) {
  warpool_error error;
  char full[WPM_MAX_PATH];
  check(wpm_join_path(path, name, full, &error), error);
  warpool_part& part = append(full, WARPOOL_KIND_ARRAY, dtype);
  part.ndim = 1;
  part.shape[0] = length;
  part.strides[0] = static_cast<std::int64_t>(warpool_dtype_size(dtype));
  part.data = data;
}

template <typename Matrix>
void Packer::add_sparse(const char* path, const Matrix& matrix, warpool_dtype dtype) {
  auto holder = std::make_shared<Matrix>(matrix);
  const std::int64_t stored = holder->nnz();  // there may be room for more
  warpool_part& head = append(path, WARPOOL_KIND_SPARSE, dtype);
  head.ndim = 2;
  head.shape[0] = holder->rows();
  head.shape[1] = holder->cols();
  const Matrix& read_only = *holder;
  append_vector(path, "data", read_only.data(), stored, dtype);
  append_vector(path, "indices", read_only.ridx(), stored, WARPOOL_INT64);
  append_vector(path, "indptr", read_only.cidx(), holder->cols() + 1, WARPOOL_INT64);
  alive_.push_back(std::move(holder));
}

void Packer::add_struct(const char* path, const octave_value& value) {
  warpool_error error;
  if (value.numel() != 1 || value.ndims() != 2) {
    wpm_refuse_struct_array(&error, path);
    raise(error);
  }
  const octave_scalar_map fields = value.scalar_map_value();
  append(path, WARPOOL_KIND_STRUCT, WARPOOL_UINT8);
  const string_vector names =
      fields.fieldnames();  // in their order; an iterator goes by the alphabet
  for (octave_idx_type i = 0; i < names.numel(); i++) {
    const std::string name = names(i);
    char full[WPM_MAX_PATH];
    check(wpm_check_field(name.c_str(), path, &error), error);
    check(wpm_join_path(path, name.c_str(), full, &error), error);
    add(full, fields.contents(name));
  }
}

void Packer::add(const char* path, const octave_value& value) {
  if (value.issparse()) {
    if (value.islogical()) {
      add_sparse(path, value.sparse_bool_matrix_value(), WARPOOL_BOOL);
    } else if (value.iscomplex()) {
      add_sparse(path, value.sparse_complex_matrix_value(), WARPOOL_COMPLEX128);
    } else {
      add_sparse(path, value.sparse_matrix_value(), WARPOOL_FLOAT64);
    }
    return;
  }
  switch (value.builtin_type()) {
    case btyp_double:
      return add_array(path, value.array_value(), WARPOOL_FLOAT64);
    case btyp_float:
      return add_array(path, value.float_array_value(), WARPOOL_FLOAT32);
    case btyp_complex:
      return add_array(path, value.complex_array_value(), WARPOOL_COMPLEX128);
    case btyp_float_complex:
      return add_array(path, value.float_complex_array_value(), WARPOOL_COMPLEX64);
    case btyp_int8:
      return add_array(path, value.int8_array_value(), WARPOOL_INT8);
    case btyp_int16:
      return add_array(path, value.int16_array_value(), WARPOOL_INT16);
    case btyp_int32:
      return add_array(path, value.int32_array_value(), WARPOOL_INT32);
    case btyp_int64:
      return add_array(path, value.int64_array_value(), WARPOOL_INT64);
    case btyp_uint8:
      return add_array(path, value.uint8_array_value(), WARPOOL_UINT8);
    case btyp_uint16:
      return add_array(path, value.uint16_array_value(), WARPOOL_UINT16);
    case btyp_uint32:
      return add_array(path, value.uint32_array_value(), WARPOOL_UINT32);
    case btyp_uint64:
      return add_array(path, value.uint64_array_value(), WARPOOL_UINT64);
    case btyp_bool:
      return add_array(path, value.bool_array_value(), WARPOOL_BOOL);
    case btyp_char:
      return add_chars(path, value);
    case btyp_struct:
      return add_struct(path, value);
    default: {
      warpool_error error;
      wpm_refuse_value(&error, path, value.class_name().c_str());
      raise(error);
    }
  }
}

}  // namespace warpool_oct
