/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Parquet: the tables of a log, docs/formats/parquet.md.  One table as a file, or all three as a
 * folder: then the log is read again for measurements and gaps.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/format/common/sites.h"
#include "analysis/format/parquet/events.h"
#include "analysis/format/parquet/folder.h"

struct writer {
    struct pt_job *job;
    struct pt_parquet_options options;
    bool hive;
    unsigned table;
    FILE *file; /* of a folder: that is open */
    int64_t date;
    int64_t first_ns;                 /* of the log */
    struct pt_parquet_events *events; /* of that file, or */
    struct pt_parquet_table *rows;
};

static int no_memory(struct writer *w)
{
    return pt_job_fail(w->job, ENOMEM, "no memory");
}

/* ---- files ---- */

static int begin_file(struct writer *w, FILE *to)
{
    if (w->table == POSIXTRACE_TABLE_EVENTS) {
        w->events = calloc(1, sizeof *w->events);
        return w->events ? pt_parquet_events_open(w->events, w->job, &w->options, to)
                         : no_memory(w);
    }
    w->rows = calloc(1, sizeof *w->rows);
    return w->rows ? pt_parquet_table_open(w->rows, w->job, w->table, &w->options, to)
                   : no_memory(w);
}

/* Its end is written unless there was an error. */
static int end_file(struct writer *w)
{
    if (w->events && !w->job->error)
        pt_parquet_events_end(w->events);
    if (w->rows && !w->job->error)
        pt_parquet_table_end(w->rows);
    if (w->events)
        pt_parquet_events_free(w->events);
    if (w->rows)
        pt_parquet_table_free(w->rows);
    free(w->events);
    free(w->rows);
    w->events = NULL;
    w->rows = NULL;
    return w->job->error;
}

static int end_folder_file(struct writer *w)
{
    end_file(w);
    pt_parquet_folder_close(w->job, w->file);
    w->file = NULL;
    return w->job->error;
}

/*
 * The file for a row of that time.  With partitions a row that comes late is in the partition of
 * the latest date before it in the log, so that each date has one file.
 */
static int to_file(struct writer *w, int64_t ns)
{
    int64_t date = w->hive ? pt_parquet_folder_date(ns) : 0;

    if (!w->job->directory)
        return w->events || w->rows ? w->job->error : begin_file(w, w->job->file);
    if (w->file && date <= w->date)
        return 0;
    if (w->file && end_folder_file(w) != 0)
        return w->job->error;
    w->date = date;
    w->file = pt_parquet_folder_open(w->job, &w->options, w->hive, w->table, date);
    return w->file ? begin_file(w, w->file) : w->job->error;
}

/* ---- tables ---- */

static void write_events(struct writer *w)
{
    struct posixtrace_event e;

    while (!w->job->error && pt_job_next(w->job, &e))
        if (to_file(w, e.ns) == 0)
            pt_parquet_events_put(w->events, &e);
}

static int put_row(void *context, const struct posixtrace_cell *cells)
{
    struct writer *w = context;
    const struct posixtrace_cell *end = &cells[POSIXTRACE_MEASUREMENTS_END_TIME];
    bool measured = w->table == POSIXTRACE_TABLE_MEASUREMENTS;

    if (to_file(w, measured ? end->number : w->first_ns) != 0)
        return w->job->error;
    return pt_parquet_table_row(w->rows, cells);
}

static void write_rows(struct writer *w)
{
    int error = posixtrace_tables_rows(w->options.tables, w->table, put_row, w);

    if (error == ESPIPE)
        pt_job_fail(w->job, error, "%s cannot be made of a pipe; name a file",
                    posixtrace_table_name(w->table));
    else if (error)
        pt_job_fail(w->job, error, "cannot read the log for %s: %s",
                    posixtrace_table_name(w->table), strerror(error));
}

/* A table without rows is a file, too. */
static int write_table(struct writer *w, unsigned table)
{
    w->table = table;
    if (table == POSIXTRACE_TABLE_EVENTS)
        write_events(w);
    else
        write_rows(w);
    if (!w->job->error && !w->events && !w->rows)
        to_file(w, w->first_ns);
    return w->job->directory ? end_folder_file(w) : end_file(w);
}

/* ---- options ---- */

static bool take_time(struct writer *w)
{
    const char *time = pt_job_option(w->job, "time", 0);

    /* The queries of a folder are the same in engines that have no time of nanoseconds. */
    w->options.integer_time = w->job->directory != NULL;
    if (!time)
        return true;
    w->options.integer_time = strcmp(time, "integer") == 0;
    if (!w->options.integer_time && strcmp(time, "timestamp") != 0)
        pt_job_fail(w->job, EINVAL, "--time=%s: it is timestamp or integer", time);
    return !w->job->error;
}

static bool take_table(struct writer *w)
{
    const char *name = pt_job_option(w->job, "table", 0), *known = "events";

    for (w->table = 0; name && known && strcmp(known, name) != 0;)
        known = posixtrace_table_name(++w->table);
    if (!known)
        pt_job_fail(w->job, EINVAL, "--table=%s: it is events, measurements or gaps", name);
    else if (name && w->job->directory)
        pt_job_fail(w->job, EINVAL, "--table is for a file; a folder has all tables");
    w->hive = pt_job_option(w->job, "hive", 0) != NULL;
    if (w->hive && !w->job->directory)
        pt_job_fail(w->job, EINVAL, "--hive is for a folder");
    return !w->job->error;
}

static bool make_tables(struct writer *w)
{
    const struct posixtrace_tables_options o = {
        .causes = pt_job_option(w->job, "causes", 0) != NULL,
        .host = pt_job_option(w->job, "host", 0),
        .no_symbols = pt_job_option(w->job, "no-symbols", 0) != NULL,
        .debug_dir = pt_job_option(w->job, "debug-dir", 0),
        .wants = w->job->c->wants,
        .progress = w->job->c->progress,
        .context = w->job->c->context,
        .clocks = w->job->c->clocks
    };
    int error = posixtrace_tables_create(w->job->trid, &o, sizeof o, &w->options.tables);
    struct posixtrace_info info;

    if (!error)
        error = posixtrace_get_info(w->job->trid, &info, sizeof info);
    if (error)
        pt_job_fail(w->job, error, "cannot read what the log says of itself: %s", strerror(error));
    else
        w->first_ns = info.first_ns;
    return !error;
}

static int write_parquet(struct pt_job *job)
{
    struct writer w = { .job = job };

    if (take_time(&w) && take_table(&w) && make_tables(&w)) {
        if (!job->directory)
            write_table(&w, w.table);
        for (unsigned i = 0; job->directory && !job->error && i < POSIXTRACE_TABLES; i++)
            write_table(&w, i);
    }
    posixtrace_tables_free(w.options.tables);
    return job->error;
}

static const struct posixtrace_format_option options[] = {
    { "host", "NAME: the machine's name, in the place of the log's" },
    { "time", "integer or timestamp: the type of times (a file: timestamp, a folder: integer)" },
    { "table", "NAME: which one a file is: events, measurements or gaps (events)" },
    { "hive", "a folder has partitions by host and date" },
    { "causes", "measurements have what the thread did meanwhile" },
    PT_SITES_OPTIONS,
    { NULL, NULL }
};

const struct pt_format pt_format_parquet = {
    .about = { .name = "parquet",
               .about = "Apache Parquet, tables for DuckDB, Spark, pandas: a file or a folder",
               .exports = true,
               .also_directory = true,
               .options = options },
    .write = write_parquet
};
