/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clock of a log that is made of events from elsewhere.  Within a round a reader orders
 * events by ticks, then by writer number.  So an event that comes after another of the same
 * nanosecond, and whose writer has the lower number, gets a later tick.
 *
 * A nanosecond has 4 ticks.  Where these are not enough, a sync point with slope 0 gives the
 * nanosecond as many as there are events; the first event of a later nanosecond gets a point with
 * the usual slope.  Such a point also skips the ticks of a long time without events, so that the
 * 64-bit ticks do not run out.
 */
#ifndef PT_LOG_WRITER_MADE_CLOCK_H
#define PT_LOG_WRITER_MADE_CLOCK_H

#include <stdbool.h>
#include "log/writer/writer.h"

struct pt_made_clock {
    struct pt_sync now;                       /* the point in force; slope 0: see above */
    struct pt_sync waiting[PT_SYNCS_AT_ONCE]; /* points that are not in the log yet */
    unsigned count;                           /* of them */
    uint64_t last_ts;
    int64_t last_ns;
    bool any; /* there was an event */
};

/* The tick of the next event.  after: later than that of the last one.  0, -EINVAL: ns is earlier
 * than the last one; -EOVERFLOW: the numbers are used up, after hundreds of millions of events
 * in decades at least. */
int pt_made_clock_tick(struct pt_made_clock *c, int64_t ns, bool after, uint64_t *ts);
/* Is the next tick to wait until the points are in the log? */
static inline bool pt_made_clock_is_full(const struct pt_made_clock *c)
{
    return c->count == PT_SYNCS_AT_ONCE;
}
/* Before events with these ticks.  0 or -errno. */
int pt_made_clock_put(struct pt_made_clock *c, struct pt_log_writer *w);

#endif
