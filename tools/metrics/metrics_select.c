/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See metrics_select.h. */
#include "metrics/metrics_select.h"

#include <stdio.h>

#include "common/tool.h"
#include "common/units.h"
#include "measure/metrics_text.h"
#include "metrics/metrics_view.h"

static bool wants(void *context, const struct posixtrace_event *begin)
{
    struct metrics_select *m = context;

    return select_wants_expression(m->s, m->trid, begin);
}

void metrics_select_ask(struct metrics_select *m, posixtrace_metric_run_t *run,
                        const struct log_file *log)
{
    m->trid = log->trid;
    if (select_has_expression(m->s))
        posixtrace_metric_run_select(run, wants, m);
}

int metrics_select_begin(struct metrics_select *m, posixtrace_metric_run_t *run,
                         const struct log_file *log, bool live)
{
    metrics_select_ask(m, run, log);
    if (!live && log->seekable)
        return select_resolve(m->s, log->info.first_ns);
    return select_resolve_absolute(m->s);
}

bool metrics_selects(struct metrics_select *m, const struct posixtrace_measurement *measurement)
{
    const struct selection *s = m->s;

    if (s->pid_count + s->tid_count > 0 && !select_wants_ids(s, measurement->pid, measurement->tid))
        return false;
    return metrics_selects_time(m, measurement);
}

bool metrics_selects_time(struct metrics_select *m,
                          const struct posixtrace_measurement *measurement)
{
    const struct selection *s = m->s;

    if (measurement->begin_ns >= s->from_ns && measurement->end_ns <= s->to_ns)
        return true;
    if (measurement->end_ns < s->from_ns || measurement->begin_ns > s->to_ns) {
        m->left_out += !measurement->unknown;
        return false;
    }
    if (measurement->unknown)
        return true;
    m->crossing++;
    m->crossing_bound |= measurement->bound;
    if (measurement->length_ns > m->longest_crossing_ns)
        m->longest_crossing_ns = measurement->length_ns;
    return false;
}

const char *metrics_select_crossing(const struct metrics_select *m)
{
    static char text[200];

    if (m->crossing == 0)
        return NULL;
    snprintf(text, sizeof text,
             "%s measurement%s the start or the end of the selected time, and %s not counted; the "
             "longest is %s%s us",
             units_count(m->crossing), m->crossing == 1 ? " crosses" : "s cross",
             m->crossing == 1 ? "is" : "are", m->crossing_bound ? "at most " : "",
             metrics_us(m->longest_crossing_ns));
    return text;
}
