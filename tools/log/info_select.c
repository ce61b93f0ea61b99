/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See info_select.h.  A gap lasts from POSIX_TRACE_OVERFLOW to POSIX_TRACE_RESUME: the log is
 * read from its start, since a gap may begin before the selected time and end after it.
 */
#include "log/info_select.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json_out.h"
#include "common/progress.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/utf8.h"
#include "log/info_tables.h"

enum { PROGRESS_EVERY = 0x3fff };

void info_selected_free(struct info_selected *to)
{
    free(to->types);
    free(to->threads);
    free(to->index);
    free(to->counts);
    memset(to, 0, sizeof *to);
}

/* ---- counting ---- */

static void count_type(struct info_selected *to, trace_event_id_t id)
{
    if (id >= to->count_room) {
        size_t room = id + 64;

        to->counts = tool_grow(to->counts, room, sizeof *to->counts);
        memset(to->counts + to->count_room, 0, (room - to->count_room) * sizeof *to->counts);
        to->count_room = room;
    }
    to->counts[id]++;
}

static size_t hash_of(pid_t pid, pid_t tid, uint64_t thread_id)
{
    uint64_t key = ((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid) ^ thread_id;

    return (size_t)(key * 0x9e3779b97f4a7c15u >> 20);
}

static bool is_of(const struct info_thread *t, const struct posixtrace_event *e)
{
    return t->pid == e->pid && t->tid == e->tid && (t->tid != 0 || t->thread_id == e->thread_id);
}

/* The place of an entry in the hash table; one that is free, if the thread is new. */
static size_t *place_of(const struct info_selected *to, pid_t pid, pid_t tid, uint64_t thread_id,
                        const struct posixtrace_event *e)
{
    size_t at = hash_of(pid, tid, tid ? 0 : thread_id) % to->index_size;

    while (to->index[at] && (!e || !is_of(&to->threads[to->index[at] - 1], e)))
        at = (at + 1) % to->index_size;
    return &to->index[at];
}

static void grow_index(struct info_selected *to)
{
    free(to->index);
    to->index_size = to->index_size ? 2 * to->index_size : 256;
    to->index = tool_grow(NULL, to->index_size, sizeof *to->index);
    memset(to->index, 0, to->index_size * sizeof *to->index);
    to->threads = tool_grow(to->threads, to->index_size, sizeof *to->threads);
    for (size_t i = 0; i < to->thread_count; i++) {
        const struct info_thread *t = &to->threads[i];

        *place_of(to, t->pid, t->tid, t->thread_id, NULL) = i + 1;
    }
}

static void count_thread(struct info_selected *to, const struct posixtrace_event *e)
{
    struct info_thread *t;
    size_t *place;

    if (2 * to->thread_count >= to->index_size)
        grow_index(to);
    place = place_of(to, e->pid, e->tid, e->thread_id, e);
    if (!*place) {
        to->threads[to->thread_count] = (struct info_thread){ .pid = e->pid,
                                                              .tid = e->tid,
                                                              .thread_id = e->thread_id };
        *place = ++to->thread_count;
    }
    t = &to->threads[*place - 1];
    t->events++;
    if (e->thread_name[0]) /* the latest name */
        strncpy(t->name, e->thread_name, sizeof t->name - 1);
}

static void count_event(struct info_selected *to, const struct posixtrace_event *e)
{
    if (to->events++ == 0)
        to->first = e->ns;
    to->last = e->ns;
    count_type(to, e->id);
    count_thread(to, e);
}

/* ---- gaps ---- */

/* A gap is one from its first OVERFLOW, and counts when it ends.  info_rate.c marks it before, as
 * far as it goes, and joins gaps without an event between them. */
struct gap {
    bool open;
    int64_t from;
};

static void end_gap(struct info_selected *to, const struct selection *s, struct gap *g, int64_t ns)
{
    if (g->open && g->from <= s->to_ns && ns >= s->from_ns)
        to->lost_places++;
    g->open = false;
}

static void look_for_gap(struct info_selected *to, const struct selection *s, struct gap *g,
                         const struct posixtrace_event *e)
{
    if (e->id == POSIX_TRACE_OVERFLOW && !g->open)
        *g = (struct gap){ .open = true, .from = e->ns };
    else if (e->id == POSIX_TRACE_RESUME)
        end_gap(to, s, g, e->ns);
}

/* ---- the log ---- */

static int read_log(struct info_selected *to, struct selection *s, struct log_file *log,
                    struct info_rate *rate)
{
    struct posixtrace_event e;
    struct gap gap = { .open = false };
    int unavailable = 0, error;
    bool wanted;

    while ((error = posixtrace_next_event(log->trid, &e, sizeof e, &unavailable)) == 0 &&
           !unavailable) {
        if ((to->all++ & PROGRESS_EVERY) == 0)
            progress_at(to->all);
        look_for_gap(to, s, &gap, &e);
        wanted = select_wants(s, log->trid, &e);
        if (wanted)
            count_event(to, &e);
        if (rate)
            info_rate_add(rate, &e, wanted);
    }
    end_gap(to, s, &gap, INT64_MAX);
    if (rate)
        info_rate_end(rate);
    return error ? tool_error("cannot read on in %s: %s", log->shown, strerror(error)) : EXIT_DONE;
}

/* The names are known when all was read. */
static int take_types(struct info_selected *to, const struct log_file *log)
{
    size_t kept = 0;
    int status = log_file_types(log, &to->types, &to->type_count);

    if (status != EXIT_DONE)
        return status;
    for (size_t i = 0; i < to->type_count; i++) {
        trace_event_id_t id = to->types[i].id;

        if (id >= to->count_room || to->counts[id] == 0)
            continue;
        to->types[kept] = to->types[i];
        to->types[kept++].count = to->counts[id];
    }
    to->type_count = kept;
    if (kept > 0)
        qsort(to->types, kept, sizeof *to->types, info_by_count);
    return EXIT_DONE;
}

static int by_ids(const void *a, const void *b)
{
    const struct info_thread *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

int info_select(struct info_selected *to, struct selection *s, struct log_file *log,
                struct info_rate *rate)
{
    int status;

    memset(to, 0, sizeof *to);
    status = log->seekable ? select_resolve(s, log->info.first_ns) : select_resolve_absolute(s);
    if (status != EXIT_DONE)
        return status;
    posix_trace_rewind(log->trid);
    progress_begin("events", log->info.events);
    status = read_log(to, s, log, rate);
    progress_end();
    if (status == EXIT_DONE)
        status = log_file_refresh(log);
    if (status == EXIT_DONE)
        status = take_types(to, log);
    if (to->thread_count > 0)
        qsort(to->threads, to->thread_count, sizeof *to->threads, by_ids);
    select_warn(s, log);
    select_warn_callers(s, log);
    return status;
}

/* ---- output ---- */

static const struct table_column type_columns[] = {
    { .title = "       COUNT" },
    { .title = "EVENT TYPE", .colour = COLOUR_NAME, .left = true, .flexible = true }
};
static const struct table_column thread_columns[] = {
    { .title = "      EVENTS" },
    { .title = "     PID" },
    { .title = "     TID" },
    { .title = "THREAD", .colour = COLOUR_THREAD, .left = true, .flexible = true }
};

static void number_cell(struct table *t, uint64_t number)
{
    char text[24];

    *pt_number_u64(text, number) = '\0';
    table_cell(t, text);
}

static void name_cell(struct table *t, const char *name)
{
    char *shown = tool_grow(NULL, strlen(name) + 1, UTF8_MAX_ESCAPE);

    *utf8_show(shown, name,
               utf8_is_safe(STDOUT_FILENO) ? UTF8_TERMINAL : UTF8_TERMINAL_ASCII) = '\0';
    table_cell(t, shown);
    free(shown);
}

static void print_types(const struct info_selected *of)
{
    struct table t;

    table_init(&t, type_columns, sizeof type_columns / sizeof *type_columns);
    for (size_t i = 0; i < of->type_count; i++) {
        table_add_row(&t);
        number_cell(&t, of->types[i].count);
        name_cell(&t, of->types[i].name);
    }
    table_print(&t);
    table_free(&t);
}

void info_print_selected(const struct info_selected *of)
{
    struct table t;

    if (of->events == 0)
        return;
    out_text("\n");
    print_types(of);
    out_text("\n");
    table_init(&t, thread_columns, sizeof thread_columns / sizeof *thread_columns);
    for (size_t i = 0; i < of->thread_count; i++) {
        table_add_row(&t);
        number_cell(&t, of->threads[i].events);
        number_cell(&t, (uint32_t)of->threads[i].pid);
        number_cell(&t, (uint32_t)of->threads[i].tid);
        name_cell(&t, of->threads[i].name);
    }
    table_print(&t);
    table_free(&t);
}

void info_json_selected(const struct log_file *log, const struct info_selected *of,
                        const char *selection)
{
    json_open("selected", '{');
    json_text("selection", selection);
    json_count("events", of->events);
    if (of->events > 0) {
        json_integer("first", of->first);
        json_integer("last", of->last);
    }
    json_count("events_read", of->all);
    json_count("lost_places", of->lost_places);
    /* or in some place that no mark tells */
    json_truth("loss_possible",
               of->lost_places > 0 || log_file_lost_all(log) > 0 || log_file_has_unread(log));
    json_open("types", '[');
    for (size_t i = 0; i < of->type_count; i++) {
        json_open(NULL, '{');
        json_text("event", of->types[i].name);
        json_count("count", of->types[i].count);
        json_close();
    }
    json_close();
    json_open("threads", '[');
    for (size_t i = 0; i < of->thread_count; i++) {
        const struct info_thread *t = &of->threads[i];

        json_open(NULL, '{');
        json_integer("pid", t->pid);
        json_integer("tid", t->tid);
        json_text("thread", t->name);
        json_count("events", t->events);
        json_close();
    }
    json_close();
    json_close();
}
