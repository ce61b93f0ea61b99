/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which threads hold a lock: those that have locked it and not unlocked it, since the last gap.
 */
#include "analysis/report/report_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"

static void forget_old(const posixtrace_report_t *r, struct pt_report_object *o)
{
    if (o->gap == r->gap)
        return;
    o->count = 0;
    o->last.thread = NULL;
    o->gap = r->gap;
}

struct pt_report_holder pt_report_held(posixtrace_report_t *r, struct pt_report_object *o,
                                       const struct pt_report_thread *th)
{
    forget_old(r, o);
    for (size_t i = o->count; i > 0; i--)
        if (o->holders[i - 1].thread != th)
            return o->holders[i - 1];
    return (struct pt_report_holder){ .thread = NULL };
}

struct pt_report_holder pt_report_held_since(const posixtrace_report_t *r,
                                             const struct pt_report_object *o,
                                             const struct pt_report_thread *th, int64_t since)
{
    if (o->gap == r->gap && o->last.thread && o->last.thread != th && o->last_ns >= since)
        return o->last;
    return (struct pt_report_holder){ .thread = NULL };
}

static struct pt_report_holder *holder_of(struct pt_report_object *o,
                                          const struct pt_report_thread *th)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->holders[i].thread == th)
            return &o->holders[i];
    return NULL;
}

bool pt_report_holds(const posixtrace_report_t *r, struct pt_report_object *o,
                     const struct pt_report_thread *th)
{
    return o->gap == r->gap && holder_of(o, th);
}

int pt_report_takes(posixtrace_report_t *r, struct pt_report_object *o, struct pt_report_thread *th,
                    uint64_t caller)
{
    struct pt_report_holder *h;

    forget_old(r, o);
    h = holder_of(o, th);
    if (h) {
        h->depth++;
        return 0;
    }
    if (o->count == o->room) {
        size_t room = o->room ? 2 * o->room : 1;

        h = realloc(o->holders, room * sizeof *h);
        if (!h)
            return ENOMEM;
        o->holders = h;
        o->room = room;
    }
    pt_assert(o->count < o->room);
    o->holders[o->count++] = (struct pt_report_holder){ .thread = th,
                                                        .depth = 1,
                                                        .caller = caller };
    if (r->watch)
        r->watch->holds(r->watcher, o, th, caller);
    return 0;
}

void pt_report_releases(posixtrace_report_t *r, struct pt_report_object *o,
                        struct pt_report_thread *th, int64_t ns, uint64_t caller)
{
    struct pt_report_holder *h;

    forget_old(r, o);
    h = holder_of(o, th);
    if (!h || --h->depth > 0)
        return;
    if (r->watch)
        r->watch->released(r->watcher, o, th, ns, caller);
    o->last = *h;
    o->last_ns = ns;
    for (; h + 1 < o->holders + o->count; h++)
        *h = *(h + 1);
    o->count--;
}
