/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { kMaxWatches = 64 }; /* enough for people; a program that opens more has lost some */

/* MATLAB and Octave call gateways from one thread, so nothing here needs a lock. */
static struct {
  const char* language;
  int (*interrupted)(void*);
  warpool_connection* connection;
  wpm_draft_slot* drafts;
  struct {
    warpool_watch* watch;
    double id;
  } watches[kMaxWatches];
  double last_watch;
} session = {"c", NULL, NULL, NULL, {{NULL, 0}}, 0};

void wpm_configure(const char* language, int (*interrupted)(void*)) {
  session.language = language;
  session.interrupted = interrupted;
}

warpool_status wpm_connection(warpool_connection** out, warpool_error* error) {
  if (session.connection == NULL) {
    const warpool_status status = wpm_connect(NULL, NULL, 0, error);
    if (status != WARPOOL_OK) {
      return status;
    }
  }
  *out = session.connection;
  return WARPOOL_OK;
}

warpool_status wpm_connect(const char* label, const char* socket_path, uint32_t flags,
                           warpool_error* error) {
  warpool_connect_options options = WARPOOL_CONNECT_OPTIONS_INIT;
  options.flags = flags;
  options.socket_path = socket_path;
  options.language = session.language;
  options.label = label;
  options.interrupted = session.interrupted;
  warpool_connection* fresh = NULL;
  const warpool_status status = warpool_connect(&options, &fresh, error);
  if (status == WARPOOL_OK) {
    wpm_disconnect();
    session.connection = fresh;
  }
  return status;
}

void wpm_disconnect(void) {
  while (session.drafts != NULL) {
    session.drafts->is_lost = 1;
    wpm_discard_draft(session.drafts);
  }
  for (int i = 0; i < kMaxWatches; i++) {
    if (session.watches[i].watch != NULL) {
      warpool_watch_close(session.watches[i].watch);
      session.watches[i].watch = NULL;
    }
  }
  if (session.connection != NULL) {
    warpool_close(session.connection);
    session.connection = NULL;
  }
}

void wpm_hold_draft(wpm_draft_slot* slot, warpool_draft* draft) {
  slot->draft = draft;
  slot->is_lost = 0;
  slot->next = session.drafts;
  slot->link = &session.drafts;
  if (slot->next != NULL) {
    slot->next->link = &slot->next;
  }
  session.drafts = slot;
}

void wpm_forget_draft(wpm_draft_slot* slot) {
  if (slot->draft == NULL) {
    return;
  }
  slot->draft = NULL;
  *slot->link = slot->next;
  if (slot->next != NULL) {
    slot->next->link = slot->link;
  }
}

void wpm_discard_draft(wpm_draft_slot* slot) {
  warpool_draft* const draft = slot->draft;
  wpm_forget_draft(slot);
  warpool_discard(draft);
}

warpool_status wpm_check_draft(const wpm_draft_slot* slot, const char* name, const char* fate,
                               warpool_error* error) {
  if (slot->draft != NULL) {
    return WARPOOL_OK;
  }
  if (slot->is_lost) {
    (void)wpm_refuse(
        error,
        "the array '%s' was dropped when warpool.connect or warpool.disconnect ended its session",
        name);
    error->code = WARPOOL_LOST;
    return WARPOOL_LOST;
  }
  (void)wpm_refuse(error, "the array '%s' is %s already: make a new one with warpool.create", name,
                   fate);
  error->code = WARPOOL_CONFLICT;
  return WARPOOL_CONFLICT;
}

void wpm_count_copy(uint32_t reason, uint64_t bytes) {
  if (session.connection != NULL && bytes > 0) {
    warpool_count_copy(session.connection, reason, bytes);
  }
}

warpool_wait wpm_wait(double milliseconds) {
  warpool_wait wait = WARPOOL_WAIT_INIT;
  wait.timeout_ms = milliseconds < 0 ? -1 : (int64_t)milliseconds;
  wait.interrupted = session.interrupted;
  return wait;
}

warpool_create_options wpm_create_options(const double numbers[4], const char* attributes,
                                          const warpool_wait* wait) {
  warpool_create_options options = WARPOOL_CREATE_OPTIONS_INIT;
  options.mode = (uint32_t)numbers[0];
  options.ttl_ms = (int64_t)numbers[1];
  options.flags = (uint32_t)numbers[2];
  options.attributes = attributes;
  options.wait = numbers[3] != 0 ? wait : NULL;
  return options;
}

static int find_watch(double id) {
  for (int i = 0; i < kMaxWatches; i++) {
    if (session.watches[i].watch != NULL && session.watches[i].id == id) {
      return i;
    }
  }
  return -1;
}

warpool_status wpm_watch_open(const char* pattern, uint32_t flags, int existing, double* out,
                              warpool_error* error) {
  warpool_connection* connection = NULL;
  warpool_status status = wpm_connection(&connection, error);
  int slot = 0;
  while (slot < kMaxWatches && session.watches[slot].watch != NULL) {
    slot++;
  }
  if (status == WARPOOL_OK && slot == kMaxWatches) {
    status = wpm_refuse(
        error, "%d watches are open: close those that are not needed any more, with delete(w)",
        (int)kMaxWatches);
    error->code = status = WARPOOL_LIMIT_REACHED;
  }
  if (status == WARPOOL_OK) {
    status = warpool_watch_open(connection, pattern, flags, existing, &session.watches[slot].watch,
                                error);
  }
  if (status == WARPOOL_OK) {
    session.watches[slot].id = ++session.last_watch;
    *out = session.last_watch;
  }
  return status;
}

warpool_status wpm_watch_next(double watch, double wait_ms, warpool_event* out,
                              warpool_error* error) {
  const int slot = find_watch(watch);
  if (slot < 0) {
    (void)wpm_refuse(error,
                     "this watch is closed, because warpool.connect or warpool.disconnect ended "
                     "its session: make a new one");
    error->code = WARPOOL_LOST;
    return WARPOOL_LOST;
  }
  const warpool_wait wait = wpm_wait(wait_ms);
  out->struct_size = sizeof *out;
  return warpool_watch_next(session.watches[slot].watch, &wait, out, error);
}

void wpm_watch_close(double watch) {
  const int slot = find_watch(watch);
  if (slot >= 0) {
    warpool_watch_close(session.watches[slot].watch);
    session.watches[slot].watch = NULL;
  }
}

const char* wpm_event_name(uint32_t kind) {
  switch (kind) {
    case WARPOOL_EVENT_PUBLISHED:
      return "published";
    case WARPOOL_EVENT_REMOVED:
      return "removed";
    default:
      return "overflow";
  }
}

warpool_status wpm_refuse(warpool_error* error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  error->code = WARPOOL_INVALID_ARGUMENT;
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return WARPOOL_INVALID_ARGUMENT;
}

static const char* remedy(const char* class_name) {
  if (strcmp(class_name, "cell") == 0) {
    return "put each element under a name of its own, warpool.put(sprintf('name/%d', k), c{k}), or "
           "make it a struct first, "
           "cell2struct(c(:), {'a'; 'b'}, 1)";
  }
  if (strcmp(class_name, "function_handle") == 0 || strcmp(class_name, "function handle") == 0) {
    return "put the text of the function, func2str(f), and the values that it uses, under names of "
           "their own; the other program "
           "can use str2func";
  }
  if (strcmp(class_name, "containers.Map") == 0) {
    return "put its values under names or fields of their own: k = keys(m); for i = 1:numel(k), "
           "s.(k{i}) = m(k{i}); end, "
           "warpool.put('name', s)";
  }
  if (strcmp(class_name, "string") == 0) {
    return "put one text as characters, char(s), and several under names of their own";
  }
  if (strcmp(class_name, "table") == 0) {
    return "put it as a struct with one array a column, table2struct(t, 'ToScalar', true)";
  }
  if (strcmp(class_name, "warpool_draft") == 0 || strcmp(class_name, "warpool.Draft") == 0) {
    return "it is an array that is being filled: publish it with warpool.publish(h)";
  }
  return "split it into numbers, logicals, text and structs of those: s.x = obj.x; s.label = "
         "obj.label; warpool.put('name', s)";
}

warpool_status wpm_refuse_value(warpool_error* error, const char* path, const char* class_name) {
  return wpm_refuse(error, "%s%s%sa value of class %s cannot be shared; %s",
                    path[0] ? "field '" : "", path, path[0] ? "': " : "", class_name,
                    remedy(class_name));
}

warpool_status wpm_refuse_struct_array(warpool_error* error, const char* path) {
  return wpm_refuse(error,
                    "%s%s%san array of structs cannot be shared; put one struct whose fields are "
                    "arrays, t.x = [s.x], or each "
                    "element under a name of its own, warpool.put(sprintf('name/%%d', k), s(k))",
                    path[0] ? "field '" : "", path, path[0] ? "': " : "");
}

static int is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

warpool_status wpm_check_field(const char* name, const char* path, warpool_error* error) {
  const size_t length = strlen(name);
  int good = length >= 1 && length <= 63 && is_letter(name[0]);
  for (size_t i = 1; good && i < length; i++) {
    good = is_letter(name[i]) || (name[i] >= '0' && name[i] <= '9') || name[i] == '_';
  }
  if (good) {
    return WARPOOL_OK;
  }
  return wpm_refuse(error,
                    "the field '%.80s'%s%s%s cannot be shared: rename it to a letter, then up to "
                    "62 letters, digits or _, so that it is "
                    "valid in every language",
                    name, path[0] ? " of '" : "", path, path[0] ? "'" : "");
}

warpool_status wpm_join_path(const char* path, const char* field, char* out, warpool_error* error) {
  const int size = snprintf(out, WPM_MAX_PATH, "%s%s%s", path, path[0] ? "/" : "", field);
  if (size < 0 || size >= WPM_MAX_PATH) {
    return wpm_refuse(error,
                      "structs are nested so deeply below '%.40s...' that the names of fields do "
                      "not fit; put parts of it under "
                      "names of their own",
                      path);
  }
  return WARPOOL_OK;
}

static const struct {
  uint32_t dtype;
  const char* name;
} kClasses[] = {
    {WARPOOL_FLOAT64, "double"},
    {WARPOOL_FLOAT32, "single"},
    {WARPOOL_INT8, "int8"},
    {WARPOOL_INT16, "int16"},
    {WARPOOL_INT32, "int32"},
    {WARPOOL_INT64, "int64"},
    {WARPOOL_UINT8, "uint8"},
    {WARPOOL_UINT16, "uint16"},
    {WARPOOL_UINT32, "uint32"},
    {WARPOOL_UINT64, "uint64"},
    {WARPOOL_BOOL, "logical"},
    {WARPOOL_COMPLEX128, "complex double"},
    {WARPOOL_COMPLEX64, "complex single"},
};
enum { kClassCount = sizeof kClasses / sizeof kClasses[0] };

const char* wpm_class_name(uint32_t dtype) {
  if (dtype == WARPOOL_COMPLEX128) {
    return "double";
  }
  if (dtype == WARPOOL_COMPLEX64 || dtype == WARPOOL_FLOAT16) {
    return "single";
  }
  for (int i = 0; i < kClassCount; i++) {
    if (kClasses[i].dtype == dtype) {
      return kClasses[i].name;
    }
  }
  return "unknown";
}

uint32_t wpm_dtype_of_class(const char* class_name, warpool_error* error) {
  for (int i = 0; i < kClassCount; i++) {
    if (strcmp(kClasses[i].name, class_name) == 0) {
      return kClasses[i].dtype;
    }
  }
  (void)wpm_refuse(error,
                   "there is no class '%.40s' to create an array of: use double, single, int8 to "
                   "int64, uint8 to uint64, logical, "
                   "'complex double' or 'complex single'",
                   class_name);
  return 0;
}
