/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The kernel's rings of context switches: one for each processor, all of one size. */
#ifndef PT_SOURCE_PERF_RINGS_H
#define PT_SOURCE_PERF_RINGS_H

#include "source/perf_ring.h"

struct pt_perf_rings {
    struct pt_perf_ring *of;
    size_t count;
};

/* For the processors that there are now; those that are switched on later have none.  bytes: of
 * each ring, a power of two; 0: 4 MiB for root, else 256 KiB.  Where the limit on locked memory
 * refuses these, half as many, down to a page.  Where the kernel's times cannot be converted as
 * the clock asks, it becomes one of the other way.  0, or a negative errno and there are none. */
int pt_perf_rings_open(struct pt_perf_rings *r, struct pt_perf_clock *clock, uint64_t bytes)
    PT_HIDDEN;
/* How many processors more there are by now. */
size_t pt_perf_rings_missing(const struct pt_perf_rings *r) PT_HIDDEN;
void pt_perf_rings_close(struct pt_perf_rings *r) PT_HIDDEN;

#endif
