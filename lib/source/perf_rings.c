/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See perf_rings.h.  All rings have one size: the first ones would otherwise take the locked
 * memory that the last ones need.  The limit (kernel.perf_event_mlock_kb for each processor, and
 * RLIMIT_MEMLOCK) holds for root, too, where it lacks CAP_IPC_LOCK, as in a container.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "source/perf_rings.h"

/* 6553 switches; half of what a user may lock for perf. */
#define RING_BYTES (256u << 10)
/* 104,857 of them: a second of a busy processor. */
#define RING_BYTES_ROOT (4u << 20)

static void close_rings(struct pt_perf_rings *r)
{
    while (r->count > 0)
        pt_perf_ring_close(&r->of[--r->count]);
}

static int open_rings(struct pt_perf_rings *r, int processors, size_t bytes,
                      struct pt_perf_clock *clock)
{
    for (int cpu = 0; cpu < processors; cpu++) {
        int e = pt_perf_ring_open(&r->of[r->count], cpu, bytes, clock);

        if (e == -ENODEV)
            continue;
        if (e < 0) {
            close_rings(r);
            return e;
        }
        r->count++;
    }
    return r->count ? 0 : -ENODEV;
}

/* As large as the limit allows. */
static int open_largest(struct pt_perf_rings *r, int processors, size_t bytes,
                        struct pt_perf_clock *clock)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int e;

    bytes = bytes < page ? page : bytes;
    for (;; bytes /= 2) {
        e = open_rings(r, processors, bytes, clock);
        if ((e != -EPERM && e != -ENOMEM) || bytes <= page)
            return e;
    }
}

int pt_perf_rings_open(struct pt_perf_rings *r, struct pt_perf_clock *clock, uint64_t bytes)
{
    long n = sysconf(_SC_NPROCESSORS_CONF);
    int e;

    n = n < 1 ? 1 : n;
    if (bytes == 0)
        bytes = geteuid() == 0 ? RING_BYTES_ROOT : RING_BYTES;
    r->count = 0;
    r->of = calloc((size_t)n, sizeof *r->of);
    if (!r->of)
        return -ENOMEM;
    e = open_largest(r, (int)n, (size_t)bytes, clock);
    if (e == -ESTALE) {
        pt_perf_clock_use_raw(clock);
        e = open_largest(r, (int)n, (size_t)bytes, clock);
    }
    if (e < 0)
        pt_perf_rings_close(r);
    return e;
}

/* One that is switched off at the same time as another is switched on hides it. */
size_t pt_perf_rings_missing(const struct pt_perf_rings *r)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 && (size_t)n > r->count ? (size_t)n - r->count : 0;
}

void pt_perf_rings_close(struct pt_perf_rings *r)
{
    close_rings(r);
    free(r->of);
    r->of = NULL;
}
