/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session.h
 * The one connection of a MATLAB or Octave process, its watches, and what both gateways say in the same words.
 */
#ifndef WARPOOL_MATLAB_SESSION_H
#define WARPOOL_MATLAB_SESSION_H

#include "warpool/warpool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Said once by the gateway before anything else. `interrupted` may be NULL. Both pointers stay valid for ever. */
void wpm_configure(const char* language, int (*interrupted)(void*));
/** The connection, made at the first call. */
warpool_status wpm_connection(warpool_connection** out, warpool_error* error);
/** Ends the session, if any, and starts one with this label (NULL: WARPOOL_LABEL) at this socket (NULL: the usual search). */
warpool_status wpm_connect(const char* label, const char* socket_path, uint32_t flags,
                           warpool_error* error);
/** Ends the session, if any. The next call makes a new one. */
void wpm_disconnect(void);
/** A draft and its place in the list of those that the session holds. All zero: none. */
typedef struct wpm_draft_slot {
  warpool_draft* draft; /**< NULL: published, dropped or lost */
  int is_lost;          /**< its session ended before it was published */
  struct wpm_draft_slot* next;
  struct wpm_draft_slot** link;
} wpm_draft_slot;
/** Puts a draft under the care of the session, which discards it when it ends. The slot must not move. */
void wpm_hold_draft(wpm_draft_slot* slot, warpool_draft* draft);
/** Takes it out again, after it was published. */
void wpm_forget_draft(wpm_draft_slot* slot);
/** Discards it, if it is still there. */
void wpm_discard_draft(wpm_draft_slot* slot);
/** WARPOOL_OK if it can still be filled; `fate` says what became of it otherwise ("published", "dropped"). */
warpool_status wpm_check_draft(const wpm_draft_slot* slot, const char* name, const char* fate,
                               warpool_error* error);
/** Counts a copy of this session, if there is one. */
void wpm_count_copy(uint32_t reason, uint64_t bytes);
/** A wait of `milliseconds` (negative: no limit) that Ctrl-C ends where the gateway can tell. */
warpool_wait wpm_wait(double milliseconds);
/** Fills create options from the numbers that the .m files made; `wait` must live as long as `out`. */
warpool_create_options wpm_create_options(const double numbers[4], const char* attributes,
                                          const warpool_wait* wait);

/** Watches are known to the .m files by a number. */
warpool_status wpm_watch_open(const char* pattern, uint32_t flags, int existing, double* out,
                              warpool_error* error);
warpool_status wpm_watch_next(double watch, double wait_ms, warpool_event* out,
                              warpool_error* error);
void wpm_watch_close(double watch);
/** "published", "removed" or "overflow". */
const char* wpm_event_name(uint32_t kind);

/** Fills `error` with INVALID_ARGUMENT and a formatted message, and returns the code. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
warpool_status
wpm_refuse(warpool_error* error, const char* format, ...);
/** Says why a value cannot be shared and how to split it. `path`: the field, "" for the value itself. */
warpool_status wpm_refuse_value(warpool_error* error, const char* path, const char* class_name);
/** Says that an array of structs cannot be shared. */
warpool_status wpm_refuse_struct_array(warpool_error* error, const char* path);
/** Whether a field name is valid in every language; fills `error` if it is not. */
warpool_status wpm_check_field(const char* name, const char* path, warpool_error* error);
/** Builds "path/field" in `out`, which has WPM_MAX_PATH bytes. */
enum { WPM_MAX_PATH = 1024 };
warpool_status wpm_join_path(const char* path, const char* field, char* out, warpool_error* error);
/** MATLAB's class for a dtype: "double" for FLOAT64 and COMPLEX128, "single" for FLOAT16, FLOAT32 and COMPLEX64, .... */
const char* wpm_class_name(uint32_t dtype);
/** The dtype of a class ("double", "int8", "logical", "complex double", ...); 0: there is none, and `error` says so. */
uint32_t wpm_dtype_of_class(const char* class_name, warpool_error* error);

#ifdef __cplusplus
}
#endif

#endif
