/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * From ticks to nanoseconds and back, by a table of sync points in ascending
 * order of ts.  The one conversion that live reading and log reading share, so
 * that both give the same nanosecond.
 *
 * In force at t is the last point with ts <= t; before the first point the
 * first one is continued backwards.  Without any point ticks are nanoseconds.
 * Sums wrap: values of a hostile log give some result, never undefined
 * behaviour.
 */
#ifndef PT_MODEL_SYNC_H
#define PT_MODEL_SYNC_H

#include <stddef.h>
#include "base/mul128.h"
#include "model/event.h"

static inline int64_t pt_sync_apply(const struct pt_sync *point, uint64_t ts)
{
    if (ts >= point->ts)
        return (int64_t)((uint64_t)point->ns + pt_mul128_mul(ts - point->ts, point->mult));
    return (int64_t)((uint64_t)point->ns - pt_mul128_mul(point->ts - ts, point->mult));
}

#define PT_SYNC_STEP_NS 5000000u /* a step of the clock is longer than twice as much */

/* Was the clock set between two points that follow each other?  Small deviations end slowly,
 * without a step (shm/syncpoint.h). */
static inline bool pt_sync_is_step(const struct pt_sync *before, const struct pt_sync *point)
{
    uint64_t by = (uint64_t)point->ns - (uint64_t)pt_sync_apply(before, point->ts);

    return by + PT_SYNC_STEP_NS > 2 * PT_SYNC_STEP_NS;
}

/* By so much; 0: it was not.  Wraps. */
static inline uint64_t pt_sync_step(const struct pt_sync *before, const struct pt_sync *point)
{
    return pt_sync_is_step(before, point)
               ? (uint64_t)point->ns - (uint64_t)pt_sync_apply(before, point->ts)
               : 0;
}

/* Index of the point in force at ts; n > 0. */
static inline size_t pt_sync_find(const struct pt_sync *table, size_t n, uint64_t ts)
{
    size_t low = 0, high = n; /* the answer is in [low, high) */

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (table[middle].ts <= ts)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline int64_t pt_sync_convert(const struct pt_sync *table, size_t n, uint64_t ts)
{
    return n ? pt_sync_apply(&table[pt_sync_find(table, n, ts)], ts) : (int64_t)ts;
}

/* The least ts that converts to ns or later; UINT64_MAX if there is none.  Only from one point to
 * the next times ascend: the clock may have been set back. */
static inline uint64_t pt_sync_invert(const struct pt_sync *table, size_t n, int64_t ns)
{
    uint64_t low = 0, high = UINT64_MAX;

    if (!n)
        return ns > 0 ? (uint64_t)ns : 0;
    /* Too far from the points a sum would leave the range of nanoseconds. */
    if (table[0].mult) {
        uint64_t room = (uint64_t)table[0].ns - (uint64_t)INT64_MIN;
        uint64_t reach = pt_mul128_div(room, table[0].mult);

        if (reach < table[0].ts)
            low = table[0].ts - reach;
    }
    if (table[n - 1].mult) {
        uint64_t room = (uint64_t)INT64_MAX - (uint64_t)table[n - 1].ns;
        uint64_t reach = pt_mul128_div(room, table[n - 1].mult);

        if (reach < UINT64_MAX - table[n - 1].ts)
            high = table[n - 1].ts + reach;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t from = i > 0 ? table[i].ts : low;
        uint64_t to = i + 1 < n ? table[i + 1].ts - 1 : high;

        if (from > to || pt_sync_apply(&table[i], to) < ns)
            continue;
        while (from < to) {
            uint64_t middle = from + (to - from) / 2;

            if (pt_sync_apply(&table[i], middle) >= ns)
                to = middle;
            else
                from = middle + 1;
        }
        return from;
    }
    return high;
}

#endif
