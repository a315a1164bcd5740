/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file gateway.h
 * The MEX gateway: what the .m files of +warpool call in MATLAB, and in Octave where the oct-file does not load. C99 and the documented
 * MEX interface only, so that it builds with either. One counted copy each way, as neither can borrow memory through this interface.
 */
#ifndef WARPOOL_MEX_GATEWAY_H
#define WARPOOL_MEX_GATEWAY_H

#include <mex.h>

#include "facts.h"
#include "layout.h"
#include "region.h"
#include "session.h"
#include "warpool/warpool.h"

/* Without -R2018a complex arrays have their real and imaginary parts apart. */
#if !defined(MX_HAS_INTERLEAVED_COMPLEX)
#define MX_HAS_INTERLEAVED_COMPLEX 0
#endif

/** Ends the call with the error `warpool:<status>`. Whatever the caller holds beyond mxMalloc must be released before. */
void wpm_raise(const warpool_error* error);
/** Raises unless `status` is OK. */
void wpm_check(warpool_status status, const warpool_error* error);
/** The connection, made at the first call. */
warpool_connection* wpm_get_connection(void);

/** The parts of a value, in memory that MATLAB frees at the end of the call. */
typedef struct wpm_packed {
  warpool_part* parts;
  const mxArray** sources;    /**< where a part is filled from; NULL: nowhere */
  unsigned char* conversions; /**< a ::wpm_conversion for each part */
  uint32_t count;
  int needs_conversion; /**< some part cannot be put from where it lies */
} wpm_packed;

/** How the bytes of a part come from a value. */
typedef enum wpm_conversion {
  WPM_AS_IT_LIES,      /**< part.data is where they are */
  WPM_INTERLEAVE,      /**< real and imaginary parts lie apart */
  WPM_UNITS_TO_UTF8,   /**< UTF-16 text */
  WPM_UNITS_TO_BYTES,  /**< UTF-16 units below 128 */
  WPM_INDICES_TO_INT64 /**< indices of another width */
} wpm_conversion;

void wpm_pack(const mxArray* value, wpm_packed* out);
/** Writes the bytes of part `index` to `target`. */
void wpm_convert_part(const wpm_packed* packed, uint32_t index, void* target);

/** The value of an item. On failure returns NULL and fills `error`: the caller releases the item before it raises. */
mxArray* wpm_unpack(const warpool_array_info* info, warpool_error* error);

/** Drafts are known to the .m files by a number. */
mxArray* wpm_draft_create(int count, const mxArray* const* arguments);
mxArray* wpm_draft_facts(double id);
mxArray* wpm_draft_publish(double id);
void wpm_draft_discard(double id);
mxArray* wpm_draft_read(double id, const mxArray* subscripts);
void wpm_draft_write(double id, const mxArray* subscripts, const mxArray* value);

/** MATLAB's class of a dtype, and whether it is complex. Not for BOOL. */
mxClassID wpm_class_id(uint32_t dtype);
int wpm_is_complex_dtype(uint32_t dtype);
/** A new array of a dtype; `bytes` receives where elements lie, unless they are complex with the parts apart. */
mxArray* wpm_new_array(uint32_t dtype, uint32_t ndim, const int64_t* extents);
/** Copies interleaved or plain elements, column-major, into or out of an array of the same dtype. */
void wpm_fill_array(mxArray* array, uint32_t dtype, const void* source);
void wpm_read_array(const mxArray* array, uint32_t dtype, void* target);

/** Text of an argument (char or string), in memory that MATLAB frees; raises with `what` if it is none. */
char* wpm_text(const mxArray* value, const char* what);
/** Options of put, create and load from four numbers and a text. */
typedef struct wpm_options {
  warpool_wait wait;
  warpool_create_options create;
} wpm_options;
void wpm_read_options(const mxArray* numbers, const mxArray* attributes, wpm_options* out);

/** Structs from what facts.h tells. */
mxArray* wpm_struct_of_broker(const warpool_broker_info* info);
mxArray* wpm_struct_of_event(const warpool_event* event);
mxArray* wpm_structs_of_listing(const warpool_listing* listing);
mxArray* wpm_structs_of_sessions(const warpool_sessions* sessions);

#endif
