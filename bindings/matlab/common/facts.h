/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file facts.h
 * What the library tells about items, sessions and the broker, field by field, so that both gateways make the same structs of it.
 */
#ifndef WARPOOL_MATLAB_FACTS_H
#define WARPOOL_MATLAB_FACTS_H

#include "warpool/warpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Receives the fields of one struct, in order. Texts and rows live for the call only. */
typedef struct wpm_sink {
  void* context;
  void (*number)(void* context, const char* field, double value);
  void (*id)(void* context, const char* field, uint64_t value);
  void (*flag)(void* context, const char* field, int value);
  void (*text)(void* context, const char* field, const char* value);
  void (*row)(void* context, const char* field, const double* values, uint32_t count);
  /** A column of texts (a cell array). */
  void (*texts)(void* context, const char* field, const char* const* values, uint32_t count);
} wpm_sink;

/** `info` may be NULL: then the fields come with empty values, which tells a gateway their names. */
void wpm_tell_item(const warpool_array_info* info, const wpm_sink* sink);
void wpm_tell_session(const warpool_session_info* info, const wpm_sink* sink);
void wpm_tell_broker(const warpool_broker_info* info, const wpm_sink* sink);
void wpm_tell_event(const warpool_event* event, const wpm_sink* sink);

#ifdef __cplusplus
}
#endif

#endif
