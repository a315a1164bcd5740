/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "gateway.h"

/* One element of a struct array that is being filled. */
typedef struct filler {
  mxArray* structs;
  mwIndex index;
} filler;

static void set(void* context, const char* field, mxArray* value) {
  filler* f = (filler*)context;
  int number = mxGetFieldNumber(f->structs, field);
  if (number < 0) {
    number = mxAddField(f->structs, field);
  }
  mxSetFieldByNumber(f->structs, f->index, number, value);
}

static void set_number(void* context, const char* field, double value) {
  set(context, field, mxCreateDoubleScalar(value));
}

static void set_id(void* context, const char* field, uint64_t value) {
  mxArray* array = mxCreateNumericMatrix(1, 1, mxUINT64_CLASS, mxREAL);
  memcpy(mxGetData(array), &value, sizeof value);
  set(context, field, array);
}

static void set_flag(void* context, const char* field, int value) {
  set(context, field, mxCreateLogicalScalar((mxLogical)(value != 0)));
}

static void set_text(void* context, const char* field, const char* value) {
  set(context, field, mxCreateString(value));
}

static void set_row(void* context, const char* field, const double* values, uint32_t count) {
  mxArray* row = mxCreateDoubleMatrix(1, count, mxREAL);
  if (count > 0) {
    memcpy(mxGetData(row), values, count * sizeof *values);
  }
  set(context, field, row);
}

static void set_texts(void* context, const char* field, const char* const* values, uint32_t count) {
  mxArray* cell = mxCreateCellMatrix(count, 1);
  for (uint32_t i = 0; i < count; i++) {
    mxSetCell(cell, i, mxCreateString(values[i]));
  }
  set(context, field, cell);
}

static wpm_sink sink_of(filler* f) {
  const wpm_sink sink = {f, set_number, set_id, set_flag, set_text, set_row, set_texts};
  return sink;
}

static mxArray* new_structs(size_t count) {
  return mxCreateStructMatrix((mwSize)count, 1, 0, NULL);
}

mxArray* wpm_struct_of_broker(const warpool_broker_info* info) {
  filler f = {new_structs(1), 0};
  const wpm_sink sink = sink_of(&f);
  wpm_tell_broker(info, &sink);
  return f.structs;
}

mxArray* wpm_struct_of_event(const warpool_event* event) {
  filler f = {new_structs(1), 0};
  const wpm_sink sink = sink_of(&f);
  wpm_tell_event(event, &sink);
  return f.structs;
}

/* An empty listing has the fields of a full one. */
typedef struct name_collector {
  mxArray* structs;
} name_collector;

static void add_name(void* context, const char* field) {
  name_collector* names = (name_collector*)context;
  if (mxGetFieldNumber(names->structs, field) < 0) {
    (void)mxAddField(names->structs, field);
  }
}

static void name_number(void* c, const char* field, double v) {
  (void)v;
  add_name(c, field);
}
static void name_id(void* c, const char* field, uint64_t v) {
  (void)v;
  add_name(c, field);
}
static void name_flag(void* c, const char* field, int v) {
  (void)v;
  add_name(c, field);
}
static void name_text(void* c, const char* field, const char* v) {
  (void)v;
  add_name(c, field);
}
static void name_row(void* c, const char* field, const double* v, uint32_t n) {
  (void)v;
  (void)n;
  add_name(c, field);
}
static void name_texts(void* c, const char* field, const char* const* v, uint32_t n) {
  (void)v;
  (void)n;
  add_name(c, field);
}

static wpm_sink names_sink(name_collector* names) {
  const wpm_sink sink = {names, name_number, name_id, name_flag, name_text, name_row, name_texts};
  return sink;
}

mxArray* wpm_structs_of_listing(const warpool_listing* listing) {
  const size_t count = warpool_listing_count(listing);
  filler f = {new_structs(count), 0};
  const wpm_sink sink = sink_of(&f);
  for (size_t i = 0; i < count; i++) {
    f.index = (mwIndex)i;
    wpm_tell_item(warpool_listing_get(listing, i), &sink);
  }
  if (count == 0) {
    name_collector names = {f.structs};
    const wpm_sink only_names = names_sink(&names);
    wpm_tell_item(NULL, &only_names);
  }
  return f.structs;
}

mxArray* wpm_structs_of_sessions(const warpool_sessions* sessions) {
  const size_t count = warpool_sessions_count(sessions);
  filler f = {new_structs(count), 0};
  const wpm_sink sink = sink_of(&f);
  for (size_t i = 0; i < count; i++) {
    f.index = (mwIndex)i;
    wpm_tell_session(warpool_sessions_get(sessions, i), &sink);
  }
  if (count == 0) {
    name_collector names = {f.structs};
    const wpm_sink only_names = names_sink(&names);
    wpm_tell_session(NULL, &only_names);
  }
  return f.structs;
}
