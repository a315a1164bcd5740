/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <string.h>

/* Two tiles of 16-byte elements of this edge fit into the first-level cache. */
enum { kTileEdge = 32 };

wpm_size wpm_matlab_size(const warpool_part* part) {
  wpm_size size;
  memset(&size, 0, sizeof size);
  size.ndim = part->ndim < 2 ? 2 : part->ndim;
  size.extent[0] = 1;
  size.extent[1] = 1;
  for (uint32_t d = 0; d < part->ndim; d++) {
    size.extent[d] = part->shape[d];
  }
  return size;
}

int64_t wpm_element_count(const warpool_part* part) {
  int64_t count = 1;
  for (uint32_t d = 0; d < part->ndim; d++) {
    count *= part->shape[d];
  }
  return count;
}

int wpm_is_column_major(const warpool_part* part) {
  int64_t expected = (int64_t)warpool_dtype_size(part->dtype);
  if (wpm_element_count(part) <= 1) {
    return 1;
  }
  for (uint32_t d = 0; d < part->ndim; d++) {
    if (part->shape[d] != 1 && part->strides[d] != expected) {
      return 0;
    }
    expected *= part->shape[d];
  }
  return 1;
}

/* One plane of a copy: `rows` elements `source_row` bytes apart become neighbours, `columns` of them. */
typedef struct plane {
  int64_t rows, columns;
  int64_t source_row, source_column; /* strides in bytes */
  int64_t target_column;             /* stride in bytes; along rows it is the size of an element */
} plane;

#define DEFINE_TILE(type, name)                                        \
  static void name(const plane* p, const char* source, char* target) { \
    for (int64_t c = 0; c < p->columns; c++) {                         \
      const char* from = source + c * p->source_column;                \
      type* to = (type*)(void*)(target + c * p->target_column);        \
      for (int64_t r = 0; r < p->rows; r++) {                          \
        memcpy(&to[r], from + r * p->source_row, sizeof(type));        \
      }                                                                \
    }                                                                  \
  }

typedef struct sixteen_bytes {
  uint64_t words[2];
} sixteen_bytes;

DEFINE_TILE(uint8_t, copy_tile_1)
DEFINE_TILE(uint16_t, copy_tile_2)
DEFINE_TILE(uint32_t, copy_tile_4)
DEFINE_TILE(uint64_t, copy_tile_8)
DEFINE_TILE(sixteen_bytes, copy_tile_16)

typedef void (*tile_copier)(const plane*, const char*, char*);

static tile_copier tile_copier_for(size_t element) {
  switch (element) {
    case 1:
      return copy_tile_1;
    case 2:
      return copy_tile_2;
    case 4:
      return copy_tile_4;
    case 8:
      return copy_tile_8;
    default:
      return copy_tile_16;
  }
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* In tiles, because one of the two sides is always walked across its memory. */
static void copy_plane(const plane* whole, size_t element, const char* source, char* target) {
  const tile_copier copy = tile_copier_for(element);
  for (int64_t c = 0; c < whole->columns; c += kTileEdge) {
    for (int64_t r = 0; r < whole->rows; r += kTileEdge) {
      plane tile = *whole;
      tile.rows = smaller(kTileEdge, whole->rows - r);
      tile.columns = smaller(kTileEdge, whole->columns - c);
      copy(&tile, source + r * whole->source_row + c * whole->source_column,
           target + r * (int64_t)element + c * whole->target_column);
    }
  }
}

/* The dimension, other than the first, along which the source moves least; 0 when there is none. */
static uint32_t nearest_dimension(const warpool_part* part) {
  uint32_t best = 0;
  for (uint32_t d = 1; d < part->ndim; d++) {
    if (part->shape[d] > 1 && (best == 0 || part->strides[d] < part->strides[best])) {
      best = d;
    }
  }
  return best;
}

void wpm_copy_column_major(const warpool_part* part, void* target) {
  const size_t element = warpool_dtype_size(part->dtype);
  const int64_t count = wpm_element_count(part);
  if (count == 0) {
    return;
  }
  if (wpm_is_column_major(part)) {
    memcpy(target, part->data, (size_t)count * element);
    return;
  }
  int64_t target_stride[WARPOOL_MAX_NDIM];
  int64_t stride = (int64_t)element;
  for (uint32_t d = 0; d < part->ndim; d++) {
    target_stride[d] = stride;
    stride *= part->shape[d];
  }
  const uint32_t across = nearest_dimension(part);
  const plane p = {part->shape[0], across ? part->shape[across] : 1, part->strides[0],
                   across ? part->strides[across] : 0, across ? target_stride[across] : 0};
  int64_t index[WARPOOL_MAX_NDIM] = {0};
  const char* source = (const char*)part->data;
  char* to = (char*)target;
  for (;;) {
    copy_plane(&p, element, source, to);
    uint32_t d = 1;
    for (; d < part->ndim; d++) {
      if (d == across) {
        continue;
      }
      source += part->strides[d];
      to += target_stride[d];
      if (++index[d] < part->shape[d]) {
        break;
      }
      source -= part->strides[d] * part->shape[d];
      to -= target_stride[d] * part->shape[d];
      index[d] = 0;
    }
    if (d >= part->ndim) {
      return;
    }
  }
}

float wpm_half_to_single(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t fraction = half & 0x3ffu;
  uint32_t bits;
  if (exponent == 0x1fu) {
    bits = sign | 0x7f800000u | (fraction << 13); /* infinity and NaN */
  } else if (exponent != 0) {
    bits = sign | ((exponent + 112u) << 23) | (fraction << 13);
  } else if (fraction != 0) {
    /* A subnormal half is a normal single: shift the leading one out of the fraction. */
    exponent = 113u;
    while ((fraction & 0x400u) == 0) {
      fraction <<= 1;
      exponent--;
    }
    bits = sign | (exponent << 23) | ((fraction & 0x3ffu) << 13);
  } else {
    bits = sign;
  }
  float single;
  memcpy(&single, &bits, sizeof single);
  return single;
}
