/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Transitions: the joint effect of an edge (a way) and the lambdas after it, computed once, so that
 * pt_step() need not enter their states one by one.
 *
 * All these states are entered at the time of the event, unless one of them has a time of its own
 * ("due").  A segment that begins and ends at the same time measures nothing.  So the effect is:
 * does a segment end, does a measurement end, does one begin after that, and which state is the
 * last.  An edge with another effect, such as a measurement that begins and ends at once, has no
 * transition, and pt_step() enters its states one by one.
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

/* Adds the effect of a state.  False: it cannot be represented. */
static bool add_state(struct pt_transition *transition, enum pt_kind kind, bool first)
{
    transition->from_in |= first && kind == PT_KIND_IN;
    if (kind == PT_KIND_COND && !transition->leaves)
        return false; /* its effect depends on the segment before it */
    if ((kind == PT_KIND_BEGIN && transition->begins) ||
        (kind == PT_KIND_END && (transition->ends || transition->begins)))
        return false;
    transition->begins |= kind == PT_KIND_BEGIN;
    transition->ends |= kind == PT_KIND_END;
    transition->leaves |= kind != PT_KIND_IN;
    transition->segment = kind == PT_KIND_IN     ? PT_SEGMENT_IN
                          : kind == PT_KIND_COND ? PT_SEGMENT_COND
                                                 : PT_SEGMENT_NONE;
    return true;
}

static struct pt_transition transition_of(const posixtrace_metric_t *m, const struct pt_way *way)
{
    struct pt_transition transition = { .whole = is_at_once(m, way) };
    bool first = true;

    for (; transition.whole && way->target != PT_NOWHERE; way = &m->states[way->target].lambda) {
        transition.whole = add_state(&transition, m->states[way->target].kind, first);
        transition.state = way->target;
        first = false;
    }
    return transition;
}

struct pt_transition *pt_transitions_new(const posixtrace_metric_t *metric)
{
    size_t n = metric->state_count;
    struct pt_transition *transitions = calloc((metric->event_count + 1) * n, sizeof *transitions);

    for (size_t e = 0; transitions && e <= metric->event_count; e++)
        for (size_t s = 0; s < n; s++)
            transitions[e * n + s] = transition_of(metric, pt_machine_way(metric, e, PT_OWN, s));
    return transitions;
}
