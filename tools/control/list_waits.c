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

/* The call, else its type after "posixtrace_". */
static const char *call_of(const struct posixtrace_thread_info *t)
{
    const char *call = posixtrace_call_text(t->wait_call);
    const char *type = posixtrace_system_text(t->wait_type);

    return call ? call : type ? type + strlen("posixtrace_") : "?";
}

/* The table, unless it is JSON; names for the addresses. */
struct reader {
    struct table *table;
    struct sites *sites;
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Descriptors and processes are numbers; signals, and calls for several, have none. */
static void print_object(char text[SITES_TEXT], struct sites *sites,
                         const struct posixtrace_thread_info *t)
{
    bool number = posixtrace_call_text(t->wait_call) != NULL;

    if (t->wait_type == POSIXTRACE_SIGNAL_WAIT || (number && (int64_t)t->wait_object < 0))
        snprintf(text, SITES_TEXT, "-");
    else if (number)
        snprintf(text, SITES_TEXT, "%" PRId64, (int64_t)t->wait_object);
    else
        snprintf(text, SITES_TEXT, "%s", sites_data(sites, t->pid, now_ns(), t->wait_object));
}

/* -1: unknown. */
static int64_t waits_for_ns(const struct posixtrace_thread_info *t)
{
    int64_t ns = now_ns() - t->wait_since_ns;

    return t->wait_since_ns == 0 ? -1 : ns > 0 ? ns : 0;
}

static void add_row(const struct reader *r, const struct posixtrace_thread_info *t)
{
    struct table *table = r->table;
    int64_t ns = waits_for_ns(t);
    char text[SITES_TEXT];

    table_add_row(table);
    snprintf(text, sizeof text, "%d", (int)t->pid);
    table_cell(table, text);
    snprintf(text, sizeof text, "%d", (int)t->tid);
    table_cell(table, text);
    table_cell(table, t->name[0] ? quote(t->name) : "-");
    table_cell(table, ns < 0 ? "-" : units_time(ns));
    table_cell(table, call_of(t));
    print_object(text, r->sites, t);
    table_cell(table, text);
    table_cell(table, sites_code(r->sites, t->pid, now_ns(), t->wait_caller));
}

static void put_address(const struct reader *r, const char *key, const char *symbol_key, pid_t pid,
                        uint64_t address, enum posixtrace_address kind)
{
    char text[SITES_TEXT];

    snprintf(text, sizeof text, "0x%" PRIx64, address);
    json_text(key, text);
    if (sites_find(r->sites, pid, now_ns(), address, kind, text) > 0)
        json_text(symbol_key, text);
}

static void put_row(const struct reader *r, const struct posixtrace_thread_info *t)
{
    int64_t ns = waits_for_ns(t);
    char object[SITES_TEXT];

    json_open(NULL, '{');
    json_integer("pid", t->pid);
    json_integer("tid", t->tid);
    json_text("thread", t->name);
    json_text("call", call_of(t));
    if (posixtrace_call_text(t->wait_call)) {
        print_object(object, r->sites, t);
        json_text("object", object);
    } else {
        put_address(r, "object", "object_symbol", t->pid, t->wait_object, POSIXTRACE_ADDRESS_DATA);
    }
    if (ns < 0)
        json_none("since_ns");
    else
        json_integer("since_ns", t->wait_since_ns);
    put_address(r, "caller", "caller_symbol", t->pid, t->wait_caller, POSIXTRACE_ADDRESS_RETURN);
    json_close();
}

/* A stream that cannot be attached to has ended meanwhile, or is another user's. */
static void each_wait(const struct posixtrace_stream *stream, const struct reader *r,
                      void (*take)(const struct reader *r, const struct posixtrace_thread_info *t))
{
    struct posixtrace_thread_info t;
    int unavailable = 0;
    trace_id_t trid;

    if (stream->liveness != POSIXTRACE_LIVENESS_ALIVE ||
        posixtrace_attach(stream->file, &trid) != 0)
        return;
    sites_open(r->sites, trid);
    while (posixtrace_threadlist_getnext(trid, &t, sizeof t, &unavailable) == 0 && !unavailable)
        if (t.wait_type != 0)
            take(r, &t);
    sites_close(r->sites);
    posixtrace_detach(trid);
}

void list_waits_print(const struct posixtrace_stream *streams, size_t count, struct sites *sites)
{
    struct table to;

    table_init(&to, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++)
        each_wait(&streams[i], &(struct reader){ &to, sites }, add_row);
    out_text("\n");
    table_print(&to);
    table_free(&to);
}

void list_waits_put(const struct posixtrace_stream *stream, struct sites *sites)
{
    json_open("waits", '[');
    each_wait(stream, &(struct reader){ NULL, sites }, put_row);
    json_close();
}
