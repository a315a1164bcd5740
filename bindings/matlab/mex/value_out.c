/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "gateway.h"

enum { kWideChars = sizeof(mxChar) == 2 };

int wpm_is_complex_dtype(uint32_t dtype) {
  return dtype == WARPOOL_COMPLEX64 || dtype == WARPOOL_COMPLEX128;
}

mxClassID wpm_class_id(uint32_t dtype) {
  switch (dtype) {
    case WARPOOL_INT8:
      return mxINT8_CLASS;
    case WARPOOL_INT16:
      return mxINT16_CLASS;
    case WARPOOL_INT32:
      return mxINT32_CLASS;
    case WARPOOL_INT64:
      return mxINT64_CLASS;
    case WARPOOL_UINT8:
      return mxUINT8_CLASS;
    case WARPOOL_UINT16:
      return mxUINT16_CLASS;
    case WARPOOL_UINT32:
      return mxUINT32_CLASS;
    case WARPOOL_UINT64:
      return mxUINT64_CLASS;
    case WARPOOL_FLOAT16:
    case WARPOOL_FLOAT32:
    case WARPOOL_COMPLEX64:
      return mxSINGLE_CLASS;
    default:
      return mxDOUBLE_CLASS;
  }
}

static void to_matlab_extents(uint32_t ndim, const int64_t* extents, mwSize out[WARPOOL_MAX_NDIM]) {
  for (uint32_t d = 0; d < ndim; d++) {
    out[d] = (mwSize)extents[d];
  }
}

mxArray* wpm_new_array(uint32_t dtype, uint32_t ndim, const int64_t* extents) {
  mwSize sizes[WARPOOL_MAX_NDIM];
  to_matlab_extents(ndim, extents, sizes);
  if (dtype == WARPOOL_BOOL) {
    return mxCreateLogicalArray(ndim, sizes);
  }
  return mxCreateNumericArray(ndim, sizes, wpm_class_id(dtype),
                              wpm_is_complex_dtype(dtype) ? mxCOMPLEX : mxREAL);
}

#if !MX_HAS_INTERLEAVED_COMPLEX
static void split(mxArray* array, uint32_t dtype, const void* source, size_t count) {
  const size_t half = warpool_dtype_size(dtype) / 2;
  const char* from = (const char*)source;
  char* real = (char*)mxGetData(array);
  char* imaginary = (char*)mxGetImagData(array);
  for (size_t i = 0; i < count; i++) {
    memcpy(real + i * half, from + 2 * i * half, half);
    memcpy(imaginary + i * half, from + (2 * i + 1) * half, half);
  }
}

static void interleave(const mxArray* array, uint32_t dtype, void* target, size_t count) {
  const size_t half = warpool_dtype_size(dtype) / 2;
  char* to = (char*)target;
  const char* real = (const char*)mxGetData(array);
  const char* imaginary = (const char*)mxGetImagData(array);
  for (size_t i = 0; i < count; i++) {
    memcpy(to + 2 * i * half, real + i * half, half);
    if (imaginary != NULL) {
      memcpy(to + (2 * i + 1) * half, imaginary + i * half, half);
    } else {
      memset(to + (2 * i + 1) * half, 0, half);
    }
  }
}
#endif

/* Elements that are stored: of a sparse array not all. */
static size_t stored_elements(const mxArray* array) {
  return mxIsSparse(array) ? (size_t)mxGetJc(array)[mxGetN(array)]
                           : (size_t)mxGetNumberOfElements(array);
}

static void fill_stored(mxArray* array, uint32_t dtype, const void* source, size_t count) {
  if (count == 0) {
    return;
  }
#if !MX_HAS_INTERLEAVED_COMPLEX
  if (wpm_is_complex_dtype(dtype)) {
    split(array, dtype, source, count);
    return;
  }
#endif
  memcpy(mxGetData(array), source, count * warpool_dtype_size(dtype));
}

void wpm_fill_array(mxArray* array, uint32_t dtype, const void* source) {
  fill_stored(array, dtype, source, (size_t)mxGetNumberOfElements(array));
}

void wpm_read_array(const mxArray* array, uint32_t dtype, void* target) {
  const size_t count = stored_elements(array);
  if (count == 0) {
    return;
  }
#if !MX_HAS_INTERLEAVED_COMPLEX
  if (wpm_is_complex_dtype(dtype)) {
    interleave(array, dtype, target, count);
    return;
  }
#endif
  memcpy(target, mxGetData(array), count * warpool_dtype_size(dtype));
}

typedef struct unpacker {
  const warpool_array_info* info;
  uint32_t next;
  warpool_error* error;
} unpacker;

static mxArray* broken(const unpacker* u, const char* why) {
  (void)wpm_refuse(u->error, "the item '%s' cannot be read: %s", u->info->name, why);
  u->error->code = WARPOOL_PROTOCOL_ERROR;
  return NULL;
}

static void count_part(const unpacker* u, const warpool_part* part, int converted) {
  if ((u->info->flags & WARPOOL_ARRAY_INLINE) == 0 || converted) {
    wpm_count_copy(converted ? WARPOOL_COPY_CONVERT : WARPOOL_COPY_GATEWAY,
                   (uint64_t)wpm_element_count(part) * warpool_dtype_size(part->dtype));
  }
}

/* The elements of a part in column-major order: where they lie, or in new memory that MATLAB frees. */
static const void* column_major(const warpool_part* part) {
  if (wpm_is_column_major(part)) {
    return part->data;
  }
  void* copy = mxMalloc((size_t)wpm_element_count(part) * warpool_dtype_size(part->dtype));
  wpm_copy_column_major(part, copy);
  return copy;
}

static mxArray* take_array(const unpacker* u, const warpool_part* part) {
  const wpm_size size = wpm_matlab_size(part);
  const size_t count = (size_t)wpm_element_count(part);
  if (warpool_dtype_size(part->dtype) == 0) {
    return broken(u, "it has an element type that this version does not know: update Warpool here");
  }
  mxArray* array = wpm_new_array(part->dtype, size.ndim, size.extent);
  count_part(u, part, 0);
  if (count == 0) {
    return array;
  }
  if (part->dtype == WARPOOL_FLOAT16) {
    const uint16_t* halves = (const uint16_t*)column_major(part);
    float* singles = (float*)mxGetData(array);
    for (size_t i = 0; i < count; i++) {
      singles[i] = wpm_half_to_single(halves[i]);
    }
    count_part(u, part, 1);
  } else if (wpm_is_column_major(part)) {
    wpm_fill_array(array, part->dtype, part->data);
  } else if (wpm_is_complex_dtype(part->dtype) && !MX_HAS_INTERLEAVED_COMPLEX) {
    void* ordered = mxMalloc(count * warpool_dtype_size(part->dtype));
    wpm_copy_column_major(part, ordered);
    wpm_fill_array(array, part->dtype, ordered);
    mxFree(ordered);
    count_part(u, part, 1);
  } else {
    wpm_copy_column_major(part, mxGetData(array));
    count_part(u, part, 1);
  }
  return array;
}

static mxArray* take_text(const unpacker* u, const warpool_part* part) {
  const char* bytes = (const char*)part->data;
  const size_t size = (size_t)wpm_element_count(part);
  if (!wpm_is_utf8(bytes, size)) {
    return broken(u, "its text is not UTF-8");
  }
  const size_t units = kWideChars ? wpm_utf8_to_utf16(bytes, size, NULL) : size;
  const mwSize extents[2] = {units > 0, (mwSize)units};
  mxArray* array = mxCreateCharArray(2, extents);
  count_part(u, part, 0);
  if (units == 0) {
    return array;
  }
  if (kWideChars) {
    (void)wpm_utf8_to_utf16(bytes, size, (uint16_t*)mxGetData(array));
  } else {
    memcpy(mxGetData(array), bytes, size);
  }
  return array;
}

static unsigned unit_at(const void* units, uint32_t dtype, size_t i) {
  return dtype == WARPOOL_UINT8 ? ((const uint8_t*)units)[i] : ((const uint16_t*)units)[i];
}

static mxArray* take_chars(const unpacker* u, const warpool_part* part) {
  const wpm_size size = wpm_matlab_size(part);
  const size_t count = (size_t)wpm_element_count(part);
  mwSize extents[WARPOOL_MAX_NDIM];
  to_matlab_extents(size.ndim, size.extent, extents);
  mxArray* array = mxCreateCharArray(size.ndim, extents);
  count_part(u, part, 0);
  if (count == 0) {
    return array;
  }
  const void* units = column_major(part);
  mxChar* to = (mxChar*)mxGetData(array);
  for (size_t i = 0; i < count; i++) {
    const unsigned unit = unit_at(units, part->dtype, i);
    if (!kWideChars && unit >= 0x80) {
      (void)wpm_refuse(u->error,
                       "'%s' is a char matrix with characters beyond ASCII, which have no place in "
                       "one element of char here: publish "
                       "each row as a text of its own, or the numbers of the characters",
                       u->info->name);
      u->error->code = WARPOOL_UNSUPPORTED;
      return NULL;
    }
    to[i] = (mxChar)unit;
  }
  return array;
}

static mxArray* take(unpacker* u);

static mxArray* take_struct(unpacker* u, const warpool_part* head) {
  mxArray* result = mxCreateStructMatrix(1, 1, 0, NULL);
  const size_t prefix = head->path[0] != '\0' ? strlen(head->path) + 1 : 0;
  while (u->next < u->info->part_count) {
    const char* path = u->info->parts[u->next].path;
    if (prefix > 0 && (strncmp(path, head->path, prefix - 1) != 0 || path[prefix - 1] != '/')) {
      break;
    }
    const char* field = path + prefix;
    if (field[0] == '\0' || strchr(field, '/') != NULL) {
      return broken(u, "a field comes before the struct it belongs to");
    }
    mxArray* value = take(u);
    if (value == NULL) {
      return NULL;
    }
    mxSetFieldByNumber(result, 0, mxAddField(result, field), value);
  }
  return result;
}

/* Whether compressed columns are what MATLAB expects: it trusts the indices of its matrices. */
static int is_sound(const warpool_part* head, int64_t stored, const int64_t* rows,
                    const int64_t* starts) {
  if (starts[0] != 0 || starts[head->shape[1]] != stored) {
    return 0;
  }
  for (int64_t c = 0; c < head->shape[1]; c++) {
    if (starts[c] > starts[c + 1] || starts[c + 1] > stored) {
      return 0;
    }
    for (int64_t i = starts[c]; i < starts[c + 1]; i++) {
      if (rows[i] < 0 || rows[i] >= head->shape[0] || (i > starts[c] && rows[i - 1] >= rows[i])) {
        return 0;
      }
    }
  }
  return 1;
}

static double exact_value(const warpool_part* data, size_t i, int* is_exact) {
  *is_exact = 1;
  switch (data->dtype) {
    case WARPOOL_FLOAT64:
      return ((const double*)data->data)[i];
    case WARPOOL_FLOAT32:
      return (double)((const float*)data->data)[i];
    case WARPOOL_FLOAT16:
      return (double)wpm_half_to_single(((const uint16_t*)data->data)[i]);
    case WARPOOL_INT8:
      return ((const int8_t*)data->data)[i];
    case WARPOOL_INT16:
      return ((const int16_t*)data->data)[i];
    case WARPOOL_INT32:
      return ((const int32_t*)data->data)[i];
    case WARPOOL_UINT8:
      return ((const uint8_t*)data->data)[i];
    case WARPOOL_UINT16:
      return ((const uint16_t*)data->data)[i];
    case WARPOOL_UINT32:
      return ((const uint32_t*)data->data)[i];
    case WARPOOL_INT64: {
      const int64_t value = ((const int64_t*)data->data)[i];
      *is_exact = (double)value < 9223372036854775808.0 && (int64_t)(double)value == value;
      return (double)value;
    }
    case WARPOOL_UINT64: {
      const uint64_t value = ((const uint64_t*)data->data)[i];
      *is_exact = (double)value < 18446744073709551616.0 && (uint64_t)(double)value == value;
      return (double)value;
    }
    default:
      *is_exact = 0;
      return 0;
  }
}

static mxArray* new_sparse(const unpacker* u, const warpool_part* head, const warpool_part* data) {
  const mwSize rows = (mwSize)head->shape[0], columns = (mwSize)head->shape[1];
  const size_t stored = (size_t)data->shape[0];
  const mwSize room = stored > 0 ? (mwSize)stored : 1;
  if (data->dtype == WARPOOL_BOOL) {
    mxArray* result = mxCreateSparseLogicalMatrix(rows, columns, room);
    memcpy(mxGetData(result), data->data, stored);
    return result;
  }
  const int is_complex = wpm_is_complex_dtype(data->dtype);
  mxArray* result = mxCreateSparse(rows, columns, room, is_complex ? mxCOMPLEX : mxREAL);
  if (is_complex) {
    double* wide = (double*)mxMalloc((stored + 1) * 2 * sizeof *wide);
    for (size_t i = 0; i < 2 * stored; i++) {
      wide[i] = data->dtype == WARPOOL_COMPLEX128 ? ((const double*)data->data)[i]
                                                  : (double)((const float*)data->data)[i];
    }
    fill_stored(result, WARPOOL_COMPLEX128, wide, stored);
    mxFree(wide);
    return result;
  }
  double* values = (double*)mxGetData(result);
  for (size_t i = 0; i < stored; i++) {
    int is_exact;
    values[i] = exact_value(data, i, &is_exact);
    if (!is_exact) {
      (void)wpm_refuse(u->error,
                       "the sparse matrix '%s' holds 64-bit integers beyond 2^53, which sparse "
                       "matrices here (double) cannot: publish "
                       "its values as a full array",
                       u->info->name);
      u->error->code = WARPOOL_UNSUPPORTED;
      return NULL;
    }
  }
  return result;
}

static const warpool_part* take_piece(unpacker* u, const warpool_part* head, const char* name,
                                      int64_t count, uint32_t dtype) {
  char path[WPM_MAX_PATH];
  if (wpm_join_path(head->path, name, path, u->error) != WARPOOL_OK ||
      u->next >= u->info->part_count || strcmp(u->info->parts[u->next].path, path) != 0) {
    return NULL;
  }
  const warpool_part* part = &u->info->parts[u->next++];
  const int fits = part->ndim == 1 && (count < 0 || part->shape[0] == count) &&
                   (dtype == 0 || part->dtype == dtype);
  return fits && wpm_is_column_major(part) ? part : NULL;
}

static mxArray* take_sparse(unpacker* u, const warpool_part* head) {
  const warpool_part* data = take_piece(u, head, "data", -1, 0);
  const warpool_part* indices =
      data != NULL ? take_piece(u, head, "indices", data->shape[0], WARPOOL_INT64) : NULL;
  const warpool_part* starts =
      indices != NULL ? take_piece(u, head, "indptr", head->shape[1] + 1, WARPOOL_INT64) : NULL;
  if (starts == NULL || head->ndim != 2) {
    return broken(u, "the parts of its sparse matrix do not fit each other");
  }
  const int64_t* from_rows = (const int64_t*)indices->data;
  const int64_t* from_starts = (const int64_t*)starts->data;
  if (!is_sound(head, data->shape[0], from_rows, from_starts)) {
    return broken(u, "the indices of its sparse matrix are out of range or not in order");
  }
  mxArray* result = new_sparse(u, head, data);
  if (result == NULL) {
    return NULL;
  }
  mwIndex* rows = mxGetIr(result);
  mwIndex* columns = mxGetJc(result);
  for (int64_t i = 0; i < data->shape[0]; i++) {
    rows[i] = (mwIndex)from_rows[i];
  }
  for (int64_t c = 0; c <= head->shape[1]; c++) {
    columns[c] = (mwIndex)from_starts[c];
  }
  count_part(u, data, 0);
  count_part(u, indices, 0);
  count_part(u, starts, 0);
  return result;
}

static mxArray* take(unpacker* u) {
  if (u->next >= u->info->part_count) {
    return broken(u, "it has fewer parts than it tells of");
  }
  const warpool_part* part = &u->info->parts[u->next++];
  switch (part->kind) {
    case WARPOOL_KIND_ARRAY:
      return take_array(u, part);
    case WARPOOL_KIND_TEXT:
      return take_text(u, part);
    case WARPOOL_KIND_CHARS:
      return take_chars(u, part);
    case WARPOOL_KIND_STRUCT:
      return take_struct(u, part);
    case WARPOOL_KIND_SPARSE:
      return take_sparse(u, part);
    default:
      return broken(u,
                    "it has a kind of part that this version does not know: update Warpool here");
  }
}

mxArray* wpm_unpack(const warpool_array_info* info, warpool_error* error) {
  unpacker u = {info, 0, error};
  return take(&u);
}
