/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clock of events.  Ticks of the processor's time stamp counter where the
 * kernel itself trusts it (clocksource "tsc", invariant), else nanoseconds of
 * CLOCK_MONOTONIC of the first time namespace through the vDSO.  One kind a stream, kept in its
 * segment.
 *
 * rdtsc is not ordered with earlier loads; no lfence is used: it would cost two
 * thirds of rdtsc again.  Order across threads is by timestamp.  A system call
 * between two events orders their timestamps, and a lock does but for what a
 * processor can do while the lock's cache line is on its way: on an AMD EPYC one
 * hand-over in 20,000 was 6 ns early, on Intel none was seen.  The vDSO's
 * CLOCK_MONOTONIC waits for earlier loads (POSIXTRACE_CLOCK=monotonic).
 */
#ifndef PT_BASE_CLOCK_H
#define PT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>
#include "base/atomics.h"
#if defined __x86_64__ || defined __i386__
#include <x86intrin.h>
#endif

/* Values as enum posixtrace_clock. */
enum pt_clock_kind { PT_CLOCK_TSC, PT_CLOCK_MONOTONIC, PT_CLOCK_REALTIME };

static inline uint64_t pt_clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What the time namespace of this process adds to CLOCK_MONOTONIC (pt_time_learn() in
 * shm/liveness.h). */
extern pt_u64 pt_clock_offset PT_HIDDEN;

/* CLOCK_MONOTONIC or CLOCK_MONOTONIC_COARSE as in the first time namespace: for memory that
 * processes share. */
static inline uint64_t pt_clock_shared_ns(clockid_t id)
{
    return pt_clock_ns(id) - pt_load_relaxed(&pt_clock_offset);
}

static inline uint64_t pt_clock_now(int kind)
{
#if defined __x86_64__ || defined __i386__
    if (__builtin_expect(kind == PT_CLOCK_TSC, 1))
        return __rdtsc();
#endif
    return kind == PT_CLOCK_REALTIME ? pt_clock_ns(CLOCK_REALTIME)
                                     : pt_clock_shared_ns(CLOCK_MONOTONIC);
}

/* Orders the last reading of the clock before all later loads. */
static inline void pt_clock_settle(void)
{
    pt_fence_seqcst();
#if defined __SSE2__
    _mm_lfence();
#endif
}

/* The kind of clock for new streams; chosen at the first call.  Async-signal-safe. */
int pt_clock_choose(void);

/* Why that kind (values as enum posixtrace_clock_choice). */
enum pt_clock_reason {
    PT_CLOCK_TRUSTED,
    PT_CLOCK_NOT_INVARIANT,
    PT_CLOCK_KERNEL_AVOIDS,
    PT_CLOCK_WISHED
};
enum pt_clock_reason pt_clock_why(void);

/* Resolution of the times that readers report, in nanoseconds. */
uint64_t pt_clock_resolution_ns(void);

/* One reading of both clocks that belong together: ticks, and CLOCK_REALTIME
 * at the same moment, best of a few tries. */
void pt_clock_pair(int kind, uint64_t *ticks, int64_t *real_ns);

/* The kernel's estimate of the error of CLOCK_REALTIME (adjtimex(2), read only): at most, and as a
 * rule, in ns; the state of the clock: STA_* bits of <sys/timex.h>.  All are -1
 * where the call is refused, or the thread is under a filter of system calls, which may kill. */
struct pt_clock_error {
    int64_t most, estimated;
    int32_t status;
};
void pt_clock_error(struct pt_clock_error *error);

/* Nanoseconds per tick, 32.32 fixed point, measured since the first call in
 * this process (better the longer ago that is). */
uint64_t pt_clock_slope(int kind);

#endif
