/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file region.h
 * A(i,j,...) on column-major memory: reads, writes and fills the elements that subscripts select. Plain C99, no allocation.
 */
#ifndef WARPOOL_MATLAB_REGION_H
#define WARPOOL_MATLAB_REGION_H

#include <stddef.h>
#include <stdint.h>

#include "warpool/warpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One subscript, 0-based: `count` indices, the list at `list`, or consecutive ones from `start` if it is NULL. */
typedef struct wpm_subscript {
  int64_t start;
  int64_t count;
  const int64_t* list;
} wpm_subscript;

typedef enum wpm_region_action {
  WPM_READ,  /**< from the array to `other`, column by column */
  WPM_WRITE, /**< from `other` to the array */
  WPM_FILL   /**< the one element at `other` to every selected place */
} wpm_region_action;

/**
 * The extents that `count` subscripts meet in an array of `ndim` extents: the last subscript covers all dimensions that are left, and
 * dimensions beyond the last one are 1.
 */
void wpm_subscript_extents(uint32_t ndim, const int64_t* extent, uint32_t count, int64_t* out);
/** Checks subscripts against extents; INVALID_ARGUMENT says which one is out of range. */
warpool_status wpm_check_subscripts(uint32_t count, const int64_t* extent,
                                    const wpm_subscript* subscripts, warpool_error* error);
/**
 * Whether a value of extents `value` fits what the subscripts select: the same extents when ones are left out, or for a single subscript
 * the same number.
 */
int wpm_value_fits(uint32_t count, const wpm_subscript* subscripts, uint32_t value_ndim,
                   const int64_t* value);
/** Does `action` for the selected elements of the array at `base`; checked subscripts only. */
void wpm_region(void* base, size_t element, uint32_t count, const int64_t* extent,
                const wpm_subscript* subscripts, void* other, wpm_region_action action);

#ifdef __cplusplus
}
#endif

#endif
