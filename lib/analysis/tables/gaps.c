/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Rows of gaps that say when: those that a report counts.  The pass that makes measurements has
 * such a report, and keeps them; else they are found in a pass that takes only the marks of a log.
 * The time from the first to the end of the last is where losses without a number are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/report_state.h"
#include "analysis/tables/tables_state.h"

enum { BATCH = 16384 };

/* Gaps that the pass of measurements keeps at most. */
enum { KEPT_MAX = 1 << 16 };

struct marks {
    struct pt_table_row *row;
    struct pt_tables_when when;
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

static void widen(struct pt_tables_when *w, int64_t from, int64_t to)
{
    w->from = w->any && w->from < from ? w->from : from;
    w->to = w->any && w->to > to ? w->to : to;
    w->any = true;
}

static int put_row(struct pt_table_row *r, unsigned why, int64_t from, int64_t to)
{
    pt_table_row_begin(r);
    pt_table_row_number(r, POSIXTRACE_GAPS_BEGIN_TIME, from);
    pt_table_row_number(r, POSIXTRACE_GAPS_END_TIME, to);
    pt_table_row_text(r, POSIXTRACE_GAPS_CAUSE, cause_of(why));
    return pt_table_row_end(r);
}

static int put_gap(void *context, unsigned why, int64_t from, int64_t to)
{
    struct marks *m = context;

    widen(&m->when, from, to);
    return put_row(m->row, why, from, to);
}

static void take_stop(struct pt_tables_when *w, const struct posixtrace_event *e)
{
    int automatic = 0;

    if (e->data_len >= sizeof automatic)
        memcpy(&automatic, e->data, sizeof automatic);
    w->full = automatic != 0;
}

/* Where recording has stopped, and nothing came since, a full stream has lost what came. */
static void take_end(struct pt_tables_when *w, const posixtrace_report_t *report)
{
    w->open = report->in_gap != 0 && (report->in_gap != PT_REPORT_GAP_STOPPED || w->full);
    if (w->open)
        widen(w, report->gap_ns, report->now);
}

/* ---- in the pass of measurements ---- */

/* Those that are too many are found again. */
int pt_tables_when_gap(struct pt_tables_when *w, unsigned why, int64_t from, int64_t to)
{
    struct pt_tables_gap *more;

    widen(w, from, to);
    w->count++;
    if (w->count > KEPT_MAX)
        return 0;
    if (w->count > w->room) {
        more = realloc(w->gaps, (2 * w->room + 64) * sizeof *more);
        if (!more)
            return ENOMEM;
        w->gaps = more;
        w->room = 2 * w->room + 64;
    }
    w->gaps[w->count - 1] = (struct pt_tables_gap){ why, from, to };
    return 0;
}

void pt_tables_when_event(struct pt_tables_when *w, const struct posixtrace_event *e)
{
    if (e->id == POSIX_TRACE_STOP)
        take_stop(w, e);
}

void pt_tables_when_end(struct pt_tables_when *w, const posixtrace_report_t *report)
{
    take_end(w, report);
}

void pt_tables_when_known(struct pt_tables_when *w)
{
    w->known = w->count <= KEPT_MAX;
}

void pt_tables_when_free(struct pt_tables_when *w)
{
    free(w->gaps);
    *w = (struct pt_tables_when){ .gaps = NULL };
}

/* ---- in a pass of its own ---- */

static void typed(void *context, const char *name, struct pt_report_type *t)
{
    (void)context;
    t->watched = name && strcmp(name, "posix_trace_stop") == 0;
}

static void taken(void *context, struct pt_report_thread *th, const struct pt_report_type *t,
                  const struct posixtrace_event *e)
{
    struct marks *m = context;

    (void)th;
    (void)t;
    take_stop(&m->when, e);
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

static int read_marks(struct marks *m)
{
    posixtrace_report_t *report = NULL;
    int error = posixtrace_report_create(m->row->t->trid, NULL, 0, &report);

    if (error)
        return error;
    report->watch = &watch;
    report->watcher = m;
    report->each = (struct pt_report_each){ .gap = put_gap, .context = m };
    error = take_marks(m, report);
    if (!error) {
        take_end(&m->when, report);
        error = posixtrace_report_end(report);
    }
    posixtrace_report_free(report);
    return error;
}

static int put_known(struct marks *m)
{
    const struct pt_tables_when *w = &m->row->t->when;
    int error = 0;

    m->when = *w;
    for (size_t i = 0; !error && i < w->count; i++)
        error = put_row(m->row, w->gaps[i].why, w->gaps[i].from, w->gaps[i].to);
    return error;
}

int pt_tables_gaps(struct pt_table_row *r)
{
    struct marks m = { .row = r };
    int error = r->t->when.known ? put_known(&m) : read_marks(&m);

    if (!error)
        error = pt_tables_losses(r, m.when.any ? &m.when.from : NULL,
                                 m.when.any && !m.when.open ? &m.when.to : NULL);
    return error;
}
