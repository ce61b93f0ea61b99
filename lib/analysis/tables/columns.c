/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The columns of the three tables: the one place that has them.  docs/fleet.md shows the same: the
 * test "tables" compares them. */
#include <posixtrace/tables.h>

/* One that is never null, and one that may be. */
#define SOME(column, t, u, text)                                                            \
    {                                                                                       \
        .name = (column), .type = POSIXTRACE_COLUMN_##t, .few = POSIXTRACE_COLUMN_##t == 0, \
        .unit = (u), .about = (text)                                                        \
    }
#define NULLABLE(column, t, u, text)                                                        \
    {                                                                                       \
        .name = (column), .type = POSIXTRACE_COLUMN_##t, .few = POSIXTRACE_COLUMN_##t == 0, \
        .optional = true, .unit = (u), .about = (text)                                      \
    }
#define OF_LOG(column, t, null, u, text)                                                    \
    {                                                                                       \
        .name = (column), .type = POSIXTRACE_COLUMN_##t, .few = POSIXTRACE_COLUMN_##t == 0, \
        .optional = (null), .of_log = true, .unit = (u), .about = (text)                    \
    }

#define COMMON                                                                               \
    OF_LOG("host", TEXT, true, "",                                                           \
           "name of the machine that recorded; null: the log does not say"),                 \
        OF_LOG("boot", TEXT, true, "",                                                       \
               "id of that machine's boot, 32 hexadecimal digits; null: unknown"),           \
        OF_LOG("log", TEXT, false, "",                                                       \
               "id of the stream that was recorded, 32 hexadecimal digits"),                 \
        OF_LOG("piece", INT64, false, "",                                                    \
               "which file of a stream that was recorded to several; 0: there is one"),      \
        OF_LOG("clock_least", INT64, true, "ns",                                             \
               "true times are later by that or more: the clock's error; null: unknown"),    \
        OF_LOG("clock_most", INT64, true, "ns", "and later by that or less; null: unknown"), \
        SOME("position", INT64, "", "number of the row, from 0, in its log, piece and table")

/* Whose row it is. */
#define THREAD(MAYBE, null)                                                                       \
    MAYBE("pid", INT32, "", "process" null), MAYBE("tid", INT32, "", "the kernel's number" null), \
        MAYBE("thread_id", UINT64, "", "the thread's pthread_t" null),                            \
        MAYBE("thread", TEXT, "", "the thread's name" null),                                      \
        NULLABLE("process", TEXT, "",                                                             \
                 "name of the process, which is that of its first thread; null: unknown")

static const struct posixtrace_column events[] = {
    COMMON,
    THREAD(SOME, ""),
    SOME("time", TIME, "ns", "when the event was recorded, since 1970"),
    SOME("event", TEXT, "", "name of the event type"),
    SOME("truncated", BOOL, "", "the data was cut when it was recorded"),
    SOME("address", UINT64, "", "in the program, to which the trace point returns"),
    NULLABLE("data", BYTES, "bytes", "the data; null: columns of fields have all of it"),
};

static const struct posixtrace_column measurements[] = {
    COMMON,
    SOME("kind", TEXT, "", "metric, pair (from x:begin to x:end) or wait"),
    SOME("metric", TEXT, "", "name of the metric or pair; of a wait what for: lock, io, ..."),
    THREAD(NULLABLE, "; null: threads that lost all of their events"),
    SOME("begin_time", TIME, "ns", "since 1970"),
    SOME("end_time", TIME, "ns", "since 1970"),
    NULLABLE("length", INT64, "ns", "how long it was, of a bound the most; null: not known"),
    SOME("least", INT64, "ns", "it was at least as long"),
    NULLABLE("most", INT64, "ns", "it was at most as long; null: there is no limit"),
    SOME("known", BOOL, "", "false: any number of them that losses hide, none above most"),
    NULLABLE("object", UINT64, "", "lock, descriptor or other object; null: of none"),
    NULLABLE("object_name", TEXT, "", "of a wait: path or peer of the descriptor; null: unknown"),
    NULLABLE("caller", UINT64, "", "of a wait: to where the call returned; null: unknown"),
    NULLABLE("site", TEXT, "", "of a wait: the caller as function, file and line; null: unknown"),
    NULLABLE("holder_tid", INT32, "",
             "of a wait for a lock: the thread that had it; null: unknown"),
    NULLABLE("inside", INT64, "events", "events of the thread within; null: not counted"),
    NULLABLE("run", INT64, "ns", "on a processor; null, as all below: not asked for"),
    NULLABLE("runnable", INT64, "ns", "preempted"),
    NULLABLE("wait_lock", INT64, "ns", "in waits for mutexes and read-write locks"),
    NULLABLE("wait_condition", INT64, "ns", "for conditions"),
    NULLABLE("wait_semaphore", INT64, "ns", "for semaphores"),
    NULLABLE("wait_barrier", INT64, "ns", "at barriers"),
    NULLABLE("wait_sleep", INT64, "ns", "in sleeps"),
    NULLABLE("wait_io", INT64, "ns", "in input and output"),
    NULLABLE("wait_work", INT64, "ns", "in poll, select or epoll"),
    NULLABLE("wait_file_lock", INT64, "ns", "for locks of files"),
    NULLABLE("wait_futex", INT64, "ns", "for futexes of its own"),
    NULLABLE("wait_thread", INT64, "ns", "for the end of a thread"),
    NULLABLE("wait_child", INT64, "ns", "for a child process"),
    NULLABLE("wait_signal", INT64, "ns", "for signals"),
    NULLABLE("off_cpu", INT64, "ns", "off the processor, in no recorded call"),
    NULLABLE("unknown", INT64, "ns", "events were lost, or do not say"),
};

static const struct posixtrace_column gaps[] = {
    COMMON,
    THREAD(NULLABLE, "; null: all threads, or none"),
    NULLABLE("begin_time", TIME, "ns", "lost after it; null: before all events, or unknown"),
    NULLABLE("end_time", TIME, "ns", "and before it; null: after all events, or unknown"),
    NULLABLE("lost", INT64, "events", "how many; null: the row says only when"),
    SOME("cause", TEXT, "", "why: a cause of posixtrace info, or a mark"),
};

static const struct {
    const char *name;
    const struct posixtrace_column *columns;
    size_t count;
} tables[POSIXTRACE_TABLES] = {
    [POSIXTRACE_TABLE_EVENTS] = { "events", events, POSIXTRACE_EVENTS_COLUMNS },
    [POSIXTRACE_TABLE_MEASUREMENTS] = { "measurements", measurements,
                                        POSIXTRACE_MEASUREMENTS_COLUMNS },
    [POSIXTRACE_TABLE_GAPS] = { "gaps", gaps, POSIXTRACE_GAPS_COLUMNS },
};

_Static_assert(sizeof events == POSIXTRACE_EVENTS_COLUMNS * sizeof *events, "a place for each");
_Static_assert(sizeof measurements == POSIXTRACE_MEASUREMENTS_COLUMNS * sizeof *measurements,
               "a place for each");
_Static_assert(sizeof gaps == POSIXTRACE_GAPS_COLUMNS * sizeof *gaps, "a place for each");

const char *posixtrace_table_name(unsigned table)
{
    return table < POSIXTRACE_TABLES ? tables[table].name : NULL;
}

const struct posixtrace_column *posixtrace_table_column(unsigned table, size_t i)
{
    return table < POSIXTRACE_TABLES && i < tables[table].count ? &tables[table].columns[i] : NULL;
}
