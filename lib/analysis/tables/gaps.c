/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Rows of gaps that say when: those that a report counts, in a pass that takes only the marks of a
 * log.  The time from the first to the end of the last is where losses without a number are.
 */
#include <string.h>

#include "analysis/report/report_state.h"
#include "analysis/tables/tables_state.h"

enum { BATCH = 16384 };

struct marks {
    struct pt_table_row *row;
    bool any;
    bool full;        /* the last STOP was automatic: the stream was full */
    int64_t from, to; /* of all */
};

static const char *cause_of(unsigned why)
{
    switch (why) {
    case PT_REPORT_GAP_OVERFLOW: return "events lost";
    case PT_REPORT_GAP_STOPPED: return "recording stopped";
    case PT_REPORT_GAP_UNMARKED: return "losses not marked";
    case PT_REPORT_GAP_FILTER: return "filter changed";
    default: return "part not readable";
    }
}

static void widen(struct marks *m, int64_t from, int64_t to)
{
    m->from = m->any && m->from < from ? m->from : from;
    m->to = m->any && m->to > to ? m->to : to;
    m->any = true;
}

static int put_gap(void *context, unsigned why, int64_t from, int64_t to)
{
    struct marks *m = context;

    widen(m, from, to);
    pt_table_row_begin(m->row);
    pt_table_row_number(m->row, POSIXTRACE_GAPS_BEGIN_TIME, from);
    pt_table_row_number(m->row, POSIXTRACE_GAPS_END_TIME, to);
    pt_table_row_text(m->row, POSIXTRACE_GAPS_CAUSE, cause_of(why));
    return pt_table_row_end(m->row);
}

static void typed(void *context, const char *name, struct pt_report_type *t)
{
    (void)context;
    t->watched = name && strcmp(name, "posix_trace_stop") == 0;
}

static void taken(void *context, struct pt_report_thread *th, const struct pt_report_type *t,
                  const struct posixtrace_event *e)
{
    struct marks *m = context;
    int automatic = 0;

    (void)th;
    (void)t;
    if (e->data_len >= sizeof automatic)
        memcpy(&automatic, e->data, sizeof automatic);
    m->full = automatic != 0;
}

static void unread(void *context)
{
    (void)context;
}

static const struct pt_report_watch watch = {
    .typed = typed, .unread = unread, .taken = taken, .marks_only = true
};

static int take_marks(struct marks *m, posixtrace_report_t *report)
{
    uint64_t before = 0;
    int error = 0, unavailable = 0;

    while (!error && !unavailable) {
        error = posixtrace_report_take(report, BATCH, &unavailable);
        if (!error)
            error = pt_tables_progress(m->row->t, posixtrace_report_events(report) - before);
        before = posixtrace_report_events(report);
    }
    return error;
}

int pt_tables_gaps(struct pt_table_row *r)
{
    struct marks m = { .row = r };
    posixtrace_report_t *report = NULL;
    int error = posixtrace_report_create(r->t->trid, NULL, 0, &report);
    bool open = false;

    if (error)
        return error;
    report->watch = &watch;
    report->watcher = &m;
    report->each = (struct pt_report_each){ .gap = put_gap, .context = &m };
    error = take_marks(&m, report);
    if (!error) {
        /* Where recording has stopped, and nothing came since, a full stream has lost what came. */
        open = report->in_gap != 0 && (report->in_gap != PT_REPORT_GAP_STOPPED || m.full);
        if (open)
            widen(&m, report->gap_ns, report->now);
        error = posixtrace_report_end(report);
    }
    posixtrace_report_free(report);
    if (!error)
        error = pt_tables_losses(r, m.any ? &m.from : NULL, m.any && !open ? &m.to : NULL);
    return error;
}
