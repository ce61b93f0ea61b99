/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A line of the table of all measurements, as they come; see metrics_view.h.  A line whose
 * exact numbers do not fit has them with three digits and a unit.
 */
#include "metrics/metrics_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/colour.h"
#include "common/units.h"
#include "common/stdout_buffer.h"
#include "common/table.h"

enum { NAME_MIN = 6 };

/* Imported times may be any numbers: the difference goes round instead of overflowing. */
static int64_t since(const struct metrics_view *v, int64_t ns)
{
    return (int64_t)((uint64_t)ns - (uint64_t)v->origin);
}

/* The numbers of a line; exact: in microseconds, else with three digits and a unit. */
static size_t put_numbers(char *to, size_t size, const struct metrics_view *v,
                          const struct posixtrace_measurement *m, bool exact)
{
    int64_t least = metrics_groups_least(&v->groups, m);
    int64_t most = metrics_groups_length(&v->groups, m);
    int64_t begin = since(v, m->begin_ns), end = since(v, m->end_ns);
    char range[64];

    if (exact)
        snprintf(range, sizeof range, "%s", metrics_us_range(least, most));
    else if (least < most)
        snprintf(range, sizeof range, "%s..%s", units_time(least), metrics_time_at_most(most));
    else
        snprintf(range, sizeof range, "%s", units_time(most));
    return (size_t)snprintf(to, size, "%7s %13s %13s %13s %6" PRIu64 "  ",
                            metrics_thread(m->tid, m->thread_id), range,
                            exact ? metrics_us(begin) : units_time(begin),
                            exact ? metrics_us(end) : units_time(end), m->intermediate_events);
}

void metrics_print_line(struct metrics_view *v, const struct posixtrace_measurement *m)
{
    const char *mark = m->unknown ? " (unknown)" : m->bound ? " (bound)" : "";
    char *name = metrics_shown(OUTPUT_TEXT, posixtrace_metric_name(m->metric));
    char text[256];
    size_t used;

    if (!v->has_origin) {
        v->origin = m->begin_ns;
        v->has_origin = true;
    }
    used = put_numbers(text, sizeof text, v, m, true) + strlen(mark);
    if (used + NAME_MIN > out_columns())
        used = put_numbers(text, sizeof text, v, m, false) + strlen(mark);
    out_text(text);
    out_text(colour_code(m->unknown ? COLOUR_ALARM : COLOUR_NAME));
    table_put_cut(name, used + NAME_MIN < out_columns() ? out_columns() - used : NAME_MIN);
    out_text(mark);
    out_text(colour_code(COLOUR_PLAIN));
    out_text("\n");
    free(name);
}
