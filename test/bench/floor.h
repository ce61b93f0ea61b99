/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The least work of any tracer of this kind, to compare with the real one: a reading of the clock,
 * the stores of the record (time, head, address, data) directly into a buffer of the thread, and
 * one release store of the new position, for a reader.  The buffer wraps.  There is no check
 * whether the event is wanted, no end of a chunk, no reader.
 *
 * The functions are in a shared library of their own, with the arguments of posix_trace_event(), so
 * that the call costs the same; the thread-local buffer is accessed as in the library
 * (initial-exec).  bench_floor_inline() is the same without the call, for comparison.
 */
#ifndef TEST_BENCH_FLOOR_H
#define TEST_BENCH_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the default stream: both sides walk through as much memory. */
#define FLOOR_BYTES (1u << 20)

struct floor_buffer {
    uint64_t position;
    uint64_t pad[7];
    unsigned char bytes[FLOOR_BYTES];
};

/* A call that does nothing. */
void bench_empty(unsigned id, const void *data, size_t len);

/* 8 bytes of data: four stores; 64 bytes: ten, 80 bytes in all. */
void bench_floor8_tsc(unsigned id, const void *data, size_t len);
void bench_floor64_tsc(unsigned id, const void *data, size_t len);
/* The same with clock_gettime(CLOCK_MONOTONIC). */
void bench_floor8_monotonic(unsigned id, const void *data, size_t len);
void bench_floor64_monotonic(unsigned id, const void *data, size_t len);

/* 8 bytes into each of several buffers, with one reading of the clock.  Asks for the memory of a
 * later call, without which 64 buffers of 1 MiB take three times as long. */
void bench_floor8_several_tsc(unsigned id, const void *data, size_t len);
void bench_floor8_several_monotonic(unsigned id, const void *data, size_t len);
/* Into how many of them the calling thread puts, and after how many bytes they wrap; false: no
 * memory. */
enum { FLOOR_MOST = 64 };
bool bench_floor_use(unsigned count, size_t bytes);

#endif
