/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "gateway.h"

/* MATLAB's characters are UTF-16 units, Octave's are bytes of UTF-8; mxChar has the size of one. */
enum { kWideChars = sizeof(mxChar) == 2 };

static uint32_t dtype_of(const mxArray* value) {
  const int is_complex = mxIsComplex(value);
  switch (mxGetClassID(value)) {
    case mxLOGICAL_CLASS:
      return WARPOOL_BOOL;
    case mxDOUBLE_CLASS:
      return is_complex ? WARPOOL_COMPLEX128 : WARPOOL_FLOAT64;
    case mxSINGLE_CLASS:
      return is_complex ? WARPOOL_COMPLEX64 : WARPOOL_FLOAT32;
    case mxINT8_CLASS:
      return WARPOOL_INT8;
    case mxUINT8_CLASS:
      return WARPOOL_UINT8;
    case mxINT16_CLASS:
      return WARPOOL_INT16;
    case mxUINT16_CLASS:
      return WARPOOL_UINT16;
    case mxINT32_CLASS:
      return WARPOOL_INT32;
    case mxUINT32_CLASS:
      return WARPOOL_UINT32;
    case mxINT64_CLASS:
      return WARPOOL_INT64;
    case mxUINT64_CLASS:
      return WARPOOL_UINT64;
    default:
      return 0;
  }
}

static char* copy_text(const char* text) {
  char* copy = (char*)mxMalloc(strlen(text) + 1);
  strcpy(copy, text);
  return copy;
}

static uint32_t append(wpm_packed* out, const char* path, uint32_t kind, uint32_t dtype,
                       const mxArray* source, wpm_conversion conversion) {
  warpool_error error;
  if (out->count == WARPOOL_MAX_PARTS) {
    wpm_check(wpm_refuse(&error,
                         "more than %d fields in one item: put groups of fields under names of "
                         "their own, such as 'run1/a'",
                         (int)WARPOOL_MAX_PARTS),
              &error);
  }
  const uint32_t index = out->count++;
  warpool_part* part = &out->parts[index];
  memset(part, 0, sizeof *part);
  part->path = copy_text(path);
  part->kind = kind;
  part->dtype = dtype;
  out->sources[index] = source;
  out->conversions[index] = (unsigned char)conversion;
  out->needs_conversion |= conversion != WPM_AS_IT_LIES;
  return index;
}

static void set_vector(warpool_part* part, int64_t length, const void* data) {
  part->ndim = 1;
  part->shape[0] = length;
  part->strides[0] = (int64_t)warpool_dtype_size(part->dtype);
  part->data = data;
}

static void set_shape(warpool_part* part, const mxArray* value) {
  warpool_error error;
  int64_t shape[WARPOOL_MAX_NDIM];
  const mwSize ndim = mxGetNumberOfDimensions(value);
  const mwSize* extents = mxGetDimensions(value);
  if (ndim > WARPOOL_MAX_NDIM) {
    wpm_check(wpm_refuse(&error, "%d dimensions: at most %d are possible", (int)ndim,
                         (int)WARPOOL_MAX_NDIM),
              &error);
  }
  for (mwSize d = 0; d < ndim; d++) {
    shape[d] = (int64_t)extents[d];
  }
  const warpool_part head = *part;
  wpm_check(warpool_part_init(part, head.dtype, (uint32_t)ndim, shape, WARPOOL_ORDER_F, &error),
            &error);
  part->path = head.path;
  part->kind = head.kind;
}

static void add_array(wpm_packed* out, const char* path, const mxArray* value) {
  const uint32_t dtype = dtype_of(value);
  warpool_error error;
  if (dtype == 0 || (mxIsComplex(value) && !wpm_is_complex_dtype(dtype))) {
    wpm_check(dtype == 0 ? wpm_refuse_value(&error, path, mxGetClassName(value))
                         : wpm_refuse(&error,
                                      "complex integers cannot be shared: put real(x) and imag(x) "
                                      "as the fields of a struct"),
              &error);
  }
  const int apart = wpm_is_complex_dtype(dtype) && !MX_HAS_INTERLEAVED_COMPLEX;
  const uint32_t index =
      append(out, path, WARPOOL_KIND_ARRAY, dtype, value, apart ? WPM_INTERLEAVE : WPM_AS_IT_LIES);
  set_shape(&out->parts[index], value);
  out->parts[index].data = mxGetData(value);
}

static int units_are_ascii(const uint16_t* units, size_t count) {
  unsigned all = 0;
  for (size_t i = 0; i < count; i++) {
    all |= units[i];
  }
  return all < 0x80;
}

static void add_wide_chars(wpm_packed* out, const char* path, const mxArray* value, int is_row) {
  const uint16_t* units = (const uint16_t*)mxGetData(value);
  const size_t count = mxGetNumberOfElements(value);
  const size_t size = is_row ? wpm_utf16_to_utf8(units, count, NULL) : (size_t)-1;
  if (size != (size_t)-1) {
    const uint32_t index =
        append(out, path, WARPOOL_KIND_TEXT, WARPOOL_UINT8, value, WPM_UNITS_TO_UTF8);
    set_vector(&out->parts[index], (int64_t)size, NULL);
    return;
  }
  const int ascii = units_are_ascii(units, count);
  const uint32_t index =
      append(out, path, WARPOOL_KIND_CHARS, ascii ? WARPOOL_UINT8 : WARPOOL_UINT16, value,
             ascii ? WPM_UNITS_TO_BYTES : WPM_AS_IT_LIES);
  set_shape(&out->parts[index], value);
  out->parts[index].data = units;
}

static void add_narrow_chars(wpm_packed* out, const char* path, const mxArray* value, int is_row) {
  const char* bytes = (const char*)mxGetData(value);
  const size_t size = mxGetNumberOfElements(value);
  warpool_error error;
  if (is_row && wpm_is_utf8(bytes, size)) {
    const uint32_t index =
        append(out, path, WARPOOL_KIND_TEXT, WARPOOL_UINT8, value, WPM_AS_IT_LIES);
    set_vector(&out->parts[index], (int64_t)size, bytes);
    return;
  }
  if (!wpm_is_ascii(bytes, size)) {
    wpm_check(
        wpm_refuse(
            &error, "%s%s%s%s", path[0] ? "field '" : "", path, path[0] ? "': " : "",
            is_row ? "text that is not UTF-8 cannot be shared; put its bytes, uint8(x), or convert "
                     "it, "
                     "unicode2native(x, 'UTF-8')"
                   : "a char matrix with characters beyond ASCII cannot be shared, as several "
                     "bytes are stored for each; "
                     "put each row as a text of its own, strtrim(x(k,:)), or the bytes, uint8(x)"),
        &error);
  }
  const uint32_t index =
      append(out, path, WARPOOL_KIND_CHARS, WARPOOL_UINT8, value, WPM_AS_IT_LIES);
  set_shape(&out->parts[index], value);
  out->parts[index].data = bytes;
}

static void add_chars(wpm_packed* out, const char* path, const mxArray* value) {
  const size_t rows = mxGetM(value), columns = mxGetN(value);
  const int is_row = mxGetNumberOfDimensions(value) == 2 &&
                     ((rows == 1 && columns > 0) || (rows == 0 && columns == 0));
  if (kWideChars) {
    add_wide_chars(out, path, value, is_row);
  } else {
    add_narrow_chars(out, path, value, is_row);
  }
}

static void add_sparse(wpm_packed* out, const char* path, const mxArray* value) {
  warpool_error error;
  char full[WPM_MAX_PATH];
  const uint32_t dtype = dtype_of(value);
  const size_t columns = mxGetN(value);
  const mwIndex* starts = mxGetJc(value);
  const int64_t stored = (int64_t)starts[columns];
  const int apart = wpm_is_complex_dtype(dtype) && !MX_HAS_INTERLEAVED_COMPLEX;
  const wpm_conversion indices =
      sizeof(mwIndex) == sizeof(int64_t) ? WPM_AS_IT_LIES : WPM_INDICES_TO_INT64;

  warpool_part* head =
      &out->parts[append(out, path, WARPOOL_KIND_SPARSE, dtype, NULL, WPM_AS_IT_LIES)];
  head->ndim = 2;
  head->shape[0] = (int64_t)mxGetM(value);
  head->shape[1] = (int64_t)columns;

  wpm_check(wpm_join_path(path, "data", full, &error), &error);
  uint32_t index =
      append(out, full, WARPOOL_KIND_ARRAY, dtype, value, apart ? WPM_INTERLEAVE : WPM_AS_IT_LIES);
  set_vector(&out->parts[index], stored, mxGetData(value));
  wpm_check(wpm_join_path(path, "indices", full, &error), &error);
  index = append(out, full, WARPOOL_KIND_ARRAY, WARPOOL_INT64, value, indices);
  set_vector(&out->parts[index], stored, mxGetIr(value));
  wpm_check(wpm_join_path(path, "indptr", full, &error), &error);
  index = append(out, full, WARPOOL_KIND_ARRAY, WARPOOL_INT64, value, indices);
  set_vector(&out->parts[index], (int64_t)columns + 1, starts);
}

static void add(wpm_packed* out, const char* path, const mxArray* value);

static void add_struct(wpm_packed* out, const char* path, const mxArray* value) {
  warpool_error error;
  char full[WPM_MAX_PATH];
  if (mxGetNumberOfElements(value) != 1) {
    wpm_check(wpm_refuse_struct_array(&error, path), &error);
  }
  (void)append(out, path, WARPOOL_KIND_STRUCT, WARPOOL_UINT8, NULL, WPM_AS_IT_LIES);
  const int fields = mxGetNumberOfFields(value);
  for (int f = 0; f < fields; f++) {
    const char* name = mxGetFieldNameByNumber(value, f);
    wpm_check(wpm_check_field(name, path, &error), &error);
    wpm_check(wpm_join_path(path, name, full, &error), &error);
    add(out, full, mxGetFieldByNumber(value, 0, f));
  }
}

static void add(wpm_packed* out, const char* path, const mxArray* value) {
  warpool_error error;
  if (value == NULL) {
    /* A field that was never set is []. */
    add(out, path, mxCreateDoubleMatrix(0, 0, mxREAL));
  } else if (mxIsSparse(value)) {
    add_sparse(out, path, value);
  } else if (mxIsChar(value)) {
    add_chars(out, path, value);
  } else if (mxIsStruct(value)) {
    add_struct(out, path, value);
  } else if (mxIsNumeric(value) || mxIsLogical(value)) {
    add_array(out, path, value);
  } else {
    wpm_check(wpm_refuse_value(&error, path, mxGetClassName(value)), &error);
  }
}

void wpm_pack(const mxArray* value, wpm_packed* out) {
  memset(out, 0, sizeof *out);
  /* A struct may have any number of parts up to the limit; anything else has at most those of a sparse matrix. */
  const size_t room = mxIsStruct(value) ? WARPOOL_MAX_PARTS : 4;
  out->parts = (warpool_part*)mxMalloc(room * sizeof *out->parts);
  out->sources = (const mxArray**)mxMalloc(room * sizeof *out->sources);
  out->conversions = (unsigned char*)mxMalloc(room);
  add(out, "", value);
}

void wpm_convert_part(const wpm_packed* packed, uint32_t index, void* target) {
  const warpool_part* part = &packed->parts[index];
  const size_t count = (size_t)wpm_element_count(part);
  const mxArray* source = packed->sources[index];
  switch ((wpm_conversion)packed->conversions[index]) {
    case WPM_AS_IT_LIES:
      if (count > 0) {
        memcpy(target, part->data, count * warpool_dtype_size(part->dtype));
      }
      return;
    case WPM_INTERLEAVE: {
      /* Of a sparse matrix only the stored elements. */
      wpm_read_array(source, part->dtype, target);
      return;
    }
    case WPM_UNITS_TO_UTF8:
      (void)wpm_utf16_to_utf8((const uint16_t*)mxGetData(source), mxGetNumberOfElements(source),
                              (char*)target);
      return;
    case WPM_UNITS_TO_BYTES: {
      const uint16_t* units = (const uint16_t*)part->data;
      for (size_t i = 0; i < count; i++) {
        ((uint8_t*)target)[i] = (uint8_t)units[i];
      }
      return;
    }
    case WPM_INDICES_TO_INT64: {
      const mwIndex* indices = (const mwIndex*)part->data;
      for (size_t i = 0; i < count; i++) {
        ((int64_t*)target)[i] = (int64_t)indices[i];
      }
      return;
    }
  }
}
