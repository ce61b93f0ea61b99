/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Times of perf's records as ticks of a stream's clock.
 *
 * A stream on CLOCK_MONOTONIC: perf stamps with that clock, and nothing is converted.
 * A stream on the time stamp counter (TSC):
 *   page  perf's own clock, where the kernel publishes in the page of a ring how it is
 *         computed from the TSC (cap_user_time_zero, perf_event_open(2)): exact to a ns
 *   raw   elsewhere, as in guests with a paravirtual scheduler clock, CLOCK_MONOTONIC_RAW.
 *         The kernel computes that from the TSC with a constant factor, and NTP does not
 *         steer it.  Two pairs of readings, of the time when the rings were opened and
 *         of now, give the line on which all times in between lie; each is off by less
 *         than half of the time that its reading took, some 10 ns.
 */
#ifndef PT_SOURCE_PERF_CLOCK_H
#define PT_SOURCE_PERF_CLOCK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/atomics.h"

enum pt_perf_way { PT_PERF_SAME, PT_PERF_PAGE, PT_PERF_RAW };

struct pt_perf_clock {
    int way;    /* enum pt_perf_way */
    bool known; /* PAGE: the next three are */
    uint16_t shift;
    uint32_t mult;
    uint64_t zero;
    /* RAW: the first pair and the latest, ticks per ns between them (32.32), and how many
     * ticks the best reading took. */
    uint64_t first_ns, first_ticks, ns, ticks, ratio, best;
};

/* For a stream on that clock (enum pt_clock_kind); asks for PAGE where it is the TSC. */
void pt_perf_clock_init(struct pt_perf_clock *c, int stream_clock) PT_HIDDEN;
/* From now on the other way.  Rings that were opened before are of no use. */
void pt_perf_clock_use_raw(struct pt_perf_clock *c) PT_HIDDEN;
/* Sets the clock in the attributes of a perf event. */
void pt_perf_clock_ask(const struct pt_perf_clock *c, struct perf_event_attr *attr) PT_HIDDEN;
/* Reads the conversion from the page of a ring with that clock; false: not available, use RAW. */
bool pt_perf_clock_learn(struct pt_perf_clock *c, const struct perf_event_mmap_page *page)
    PT_HIDDEN;
/* To be called after the heads of the rings were read: times up to now can be converted. */
void pt_perf_clock_sync(struct pt_perf_clock *c) PT_HIDDEN;
uint64_t pt_perf_clock_ticks(const struct pt_perf_clock *c, uint64_t ns) PT_HIDDEN;
/* Waits until all times stamped from now on are, converted, later than ticks. */
void pt_perf_clock_pass(const struct pt_perf_clock *c, uint64_t ticks) PT_HIDDEN;

#endif
