/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The loops of subjects.h.  Apart from the rest, because whoever links them has
 * the floor's buffers in each thread: 2 MiB that a benchmark of memory must not
 * have.
 */
#include "bench/floor_stores.h"
#include "bench/subjects.h"

pt_u64 pt_clock_offset; /* which the library has for itself */

static _Thread_local struct floor_buffer inline_buffer;

/* One loop for all that can be called: the same instructions around each call. */
#define LOOP(function, bytes)  \
    for (; calls > 0; calls--) \
    function(subject_id, subject_data, (bytes))

void loop_empty(void *arg, long calls)
{
    (void)arg;
    LOOP(bench_empty, 8);
}

void loop_floor8(void *arg, long calls)
{
    (void)arg;
    if (subjects_clock_is_tsc())
        LOOP(bench_floor8_tsc, 8);
    else
        LOOP(bench_floor8_monotonic, 8);
}

void loop_floor64(void *arg, long calls)
{
    (void)arg;
    if (subjects_clock_is_tsc())
        LOOP(bench_floor64_tsc, 64);
    else
        LOOP(bench_floor64_monotonic, 64);
}

void loop_floor8_several(void *arg, long calls)
{
    (void)arg;
    if (subjects_clock_is_tsc())
        LOOP(bench_floor8_several_tsc, 8);
    else
        LOOP(bench_floor8_several_monotonic, 8);
}

void loop_floor8_inline(void *arg, long calls)
{
    (void)arg;
    if (subjects_clock_is_tsc())
        for (; calls > 0; calls--)
            floor_stores(&inline_buffer, PT_CLOCK_TSC, subject_id, subject_data, 8, 0);
    else
        for (; calls > 0; calls--)
            floor_stores(&inline_buffer, PT_CLOCK_MONOTONIC, subject_id, subject_data, 8, 0);
}

void loop_event8(void *arg, long calls)
{
    (void)arg;
    LOOP(posix_trace_event, 8);
}

void loop_event64(void *arg, long calls)
{
    (void)arg;
    LOOP(posix_trace_event, 64);
}
