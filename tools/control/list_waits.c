/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See list_waits.h. */
#include "control/list_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <posixtrace/attach.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"

static const struct table_column columns[] = { { .title = "PID" },
                                               { .title = "TID" },
                                               { .title = "THREAD", .left = true },
                                               { .title = "FOR" },
                                               { .title = "CALL", .left = true },
                                               { .title = "OBJECT" },
                                               { .title = "CALLER", .optional = true } };

enum { CELL = 64 };

/* The call, else its type after "posixtrace_". */
static const char *call_of(const struct posixtrace_thread_info *t)
{
    const char *call = posixtrace_call_text(t->wait_call);
    const char *type = posixtrace_system_text(t->wait_type);

    return call ? call : type ? type + strlen("posixtrace_") : "?";
}

/* Descriptors and processes are numbers. */
static void print_object(char text[CELL], const struct posixtrace_thread_info *t)
{
    if (posixtrace_call_text(t->wait_call))
        snprintf(text, CELL, "%" PRId64, (int64_t)t->wait_object);
    else
        snprintf(text, CELL, "0x%" PRIx64, t->wait_object);
}

/* -1: unknown. */
static int64_t waits_for_ns(const struct posixtrace_thread_info *t)
{
    struct timespec now;
    int64_t ns;

    clock_gettime(CLOCK_REALTIME, &now);
    ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec - t->wait_since_ns;
    return t->wait_since_ns == 0 ? -1 : ns > 0 ? ns : 0;
}

static void add_row(void *table, const struct posixtrace_thread_info *t)
{
    int64_t ns = waits_for_ns(t);
    char text[CELL];

    table_add_row(table);
    snprintf(text, sizeof text, "%d", (int)t->pid);
    table_cell(table, text);
    snprintf(text, sizeof text, "%d", (int)t->tid);
    table_cell(table, text);
    table_cell(table, t->name[0] ? quote(t->name) : "-");
    table_cell(table, ns < 0 ? "-" : units_time(ns));
    table_cell(table, call_of(t));
    print_object(text, t);
    table_cell(table, text);
    snprintf(text, sizeof text, "0x%" PRIx64, t->wait_caller);
    table_cell(table, text);
}

static void put_row(void *unused, const struct posixtrace_thread_info *t)
{
    int64_t ns = waits_for_ns(t);
    char object[CELL];

    (void)unused;
    print_object(object, t);
    json_open(NULL, '{');
    json_integer("pid", t->pid);
    json_integer("tid", t->tid);
    json_text("thread", t->name);
    json_text("call", call_of(t));
    json_text("object", object);
    if (ns < 0)
        json_none("since_ns");
    else
        json_integer("since_ns", t->wait_since_ns);
    json_close();
}

/* A stream that cannot be attached to has ended meanwhile, or is another user's. */
static void each_wait(const struct posixtrace_stream *stream,
                      void (*take)(void *context, const struct posixtrace_thread_info *t),
                      void *context)
{
    struct posixtrace_thread_info t;
    int unavailable = 0;
    trace_id_t trid;

    if (stream->liveness != POSIXTRACE_LIVENESS_ALIVE ||
        posixtrace_attach(stream->file, &trid) != 0)
        return;
    while (posixtrace_threadlist_getnext(trid, &t, sizeof t, &unavailable) == 0 && !unavailable)
        if (t.wait_type != 0)
            take(context, &t);
    posixtrace_detach(trid);
}

void list_waits_print(const struct posixtrace_stream *streams, size_t count)
{
    struct table to;

    table_init(&to, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++)
        each_wait(&streams[i], add_row, &to);
    out_text("\n");
    table_print(&to);
    table_free(&to);
}

void list_waits_put(const struct posixtrace_stream *stream)
{
    json_open("waits", '[');
    each_wait(stream, put_row, NULL);
    json_close();
}
