/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bare.h
 * The bare side of the comparisons: what the kernel charges for the messages and mappings that a call of Warpool needs, and nothing
 * else. Two processes over one SOCK_SEQPACKET connection, both blocking: no event loop, no schema, no checks, no bookkeeping.
 */
#ifndef WARPOOL_BENCH_BARE_H
#define WARPOOL_BENCH_BARE_H

#include <stddef.h>

/** Starts the serving process, which ends with this one; returns the socket to it. Ends the program with a message on failure. */
int bare_start(void);
/** One message there and one back. */
void bare_ping(int socket);
/**
 * One array there and back: asked for, allocated, mapped, touched, sealed, handed over, fetched, mapped, read, unmapped, closed.
 * The same messages and system calls as warpool_create, warpool_publish, warpool_get and the two releases.
 */
void bare_alloc_fd_map(int socket, size_t bytes);

#endif
