/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See events.h. */
#include "analysis/format/parquet/events.h"

static struct pt_bytes *values_of(struct pt_parquet_events *w, size_t column)
{
    return &w->table.columns[column]->values;
}

static uint32_t last_number(const struct pt_parquet_column *c)
{
    return c->values.failed ? 0 : pt_parquet_get32(&c->values, c->values.used / 4 - 1);
}

static uint32_t put_name(struct pt_parquet_events *w, size_t column, const char *text)
{
    pt_parquet_table_name(&w->table, column, text, strlen(text));
    return last_number(w->table.columns[column]);
}

static void put_event_name(struct pt_parquet_events *w, const struct posixtrace_event *e)
{
    uint32_t *number = e->id < PT_PARQUET_TYPES ? &w->names[e->id] : NULL;

    if (number && *number)
        pt_parquet_put32(values_of(w, POSIXTRACE_EVENTS_EVENT), *number - 1);
    else if (number)
        *number = put_name(w, POSIXTRACE_EVENTS_EVENT, e->name) + 1;
    else
        put_name(w, POSIXTRACE_EVENTS_EVENT, e->name);
}

static void put_thread_name(struct pt_parquet_events *w, const char *name)
{
    if (w->has_thread && strcmp(w->thread_name, name) == 0) {
        pt_parquet_put32(values_of(w, POSIXTRACE_EVENTS_THREAD), w->thread);
        return;
    }
    w->thread = put_name(w, POSIXTRACE_EVENTS_THREAD, name);
    w->has_thread = strlen(name) < sizeof w->thread_name;
    if (w->has_thread)
        strcpy(w->thread_name, name);
}

static void put_process_name(struct pt_parquet_events *w, pid_t pid)
{
    bool same = w->has_process && w->pid == pid;

    if (!same) {
        w->process = posixtrace_tables_process(w->options->tables, pid);
        w->pid = pid;
        w->has_process = true;
    }
    if (!w->process)
        return;
    pt_parquet_table_has(&w->table, POSIXTRACE_EVENTS_PROCESS);
    if (same)
        pt_parquet_put32(values_of(w, POSIXTRACE_EVENTS_PROCESS), w->process_number);
    else
        w->process_number = put_name(w, POSIXTRACE_EVENTS_PROCESS, w->process);
}

static void put_data(struct pt_parquet_events *w, const struct posixtrace_event *e)
{
    pt_parquet_table_has(&w->table, POSIXTRACE_EVENTS_DATA);
    pt_parquet_put32(values_of(w, POSIXTRACE_EVENTS_DATA), (uint32_t)e->data_len);
    pt_parquet_put(&w->table.columns[POSIXTRACE_EVENTS_DATA]->text, e->data, e->data_len);
}

static int end_group(struct pt_parquet_events *w)
{
    int error = pt_parquet_table_group(&w->table);

    w->has_thread = w->has_process = false;
    memset(w->names, 0, sizeof w->names);
    pt_parquet_types_clear(&w->types);
    return error;
}

int pt_parquet_events_put(struct pt_parquet_events *w, const struct posixtrace_event *e)
{
    uint8_t truncated = e->truncation != POSIX_TRACE_NOT_TRUNCATED;
    struct pt_parquet_table *t = &w->table;

    pt_parquet_put64(values_of(w, POSIXTRACE_COLUMN_POSITION), t->file.job->read - 1);
    pt_parquet_put32(values_of(w, POSIXTRACE_EVENTS_PID), (uint32_t)e->pid);
    pt_parquet_put32(values_of(w, POSIXTRACE_EVENTS_TID), (uint32_t)e->tid);
    pt_parquet_put64(values_of(w, POSIXTRACE_EVENTS_THREAD_ID), e->thread_id);
    pt_parquet_put64(values_of(w, POSIXTRACE_EVENTS_TIME), (uint64_t)e->ns);
    pt_parquet_put64(values_of(w, POSIXTRACE_EVENTS_ADDRESS), e->prog_address);
    pt_parquet_put(values_of(w, POSIXTRACE_EVENTS_TRUNCATED), &truncated, 1);
    put_thread_name(w, e->thread_name);
    put_process_name(w, e->pid);
    put_event_name(w, e);
    if (!pt_parquet_types_put(&w->types, e, t->rows))
        put_data(w, e);
    t->bytes += e->data_len;
    t->rows++;
    return t->rows == PT_PARQUET_ROWS || t->bytes + w->types.bytes >= PT_PARQUET_GROUP_BYTES
               ? end_group(w)
               : 0;
}

int pt_parquet_events_open(struct pt_parquet_events *w, struct pt_job *job,
                           const struct pt_parquet_options *o, FILE *to)
{
    w->options = o;
    w->types.file = &w->table.file;
    return pt_parquet_table_open(&w->table, job, POSIXTRACE_TABLE_EVENTS, o, to);
}

int pt_parquet_events_end(struct pt_parquet_events *w)
{
    int error = end_group(w);

    return error ? error : pt_parquet_table_end(&w->table);
}

void pt_parquet_events_free(struct pt_parquet_events *w)
{
    pt_parquet_types_free(&w->types);
    pt_parquet_table_free(&w->table);
}
