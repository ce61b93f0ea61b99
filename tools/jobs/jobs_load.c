/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How much of a processor each thread had in intervals of time, and how much of that is not known.
 */
#include "jobs/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>

#include "common/json_out.h"
#include "common/stdout_buffer.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"
#include "common/utf8.h"
#include "text/sum.h"

enum { INTERVALS_MAX = 1000000, SHOWN = 6, LABEL = 24 };

struct load_cell {
    int64_t run, unknown;
};

struct load_thread {
    pid_t pid, tid;
    char name[16];
    int64_t run, unknown;
    struct load_cell *cells; /* from the first interval on */
    size_t room;
};

struct jobs_load {
    int64_t interval, from; /* from: where the first interval begins */
    size_t count;           /* of intervals */
    struct load_thread **threads;
    size_t thread_count, thread_room;
    bool has_from;
};

int jobs_load_parse(const char *value, int64_t *interval_ns)
{
    struct when when;
    char text[64];

    snprintf(text, sizeof text, "+%s", value);
    if (strlen(value) + 2 > sizeof text || !when_parse(text, &when) || when.kind != WHEN_RELATIVE ||
        when.ns <= 0)
        return tool_usage("option '--load' needs a time such as 100ms, found %s", quote(value));
    *interval_ns = when.ns;
    return EXIT_DONE;
}

struct jobs_load *jobs_load_new(const struct jobs_view *v)
{
    struct jobs_load *l = tool_grow(NULL, 1, sizeof *l);

    *l = (struct jobs_load){ .interval = v->request->load_ns };
    if (v->log->seekable || v->request->select->from_ns != INT64_MIN) {
        l->from = v->log->seekable && v->log->info.first_ns > v->request->select->from_ns
                      ? v->log->info.first_ns
                      : v->request->select->from_ns;
        l->has_from = true;
    }
    return l;
}

void jobs_load_free(struct jobs_load *l)
{
    for (size_t i = 0; l && i < l->thread_count; i++) {
        free(l->threads[i]->cells);
        free(l->threads[i]);
    }
    if (l)
        free(l->threads);
    free(l);
}

static struct load_thread *thread_of(struct jobs_load *l, pid_t pid, pid_t tid)
{
    struct load_thread *t;

    for (size_t i = l->thread_count; i > 0; i--)
        if (l->threads[i - 1]->tid == tid && l->threads[i - 1]->pid == pid)
            return l->threads[i - 1];
    if (l->thread_count == l->thread_room) {
        l->thread_room = l->thread_room ? 2 * l->thread_room : 16;
        l->threads = tool_grow(l->threads, l->thread_room, sizeof *l->threads);
    }
    t = tool_grow(NULL, 1, sizeof *t);
    *t = (struct load_thread){ .pid = pid, .tid = tid };
    l->threads[l->thread_count++] = t;
    return t;
}

static struct load_cell *cell_of(struct load_thread *t, size_t interval)
{
    if (interval >= t->room) {
        size_t room = t->room ? 2 * t->room : 64;

        while (room <= interval)
            room *= 2;
        t->cells = tool_grow(t->cells, room, sizeof *t->cells);
        memset(t->cells + t->room, 0, (room - t->room) * sizeof *t->cells);
        t->room = room;
    }
    return &t->cells[interval];
}

int jobs_load_add(struct jobs_view *v, pid_t pid, pid_t tid, int64_t from, int64_t to, bool known)
{
    const struct selection *s = v->request->select;
    struct jobs_load *l = v->load;
    struct load_thread *t;

    from = from > s->from_ns ? from : s->from_ns;
    to = to < s->to_ns ? to : s->to_ns;
    if (!l->has_from)
        l->from = from;
    l->has_from = true;
    from = from > l->from ? from : l->from;
    if (to <= from)
        return 0;
    if ((to - l->from) / l->interval >= INTERVALS_MAX)
        return ERANGE;
    t = thread_of(l, pid, tid);
    while (from < to) {
        size_t interval = (size_t)((from - l->from) / l->interval);
        int64_t end = l->from + (int64_t)(interval + 1) * l->interval;
        struct load_cell *cell = cell_of(t, interval);
        int64_t time = (end < to ? end : to) - from;

        *(known ? &cell->run : &cell->unknown) += time;
        *(known ? &t->run : &t->unknown) += time;
        l->count = interval + 1 > l->count ? interval + 1 : l->count;
        from += time;
    }
    return 0;
}

static const struct load_cell *look(const struct load_thread *t, size_t interval)
{
    static const struct load_cell none;

    return interval < t->room ? &t->cells[interval] : &none;
}

/* ---- text ---- */

static int busiest_first(const void *a, const void *b)
{
    const struct load_thread *x = *(struct load_thread *const *)a,
                             *y = *(struct load_thread *const *)b;

    if (x->run != y->run)
        return x->run > y->run ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void name_threads(const struct jobs_view *v)
{
    struct posixtrace_thread_info info;
    struct jobs_load *l = v->load;
    int unavailable = 0;

    posixtrace_threadlist_rewind(v->log->trid);
    while (posixtrace_threadlist_getnext(v->log->trid, &info, sizeof info, &unavailable) == 0 &&
           !unavailable) {
        info.name[sizeof info.name - 1] = '\0';
        for (size_t i = 0; i < l->thread_count; i++)
            if (l->threads[i]->pid == info.pid && l->threads[i]->tid == info.tid)
                memcpy(l->threads[i]->name, info.name, sizeof info.name);
    }
    if (l->thread_count > 0)
        qsort(l->threads, l->thread_count, sizeof *l->threads, busiest_first);
}

/* The end of the last interval is the end of the time that there is. */
static int64_t length_of(const struct jobs_view *v, size_t interval)
{
    const struct jobs_load *l = v->load;
    int64_t from = l->from + (int64_t)interval * l->interval, to = from + l->interval;
    int64_t last = v->summary->last_ns < v->request->select->to_ns ? v->summary->last_ns
                                                                   : v->request->select->to_ns;

    return last > from && last < to ? last - from : l->interval;
}

static void percent_cell(struct table *t, struct load_cell cell, int64_t length)
{
    char text[LABEL];

    snprintf(text, sizeof text, "%.1f%s", 100 * (double)cell.run / (double)length,
             cell.unknown > 0 ? "?" : "");
    table_cell(t, cell.run == 0 && cell.unknown == 0 ? "0" : text);
}

/* With as many decimals as the interval has. */
static const char *begin_of(const struct jobs_view *v, size_t interval)
{
    static char text[48];
    const struct jobs_load *l = v->load;
    int64_t unit = 1000000000;
    int decimals = 0;

    snprintf(text, sizeof text, "%s", jobs_when(v, l->from + (int64_t)interval * l->interval));
    if ((l->from - v->origin) % unit != 0 && (l->from - v->origin) % l->interval != 0)
        return text;
    for (; l->interval % unit != 0; unit /= 10)
        decimals++;
    if (text[0] == '+') /* of nine */
        snprintf(text + strlen(text) - 1 - (size_t)(9 - decimals) - (decimals == 0), 2, "s");
    return text;
}

/* Its name, if no other one that is shown has that. */
static void title_of(const struct jobs_load *l, size_t place, char *to, size_t size)
{
    const struct load_thread *t = l->threads[place];
    bool alone = t->name[0] != '\0';

    for (size_t i = 0; i < l->thread_count && i < SHOWN; i++)
        alone &= i == place || strcmp(l->threads[i]->name, t->name) != 0;
    if (alone)
        snprintf(to, size, "%s", unquoted(t->name));
    else
        snprintf(to, size, "%d", (int)t->tid);
}

static void add_row(struct table *t, const struct jobs_view *v, size_t interval)
{
    const struct jobs_load *l = v->load;
    int64_t length = length_of(v, interval);
    struct load_cell others = { 0, 0 }, all = { 0, 0 };

    table_add_row(t);
    table_cell(t, begin_of(v, interval));
    for (size_t i = 0; i < l->thread_count; i++) {
        const struct load_cell *cell = look(l->threads[i], interval);

        pt_sum_add(&all.run, cell->run);
        pt_sum_add(&all.unknown, cell->unknown);
        if (i < SHOWN) {
            percent_cell(t, *cell, length);
            continue;
        }
        pt_sum_add(&others.run, cell->run);
        pt_sum_add(&others.unknown, cell->unknown);
    }
    if (l->thread_count > SHOWN)
        percent_cell(t, others, length);
    percent_cell(t, all, length);
}

static void print_table(const struct jobs_view *v)
{
    const struct jobs_load *l = v->load;
    struct table_column columns[TABLE_COLUMNS] = { { .title = "# TIME" } };
    char titles[SHOWN][16 * UTF8_MAX_ESCAPE + 1 + LABEL];
    size_t count = 1;
    struct table t;

    for (size_t i = 0; i < l->thread_count && i < SHOWN; i++) {
        title_of(l, i, titles[i], sizeof titles[i]);
        columns[count++] = (struct table_column){ .title = titles[i], .flexible = true };
    }
    if (l->thread_count > SHOWN)
        columns[count++] = (struct table_column){ .title = "OTHERS" };
    columns[count++] = (struct table_column){ .title = "ALL" };
    table_init(&t, columns, count);
    for (size_t i = 0; i < l->count; i++)
        add_row(&t, v, i);
    table_print(&t);
    table_free(&t);
}

static bool has_unknown(const struct jobs_load *l)
{
    for (size_t i = 0; i < l->thread_count; i++)
        if (l->threads[i]->unknown > 0)
            return true;
    return false;
}

static void csv_rows(const struct jobs_view *v)
{
    const struct jobs_load *l = v->load;

    out_text("begin_ns,length_ns,pid,tid,run_ns,unknown_ns\r\n");
    for (size_t i = 0; i < l->count; i++) {
        for (size_t k = 0; k < l->thread_count; k++) {
            const struct load_cell *cell = look(l->threads[k], i);

            out_format("%" PRId64 ",%" PRId64 ",%d,%d,%" PRId64 ",%" PRId64 "\r\n",
                       l->from + (int64_t)i * l->interval, length_of(v, i), (int)l->threads[k]->pid,
                       (int)l->threads[k]->tid, cell->run, cell->unknown);
        }
    }
}

static void remark(const struct jobs_view *v)
{
    const struct jobs_load *l = v->load;

    if (v->summary->switches == 0)
        jobs_remark(v,
                    "%s has no context switches, which say when a thread has a processor; "
                    "'posixtrace record --system=switches -- CMD' records them",
                    v->log->shown);
    else if (has_unknown(l) && v->request->form.format == OUTPUT_TEXT)
        jobs_remark(v,
                    "?: at least that; in a part of the interval it is not known, because events "
                    "were lost or the thread's first one came later");
}

void jobs_load_print(const struct jobs_view *v)
{
    name_threads(v);
    if (v->request->form.format == OUTPUT_CSV) {
        csv_rows(v);
    } else if (v->request->form.format == OUTPUT_JSONL) {
        json_open(NULL, '{');
        jobs_load_json(v);
        json_close();
    } else if (v->summary->switches > 0) {
        out_format("# percent of a processor, in intervals of %s\n", units_time(v->load->interval));
        print_table(v);
        out_text("\n");
    }
    remark(v);
}

/* ---- JSON ---- */

static void put_cells(const char *key, const struct jobs_load *l, const struct load_thread *t,
                      bool known)
{
    json_open(key, '[');
    for (size_t i = 0; i < l->count; i++)
        json_integer(NULL, known ? look(t, i)->run : look(t, i)->unknown);
    json_close();
}

void jobs_load_json(const struct jobs_view *v)
{
    const struct jobs_load *l = v->load;

    name_threads(v);
    json_open("load", '{');
    json_integer("begin_ns", l->from);
    json_integer("interval_ns", l->interval);
    json_count("intervals", l->count);
    json_integer("last_length_ns", l->count > 0 ? length_of(v, l->count - 1) : 0);
    json_open("threads", '[');
    for (size_t i = 0; i < l->thread_count; i++) {
        const struct load_thread *t = l->threads[i];

        json_open(NULL, '{');
        json_integer("pid", t->pid);
        json_integer("tid", t->tid);
        json_text("thread", t->name);
        json_integer("total_run_ns", t->run);
        json_integer("total_unknown_ns", t->unknown);
        put_cells("run_ns", l, t, true);
        put_cells("unknown_ns", l, t, false);
        json_close();
    }
    json_close();
    json_close();
}
