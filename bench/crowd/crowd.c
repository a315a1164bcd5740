/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file crowd.c
 * One process of the crowd: SESSIONS connections over which it works in turn. One command a line, answered with one number.
 *
 *   fill FIRST COUNT             puts the arrays FIRST to FIRST + COUNT - 1, 1 KiB each
 *   churn FIRST COUNT CALLS FILE calls in random order on these arrays: nine gets for each put, which replaces one.
 *                                Writes the milliseconds of each get to FILE (32-bit floats) and answers with their number.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <warpool/warpool.h>

enum { kArrayBytes = 1024, kGetsPerPut = 9 };

typedef struct {
  warpool_connection** connections;
  long count;
  long next;
} Crowd;

static void check(warpool_status status, const warpool_error* error) {
  if (status == WARPOOL_OK) return;
  fprintf(stderr, "%s: %s\n", warpool_status_name(error->code), error->message);
  exit(1);
}

static void connect_all(Crowd* crowd, long count) {
  warpool_error error;
  crowd->connections = calloc((size_t)count, sizeof(warpool_connection*));
  if (crowd->connections == NULL) exit(1);
  crowd->count = count;
  for (long i = 0; i < count; ++i)
    check(warpool_connect(NULL, &crowd->connections[i], &error), &error);
}

static warpool_connection* next_connection(Crowd* crowd) {
  crowd->next = (crowd->next + 1) % crowd->count;
  return crowd->connections[crowd->next];
}

static void put(Crowd* crowd, long number) {
  char name[64];
  snprintf(name, sizeof name, "crowd/x%ld", number);
  char bytes[kArrayBytes] = {0};
  memcpy(bytes, &number, sizeof number);
  const int64_t shape = kArrayBytes;
  warpool_error error;
  warpool_part part;
  check(warpool_part_init(&part, WARPOOL_UINT8, 1, &shape, WARPOOL_ORDER_C, &error), &error);
  part.data = bytes;
  check(warpool_put(next_connection(crowd), name, &part, 1, NULL, NULL, &error), &error);
}

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static float get(Crowd* crowd, long number) {
  char name[64];
  snprintf(name, sizeof name, "crowd/x%ld", number);
  warpool_error error;
  warpool_array* array;
  const double start = now_ms();
  check(warpool_get(next_connection(crowd), name, 0, NULL, &array, &error), &error);
  const double end = now_ms();
  long got = 0;
  memcpy(&got, warpool_array_get_info(array)->data, sizeof got);
  if (got != number) {
    fprintf(stderr, "%s holds the bytes of another array\n", name);
    exit(1);
  }
  warpool_array_release(array);
  return (float)(end - start);
}

/** A linear congruential generator: the same order in every run. */
static uint64_t next_random(uint64_t* state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

static long churn(Crowd* crowd, long first, long count, long calls, const char* path) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) exit(1);
  uint64_t random = (uint64_t)first;
  long gets = 0;
  for (long i = 0; i < calls; ++i) {
    const long number = first + (long)(next_random(&random) % (uint64_t)count);
    if (i % (kGetsPerPut + 1) == 0) {
      put(crowd, number);
      continue;
    }
    const float ms = get(crowd, number);
    gets += (long)fwrite(&ms, sizeof ms, 1, file);
  }
  if (fclose(file) != 0) exit(1);
  return gets;
}

int main(int argc, char** argv) {
  Crowd crowd = {0};
  connect_all(&crowd, argc > 1 ? strtol(argv[1], NULL, 10) : 1);
  char line[512];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char path[256];
    long first = 0;
    long count = 0;
    long calls = 0;
    if (sscanf(line, "churn %ld %ld %ld %255s", &first, &count, &calls, path) == 4) {
      printf("%ld\n", churn(&crowd, first, count, calls, path));
    } else if (sscanf(line, "fill %ld %ld", &first, &count) == 2) {
      for (long i = 0; i < count; ++i)
        put(&crowd, first + i);
      printf("%ld\n", count);
    } else {
      fprintf(stderr, "unknown command %s", line);
      return 2;
    }
    fflush(stdout);
  }
  for (long i = 0; i < crowd.count; ++i)
    warpool_close(crowd.connections[i]);
  free(crowd.connections);
  return 0;
}
