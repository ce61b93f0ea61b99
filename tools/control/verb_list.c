/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace list: the streams of this user on this machine, of living and of killed
 * processes, and, with --reap, removing the latter.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/stream.h>

#include "common/format_option.h"
#include "common/json_out.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "control/list_waits.h"

enum { REAP = 1, FORCE, FORMAT, WAITS };

struct wanted {
    bool reap, force, waits;
    struct sites sites;
    enum output_format format;
};

static const struct option_spec options[] = { { "reap", false, REAP },
                                              { "force", false, FORCE },
                                              { "format", true, FORMAT },
                                              { "waits", false, WAITS },
                                              SITES_OPTIONS,
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace list [--waits] [--reap [--force]]\n"
    "                       [--format=text|jsonl]\n"
    "\n"
    "Lists the streams of this user on this machine: those of living processes, and\n"
    "those that remain of killed processes.\n"
    "\n"
    "  --reap           first remove those of killed processes; events that a log\n"
    "                   does not have yet are put into it, and where that is not\n"
    "                   possible the stream is kept\n"
    "  --force          with --reap: remove those too, and lose their events\n"
    "  --waits          also list the threads that are in a call that may wait, as\n"
    "                   'record --system' records them: for how long, and for what\n" SITES_HELP
    "  --format=FORMAT  text (default), or jsonl: a line for each stream\n"
    "  --help           print this\n"
    "\n"
    "STATE is running, suspended, left (its process is gone), unknown (its process is\n"
    "not visible from here) or foreign (not a stream). UNSAVED counts events of a\n"
    "left stream that its log does not have. TRACES: the living processes that it\n"
    "traces, one and how many more.\n"
    "Example: posixtrace list --reap\n";

struct streams {
    struct posixtrace_stream *rows;
    size_t count, room;
};

static int add_row(void *context, const struct posixtrace_stream *stream)
{
    struct streams *t = context;

    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 16;
        t->rows = tool_grow(t->rows, t->room, sizeof *t->rows);
    }
    t->rows[t->count++] = *stream;
    return 0;
}

static int by_owner(const void *a, const void *b)
{
    const struct posixtrace_stream *x = a, *y = b;

    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return strcmp(x->file, y->file);
}

static int load(struct streams *t)
{
    int error;

    t->count = 0;
    error = posixtrace_stream_list(add_row, t);
    if (error == 0 || error == ENOENT) {
        if (t->count > 0)
            qsort(t->rows, t->count, sizeof *t->rows, by_owner);
        return EXIT_DONE;
    }
    if (error == EACCES)
        return tool_error("the stream directory %s is not private: it must belong to you and have "
                          "mode 0700",
                          quote(posixtrace_stream_directory()));
    return tool_error("cannot list %s: %s", quote(posixtrace_stream_directory()), strerror(error));
}

static const char *state(const struct posixtrace_stream *s)
{
    if (s->liveness == POSIXTRACE_LIVENESS_UNKNOWN)
        return s->name[0] || s->owner ? "unknown" : "foreign";
    if (s->liveness == POSIXTRACE_LIVENESS_DEAD)
        return "left";
    return s->running ? "running" : "suspended";
}

/* Events that the stream has and its log does not. */
static bool has_unsaved(const struct posixtrace_stream *s)
{
    return s->liveness == POSIXTRACE_LIVENESS_DEAD && s->has_log;
}

struct traced {
    pid_t first;
    unsigned count;
};

static int count_traced(void *context, pid_t pid)
{
    struct traced *t = context;

    if (t->count++ == 0)
        t->first = pid;
    return 0;
}

static const struct table_column columns[] = { { .title = "PID" },
                                               { .title = "STATE", .left = true },
                                               { .title = "SIZE" },
                                               { .title = "UNSAVED" },
                                               { .title = "TRACES", .optional = true },
                                               { .title = "NAME", .left = true, .flexible = true },
                                               { .title = "LOG", .left = true, .flexible = true } };

__attribute__((format(printf, 2, 3))) static void cell(struct table *to, const char *format, ...)
{
    char text[64];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    table_cell(to, text);
}

/* The first process and how many more. */
static void add_traced(struct table *to, const struct posixtrace_stream *s)
{
    struct traced t = { 0, 0 };

    if (s->liveness != POSIXTRACE_LIVENESS_DEAD)
        posixtrace_stream_traced(s->file, count_traced, &t);
    if (t.count == 0)
        cell(to, "-");
    else if (t.count == 1)
        cell(to, "%d", (int)t.first);
    else
        cell(to, "%d+%u", (int)t.first, t.count - 1);
}

static void add_stream(struct table *to, const struct posixtrace_stream *s)
{
    table_add_row(to);
    cell(to, "%d", (int)s->owner);
    table_cell(to, state(s));
    cell(to, "%" PRIu64 "K", (s->bytes + 1023) / 1024);
    if (has_unsaved(s))
        cell(to, "%" PRIu64, s->unsaved);
    else
        cell(to, "-");
    add_traced(to, s);
    table_cell(to, quote(s->name[0] ? s->name : s->file));
    table_cell(to, !s->has_log ? "none" : s->log_path[0] ? quote(s->log_path) : "not known");
}

static int put_traced(void *context, pid_t pid)
{
    (void)context;
    json_integer(NULL, pid);
    return 0;
}

static void put_stream(const struct posixtrace_stream *s, struct wanted *w)
{
    json_open(NULL, '{');
    json_integer("pid", s->owner);
    json_text("state", state(s));
    json_count("bytes", s->bytes);
    if (has_unsaved(s))
        json_count("unsaved", s->unsaved);
    else
        json_none("unsaved");
    json_open("traces", '[');
    if (s->liveness != POSIXTRACE_LIVENESS_DEAD)
        posixtrace_stream_traced(s->file, put_traced, NULL);
    json_close();
    json_text("name", s->name);
    json_text("file", s->file);
    json_truth("has_log", s->has_log);
    if (s->has_log && s->log_path[0])
        json_text("log", s->log_path);
    else
        json_none("log");
    if (w->waits)
        list_waits_put(s, &w->sites);
    json_close();
}

static void print_table(const struct streams *t)
{
    struct table to;

    if (t->count == 0) {
        out_format("no streams in %s\n", quote(posixtrace_stream_directory()));
        return;
    }
    table_init(&to, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < t->count; i++)
        add_stream(&to, &t->rows[i]);
    table_print(&to);
    table_free(&to);
}

/* Events that only left streams have. */
static uint64_t unsaved(const struct streams *t)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->count; i++)
        sum += t->rows[i].liveness == POSIXTRACE_LIVENESS_DEAD ? t->rows[i].unsaved : 0;
    return sum;
}

static int reap(bool force, unsigned *removed, unsigned *kept)
{
    int error = posixtrace_stream_reap(force, removed, kept);

    if (error == 0 || error == ENOENT)
        return EXIT_DONE;
    return tool_error(
        "cannot %s in %s: %s", force ? "remove all" : "reap", quote(posixtrace_stream_directory()),
        error == EBUSY ? "another process has the directory locked while it completes "
                         "logs; try again, or see 'lslocks'"
                       : strerror(error));
}

/* Always without force first: force loses the events that remain then. */
static int reap_all(struct streams *t, bool force, enum output_format format)
{
    unsigned removed = 0, kept = 0, more = 0;
    int status = reap(false, &removed, &kept), forced = EXIT_DONE;
    uint64_t lost;

    if (status == EXIT_DONE)
        status = load(t);
    if (status != EXIT_DONE)
        return status;
    lost = unsaved(t);
    if (force) {
        forced = reap(true, &more, &kept);
        status = load(t);
        if (status != EXIT_DONE)
            return status;
        lost -= unsaved(t) < lost ? unsaved(t) : lost;
        if (lost > 0)
            tool_note("%" PRIu64 " events lost (streams removed that no log could take)", lost);
    } else if (lost > 0) {
        tool_note("%" PRIu64 " events are in left streams whose log could not be completed; "
                  "--reap --force removes them",
                  lost);
    }
    if (format == OUTPUT_TEXT)
        out_format("removed %u file%s, kept %u\n", removed + more, removed + more == 1 ? "" : "s",
                   kept);
    return forced;
}

static int list_streams(struct wanted *w)
{
    struct streams t = { NULL, 0, 0 };
    int status;

    /* Segments whose log needs no completion are removed without an option. */
    if (!w->reap)
        posixtrace_stream_reap(-1, NULL, NULL);
    status = w->reap ? reap_all(&t, w->force, w->format) : load(&t);
    if (status == EXIT_DONE && w->format == OUTPUT_TEXT)
        print_table(&t);
    if (status == EXIT_DONE && w->format == OUTPUT_TEXT && w->waits)
        list_waits_print(t.rows, t.count, &w->sites);
    for (size_t i = 0; status == EXIT_DONE && w->format == OUTPUT_JSONL && i < t.count; i++)
        put_stream(&t.rows[i], w);
    free(t.rows);
    return status;
}

static int run(struct options *o)
{
    struct wanted w = { .format = OUTPUT_TEXT };
    int code, status = EXIT_DONE;

    while (status == EXIT_DONE && (code = options_next(o)) != OPTION_END) {
        switch (code) {
        case OPTION_STOP: return o->status;
        case REAP: w.reap = true; break;
        case FORCE: w.force = true; break;
        case WAITS: w.waits = true; break;
        case FORMAT: status = format_option(o->value, false, &w.format); break;
        case SITES_NONE:
        case SITES_DEBUG_DIR: status = sites_take_option(&w.sites, code, o->value); break;
        default: return tool_usage("takes no operand, found %s", quote(o->value));
        }
    }
    if (status != EXIT_DONE)
        return status;
    if (w.force && !w.reap)
        return tool_usage("--force needs --reap");
    return list_streams(&w);
}

const struct verb verb_list = { "list", help, options, run };
