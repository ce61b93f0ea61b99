/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Moves: what a way and the lambdas behind it do, as one.
 *
 * They are entered one after the other at the time of the event, unless one of them waits
 * for nothing but says another time ("due").  A segment that begins and ends at one moment
 * measures nothing.  So of all states that are passed it matters whether a segment
 * ends, whether a measurement does and whether one begins behind it, and what the last one
 * is.  What does not fit into that, such as a measurement that begins and ends at once, is
 * no move: pt_step() enters its states one by one.
 */
#include <stdlib.h>
#include "analysis/metrics/engine/step.h"

static bool is_at_once(const posixtrace_metric_t *m, const struct pt_way *way)
{
    if (way->target == PT_NOWHERE || way->only)
        return false;
    for (; way->target != PT_NOWHERE; way = &m->states[way->target].lambda)
        if (pt_way_is_due(way) || m->states[way->target].kind == PT_KIND_CANCEL)
            return false;
    return true;
}

/* False: it does more than a move can say. */
static bool add_state(struct pt_move *move, enum pt_kind kind, bool first)
{
    move->from_in |= first && kind == PT_KIND_IN;
    if (kind == PT_KIND_COND && !move->leaves)
        return false;   /* it goes on with what was, or not */
    if ((kind == PT_KIND_BEGIN && move->begins) ||
        (kind == PT_KIND_END && (move->ends || move->begins)))
        return false;
    move->begins |= kind == PT_KIND_BEGIN;
    move->ends |= kind == PT_KIND_END;
    move->leaves |= kind != PT_KIND_IN;
    move->segment = kind == PT_KIND_IN     ? PT_SEGMENT_IN
                    : kind == PT_KIND_COND ? PT_SEGMENT_COND
                                           : PT_SEGMENT_NONE;
    return true;
}

static struct pt_move move_of(const posixtrace_metric_t *m, const struct pt_way *way)
{
    struct pt_move move = { .whole = is_at_once(m, way) };
    bool first = true;

    for (; move.whole && way->target != PT_NOWHERE; way = &m->states[way->target].lambda) {
        move.whole = add_state(&move, m->states[way->target].kind, first);
        move.state = way->target;
        first = false;
    }
    return move;
}

struct pt_move *pt_moves_new(const posixtrace_metric_t *metric)
{
    size_t n = metric->state_count;
    struct pt_move *moves = calloc((metric->event_count + 1) * n, sizeof *moves);

    for (size_t e = 0; moves && e <= metric->event_count; e++)
        for (size_t s = 0; s < n; s++)
            moves[e * n + s] = move_of(metric, pt_machine_way(metric, e, PT_OWN, s));
    return moves;
}
