/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log as rows of three tables, the same in every engine: events, measurements, gaps.
 * docs/fleet.md describes them.  'posixtrace export --to=parquet' and 'posixtrace load' write
 * them.  All times are nanoseconds, those of events since 1970.
 *
 * Link with -lposixtrace-analysis.  The functions are thread-safe; none is async-signal-safe.
 */
#ifndef POSIXTRACE_TABLES_H
#define POSIXTRACE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Places of columns.  The first five are the same in all tables. */
enum posixtrace_common_column {
    POSIXTRACE_COLUMN_HOST,
    POSIXTRACE_COLUMN_BOOT,
    POSIXTRACE_COLUMN_LOG,
    POSIXTRACE_COLUMN_PIECE,
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

#ifdef __cplusplus
}
#endif
#endif
