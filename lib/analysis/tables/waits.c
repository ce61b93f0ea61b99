/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Rows of waits: those that a report counts. */
#include <stdlib.h>

#include "analysis/tables/measurements.h"

enum { SITE_TEXT = 240 };

/* A descriptor or process -1 is none. */
static bool has_object(const struct pt_report_open *open)
{
    return open->call->subject == PT_REPORT_OBJECT ||
           (open->call->subject != PT_REPORT_NOTHING && (int64_t)open->object->row.object >= 0);
}

static void put_begin(struct pt_tables_pass *p, const struct pt_report_thread *th,
                      const struct pt_report_open *open, int64_t end)
{
    struct pt_table_row *r = p->row;

    pt_table_row_begin(r);
    pt_table_row_text(r, POSIXTRACE_MEASUREMENTS_KIND, "wait");
    pt_table_row_text(r, POSIXTRACE_MEASUREMENTS_METRIC, posixtrace_wait_text(open->call->kind));
    pt_table_row_thread(r, POSIXTRACE_MEASUREMENTS_PID, th->row.pid, th->row.tid, th->row.thread_id,
                        th->row.name);
    pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_BEGIN_TIME, open->ns);
    pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_END_TIME, end);
    pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_LEAST, 0);
    pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_MOST, end - open->ns);
    if (has_object(open))
        pt_table_row_number(r, POSIXTRACE_MEASUREMENTS_OBJECT, (int64_t)open->object->row.object);
    if (open->object->row.name && open->object->row.name[0])
        pt_table_row_text(r, POSIXTRACE_MEASUREMENTS_OBJECT_NAME, open->object->row.name);
}

/* site: until the row has ended. */
static void put_caller(struct pt_tables_pass *p, const struct pt_report_thread *th,
                       const struct pt_report_open *open, char site[SITE_TEXT])
{
    if (open->caller == 0)
        return;
    pt_table_row_number(p->row, POSIXTRACE_MEASUREMENTS_CALLER, (int64_t)open->caller);
    if (p->symbols && posixtrace_symbols_update(p->symbols, p->t->trid) == 0 &&
        posixtrace_symbols_text(p->symbols, th->row.pid, open->ns, open->caller,
                                POSIXTRACE_ADDRESS_RETURN, site, SITE_TEXT) > 0)
        pt_table_row_text(p->row, POSIXTRACE_MEASUREMENTS_SITE, site);
}

static int put_wait(void *context, const struct pt_report_thread *th,
                    const struct pt_report_open *open, const struct pt_report_holder *holder,
                    int64_t ns)
{
    struct pt_tables_pass *p = context;
    char site[SITE_TEXT];

    put_begin(p, th, open, ns);
    pt_table_row_number(p->row, POSIXTRACE_MEASUREMENTS_KNOWN, true);
    pt_table_row_number(p->row, POSIXTRACE_MEASUREMENTS_LENGTH, ns - open->ns);
    pt_table_row_number(p->row, POSIXTRACE_MEASUREMENTS_LEAST, ns - open->ns);
    put_caller(p, th, open, site);
    if (holder->thread)
        pt_table_row_number(p->row, POSIXTRACE_MEASUREMENTS_HOLDER_TID, holder->thread->row.tid);
    return pt_table_row_end(p->row);
}

/* It ended before the event at which the loss is noticed. */
static int put_lost_wait(void *context, const struct pt_report_thread *th,
                         const struct pt_report_open *open)
{
    struct pt_tables_pass *p = context;
    char site[SITE_TEXT];

    put_begin(p, th, open, p->report->now > open->ns ? p->report->now : open->ns);
    pt_table_row_number(p->row, POSIXTRACE_MEASUREMENTS_KNOWN, false);
    put_caller(p, th, open, site);
    return pt_table_row_end(p->row);
}

static int keep_gap(void *context, unsigned why, int64_t from, int64_t to)
{
    struct pt_tables_pass *p = context;

    return pt_tables_when_gap(&p->t->when, why, from, to);
}

int pt_tables_waits_begin(struct pt_tables_pass *p)
{
    const struct posixtrace_report_options options = { .from_ns = INT64_MIN,
                                                       .to_ns = INT64_MAX,
                                                       .wants_begin = p->t->options.wants,
                                                       .context = p->t->options.context };
    int error = posixtrace_report_create(p->t->trid, &options, sizeof options, &p->report);

    if (!error && !p->t->options.no_symbols)
        error = posixtrace_symbols_create(p->t->options.debug_dir, &p->symbols);
    if (error)
        return error;
    p->report->each = (struct pt_report_each){
        .waited = put_wait, .wait_lost = put_lost_wait, .gap = keep_gap, .context = p
    };
    return 0;
}

void pt_tables_waits_end(struct pt_tables_pass *p)
{
    posixtrace_report_free(p->report);
    posixtrace_symbols_free(p->symbols);
}
