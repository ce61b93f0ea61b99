/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which threads wait where the log ends, and circles of waits among them.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/why/why_state.h"

static struct pt_why_runner *runner_of(const struct pt_report_thread *th)
{
    return th->watched;
}

static struct pt_report_open *wait_of(const posixtrace_why_t *w, struct pt_report_thread *th)
{
    return pt_report_still_waits(w->report, th) ? &th->open[th->depth - 1] : NULL;
}

/* The thread that has what this one waits for, or NULL. */
static struct pt_report_thread *keeper(posixtrace_why_t *w, struct pt_report_thread *th,
                                       struct posixtrace_why_segment *s)
{
    struct pt_report_open *open = wait_of(w, th);
    struct pt_report_holder holder = { .thread = NULL };
    const struct pt_why_object *object = open ? open->object->watched : NULL;

    if (open && open->call->unlock)
        holder = pt_report_held(w->report, open->object, th);
    else if (open && open->call->kind == POSIXTRACE_WAIT_THREAD && object && object->awaited &&
             !runner_of(object->awaited)->ended)
        holder.thread = object->awaited;
    if (holder.thread && s) {
        s->relation = open->call->unlock ? POSIXTRACE_WHY_HOLDS : POSIXTRACE_WHY_IS_AWAITED;
        s->other_pid = holder.thread->row.pid;
        s->other_tid = holder.thread->row.tid;
        s->other_caller = holder.caller;
    }
    return holder.thread;
}

static void fill_signal(struct posixtrace_why_blocked *b, const struct pt_report_object *o)
{
    const struct pt_why_object *object = o->watched;
    const struct pt_why_wake *wake;

    if (!object || object->wakes.count == 0 || b->wait.kind == POSIXTRACE_WAIT_THREAD ||
        b->wait.kind == POSIXTRACE_WAIT_BARRIER)
        return;
    wake = (const struct pt_why_wake *)object->wakes.items + object->wakes.count - 1;
    b->signalled_ns = wake->at.from;
    b->signalled_tid = wake->thread->row.tid;
    b->signalled_caller = wake->caller;
}

static void fill(posixtrace_why_t *w, struct pt_report_thread *th, size_t deadlock)
{
    const struct pt_report_open *open = wait_of(w, th);
    struct posixtrace_why_blocked *b = &w->blocked[w->blocked_count++];
    const struct pt_report_object *o = open->object;
    unsigned kind = open->call->kind;

    *b = (struct posixtrace_why_blocked){ .wait = { .state = POSIXTRACE_WHY_WAIT,
                                                    .kind = kind,
                                                    .begin_ns = open->ns,
                                                    .end_ns = w->report->now,
                                                    .pid = th->row.pid,
                                                    .tid = th->row.tid,
                                                    .is_descriptor = o->row.is_descriptor,
                                                    .has_object = kind != POSIXTRACE_WAIT_SLEEP &&
                                                                  kind != POSIXTRACE_WAIT_SIGNAL,
                                                    .object = o->row.object,
                                                    .name = o->row.name ? o->row.name : "",
                                                    .call = open->number,
                                                    .caller = open->caller,
                                                    .deadlock = deadlock > 0 },
                                          .deadlock = deadlock };
    keeper(w, th, &b->wait);
    fill_signal(b, o);
}

/* Each thread waits for one other at most: a walk that comes to a thread of its own walk has found
 * a circle. */
static size_t walk(posixtrace_why_t *w, struct pt_report_thread *th, size_t number, size_t circles)
{
    struct pt_report_thread *at = th, *next;

    while (at && wait_of(w, at) && runner_of(at)->walk == 0) {
        runner_of(at)->walk = number;
        at = keeper(w, at, NULL);
    }
    if (!at || !wait_of(w, at) || runner_of(at)->walk != number)
        return circles;
    for (next = at; !runner_of(next)->listed; next = keeper(w, next, NULL)) {
        runner_of(next)->listed = true;
        fill(w, next, circles + 1);
    }
    return circles + 1;
}

void pt_why_find_blocked(posixtrace_why_t *w)
{
    const struct pt_report_map *threads = &w->report->threads;
    size_t circles = 0;

    w->blocked = calloc(threads->count + 1, sizeof *w->blocked);
    if (!w->blocked) {
        w->error = ENOMEM;
        return;
    }
    for (size_t i = 0; i < threads->count; i++)
        if (!pt_why_of(w, threads->items[i]))
            return;
    for (size_t i = 0; i < threads->count; i++)
        circles = walk(w, threads->items[i], i + 1, circles);
    for (size_t i = 0; i < threads->count; i++) {
        struct pt_report_thread *th = threads->items[i];

        if (wait_of(w, th) && !runner_of(th)->listed)
            fill(w, th, 0);
    }
}
