/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Finds the states of a metric that leave out the time in which a thread has no processor: those
 * from which a context switch leads to a state that does not count.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/engine/bounds.h"

static uint8_t leaves_by(const posixtrace_metric_t *m, const struct pt_way *way)
{
    enum pt_kind kind = PT_KIND_IN;
    uint8_t leaves = 0;

    for (; way->target != PT_NOWHERE; way = &m->states[way->target].lambda) {
        kind = m->states[way->target].kind;
        if (kind == PT_KIND_END || kind == PT_KIND_BEGIN || kind == PT_KIND_CANCEL)
            leaves = PT_LEAVES_OUT | PT_LEAVES_END;
    }
    return kind == PT_KIND_OUT ? leaves | PT_LEAVES_OUT : leaves;
}

static bool is_away(const char *event)
{
    return strcmp(event, "posixtrace_switch_out") == 0 ||
           strcmp(event, "posixtrace_switch_preempted") == 0;
}

bool pt_bounds_learn(struct pt_machine *m)
{
    const posixtrace_metric_t *metric = m->metric;
    bool any = false;

    m->leaves = calloc(metric->state_count, sizeof *m->leaves);
    if (!m->leaves)
        return false;
    for (size_t e = 0; e < metric->event_count; e++)
        for (size_t s = 0; is_away(metric->events[e]) && s < metric->state_count; s++) {
            enum pt_kind kind = metric->states[s].kind;

            if (kind == PT_KIND_IN || kind == PT_KIND_COND)
                m->leaves[s] |= leaves_by(metric, pt_machine_way(metric, e, PT_OWN, s)) |
                                leaves_by(metric,
                                          pt_machine_way(metric, pt_machine_otherwise(metric, e),
                                                         PT_OWN, s));
            any |= m->leaves[s] != 0;
        }
    if (any)
        return true;
    free(m->leaves);
    m->leaves = NULL;
    return true;
}
