/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file worker.c
 * The C program of the benches. Reads one command a line and answers with one line: the nanoseconds of one operation. The driver
 * alternates between workers, so that both sides of a ratio meet the same machine.
 *
 *   bare_ping N | ping N            exchanges of an empty message
 *   bare_alloc N | alloc N          a fresh array of 1 MiB, handed over and mapped
 *   put_get N                       put and get of 1 KiB
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <warpool/warpool.h>

#include "bare.h"

enum { kArrayBytes = 1024 * 1024, kSmallBytes = 1024 };

typedef struct {
  int bare;
  warpool_connection* connection;
} Ends;

static void check(warpool_status status, const warpool_error* error) {
  if (status == WARPOOL_OK) return;
  fprintf(stderr, "%s: %s\n", warpool_status_name(error->code), error->message);
  exit(1);
}

static void run_bare_ping(Ends* ends) {
  bare_ping(ends->bare);
}

static void run_bare_alloc(Ends* ends) {
  bare_alloc_fd_map(ends->bare, kArrayBytes);
}

static void run_ping(Ends* ends) {
  warpool_error error;
  check(warpool_ping(ends->connection, &error), &error);
}

static warpool_part bytes_part(int64_t bytes) {
  warpool_error error;
  warpool_part part;
  check(warpool_part_init(&part, WARPOOL_UINT8, 1, &bytes, WARPOOL_ORDER_C, &error), &error);
  return part;
}

static void run_alloc(Ends* ends) {
  warpool_error error;
  const warpool_part part = bytes_part(kArrayBytes);
  warpool_draft* draft;
  check(warpool_create(ends->connection, "bench/alloc", &part, 1, NULL, &draft, &error), &error);
  *(char*)warpool_draft_data(draft, 0) = 1;
  check(warpool_publish(draft, NULL, NULL, &error), &error);
  warpool_array* array;
  check(warpool_get(ends->connection, "bench/alloc", 0, NULL, &array, &error), &error);
  if (*(const volatile char*)warpool_array_get_info(array)->data != 1) exit(1);
  warpool_array_release(array);
}

static void run_put_get(Ends* ends) {
  static const char bytes[kSmallBytes] = {1};
  warpool_error error;
  warpool_part part = bytes_part(kSmallBytes);
  part.data = bytes;
  check(warpool_put(ends->connection, "bench/small", &part, 1, NULL, NULL, &error), &error);
  warpool_array* array;
  check(warpool_get(ends->connection, "bench/small", 0, NULL, &array, &error), &error);
  if (*(const volatile char*)warpool_array_get_info(array)->data != 1) exit(1);
  warpool_array_release(array);
}

static const struct {
  const char* name;
  void (*run)(Ends*);
} kOperations[] = {{"bare_ping", run_bare_ping},
                   {"ping", run_ping},
                   {"bare_alloc", run_bare_alloc},
                   {"alloc", run_alloc},
                   {"put_get", run_put_get}};

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double measure(void (*run)(Ends*), Ends* ends, long count) {
  const double start = now_ns();
  for (long i = 0; i < count; ++i)
    run(ends);
  return (now_ns() - start) / (double)count;
}

int main(void) {
  Ends ends = {bare_start(), NULL};
  warpool_error error;
  check(warpool_connect(NULL, &ends.connection, &error), &error);
  char line[256];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char name[64];
    long count = 0;
    int known = 0;
    if (sscanf(line, "%63s %ld", name, &count) != 2 || count <= 0) return 2;
    for (size_t i = 0; i < sizeof kOperations / sizeof kOperations[0]; ++i) {
      if (strcmp(kOperations[i].name, name) != 0) continue;
      printf("%.1f\n", measure(kOperations[i].run, &ends, count));
      fflush(stdout);
      known = 1;
    }
    if (!known) {
      fprintf(stderr, "unknown operation %s\n", name);
      return 2;
    }
  }
  warpool_close(ends.connection);
  return 0;
}
