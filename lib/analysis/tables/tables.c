/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What all rows of a log have, and the names of its threads and processes; posixtrace/tables.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/run/reader.h"
#include "analysis/tables/tables_state.h"
#include "text/number.h"

struct name {
    char text[16];
};

/* ---- names ---- */

static struct pt_report_key thread_key(pid_t pid, pid_t tid, uint64_t thread_id)
{
    return (struct pt_report_key){ .a = (uint32_t)pid, .b = (uint32_t)tid, .c = thread_id };
}

static bool put_name(struct pt_report_map *map, struct pt_report_key key, const char text[16])
{
    struct name *name = pt_report_map_make(map, key, sizeof *name);

    if (name && !name->text[0])
        memcpy(name->text, text, sizeof name->text - 1);
    return name != NULL;
}

static bool put_thread(posixtrace_tables_t *t, const struct posixtrace_thread_info *th)
{
    if (th->tid == 0 || !th->name[0])
        return true;
    if (th->tid == th->pid && !put_name(&t->processes, thread_key(th->pid, 0, 0), th->name))
        return false;
    return put_name(&t->threads, thread_key(th->pid, th->tid, 0), th->name) &&
           put_name(&t->threads, thread_key(th->pid, th->tid, th->thread_id), th->name);
}

static int read_names(posixtrace_tables_t *t)
{
    struct posixtrace_thread_info th;
    int unavailable = 0, error = posixtrace_threadlist_rewind(t->trid);

    while (!error) {
        error = posixtrace_threadlist_getnext(t->trid, &th, sizeof th, &unavailable);
        if (error || unavailable)
            break;
        if (!put_thread(t, &th))
            error = ENOMEM;
    }
    return error;
}

const char *pt_tables_thread(const posixtrace_tables_t *t, pid_t pid, pid_t tid, uint64_t thread_id)
{
    const struct name *name = pt_report_map_find(&t->threads, thread_key(pid, tid, thread_id));

    if (!name && thread_id != 0)
        name = pt_report_map_find(&t->threads, thread_key(pid, tid, 0));
    return name ? name->text : NULL;
}

const char *posixtrace_tables_process(const posixtrace_tables_t *t, pid_t pid)
{
    const struct name *name = t ? pt_report_map_find(&t->processes, thread_key(pid, 0, 0)) : NULL;

    return name ? name->text : NULL;
}

/* ---- the log ---- */

static void put_origin(posixtrace_tables_t *t, unsigned column, const char *text)
{
    t->origin[column] = text ? (struct posixtrace_cell){ .text = text, .length = strlen(text) }
                             : (struct posixtrace_cell){ .null = true };
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
    t->origin[POSIXTRACE_COLUMN_PIECE].number = t->options.piece;
    return 0;
}

/* Is it a pre-recorded stream?  A pipe cannot count its events. */
static int check(trace_id_t trid)
{
    uint64_t starts;
    int error = posixtrace_event_count(trid, POSIX_TRACE_START, &starts);

    return error == ESPIPE ? 0 : error;
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
        error = read_names(t);
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
    free(t->host);
    free(t);
}

const struct posixtrace_cell *posixtrace_tables_origin(const posixtrace_tables_t *t)
{
    return t ? t->origin : NULL;
}

int pt_tables_progress(posixtrace_tables_t *t, uint64_t events)
{
    t->read += events;
    return t->options.progress ? t->options.progress(t->options.context, t->read) : 0;
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
