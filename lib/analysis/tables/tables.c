/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What all rows of a log have; posixtrace/tables.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/run/reader.h"
#include "analysis/tables/tables_state.h"
#include "text/number.h"

/* ---- the log ---- */

static void put_origin(posixtrace_tables_t *t, unsigned column, const char *text)
{
    t->origin[column] = text ? (struct posixtrace_cell){ .text = text, .length = strlen(text) }
                             : (struct posixtrace_cell){ .null = true };
}

static bool is_pipe(trace_id_t trid)
{
    uint64_t starts;

    return posixtrace_event_count(trid, POSIX_TRACE_START, &starts) == ESPIPE;
}

/* Is it a pre-recorded stream? */
static int check(trace_id_t trid)
{
    uint64_t starts;

    return is_pipe(trid) ? 0 : posixtrace_event_count(trid, POSIX_TRACE_START, &starts);
}

static void put_end(posixtrace_tables_t *t, unsigned column, int64_t ns)
{
    if (ns != INT64_MIN && ns != INT64_MAX)
        t->origin[column] = (struct posixtrace_cell){ .number = ns };
}

/* The widest interval of all times of the log; of a pipe they are not known yet. */
static int read_clock(posixtrace_tables_t *t)
{
    struct posixtrace_interval error;
    size_t clock;
    int r;

    t->origin[POSIXTRACE_COLUMN_CLOCK_LEAST].null = true;
    t->origin[POSIXTRACE_COLUMN_CLOCK_MOST].null = true;
    if (!t->options.clocks)
        return 0;
    r = posixtrace_sync_find(t->options.clocks, t->trid, &clock);
    if (r != 0 || t->info.events == 0 || is_pipe(t->trid))
        return r;
    r = posixtrace_sync_error_within(t->options.clocks, clock, t->info.first_ns, t->info.last_ns,
                                     &error);
    if (r == 0) {
        put_end(t, POSIXTRACE_COLUMN_CLOCK_LEAST, error.least_ns);
        put_end(t, POSIXTRACE_COLUMN_CLOCK_MOST, error.most_ns);
    }
    return r;
}

/* What the log knows of itself, and not of the machine that reads it. */
static int read_origin(posixtrace_tables_t *t)
{
    static const uint8_t none[sizeof t->info.boot_id];
    const char *host = t->options.host;
    int error = posixtrace_get_info(t->trid, &t->info, sizeof t->info);
    bool boots = memcmp(t->info.boot_id, none, sizeof none) != 0;

    if (error)
        return error;
    if (!host && t->info.host[0])
        host = t->info.host;
    t->host = host ? strdup(host) : NULL;
    if (host && !t->host)
        return ENOMEM;
    *pt_number_bytes(t->boot, t->info.boot_id, sizeof t->info.boot_id) = '\0';
    *pt_number_bytes(t->log, t->info.id, sizeof t->info.id) = '\0';
    put_origin(t, POSIXTRACE_COLUMN_HOST, t->host);
    put_origin(t, POSIXTRACE_COLUMN_BOOT, boots ? t->boot : NULL);
    put_origin(t, POSIXTRACE_COLUMN_LOG, t->log);
    t->origin[POSIXTRACE_COLUMN_PIECE].number = t->info.piece;
    return read_clock(t);
}

int posixtrace_tables_create(trace_id_t trid, const struct posixtrace_tables_options *options,
                             size_t size, posixtrace_tables_t **tables)
{
    posixtrace_tables_t *t;
    int error = !tables || (options && size == 0) ? EINVAL : check(trid);

    if (error)
        return error;
    t = calloc(1, sizeof *t);
    if (!t)
        return ENOMEM;
    t->trid = trid;
    if (options)
        memcpy(&t->options, options, size < sizeof t->options ? size : sizeof t->options);
    error = read_origin(t);
    if (!error)
        error = pt_tables_read_names(t);
    if (error)
        posixtrace_tables_free(t);
    else
        *tables = t;
    return error;
}

void posixtrace_tables_free(posixtrace_tables_t *t)
{
    if (!t)
        return;
    pt_report_map_deinit(&t->processes);
    pt_report_map_deinit(&t->threads);
    pt_tables_when_free(&t->when);
    free(t->host);
    free(t);
}

const struct posixtrace_cell *posixtrace_tables_origin(const posixtrace_tables_t *t)
{
    return t ? t->origin : NULL;
}

int posixtrace_tables_rows(posixtrace_tables_t *t, unsigned table,
                           int (*row)(void *context, const struct posixtrace_cell *cells),
                           void *context)
{
    struct pt_table_row r = { .t = t, .table = table, .row = row, .context = context };
    int error;

    if (!t || !row || (table != POSIXTRACE_TABLE_MEASUREMENTS && table != POSIXTRACE_TABLE_GAPS))
        return EINVAL;
    error = posix_trace_rewind(t->trid);
    if (error)
        return error;
    memcpy(r.cells, t->origin, sizeof t->origin);
    while (posixtrace_table_column(table, r.count))
        r.count++;
    return table == POSIXTRACE_TABLE_GAPS ? pt_tables_gaps(&r) : pt_tables_measurements(&r);
}
