/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Shares and CPU-time samples, see bounds_share.h.
 */
#include "analysis/metrics/engine/bounds_share.h"
#include "base/assert.h"

/* A sample ends a piece only if its uncertainty is at most 1/WORTH of the piece; if the sample
 * before it is more exact by a factor of MUCH, at most 1/WORTH_BETWEEN. */
#define WORTH         4
#define WORTH_BETWEEN 128
#define MUCH          16

/* The longest time that the thread can have been off the processor between two samples. */
static int64_t most_off(const struct pt_ran *from, const struct pt_ran *to)
{
    int64_t off = pt_ns_span(from->ns, to->ns) - pt_ns_max(pt_ns_span(from->most, to->least), 0);

    return pt_ns_max(off, 0);
}

void pt_share_end_piece(struct pt_share *s, int64_t c, const struct pt_ran *from,
                        const struct pt_ran *to)
{
    pt_assert_call(c >= 0);
    pt_assert(!from->known || from->least <= from->most);
    if (!from->known || !to->known) {
        pt_ns_add(&s->most, c);
        return;
    }
    pt_ns_add(&s->least, pt_ns_max(c - most_off(from, to), 0));
    pt_ns_add(&s->most, pt_ns_max(pt_ns_min(c, pt_ns_span(from->least, to->most)), 0));
}

void pt_share_narrow(struct pt_share *s, const struct pt_ran *last)
{
    if (!s->first.known)
        return;
    s->least = pt_ns_max(s->least, s->counted - most_off(&s->first, last));
    s->most = pt_ns_min(s->most, pt_ns_max(pt_ns_span(s->first.least, last->most), 0));
}

bool pt_ran_follow(struct pt_ran *now, const struct pt_ran *last)
{
    if (now->most < last->least)
        return false;
    now->least = pt_ns_max(now->least, last->least);
    now->most = pt_ns_min(now->most, last->most + pt_ns_span(last->ns, now->ns));
    now->most = pt_ns_max(now->most, now->least);
    pt_assert(last->ns <= now->ns && now->least >= last->least);
    return true;
}

void pt_ran_precede(struct pt_ran *last, const struct pt_ran *now)
{
    last->least = pt_ns_max(last->least, now->least - pt_ns_span(last->ns, now->ns));
    last->most = pt_ns_max(pt_ns_min(last->most, now->most), last->least);
    pt_assert(last->least <= last->most);
}

bool pt_ran_is_worth(const struct pt_ran *before, const struct pt_ran *last)
{
    int64_t doubt = last->most - last->least, doubt_before = before->most - before->least;
    int64_t worth = doubt / MUCH > doubt_before ? WORTH_BETWEEN : WORTH;

    return doubt <= pt_ns_span(before->ns, last->ns) / worth;
}

void pt_share_add_sample(struct pt_share *s, const struct pt_ran *before, const struct pt_ran *last,
                         const struct pt_ran *now, bool dropped)
{
    pt_assert(s->in_piece >= 0 && s->in_before >= 0);
    pt_assert(s->in_piece <= s->counted && s->in_before <= s->counted);
    if (s->first.known && s->first.ns == last->ns)
        s->first = *last;
    if (!dropped) {
        pt_share_end_piece(s, s->in_before, before, last);
        s->in_before = 0;
    }
    pt_ns_add(&s->in_before, s->in_piece);
    s->in_piece = 0;
    if (!last->known) {
        pt_share_end_piece(s, s->in_before, last, now);
        s->in_before = 0;
    }
}
