/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The arithmetic of bounds.h: what tellings say of each other, and of a measurement's
 * share.  It knows nothing of engines, threads and the line of measurements that wait.
 */
#ifndef PT_METRICS_BOUNDS_SHARE_H
#define PT_METRICS_BOUNDS_SHARE_H

#include "analysis/metrics/engine/bounds.h"

/* ---- spans of time ---- */

#define PT_NS_MAX (INT64_MAX / 4)

/* b - a, kept small enough to be added to others: hostile times. */
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

/* ---- tellings ---- */

/* A telling as the one before it has it; false: that was of another thread. */
bool pt_ran_follow(struct pt_ran *now, const struct pt_ran *last);
/* And as the next one has it. */
void pt_ran_precede(struct pt_ran *last, const struct pt_ran *now);
/* Is last, behind before, known well enough to end a piece? */
bool pt_ran_is_worth(const struct pt_ran *before, const struct pt_ran *last);

/* ---- shares ---- */

/* c ns of a piece from one telling to another; of what is not known, nothing is. */
void pt_share_end_piece(struct pt_share *s, int64_t c, const struct pt_ran *from,
                        const struct pt_ran *to);
/* The whole of it, from the telling before it to that one. */
void pt_share_narrow(struct pt_share *s, const struct pt_ran *last);
/* before, last and now follow each other.  dropped: last is not worth ending a piece. */
void pt_share_tell(struct pt_share *s, const struct pt_ran *before, const struct pt_ran *last,
                   const struct pt_ran *now, bool dropped);

#endif
