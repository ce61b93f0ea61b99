/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log as rows of three tables, the same in every engine: events, measurements, gaps.
 * docs/fleet.md describes them.  'posixtrace export --to=parquet' and 'posixtrace load' write
 * them.  All times are nanoseconds, those of events since 1970.
 *
 * Link with -lposixtrace-analysis.  Functions are thread-safe, but tables belong to one thread at a
 * time; none is async-signal-safe.  Functions of type int return 0 or an error number.
 */
#ifndef POSIXTRACE_TABLES_H
#define POSIXTRACE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <posixtrace/event.h>
#include <posixtrace/metrics.h>
#include <posixtrace/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- columns ---- */

enum posixtrace_table {
    POSIXTRACE_TABLE_EVENTS,
    POSIXTRACE_TABLE_MEASUREMENTS,
    POSIXTRACE_TABLE_GAPS,
    POSIXTRACE_TABLES
};

enum posixtrace_column_type {
    POSIXTRACE_COLUMN_TEXT, /* any bytes but NUL, of a log */
    POSIXTRACE_COLUMN_BYTES,
    POSIXTRACE_COLUMN_INT32,
    POSIXTRACE_COLUMN_INT64,
    POSIXTRACE_COLUMN_UINT64,
    POSIXTRACE_COLUMN_TIME, /* a signed number of 64 bits: ns since 1970 */
    POSIXTRACE_COLUMN_BOOL
};

struct posixtrace_column {
    const char *name;
    enum posixtrace_column_type type;
    bool optional;    /* it may be null */
    bool of_log;      /* it has one value in all rows of a log */
    bool few;         /* its values repeat: a dictionary is shorter */
    const char *unit; /* "ns", "events"; "": none */
    const char *about;
};

/* "events"; NULL after the last table.  Constant. */
const char *posixtrace_table_name(unsigned table);
/* i from 0; NULL after the last.  Of events these are the columns that all events have: those of
 * fields come after them (docs/fleet.md).  Constant. */
const struct posixtrace_column *posixtrace_table_column(unsigned table, size_t i);

/* Places of columns.  The first ones are the same in all tables. */
enum posixtrace_common_column {
    POSIXTRACE_COLUMN_HOST,
    POSIXTRACE_COLUMN_BOOT,
    POSIXTRACE_COLUMN_LOG,
    POSIXTRACE_COLUMN_PIECE,
    POSIXTRACE_COLUMN_CLOCK_LEAST,
    POSIXTRACE_COLUMN_CLOCK_MOST,
    POSIXTRACE_COLUMN_POSITION,
    POSIXTRACE_COMMON_COLUMNS
};
enum posixtrace_events_column {
    POSIXTRACE_EVENTS_PID = POSIXTRACE_COMMON_COLUMNS,
    POSIXTRACE_EVENTS_TID,
    POSIXTRACE_EVENTS_THREAD_ID,
    POSIXTRACE_EVENTS_THREAD,
    POSIXTRACE_EVENTS_PROCESS,
    POSIXTRACE_EVENTS_TIME,
    POSIXTRACE_EVENTS_EVENT,
    POSIXTRACE_EVENTS_TRUNCATED,
    POSIXTRACE_EVENTS_ADDRESS,
    POSIXTRACE_EVENTS_DATA,
    POSIXTRACE_EVENTS_COLUMNS
};
enum posixtrace_measurements_column {
    POSIXTRACE_MEASUREMENTS_KIND = POSIXTRACE_COMMON_COLUMNS,
    POSIXTRACE_MEASUREMENTS_METRIC,
    POSIXTRACE_MEASUREMENTS_PID,
    POSIXTRACE_MEASUREMENTS_TID,
    POSIXTRACE_MEASUREMENTS_THREAD_ID,
    POSIXTRACE_MEASUREMENTS_THREAD,
    POSIXTRACE_MEASUREMENTS_PROCESS,
    POSIXTRACE_MEASUREMENTS_BEGIN_TIME,
    POSIXTRACE_MEASUREMENTS_END_TIME,
    POSIXTRACE_MEASUREMENTS_LENGTH,
    POSIXTRACE_MEASUREMENTS_LEAST,
    POSIXTRACE_MEASUREMENTS_MOST,
    POSIXTRACE_MEASUREMENTS_KNOWN,
    POSIXTRACE_MEASUREMENTS_OBJECT,
    POSIXTRACE_MEASUREMENTS_OBJECT_NAME,
    POSIXTRACE_MEASUREMENTS_CALLER,
    POSIXTRACE_MEASUREMENTS_SITE,
    POSIXTRACE_MEASUREMENTS_HOLDER_TID,
    POSIXTRACE_MEASUREMENTS_INSIDE,
    POSIXTRACE_MEASUREMENTS_RUN, /* the causes: from here on */
    POSIXTRACE_MEASUREMENTS_RUNNABLE,
    POSIXTRACE_MEASUREMENTS_WAIT_LOCK, /* enum posixtrace_wait, in that order */
    POSIXTRACE_MEASUREMENTS_WAIT_CONDITION,
    POSIXTRACE_MEASUREMENTS_WAIT_SEMAPHORE,
    POSIXTRACE_MEASUREMENTS_WAIT_BARRIER,
    POSIXTRACE_MEASUREMENTS_WAIT_SLEEP,
    POSIXTRACE_MEASUREMENTS_WAIT_IO,
    POSIXTRACE_MEASUREMENTS_WAIT_WORK,
    POSIXTRACE_MEASUREMENTS_WAIT_FILE_LOCK,
    POSIXTRACE_MEASUREMENTS_WAIT_FUTEX,
    POSIXTRACE_MEASUREMENTS_WAIT_THREAD,
    POSIXTRACE_MEASUREMENTS_WAIT_CHILD,
    POSIXTRACE_MEASUREMENTS_WAIT_SIGNAL,
    POSIXTRACE_MEASUREMENTS_OFF_CPU,
    POSIXTRACE_MEASUREMENTS_UNKNOWN,
    POSIXTRACE_MEASUREMENTS_COLUMNS
};
enum posixtrace_gaps_column {
    POSIXTRACE_GAPS_PID = POSIXTRACE_COMMON_COLUMNS,
    POSIXTRACE_GAPS_TID,
    POSIXTRACE_GAPS_THREAD_ID,
    POSIXTRACE_GAPS_THREAD,
    POSIXTRACE_GAPS_PROCESS,
    POSIXTRACE_GAPS_BEGIN_TIME,
    POSIXTRACE_GAPS_END_TIME,
    POSIXTRACE_GAPS_LOST,
    POSIXTRACE_GAPS_CAUSE,
    POSIXTRACE_GAPS_COLUMNS
};

/* ---- rows ---- */

typedef struct posixtrace_tables posixtrace_tables_t;

/*
 * host: in the place of the name that the log has.  metrics: to measure, with the kind "metric";
 * NULL: those of the set "linux" that have an event in the log, and all pairs of events from
 * x:begin to x:end.  no_symbols: sites are null; debug_dir: as of posixtrace_symbols_create().
 * causes: measurements have what the thread did meanwhile.  wants: only measurements that begin
 * with such an event.  progress: called now and then with the events that were read, of all passes;
 * another result than 0 ends the call, which returns it.  clocks: those that were applied to trid
 * (posixtrace_sync_apply()), for the columns clock_least and clock_most.  All may be NULL or false.
 * They have to live as long as the tables.
 */
struct posixtrace_tables_options {
    const char *host;
    const posixtrace_metric_t *const *metrics;
    size_t metric_count;
    bool no_symbols;
    const char *debug_dir;
    bool causes;
    bool (*wants)(void *context, const struct posixtrace_event *begin);
    int (*progress)(void *context, uint64_t events);
    void *context;
    const posixtrace_sync_t *clocks;
};

/*
 * Makes tables of a pre-recorded stream; options may be NULL.  They are the caller's, who frees
 * them before the stream is closed.
 *
 * EINVAL   trid is not a pre-recorded stream, tables is NULL, or size is 0 and options is not NULL
 * ENOENT   none of the clocks is that of the log
 * ENOMEM; others as posixtrace_get_info()
 */
int posixtrace_tables_create(trace_id_t trid, const struct posixtrace_tables_options *options,
                             size_t size, posixtrace_tables_t **tables);
void posixtrace_tables_free(posixtrace_tables_t *tables); /* or NULL */

/* A value.  number: of types of numbers and BOOL, of unsigned ones the same bits.  text: of TEXT
 * and BYTES, with no NUL at its end. */
struct posixtrace_cell {
    bool null;
    int64_t number;
    const char *text;
    size_t length;
};

/* The cells that all rows of the log have, in the order of enum posixtrace_common_column, with
 * position 0.  They belong to the tables. */
const struct posixtrace_cell *posixtrace_tables_origin(const posixtrace_tables_t *tables);
/* The name of a process, as it is known when the tables are made; NULL: unknown.  It belongs to
 * the tables. */
const char *posixtrace_tables_process(const posixtrace_tables_t *tables, pid_t pid);

/*
 * Calls row for each row of the table POSIXTRACE_TABLE_MEASUREMENTS or _GAPS, in the order of their
 * positions, with a cell for each column; events are read with posixtrace_next_events().  Cells
 * belong to the tables and live until row returns; another result of it than 0 ends the call, which
 * returns it.  row must not read the stream, which is read from its first event, once or more.
 * Memory grows with threads, objects and metrics, not with the length of the log.
 *
 * EINVAL   tables or row is NULL, or another table
 * ESPIPE   the stream is a pipe, which cannot be read again, or not as often as the table takes
 * ENOMEM; others as posixtrace_next_whole_events()
 */
int posixtrace_tables_rows(posixtrace_tables_t *tables, unsigned table,
                           int (*row)(void *context, const struct posixtrace_cell *cells),
                           void *context);

#ifdef __cplusplus
}
#endif
#endif
