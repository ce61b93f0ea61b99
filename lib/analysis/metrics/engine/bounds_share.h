/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The arithmetic of bounds.h: how CPU-time samples narrow each other, and the bounds of a
 * measurement's share.  It uses no engine, thread or queue.  Its callers are in bounds.c.
 */
#ifndef PT_METRICS_BOUNDS_SHARE_H
#define PT_METRICS_BOUNDS_SHARE_H

#include "analysis/metrics/engine/bounds.h"

/* ---- spans of time ---- */

#define PT_NS_MAX (INT64_MAX / 4)

/* b - a, limited so that sums do not overflow: the times of a log may be hostile. */
static inline int64_t pt_ns_span(int64_t a, int64_t b)
{
    int64_t d;

    if (__builtin_sub_overflow(b, a, &d))
        return b > a ? PT_NS_MAX : -PT_NS_MAX;
    return d > PT_NS_MAX ? PT_NS_MAX : d < -PT_NS_MAX ? -PT_NS_MAX : d;
}

static inline void pt_ns_add(int64_t *to, int64_t ns)
{
    if (__builtin_add_overflow(*to, ns, to) || *to > PT_NS_MAX)
        *to = PT_NS_MAX;
}

static inline int64_t pt_ns_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t pt_ns_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- samples ---- */

/* Narrows a sample by the one before it.  False: that one was of another thread. */
bool pt_ran_follow(struct pt_ran *now, const struct pt_ran *last);
/* Narrows a sample by the one after it. */
void pt_ran_precede(struct pt_ran *last, const struct pt_ran *now);
/* Is last, the sample after before, exact enough to end a piece? */
bool pt_ran_is_worth(const struct pt_ran *before, const struct pt_ran *last);

/* ---- shares ---- */

/* Adds a piece with c ns of counted time to the bounds.  If one of its samples is not known, the
 * least grows by 0 and the most by c. */
void pt_share_end_piece(struct pt_share *s, int64_t c, const struct pt_ran *from,
                        const struct pt_ran *to);
/* Narrows the bounds by the whole, from the sample before the measurement to last. */
void pt_share_narrow(struct pt_share *s, const struct pt_ran *last);
/* Adds the sample now, which follows before and last.  dropped: last is too inexact to end a
 * piece. */
void pt_share_add_sample(struct pt_share *s, const struct pt_ran *before, const struct pt_ran *last,
                         const struct pt_ran *now, bool dropped);

#endif
