/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See made_clock.h. */
#include <errno.h>
#include "log/writer/made_clock.h"
#include "log/writer/writer.h"

#define TICKS   4u /* of a nanosecond */
#define SLOPE   (((uint64_t)1 << 32) / TICKS)
#define FIRST   ((uint64_t)1 << 32)
#define PLENTY  ((uint64_t)1 << 62) /* so many are used without a thought: 36 years */
#define LONG_NS ((uint64_t)1 << 32) /* left out when there are fewer */
#define MOST_NS ((uint64_t)1 << 60) /* always left out */

static void set_point(struct pt_made_clock *c, uint64_t ts, int64_t ns, uint64_t slope)
{
    c->now = (struct pt_sync){ .ts = ts, .ns = ns, .mult = slope };
    c->waiting[c->count++] = c->now;
}

/* The last tick that a nanosecond has, by the point in force. */
static uint64_t last_of(const struct pt_made_clock *c, int64_t ns)
{
    return c->now.ts + ((uint64_t)ns - (uint64_t)c->now.ns) * TICKS + TICKS - 1;
}

static uint64_t tick_in(struct pt_made_clock *c)
{
    if (c->now.mult && c->last_ts == last_of(c, c->last_ns))
        set_point(c, c->last_ts + 1, c->last_ns, 0);
    return c->last_ts + 1;
}

static uint64_t tick_of_later(struct pt_made_clock *c, int64_t ns)
{
    uint64_t gap = (uint64_t)ns - (uint64_t)c->last_ns;

    if (!c->now.mult || gap > MOST_NS || (gap > LONG_NS && c->last_ts > PLENTY))
        set_point(c, c->last_ts + TICKS, ns, SLOPE);
    return last_of(c, ns) - (TICKS - 1);
}

int pt_made_clock_tick(struct pt_made_clock *c, int64_t ns, bool after, uint64_t *ts)
{
    if (c->any && ns < c->last_ns)
        return -EINVAL;
    if (c->last_ts > UINT64_MAX - 2 * TICKS * MOST_NS)
        return -EOVERFLOW;
    if (!c->any) {
        set_point(c, FIRST, ns, SLOPE);
        c->last_ts = FIRST;
    } else if (ns > c->last_ns) {
        c->last_ts = tick_of_later(c, ns);
    } else if (after) {
        c->last_ts = tick_in(c);
    }
    c->any = true;
    c->last_ns = ns;
    *ts = c->last_ts;
    return 0;
}

int pt_made_clock_put(struct pt_made_clock *c, struct pt_log_writer *w)
{
    int error = c->count ? pt_log_put_syncs(w, c->waiting, c->count) : 0;

    if (!error)
        c->count = 0;
    return error;
}
