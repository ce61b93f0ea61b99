/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The table events: a row an event, in the order of the log. */
#include "analysis/native/native_state.h"

enum { AHEAD = 256 };

static struct pt_native_column *column(const posixtrace_native_t *n, unsigned i)
{
    return n->columns[PT_NATIVE_FIRST + i];
}

/* The process of its pid; null where its name is not known. */
static void put_process(posixtrace_native_t *n, pid_t pid)
{
    struct pt_native_column *c = column(n, POSIXTRACE_EVENTS_PROCESS);

    if (!n->has_pid || n->pid != pid) {
        const char *name = posixtrace_tables_process(n->tables, pid);

        n->process.used = 0;
        if (name)
            pt_parquet_put_text(&n->process, name, strlen(name));
        n->pid = pid;
        n->has_pid = true;
        n->has_process = name;
    }
    if (n->has_process)
        pt_native_bytes(c, n->rows, n->process.at, n->process.used);
}

/* A value that is encoded already. */
static void put_value(struct pt_native_column *c, uint32_t row, const struct pt_bytes *from)
{
    uint8_t *to = pt_bytes_add(&c->values, from->used);

    if (to)
        pt_native_copy(to, from->at, from->used);
    c->rows = row + 1;
}

static void put_event_name(posixtrace_native_t *n, struct pt_native_type *t, const char *name)
{
    struct pt_bytes once = { .at = NULL };
    struct pt_bytes *value = t ? &t->name : &once;

    if (value->used == 0)
        pt_native_put_text(value, &n->scratch, name, strlen(name));
    n->failed |= value->failed;
    put_value(column(n, POSIXTRACE_EVENTS_EVENT), n->rows, value);
    pt_bytes_free(&once);
}

static void put_thread_name(posixtrace_native_t *n, const char *name)
{
    if (n->thread.used == 0 || strcmp(n->thread_name, name) != 0) {
        n->thread.used = 0;
        pt_native_put_text(&n->thread, &n->scratch, name, strlen(name));
    }
    put_value(column(n, POSIXTRACE_EVENTS_THREAD), n->rows, &n->thread);
    if (strlen(name) < sizeof n->thread_name)
        strcpy(n->thread_name, name);
    else
        n->thread.used = 0;
}

static int put_event(posixtrace_native_t *n, const struct posixtrace_event *e, uint64_t position)
{
    struct pt_native_type *t = pt_native_type(n, e->id);
    uint32_t row = n->rows;

    pt_native_number(column(n, POSIXTRACE_COLUMN_POSITION), row, position);
    pt_native_number(column(n, POSIXTRACE_EVENTS_PID), row, (uint32_t)e->pid);
    pt_native_number(column(n, POSIXTRACE_EVENTS_TID), row, (uint32_t)e->tid);
    pt_native_number(column(n, POSIXTRACE_EVENTS_THREAD_ID), row, e->thread_id);
    pt_native_number(column(n, POSIXTRACE_EVENTS_TIME), row, (uint64_t)e->ns);
    pt_native_number(column(n, POSIXTRACE_EVENTS_TRUNCATED), row,
                     e->truncation != POSIX_TRACE_NOT_TRUNCATED);
    pt_native_number(column(n, POSIXTRACE_EVENTS_ADDRESS), row, e->prog_address);
    put_process(n, e->pid);
    put_thread_name(n, e->thread_name);
    put_event_name(n, t, e->name);
    if (!t || !pt_native_put_fields(n, t, e)) {
        pt_native_bytes(column(n, POSIXTRACE_EVENTS_DATA), row, e->data, e->data_len);
        n->bytes += e->data_len;
    }
    return pt_native_end_row(n);
}

int pt_native_write_events(posixtrace_native_t *n)
{
    struct posixtrace_event events[AHEAD];
    uint64_t position = 0;
    size_t count;
    int error = posix_trace_rewind(n->trid);

    while (!error) {
        error = posixtrace_next_events(n->trid, events, sizeof *events, AHEAD, &count);
        if (error || count == 0)
            break;
        for (size_t i = 0; i < count && !error; i++)
            error = put_event(n, &events[i], position++);
    }
    return error;
}
