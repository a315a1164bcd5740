/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that are being filled, known to the .m files by a number. */
#include <stdlib.h>
#include <string.h>

#include "gateway.h"

typedef struct draft {
  struct draft* next;
  double id;
  wpm_draft_slot slot;
  warpool_part part;
  char name[WARPOOL_MAX_NAME + 64]; /* with the name of its owner */
} draft;

static draft* all = NULL;
static double last_id = 0;

static draft* find(double id) {
  for (draft* d = all; d != NULL; d = d->next) {
    if (d->id == id) {
      return d;
    }
  }
  return NULL;
}

static draft* find_open(double id) {
  warpool_error error;
  draft* d = find(id);
  if (d == NULL) {
    wpm_check(wpm_refuse(&error,
                         "give what warpool.create returned: h = warpool.create(...); h(:) = x; "
                         "warpool.publish(h)"),
              &error);
  } else {
    wpm_check(wpm_check_draft(&d->slot, d->name, "dropped", &error), &error);
  }
  return d;
}

static void forget(draft* gone) {
  draft** link = &all;
  while (*link != NULL && *link != gone) {
    link = &(*link)->next;
  }
  if (*link != NULL) {
    *link = gone->next;
  }
  free(gone);
}

mxArray* wpm_draft_create(int count, const mxArray* const* arguments) {
  warpool_error error;
  wpm_options options;
  int64_t shape[WARPOOL_MAX_NDIM];
  const char* name = wpm_text(arguments[0], "the name");
  const mwSize ndim = (mwSize)mxGetNumberOfElements(arguments[1]);
  const double* extents = (const double*)mxGetData(arguments[1]);
  const uint32_t dtype = wpm_dtype_of_class(wpm_text(arguments[2], "the class"), &error);
  if (dtype == 0) {
    wpm_raise(&error);
  }
  if (ndim > WARPOOL_MAX_NDIM) {
    wpm_check(wpm_refuse(&error, "%d dimensions: at most %d are possible", (int)ndim,
                         (int)WARPOOL_MAX_NDIM),
              &error);
  }
  for (mwSize d = 0; d < ndim; d++) {
    shape[d] = (int64_t)extents[d];
  }
  wpm_read_options(count > 3 ? arguments[3] : NULL, count > 4 ? arguments[4] : NULL, &options);
  warpool_connection* connection = wpm_get_connection();
  warpool_draft* made = NULL;
  draft* d = (draft*)calloc(1, sizeof *d);
  if (d == NULL) {
    mexErrMsgIdAndTxt("warpool:out_of_memory", "no memory for the description of '%s'", name);
    return NULL;
  }
  strncpy(d->name, name, sizeof d->name - 1);
  warpool_status status =
      warpool_part_init(&d->part, dtype, (uint32_t)ndim, shape, WARPOOL_ORDER_F, &error);
  if (status == WARPOOL_OK) {
    status = warpool_create(connection, name, &d->part, 1, &options.create, &made, &error);
  }
  if (status != WARPOOL_OK) {
    free(d);
    wpm_raise(&error);
  }
  wpm_hold_draft(&d->slot, made);
  d->id = ++last_id;
  d->next = all;
  all = d;
  return mxCreateDoubleScalar(d->id);
}

mxArray* wpm_draft_facts(double id) {
  static const char* const kFields[] = {"name", "class", "complex", "size"};
  const draft* d = find_open(id);
  mxArray* facts = mxCreateStructMatrix(1, 1, 4, (const char**)(uintptr_t)kFields);
  mxArray* size = mxCreateDoubleMatrix(1, d->part.ndim, mxREAL);
  for (uint32_t i = 0; i < d->part.ndim; i++) {
    ((double*)mxGetData(size))[i] = (double)d->part.shape[i];
  }
  mxSetField(facts, 0, "name", mxCreateString(d->name));
  mxSetField(facts, 0, "class", mxCreateString(wpm_class_name(d->part.dtype)));
  mxSetField(facts, 0, "complex",
             mxCreateLogicalScalar((mxLogical)(wpm_is_complex_dtype(d->part.dtype) != 0)));
  mxSetField(facts, 0, "size", size);
  return facts;
}

mxArray* wpm_draft_publish(double id) {
  warpool_error error;
  uint64_t version = 0;
  draft* d = find_open(id);
  wpm_check(warpool_publish(d->slot.draft, NULL, &version, &error), &error);
  wpm_forget_draft(&d->slot);
  forget(d);
  return mxCreateDoubleScalar((double)version);
}

void wpm_draft_discard(double id) {
  draft* d = find(id);
  if (d == NULL) {
    return;
  }
  wpm_discard_draft(&d->slot);
  forget(d);
}

/* A region of a draft, its lists in memory that MATLAB frees. */
typedef struct region {
  uint32_t count;
  int64_t extents[WARPOOL_MAX_NDIM];
  wpm_subscript subscripts[WARPOOL_MAX_NDIM];
} region;

static void read_subscript(region* r, uint32_t s, const mxArray* value) {
  wpm_subscript* out = &r->subscripts[s];
  if (mxIsChar(value)) {
    out->start = 0;
    out->count = r->extents[s];
    out->list = NULL;
    return;
  }
  const size_t count = mxGetNumberOfElements(value);
  const double* given = (const double*)mxGetData(value);
  int is_consecutive = 1;
  for (size_t i = 0; i < count; i++) {
    warpool_error error;
    if (!(given[i] >= 1 && given[i] < 9007199254740992.0) ||
        given[i] != (double)(int64_t)given[i]) {
      wpm_check(wpm_refuse(&error, "subscript %u is %g: subscripts are whole numbers from 1", s + 1,
                           given[i]),
                &error);
    }
    is_consecutive = is_consecutive && given[i] == given[0] + (double)i;
  }
  out->start = count > 0 ? (int64_t)given[0] - 1 : 0;
  out->count = (int64_t)count;
  out->list = NULL;
  if (!is_consecutive) {
    int64_t* list = (int64_t*)mxMalloc(count * sizeof *list);
    for (size_t i = 0; i < count; i++) {
      list[i] = (int64_t)given[i] - 1;
    }
    out->list = list;
  }
}

static void read_region(const draft* d, const mxArray* subscripts, region* r) {
  warpool_error error;
  r->count = (uint32_t)mxGetNumberOfElements(subscripts);
  if (r->count == 0 || r->count > WARPOOL_MAX_NDIM) {
    wpm_check(wpm_refuse(&error, "give 1 to %d subscripts", (int)WARPOOL_MAX_NDIM), &error);
  }
  wpm_subscript_extents(d->part.ndim, d->part.shape, r->count, r->extents);
  for (uint32_t s = 0; s < r->count; s++) {
    read_subscript(r, s, mxGetCell(subscripts, s));
  }
  wpm_check(wpm_check_subscripts(r->count, r->extents, r->subscripts, &error), &error);
}

static int64_t selected_count(const region* r) {
  int64_t count = 1;
  for (uint32_t s = 0; s < r->count; s++) {
    count *= r->subscripts[s].count;
  }
  return count;
}

mxArray* wpm_draft_read(double id, const mxArray* subscripts) {
  region r;
  draft* d = find_open(id);
  read_region(d, subscripts, &r);
  int64_t extents[WARPOOL_MAX_NDIM] = {0, 1};
  for (uint32_t s = 0; s < r.count; s++) {
    extents[s] = r.subscripts[s].count;
  }
  const uint32_t dtype = d->part.dtype;
  mxArray* result = wpm_new_array(dtype, r.count < 2 ? 2 : r.count, extents);
  void* buffer = mxMalloc((size_t)selected_count(&r) * warpool_dtype_size(dtype) + 1);
  wpm_region(warpool_draft_data(d->slot.draft, 0), warpool_dtype_size(dtype), r.count, r.extents,
             r.subscripts, buffer, WPM_READ);
  wpm_fill_array(result, dtype, buffer);
  mxFree(buffer);
  return result;
}

void wpm_draft_write(double id, const mxArray* subscripts, const mxArray* value) {
  region r;
  warpool_error error;
  int64_t extents[WARPOOL_MAX_NDIM];
  draft* d = find_open(id);
  const uint32_t dtype = d->part.dtype;
  read_region(d, subscripts, &r);
  const mwSize ndim = mxGetNumberOfDimensions(value);
  const size_t count = mxGetNumberOfElements(value);
  for (mwSize i = 0; i < ndim && i < WARPOOL_MAX_NDIM; i++) {
    extents[i] = (int64_t)mxGetDimensions(value)[i];
  }
  if (count != 1 && (ndim > WARPOOL_MAX_NDIM ||
                     !wpm_value_fits(r.count, r.subscripts, (uint32_t)ndim, extents))) {
    wpm_check(wpm_refuse(&error,
                         "'%s': a value of %lld x %lld x ... (%llu elements) does not fit the %lld "
                         "elements that the subscripts select",
                         d->name, (long long)extents[0], (long long)extents[1],
                         (unsigned long long)count, (long long)selected_count(&r)),
              &error);
  }
  const wpm_region_action action = count == 1 ? WPM_FILL : WPM_WRITE;
  void* base = warpool_draft_data(d->slot.draft, 0);
  void* source = mxGetData(value);
  /* Complex elements come together first, unless they are so already. */
  if (wpm_is_complex_dtype(dtype) && (!MX_HAS_INTERLEAVED_COMPLEX || !mxIsComplex(value))) {
    const size_t half = warpool_dtype_size(dtype) / 2;
    source = mxCalloc(count + 1, 2 * half);
    if (mxIsComplex(value)) {
      wpm_read_array(value, dtype, source);
    } else {
      for (size_t i = 0; i < count; i++) {
        memcpy((char*)source + 2 * i * half, (const char*)mxGetData(value) + i * half, half);
      }
    }
  }
  wpm_region(base, warpool_dtype_size(dtype), r.count, r.extents, r.subscripts, source, action);
}
