/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of posixtrace/tables.h, and what its sources of rows share.
 *
 * tables.c: what all rows have.  names.c: names of threads and processes.  row.c: one row.
 * measurements.c and waits.c, in one pass over the log: measurements.  gaps.c: when events may be
 * missing; losses.c: how many each thread has lost.
 */
#ifndef PT_TABLES_STATE_H
#define PT_TABLES_STATE_H

#include <posixtrace/info.h>
#include <posixtrace/report.h>
#include <posixtrace/tables.h>
#include "analysis/report/report_map.h"

enum { PT_TABLES_CELLS = 64, PT_TABLES_ID = 2 * 16 + 1 };

struct pt_tables_gap {
    unsigned why; /* enum pt_report_gap */
    int64_t from, to;
};

/* When events may be missing, as a report has it. */
struct pt_tables_when {
    bool known; /* the pass of measurements has found all */
    bool any, open;
    bool full;        /* the last STOP was automatic: the stream was full */
    int64_t from, to; /* of all */
    struct pt_tables_gap *gaps;
    size_t count, room;
};

struct posixtrace_tables {
    trace_id_t trid;
    struct posixtrace_tables_options options;
    struct posixtrace_info info;
    char *host, boot[PT_TABLES_ID], log[PT_TABLES_ID];
    struct posixtrace_cell origin[POSIXTRACE_COMMON_COLUMNS];
    struct pt_report_map processes; /* pid: its name */
    struct pt_report_map threads;   /* pid, tid, pthread_t or 0: its name */
    uint64_t read;                  /* events, of all passes */
    struct pt_tables_when when;
};

/* A row under construction. */
struct pt_table_row {
    posixtrace_tables_t *t;
    unsigned table;
    size_t count;
    struct posixtrace_cell cells[PT_TABLES_CELLS];
    int (*row)(void *context, const struct posixtrace_cell *cells);
    void *context;
};

/* So many more events were read.  0, or the result of progress. */
static inline int pt_tables_progress(posixtrace_tables_t *t, uint64_t events)
{
    t->read += events;
    return t->options.progress ? t->options.progress(t->options.context, t->read) : 0;
}

/* ---- names.c ---- */

/* Before any row. */
int pt_tables_read_names(posixtrace_tables_t *t);
/* Of the list of threads; NULL: it is not there. */
const char *pt_tables_thread(const posixtrace_tables_t *t, pid_t pid, pid_t tid,
                             uint64_t thread_id);
/* ---- row.c ---- */

/* All that may be null is null. */
void pt_table_row_begin(struct pt_table_row *r);
void pt_table_row_number(struct pt_table_row *r, unsigned column, int64_t number);
/* NULL: null. */
void pt_table_row_text(struct pt_table_row *r, unsigned column, const char *text);
/* The five columns from that of the process on.  name: NULL: as in the list of threads. */
void pt_table_row_thread(struct pt_table_row *r, unsigned column, pid_t pid, pid_t tid,
                         uint64_t thread_id, const char *name);
/* 0 or the result of row. */
int pt_table_row_end(struct pt_table_row *r);

/* ---- sources of rows: 0, an error number or the result of row ---- */

int pt_tables_measurements(struct pt_table_row *r);
int pt_tables_gaps(struct pt_table_row *r);

/* ---- gaps.c: of the pass of measurements, for pt_tables_gaps() ---- */

/* A gap of its report, an event, and the report before its end.  0 or ENOMEM. */
int pt_tables_when_gap(struct pt_tables_when *w, unsigned why, int64_t from, int64_t to);
void pt_tables_when_event(struct pt_tables_when *w, const struct posixtrace_event *e);
void pt_tables_when_end(struct pt_tables_when *w, const posixtrace_report_t *report);
/* The pass has read all. */
void pt_tables_when_known(struct pt_tables_when *w);
void pt_tables_when_free(struct pt_tables_when *w);

/* ---- losses.c ---- */

/* Between from and to are all losses that have no number: those of a full stream, for lack of
 * memory, in nested handlers, of context switches.  NULL: not known. */
int pt_tables_losses(struct pt_table_row *r, const int64_t *from, const int64_t *to);

#endif
