/* SPDX-License-Identifier: Apache-2.0 */
#include "region.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void wpm_subscript_extents(uint32_t ndim, const int64_t* extent, uint32_t count, int64_t* out) {
  for (uint32_t s = 0; s < count; s++) {
    out[s] = s < ndim ? extent[s] : 1;
  }
  for (uint32_t d = count; d < ndim && count > 0; d++) {
    out[count - 1] *= extent[d];
  }
}

static int64_t index_at(const wpm_subscript* s, int64_t i) {
  return s->list != NULL ? s->list[i] : s->start + i;
}

warpool_status wpm_check_subscripts(uint32_t count, const int64_t* extent,
                                    const wpm_subscript* subscripts, warpool_error* error) {
  for (uint32_t s = 0; s < count; s++) {
    const wpm_subscript* one = &subscripts[s];
    const int64_t to_check = one->list != NULL ? one->count : (one->count > 0 ? 2 : 0);
    for (int64_t i = 0; i < to_check; i++) {
      const int64_t index =
          one->list != NULL ? one->list[i] : (i == 0 ? one->start : one->start + one->count - 1);
      if (index < 0 || index >= extent[s]) {
        error->code = WARPOOL_INVALID_ARGUMENT;
        snprintf(error->message, sizeof error->message,
                 "subscript %" PRIu32 " is %" PRId64 ", but that dimension goes from 1 to %" PRId64
                 ": an array that is being filled keeps the size it was created with",
                 s + 1, index + 1, extent[s]);
        return WARPOOL_INVALID_ARGUMENT;
      }
    }
  }
  return WARPOOL_OK;
}

int wpm_value_fits(uint32_t count, const wpm_subscript* subscripts, uint32_t value_ndim,
                   const int64_t* value) {
  int64_t selected = 1, given = 1;
  for (uint32_t s = 0; s < count; s++) {
    selected *= subscripts[s].count;
  }
  for (uint32_t d = 0; d < value_ndim; d++) {
    given *= value[d];
  }
  if (selected != given) {
    return 0;
  }
  if (count == 1 || selected == 0) {
    return 1;
  }
  uint32_t d = 0;
  for (uint32_t s = 0; s < count; s++) {
    if (subscripts[s].count == 1) {
      continue;
    }
    while (d < value_ndim && value[d] == 1) {
      d++;
    }
    if (d == value_ndim || value[d] != subscripts[s].count) {
      return 0;
    }
    d++;
  }
  return 1;
}

typedef struct sixteen_bytes {
  uint64_t words[2];
} sixteen_bytes;

#define DEFINE_FILL(type, name)                                 \
  static void name(char* target, const char* value, size_t n) { \
    type one;                                                   \
    memcpy(&one, value, sizeof one);                            \
    for (size_t i = 0; i < n; i++) {                            \
      memcpy(target + i * sizeof one, &one, sizeof one);        \
    }                                                           \
  }
DEFINE_FILL(uint8_t, fill_1)
DEFINE_FILL(uint16_t, fill_2)
DEFINE_FILL(uint32_t, fill_4)
DEFINE_FILL(uint64_t, fill_8)
DEFINE_FILL(sixteen_bytes, fill_16)

static void fill_run(char* target, const char* value, size_t element, size_t n) {
  switch (element) {
    case 1:
      fill_1(target, value, n);
      return;
    case 2:
      fill_2(target, value, n);
      return;
    case 4:
      fill_4(target, value, n);
      return;
    case 8:
      fill_8(target, value, n);
      return;
    default:
      fill_16(target, value, n);
  }
}

/* What one run of consecutive elements does; gives the place of the next run in `other`. */
static char* act(char* at, char* other, size_t element, size_t run, wpm_region_action action) {
  switch (action) {
    case WPM_READ:
      memcpy(other, at, run * element);
      return other + run * element;
    case WPM_WRITE:
      memcpy(at, other, run * element);
      return other + run * element;
    default:
      fill_run(at, other, element, run);
      return other;
  }
}

void wpm_region(void* base, size_t element, uint32_t count, const int64_t* extent,
                const wpm_subscript* subscripts, void* other, wpm_region_action action) {
  for (uint32_t s = 0; s < count; s++) {
    if (subscripts[s].count == 0) {
      return;
    }
  }
  /* Leading subscripts that select whole dimensions, and the consecutive one after them, make one run. */
  uint32_t first = 0;
  int64_t run = 1;
  int whole = 1;
  while (whole && first < count && subscripts[first].list == NULL) {
    run *= subscripts[first].count;
    whole = subscripts[first].count == extent[first];
    first++;
  }
  int64_t start = 0;
  int64_t step[WARPOOL_MAX_NDIM];
  int64_t position[WARPOOL_MAX_NDIM] = {0};
  int64_t stride = 1;
  for (uint32_t s = 0; s < count; s++) {
    step[s] = stride;
    stride *= extent[s];
    if (s < first) {
      start += subscripts[s].start * step[s];
    }
  }
  char* out = (char*)other;
  for (;;) {
    int64_t offset = start;
    for (uint32_t s = first; s < count; s++) {
      offset += index_at(&subscripts[s], position[s]) * step[s];
    }
    out = act((char*)base + offset * (int64_t)element, out, element, (size_t)run, action);
    uint32_t s = first;
    while (s < count && ++position[s] == subscripts[s].count) {
      position[s++] = 0;
    }
    if (s >= count) {
      return;
    }
  }
}
