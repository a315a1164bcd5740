/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway.h"

#include <stdio.h>
#include <string.h>

void wpm_raise(const warpool_error* error) {
  char id[64];
  snprintf(id, sizeof id, "warpool:%s", warpool_status_name(error->code));
  mexErrMsgIdAndTxt(id, "%s", error->message);
}

void wpm_check(warpool_status status, const warpool_error* error) {
  if (status != WARPOOL_OK) {
    wpm_raise(error);
  }
}

warpool_connection* wpm_get_connection(void) {
  warpool_connection* connection = NULL;
  warpool_error error;
  wpm_check(wpm_connection(&connection, &error), &error);
  return connection;
}

/* MATLAB's string objects are opaque to MEX files; char() makes characters of them. */
static const mxArray* as_chars(const mxArray* value) {
  if (mxIsChar(value) || !mxIsClass(value, "string")) {
    return value;
  }
  mxArray* input = mxDuplicateArray(value);
  mxArray* output = NULL;
  return mexCallMATLAB(1, &output, 1, &input, "char") == 0 ? output : value;
}

char* wpm_text(const mxArray* value, const char* what) {
  warpool_error error;
  const mxArray* chars = as_chars(value);
  if (!mxIsChar(chars)) {
    wpm_check(wpm_refuse(&error, "%s must be text, such as 'lab/signal'", what), &error);
  }
  const size_t count = mxGetNumberOfElements(chars);
  if (sizeof(mxChar) == 1) {
    char* text = (char*)mxCalloc(count + 1, 1);
    if (count > 0) {
      memcpy(text, mxGetData(chars), count);
    }
    return text;
  }
  const uint16_t* units = (const uint16_t*)mxGetData(chars);
  const size_t size = wpm_utf16_to_utf8(units, count, NULL);
  if (size == (size_t)-1) {
    wpm_check(wpm_refuse(&error, "%s is not well-formed text", what), &error);
  }
  char* text = (char*)mxCalloc(size + 1, 1);
  (void)wpm_utf16_to_utf8(units, count, text);
  return text;
}

void wpm_read_options(const mxArray* numbers, const mxArray* attributes, wpm_options* out) {
  double given[4] = {0, 0, 0, 0};
  const char* json = NULL;
  if (numbers != NULL) {
    const size_t count = mxGetNumberOfElements(numbers);
    memcpy(given, mxGetData(numbers), (count < 4 ? count : 4) * sizeof *given);
  }
  if (attributes != NULL && mxGetNumberOfElements(attributes) > 0) {
    json = wpm_text(attributes, "attrs");
  }
  out->wait = wpm_wait(given[3]);
  out->create = wpm_create_options(given, json, &out->wait);
}

typedef struct call {
  int count; /* of arguments after the verb */
  const mxArray* const* arguments;
} call;

static double number(const call* c, int index) {
  return index < c->count ? mxGetScalar(c->arguments[index]) : 0;
}

static const char* text(const call* c, int index, const char* what) {
  if (index >= c->count) {
    mexErrMsgIdAndTxt("warpool:invalid_argument", "%s is missing", what);
  }
  return wpm_text(c->arguments[index], what);
}

static const char* text_or_null(const call* c, int index, const char* what) {
  const char* given = index < c->count ? text(c, index, what) : "";
  return given[0] != '\0' ? given : NULL;
}

/* Parts that cannot be put from where they lie are converted straight into shared memory. */
static uint64_t put_converted(const char* name, const wpm_packed* packed,
                              const wpm_options* options) {
  warpool_error error;
  warpool_draft* draft = NULL;
  uint64_t version = 0;
  uint64_t bytes = 0;
  wpm_check(warpool_create(wpm_get_connection(), name, packed->parts, packed->count,
                           &options->create, &draft, &error),
            &error);
  for (uint32_t i = 0; i < packed->count; i++) {
    void* target = warpool_draft_data(draft, i);
    if (target != NULL) {
      wpm_convert_part(packed, i, target);
      bytes += (uint64_t)wpm_element_count(&packed->parts[i]) *
               warpool_dtype_size(packed->parts[i].dtype);
    }
  }
  const warpool_status status = warpool_publish(draft, NULL, &version, &error);
  if (status != WARPOOL_OK) {
    warpool_discard(draft);
    wpm_raise(&error);
  }
  wpm_count_copy(WARPOOL_COPY_GATEWAY, bytes);
  return version;
}

static mxArray* put(const call* c) {
  warpool_error error;
  wpm_options options;
  wpm_packed packed;
  uint64_t version = 0;
  const char* name = text(c, 0, "the name");
  wpm_pack(c->arguments[1], &packed);
  wpm_read_options(c->count > 2 ? c->arguments[2] : NULL, c->count > 3 ? c->arguments[3] : NULL,
                   &options);
  if (packed.needs_conversion) {
    version = put_converted(name, &packed, &options);
  } else {
    wpm_check(warpool_put(wpm_get_connection(), name, packed.parts, packed.count, &options.create,
                          &version, &error),
              &error);
  }
  return mxCreateDoubleScalar((double)version);
}

static mxArray* get(const call* c) {
  warpool_error error;
  warpool_array* item = NULL;
  const char* name = text(c, 0, "the name");
  const double wait_ms = number(c, 2);
  const warpool_wait wait = wpm_wait(wait_ms);
  wpm_check(warpool_get(wpm_get_connection(), name, (uint64_t)number(c, 1),
                        wait_ms != 0 ? &wait : NULL, &item, &error),
            &error);
  mxArray* value = wpm_unpack(warpool_array_get_info(item), &error);
  warpool_array_release(item);
  if (value == NULL) {
    wpm_raise(&error);
  }
  return value;
}

static mxArray* create(const call* c) {
  return wpm_draft_create(c->count, c->arguments);
}
static mxArray* publish(const call* c) {
  return wpm_draft_publish(number(c, 0));
}
static mxArray* draft_facts(const call* c) {
  return wpm_draft_facts(number(c, 0));
}
static mxArray* draft_read(const call* c) {
  return wpm_draft_read(number(c, 0), c->arguments[1]);
}

static mxArray* discard(const call* c) {
  wpm_draft_discard(number(c, 0));
  return NULL;
}

static mxArray* draft_write(const call* c) {
  wpm_draft_write(number(c, 0), c->arguments[1], c->arguments[2]);
  return NULL;
}

static mxArray* from_listing(warpool_listing* listing) {
  mxArray* result = wpm_structs_of_listing(listing);
  warpool_listing_free(listing);
  return result;
}

static mxArray* list(const call* c) {
  warpool_error error;
  warpool_listing* listing = NULL;
  const char* pattern = text_or_null(c, 0, "the pattern");
  wpm_check(warpool_list(wpm_get_connection(), pattern, (uint32_t)number(c, 1), &listing, &error),
            &error);
  return from_listing(listing);
}

static mxArray* stat(const call* c) {
  warpool_error error;
  warpool_listing* listing = NULL;
  const char* name = text(c, 0, "the name");
  wpm_check(warpool_stat(wpm_get_connection(), name, (uint64_t)number(c, 1), &listing, &error),
            &error);
  return from_listing(listing);
}

static mxArray* remove_name(const call* c) {
  warpool_error error;
  wpm_check(
      warpool_remove(wpm_get_connection(), text(c, 0, "the name"), (uint64_t)number(c, 1), &error),
      &error);
  return NULL;
}

static mxArray* change_mode(const call* c) {
  warpool_error error;
  wpm_check(
      warpool_chmod(wpm_get_connection(), text(c, 0, "the name"), (uint32_t)number(c, 1), &error),
      &error);
  return NULL;
}

static mxArray* expire(const call* c) {
  warpool_error error;
  wpm_check(
      warpool_expire(wpm_get_connection(), text(c, 0, "the name"), (int64_t)number(c, 1), &error),
      &error);
  return NULL;
}

static mxArray* save(const call* c) {
  warpool_error error;
  wpm_check(warpool_save(wpm_get_connection(), text(c, 0, "the name"), (uint64_t)number(c, 2),
                         text(c, 1, "the file"), &error),
            &error);
  return NULL;
}

static mxArray* load(const call* c) {
  warpool_error error;
  wpm_options options;
  uint64_t version = 0;
  const char* path = text(c, 0, "the file");
  const char* name = text(c, 1, "the name");
  wpm_read_options(c->count > 2 ? c->arguments[2] : NULL, c->count > 3 ? c->arguments[3] : NULL,
                   &options);
  wpm_check(warpool_load(wpm_get_connection(), path, name, &options.create, &version, &error),
            &error);
  return mxCreateDoubleScalar((double)version);
}

static mxArray* watch_open(const call* c) {
  warpool_error error;
  double watch = 0;
  const char* pattern = text_or_null(c, 0, "the pattern");
  wpm_check(wpm_watch_open(pattern, (uint32_t)number(c, 1), number(c, 2) != 0, &watch, &error),
            &error);
  return mxCreateDoubleScalar(watch);
}

static mxArray* watch_next(const call* c) {
  warpool_error error;
  warpool_event event;
  wpm_check(wpm_watch_next(number(c, 0), number(c, 1), &event, &error), &error);
  return wpm_struct_of_event(&event);
}

static mxArray* watch_close(const call* c) {
  wpm_watch_close(number(c, 0));
  return NULL;
}

static mxArray* sessions(const call* c) {
  warpool_error error;
  warpool_sessions* list = NULL;
  wpm_check(
      warpool_list_sessions(wpm_get_connection(), text_or_null(c, 0, "the run"), &list, &error),
      &error);
  mxArray* result = wpm_structs_of_sessions(list);
  warpool_sessions_free(list);
  return result;
}

static mxArray* status(const call* c) {
  warpool_error error;
  warpool_broker_info info;
  (void)c;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  wpm_check(warpool_get_broker_info(wpm_get_connection(), &info, &error), &error);
  return wpm_struct_of_broker(&info);
}

static mxArray* ping(const call* c) {
  warpool_error error;
  (void)c;
  wpm_check(warpool_ping(wpm_get_connection(), &error), &error);
  return NULL;
}

static mxArray* connect_to(const call* c) {
  warpool_error error;
  wpm_check(wpm_connect(text_or_null(c, 0, "the label"), text_or_null(c, 1, "the socket"),
                        (uint32_t)number(c, 2), &error),
            &error);
  return NULL;
}

static mxArray* disconnect(const call* c) {
  (void)c;
  wpm_disconnect();
  return NULL;
}

static mxArray* version(const call* c) {
  static const char* fields[] = {"warpool", "gateway", "borrowing", "built_for"};
  mxArray* facts = mxCreateStructMatrix(1, 1, 4, fields);
  (void)c;
  mxSetField(facts, 0, "warpool", mxCreateString(warpool_version()));
  mxSetField(facts, 0, "gateway", mxCreateString("mex"));
  mxSetField(facts, 0, "borrowing", mxCreateString("none"));
  mxSetField(facts, 0, "built_for",
             mxCreateString(MX_HAS_INTERLEAVED_COMPLEX ? "MEX, interleaved complex"
                                                       : "MEX, separate complex"));
  return facts;
}

/* For tests: nothing is borrowed here. */
static mxArray* sweep(const call* c) {
  (void)c;
  return mxCreateDoubleScalar(0);
}

/* For tests: the address of a value's first element. */
static mxArray* address(const call* c) {
  mxArray* result = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
  const uint64_t value = (uint64_t)(uintptr_t)mxGetData(c->arguments[0]);
  memcpy(mxGetData(result), &value, sizeof value);
  return result;
}

static const struct verb {
  const char* name;
  mxArray* (*call)(const call*);
  int least; /* arguments that it looks at without asking whether they are there */
} kVerbs[] = {
    {"put", put, 2},
    {"get", get, 1},
    {"create", create, 3},
    {"publish", publish, 1},
    {"discard", discard, 1},
    {"draft", draft_facts, 1},
    {"draft_read", draft_read, 2},
    {"draft_write", draft_write, 3},
    {"list", list, 1},
    {"stat", stat, 1},
    {"rm", remove_name, 1},
    {"chmod", change_mode, 2},
    {"expire", expire, 2},
    {"save", save, 2},
    {"load", load, 2},
    {"watch_open", watch_open, 1},
    {"watch_next", watch_next, 2},
    {"watch_close", watch_close, 1},
    {"sessions", sessions, 0},
    {"status", status, 0},
    {"ping", ping, 0},
    {"connect", connect_to, 2},
    {"disconnect", disconnect, 0},
    {"version", version, 0},
    {"sweep", sweep, 0},
    {"address", address, 1},
};

static void set_up(void) {
  static int is_set_up = 0;
  if (is_set_up) {
    return;
  }
  is_set_up = 1;
  /* The session lives as long as the program: "clear all" must not end it. */
  mexLock();
#if defined(MATLAB_MEX_FILE)
  wpm_configure("matlab", NULL);
#else
  wpm_configure("octave", NULL);
#endif
  mexAtExit(wpm_disconnect);
}

void mexFunction(int nlhs, mxArray* plhs[], int nrhs, const mxArray* prhs[]) {
  char verb[32] = "";
  set_up();
  if (nrhs < 1 || mxGetString(prhs[0], verb, sizeof verb) != 0) {
    mexErrMsgIdAndTxt(
        "warpool:invalid_argument",
        "warpool_gateway is what the functions of +warpool call: see help warpool.put");
  }
  const call c = {nrhs - 1, prhs + 1};
  for (size_t i = 0; i < sizeof kVerbs / sizeof kVerbs[0]; i++) {
    if (strcmp(verb, kVerbs[i].name) == 0) {
      if (c.count < kVerbs[i].least) {
        mexErrMsgIdAndTxt("warpool:invalid_argument", "too few arguments for '%s'", verb);
      }
      mxArray* result = kVerbs[i].call(&c);
      if (result != NULL && nlhs <= 1) {
        plhs[0] = result;
      }
      return;
    }
  }
  mexErrMsgIdAndTxt("warpool:invalid_argument",
                    "there is no verb '%s': the .m files of +warpool and this gateway are of "
                    "different versions; install both again",
                    verb);
}
