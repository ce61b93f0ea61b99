/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lists of spans, and the threads and objects that have them.  Lists are in the order of their
 * beginnings.  A full list drops spans that ended too long ago to be needed; it grows if most of
 * them are younger than that, until all lists together have as many as may be kept: then it drops
 * its older half.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/why/why_state.h"
#include "base/assert.h"

enum { FIRST_ROOM = 8 };

static struct pt_why_span *span_at(const struct pt_why_list *l, size_t size, size_t i)
{
    return (struct pt_why_span *)((char *)l->items + i * size);
}

/* Drops what ended before ns. */
static void drop_old(struct pt_why_list *l, size_t size, int64_t ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->count; i++) {
        if (span_at(l, size, i)->to < ns)
            continue;
        if (kept < i)
            memcpy(span_at(l, size, kept), span_at(l, size, i), size);
        kept++;
    }
    l->count = kept;
}

static void drop_half(struct pt_why_list *l, size_t size)
{
    size_t half = l->count / 2;

    for (size_t i = 0; i < half; i++)
        if (span_at(l, size, i)->to != INT64_MAX)
            l->lost_to = pt_why_larger(l->lost_to, span_at(l, size, i)->to);
    memmove(l->items, span_at(l, size, half), (l->count - half) * size);
    l->count -= half;
}

static bool make_room(posixtrace_why_t *w, struct pt_why_list *l, size_t size)
{
    size_t room = l->room ? 2 * l->room : FIRST_ROOM;
    void *items;

    drop_old(l, size, w->options.at_tid ? w->at_from : w->report->now - w->reach);
    if (4 * l->count < 3 * l->room)
        return true;
    if (l->room > 0 && w->spans + l->room > w->span_room) {
        drop_half(l, size);
        return true;
    }
    items = realloc(l->items, room * size);
    if (!items) {
        w->error = ENOMEM;
        return false;
    }
    w->spans += room - l->room;
    l->items = items;
    l->room = room;
    return true;
}

void *pt_why_list_add(posixtrace_why_t *w, struct pt_why_list *l, size_t size)
{
    if (l->count == l->room && !make_room(w, l, size))
        return NULL;
    pt_assert(l->count < l->room);
    return span_at(l, size, l->count++);
}

void pt_why_list_free(struct pt_why_list *l)
{
    free(l->items);
}

size_t pt_why_list_find(const struct pt_why_list *l, size_t size, int64_t ns)
{
    size_t low = 0, high = l->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (span_at(l, size, middle)->to > ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t pt_why_hold_end(const posixtrace_why_t *w, const struct pt_why_hold *h)
{
    if (h->at.to != INT64_MAX || h->gap == w->report->gap)
        return h->at.to;
    return pt_why_larger(h->at.from, pt_gaps_begin(&w->report->gaps, h->gap + 1));
}

/* ---- threads, objects ---- */

struct pt_why_runner *pt_why_runner(posixtrace_why_t *w, pid_t pid, pid_t tid)
{
    struct pt_report_key key = { .a = (uint32_t)pid, .b = (uint32_t)tid };
    struct pt_why_runner **recent = &w->recent[(uint32_t)tid % PT_REPORT_RECENT];

    if (*recent && (*recent)->tid == tid && (*recent)->pid == pid)
        return *recent;
    *recent = pt_report_map_make(&w->runners, key,
                                 sizeof **recent + w->subject_count * sizeof *(*recent)->begun);
    if (!*recent) {
        w->error = ENOMEM;
        return NULL;
    }
    (*recent)->pid = pid;
    (*recent)->tid = tid;
    return *recent;
}

struct pt_why_runner *pt_why_of(posixtrace_why_t *w, struct pt_report_thread *th)
{
    struct pt_why_runner *runner = th->watched;

    if (runner)
        return runner;
    runner = pt_why_runner(w, th->row.pid, th->row.tid);
    th->watched = runner;
    if (runner)
        runner->thread = th;
    return runner;
}

struct pt_why_object *pt_why_object(posixtrace_why_t *w, struct pt_report_object *o)
{
    if (!o->watched)
        o->watched = calloc(1, sizeof(struct pt_why_object));
    if (!o->watched)
        w->error = ENOMEM;
    return o->watched;
}
