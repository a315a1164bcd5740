/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file layout.h
 * From the shape and strides of a published part to the column-major arrays of MATLAB and Octave. Plain C99, no allocation.
 */
#ifndef WARPOOL_MATLAB_LAYOUT_H
#define WARPOOL_MATLAB_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "warpool/warpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Extents as MATLAB sees them: at least two, a 0-d array is 1 x 1, a 1-d array of n is n x 1. */
typedef struct wpm_size {
  uint32_t ndim;
  int64_t extent[WARPOOL_MAX_NDIM];
} wpm_size;

wpm_size wpm_matlab_size(const warpool_part* part);
/** Number of elements of a part. */
int64_t wpm_element_count(const warpool_part* part);
/** Whether the elements lie one after the other with the first index running fastest, so that they can be used as they are. */
int wpm_is_column_major(const warpool_part* part);
/** Copies the elements of `part` from part->data to `target`, where the first index runs fastest. */
void wpm_copy_column_major(const warpool_part* part, void* target);
/** Converts IEEE half precision to single. */
float wpm_half_to_single(uint16_t half);
/** Whether `bytes` is well-formed UTF-8. */
int wpm_is_utf8(const char* bytes, size_t size);
/** Whether every byte is below 128. */
int wpm_is_ascii(const char* bytes, size_t size);
/** Writes UTF-16 as UTF-8 (`target` NULL: only counts) and returns the bytes; lone surrogates give (size_t)-1. */
size_t wpm_utf16_to_utf8(const uint16_t* units, size_t count, char* target);
/** Writes well-formed UTF-8 as UTF-16 (`target` NULL: only counts) and returns the number of units. */
size_t wpm_utf8_to_utf16(const char* bytes, size_t size, uint16_t* target);

#ifdef __cplusplus
}
#endif

#endif
