/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The observers: in pass 1 of instances and of each thread's first switch, in pass 2 of all that
 * makes spans.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/run/run.h"
#include "analysis/why/why_state.h"
#include "base/assert.h"
#include <posixtrace/system.h>

/* ---- types ---- */

static bool is_switch(const struct pt_report_type *t)
{
    return t->role >= PT_REPORT_SWITCH_IN && t->role <= PT_REPORT_PREEMPTED;
}

static bool is_life(const struct pt_report_type *t)
{
    return t->role == PT_REPORT_THREAD_BEGIN || t->role == PT_REPORT_THREAD_END;
}

static void first_typed(void *context, const char *name, struct pt_report_type *t)
{
    t->watched = pt_why_subject_marks(context, name);
    t->watched |= is_switch(t) ? PT_WHY_SWITCH : 0;
    t->watched |= is_life(t) ? PT_WHY_LIFE : 0;
}

static bool arrives(const struct pt_report_type *t)
{
    return t->role == PT_REPORT_BEGIN && t->call->id == POSIXTRACE_BARRIER_WAIT;
}

static void second_typed(void *context, const char *name, struct pt_report_type *t)
{
    first_typed(context, name, t);
    t->watched |= t->role == PT_REPORT_WAKE || arrives(t) ? PT_WHY_WAKES : 0;
    t->watched |= t->role == PT_REPORT_UNLOCK ? PT_WHY_UNLOCKS : 0;
    t->watched |= t->role == PT_REPORT_BEGIN && t->call->id == POSIXTRACE_IO ? PT_WHY_IO : 0;
}

/* ---- pass 1 ---- */

static void note_life(struct pt_why_runner *runner, const struct pt_report_type *t, int64_t ns)
{
    if (t->role == PT_REPORT_THREAD_END) {
        runner->ended = true;
        runner->ended_ns = ns;
    } else if (runner->ended) {
        runner->ended = false;
        runner->life++;
    }
}

static void note_first_switch(posixtrace_why_t *w, struct pt_why_runner *runner,
                              const struct pt_report_type *t)
{
    w->switches++;
    if (runner->switches)
        return;
    runner->switches = true;
    runner->begins_off = t->role == PT_REPORT_SWITCH_IN;
    runner->switch_gap = w->report->gap;
}

static void take_pair(posixtrace_why_t *w, const struct pt_report_type *t,
                      const struct posixtrace_event *e)
{
    if (t->watched & (PT_WHY_BEGINS | PT_WHY_ENDS))
        pt_why_pair_event(w, t->watched, e);
    if (w->run && w->error == 0)
        w->error = pt_metric_run_event(w->run, e);
}

static void unread(void *context)
{
    posixtrace_why_t *w = context;

    if (w->run)
        pt_metric_run_unread(w->run);
}

static void first_taken(void *context, struct pt_report_thread *th, const struct pt_report_type *t,
                        const struct posixtrace_event *e)
{
    posixtrace_why_t *w = context;
    struct pt_why_runner *runner;

    (void)th;
    if ((t->watched & (PT_WHY_SWITCH | PT_WHY_LIFE)) && e->tid != 0) {
        runner = pt_why_runner(w, e->pid, e->tid);
        if (!runner)
            return;
        if (t->watched & PT_WHY_SWITCH)
            note_first_switch(w, runner, t);
        else
            note_life(runner, t, e->ns);
    }
    take_pair(w, t, e);
}

const struct pt_report_watch pt_why_first_watch = {
    .typed = first_typed, .unread = unread, .taken = first_taken, .marks_only = true
};

/* ---- pass 2: threads ---- */

/* Is it the time after the last part, in the same state?  open: the call, or NULL. */
static bool continues(const struct pt_why_part *last, const struct pt_report_thread *th,
                      int64_t from, unsigned share, const struct pt_report_open *open,
                      const struct pt_report_object *mutex)
{
    return last->share == share && last->at.to == from && last->gap == th->gap &&
           last->early == (th->place == PT_REPORT_NO_SWITCH) &&
           last->call_ns == (open ? open->ns : 0) && last->object == (open ? open->object : NULL) &&
           last->mutex == mutex;
}

static struct pt_why_part *last_part(struct pt_why_runner *runner)
{
    return (struct pt_why_part *)runner->parts.items + runner->parts.count - 1;
}

static void fill_call(struct pt_why_part *p, const struct pt_report_open *open)
{
    p->call = open->call;
    p->object = open->object;
    p->call_ns = open->ns;
    p->caller = open->caller;
    p->number = open->number;
    p->channel = open->channel;
}

/* The end of a wait for work says what ended it. */
static bool may_learn(const struct pt_why_part *p, const struct pt_report_thread *th)
{
    return p->share == POSIXTRACE_WAIT_WORK && th->depth > 0 &&
           th->open[th->depth - 1].call == p->call && th->open[th->depth - 1].ns == p->call_ns;
}

/* p: the last part of a thread. */
static void note_at(posixtrace_why_t *w, const struct pt_report_thread *th,
                    const struct pt_why_part *p)
{
    if (w->at_done || !pt_why_is_asked(w, th))
        return;
    if (w->at_found && p->at.from >= w->at_part.at.to) {
        if (may_learn(&w->at_part, th))
            return;
        pt_why_resolve_at(w);
        w->at_from = INT64_MAX;
        return;
    }
    w->at_from = p->at.from;
    if (p->at.from > w->options.at_ns || p->at.to <= w->options.at_ns)
        return;
    w->at_found = true;
    w->at_part = *p;
    w->at_pid = th->row.pid;
}

static void add_part(posixtrace_why_t *w, struct pt_why_runner *runner,
                     const struct pt_report_thread *th, struct pt_why_span at, unsigned share,
                     const struct pt_report_open *open)
{
    struct pt_why_part *p = pt_why_list_add(w, &runner->parts, sizeof *p);

    if (!p)
        return;
    *p = (struct pt_why_part){ .at = at,
                               .share = (uint8_t)share,
                               .early = th->place == PT_REPORT_NO_SWITCH,
                               .gap = th->gap,
                               .channel.side = -1,
                               .cpu = runner->cpu };
    if (open)
        fill_call(p, open);
    if (share == POSIXTRACE_WAIT_CONDITION || share == POSIXTRACE_WAIT_SEMAPHORE)
        runner->channel = *p;
    if (share == POSIXTRACE_WAIT_CONDITION)
        p->mutex = runner->mutex;
    runner->unsure += share == PT_REPORT_UNSURE && !p->early;
}

static void spent(void *context, struct pt_report_thread *th, int64_t from, int64_t to,
                  unsigned share)
{
    posixtrace_why_t *w = context;
    struct pt_why_runner *runner = pt_why_of(w, th);
    const struct pt_report_open *open = NULL;

    if (!runner || w->reach == 0)
        return;
    if (share < POSIXTRACE_WAIT_KINDS && th->depth > 0)
        open = &th->open[th->depth - 1];
    if (runner->parts.count > 0 &&
        continues(last_part(runner), th, from, share, open,
                  share == POSIXTRACE_WAIT_CONDITION ? runner->mutex : NULL))
        last_part(runner)->at.to = to;
    else
        add_part(w, runner, th, (struct pt_why_span){ from, to }, share, open);
    if (w->options.at_tid && runner->parts.count > 0)
        note_at(w, th, last_part(runner));
}

static void settled(void *context, struct pt_report_thread *th, bool known)
{
    struct pt_why_runner *runner = pt_why_of(context, th);
    struct pt_why_part *parts = runner ? runner->parts.items : NULL;

    for (size_t i = parts ? runner->parts.count : 0; i > 0 && runner->unsure > 0; i--) {
        if (parts[i - 1].share != PT_REPORT_UNSURE || parts[i - 1].early)
            continue;
        parts[i - 1].share = known ? PT_REPORT_UNNAMED : PT_REPORT_UNKNOWN;
        runner->unsure--;
    }
    if (runner)
        runner->unsure = 0;
}

/* The part of p from ns on becomes one of its own; there is room. */
static struct pt_why_part *split(struct pt_why_runner *runner, struct pt_why_part *p, int64_t ns)
{
    struct pt_why_part *end = last_part(runner) + 1;

    pt_assert(runner->parts.count < runner->parts.room);
    memmove(p + 1, p, (size_t)(end - p) * sizeof *p);
    runner->parts.count++;
    runner->unsure += !p->early;
    p->at.to = ns;
    p[1].at.from = ns;
    return p + 1;
}

static void relabel(struct pt_why_runner *runner, struct pt_why_part *p,
                    const struct pt_report_open *open, int64_t begin)
{
    if (p->at.from < begin)
        p = split(runner, p, begin);
    p->share = (uint8_t)open->call->kind;
    runner->unsure -= !p->early && runner->unsure > 0;
    fill_call(p, open);
}

static void long_call(void *context, struct pt_report_thread *th, const struct pt_report_open *open,
                      int64_t begin, int64_t ns)
{
    posixtrace_why_t *w = context;
    struct pt_why_runner *runner = pt_why_of(w, th);
    struct pt_why_part *parts;

    begin = pt_why_larger(begin, th->own_ns);
    if (!runner || th->depth > 0 || w->reach == 0 ||
        !pt_why_list_add(w, &runner->parts, sizeof *parts))
        return;
    runner->parts.count--;
    parts = runner->parts.items;
    for (size_t i = runner->parts.count; i > 0 && parts[i - 1].at.to > begin; i--)
        if (parts[i - 1].share == PT_REPORT_UNSURE && parts[i - 1].at.from < ns)
            relabel(runner, &parts[i - 1], open, begin);
}

/* ---- pass 2: locks, processors, signals ---- */

static void begin_hold(posixtrace_why_t *w, struct pt_why_list *l, struct pt_report_thread *th,
                       uint64_t caller)
{
    struct pt_why_hold *h = l->items;

    for (size_t i = l->count; i > 0 && h[i - 1].at.to == INT64_MAX; i--)
        h[i - 1].at.to = pt_why_hold_end(w, &h[i - 1]);
    h = pt_why_list_add(w, l, sizeof *h);
    if (h)
        *h = (struct pt_why_hold){
            .at = { th->at, INT64_MAX }, .thread = th, .caller = caller, .gap = w->report->gap
        };
}

static void end_hold(posixtrace_why_t *w, struct pt_why_list *l, const struct pt_report_thread *th,
                     int64_t ns, uint64_t caller)
{
    struct pt_why_hold *holds = l->items;

    for (size_t i = l->count; i > 0; i--) {
        struct pt_why_hold *h = &holds[i - 1];

        if (h->at.to != INT64_MAX)
            continue;
        if (h->gap != w->report->gap) {
            h->at.to = pt_why_hold_end(w, h);
        } else if (h->thread == th) {
            h->at.to = pt_why_larger(h->at.from, ns);
            h->unlock_caller = caller;
            h->unlocked = true;
            return;
        }
    }
}

/* The last one, of a processor, if it is of the thread; NULL: of any. */
static void end_last(posixtrace_why_t *w, struct pt_why_list *l, const struct pt_report_thread *th,
                     int64_t ns)
{
    struct pt_why_hold *h;

    if (l->count == 0)
        return;
    h = (struct pt_why_hold *)l->items + l->count - 1;
    if (h->at.to != INT64_MAX)
        return;
    if (h->gap != w->report->gap)
        h->at.to = pt_why_hold_end(w, h);
    else if (!th || h->thread == th)
        h->at.to = pt_why_larger(h->at.from, ns);
}

static void holds(void *context, struct pt_report_object *o, struct pt_report_thread *th,
                  uint64_t caller)
{
    posixtrace_why_t *w = context;
    struct pt_why_object *object = w->reach > 0 ? pt_why_object(w, o) : NULL;

    if (object)
        begin_hold(w, &object->holds, th, caller);
}

static void released(void *context, struct pt_report_object *o, struct pt_report_thread *th,
                     int64_t ns, uint64_t caller)
{
    posixtrace_why_t *w = context;

    if (o->watched)
        end_hold(w, &((struct pt_why_object *)o->watched)->holds, th, ns, caller);
}

static void take_switch(posixtrace_why_t *w, struct pt_report_thread *th,
                        const struct pt_report_type *t, const struct posixtrace_event *e)
{
    struct pt_report_key key = { .a = pt_report_u32(e, 0) };
    struct pt_why_runner *runner = pt_why_of(w, th);
    struct pt_why_cpu *cpu;

    if (w->reach == 0 || !runner)
        return;
    cpu = pt_report_map_make(&w->cpus, key, sizeof *cpu);
    if (!cpu) {
        w->error = ENOMEM;
        return;
    }
    runner->cpu = (uint32_t)key.a;
    end_last(w, &cpu->holds, t->role == PT_REPORT_SWITCH_IN ? NULL : th, e->ns);
    if (t->role == PT_REPORT_SWITCH_IN)
        begin_hold(w, &cpu->holds, th, 0);
}

static void add_to(posixtrace_why_t *w, struct pt_why_list *list, struct pt_report_thread *th,
                   int64_t ns, uint64_t caller)
{
    struct pt_why_wake *wake = pt_why_list_add(w, list, sizeof *wake);

    if (wake)
        *wake = (struct pt_why_wake){ .at = { ns, ns }, .thread = th, .caller = caller };
}

static void add_wake(posixtrace_why_t *w, struct pt_report_thread *th, struct pt_report_object *o,
                     int64_t ns, uint64_t caller)
{
    struct pt_why_object *object = o ? pt_why_object(w, o) : NULL;

    if (object)
        add_to(w, &object->wakes, th, ns, caller);
    else
        w->error = ENOMEM;
}

/* A call that the thread has begun: the innermost one, unless there are too many. */
static void take_transfer(posixtrace_why_t *w, struct pt_report_thread *th, int64_t ns)
{
    const struct pt_report_open *open = th->depth > 0 ? &th->open[th->depth - 1] : NULL;
    int side = open && open->ns == ns ? open->channel.side : -1;
    struct pt_why_pipe *pipe;

    if (side < 0 || w->reach == 0)
        return;
    pipe = pt_report_map_make(&w->pipes, open->channel.key, sizeof *pipe);
    if (pipe)
        add_to(w, &pipe->calls[side], th, ns, open->caller);
    else
        w->error = ENOMEM;
}

static const struct pt_report_call *call_of(uint32_t id)
{
    const struct pt_report_call *call = pt_report_calls;

    while (call->begin && call->id != id)
        call++;
    return call;
}

static void take_life(posixtrace_why_t *w, struct pt_report_thread *th,
                      const struct pt_report_type *t, const struct posixtrace_event *e)
{
    struct pt_why_runner *runner = pt_why_of(w, th);
    struct pt_report_object *o = pt_report_object_of(w->report, call_of(POSIXTRACE_THREAD_JOIN), e);
    struct pt_why_object *object = o ? pt_why_object(w, o) : NULL;

    if (!runner || !object)
        return;
    note_life(runner, t, e->ns);
    object->awaited = th;
    if (t->role == PT_REPORT_THREAD_END)
        add_wake(w, th, o, e->ns, 0);
}

/* A wait for a condition gives its mutex back. */
static void take_unlock(posixtrace_why_t *w, struct pt_report_thread *th,
                        const struct pt_report_type *t, const struct posixtrace_event *e)
{
    struct pt_why_runner *runner = pt_why_of(w, th);

    if (runner && th->depth > 0 && th->open[th->depth - 1].call->kind == POSIXTRACE_WAIT_CONDITION)
        runner->mutex = pt_report_object_of(w->report, t->call, e);
    else if (runner)
        runner->mutex = NULL;
}

static void second_taken(void *context, struct pt_report_thread *th, const struct pt_report_type *t,
                         const struct posixtrace_event *e)
{
    posixtrace_why_t *w = context;

    if (th && (t->watched & PT_WHY_SWITCH))
        take_switch(w, th, t, e);
    if (th && (t->watched & PT_WHY_WAKES))
        add_wake(w, th, pt_report_object_of(w->report, t->call, e), e->ns, pt_report_u64(e, 8));
    if (th && (t->watched & PT_WHY_IO))
        take_transfer(w, th, e->ns);
    if (th && (t->watched & PT_WHY_UNLOCKS))
        take_unlock(w, th, t, e);
    if (th && (t->watched & PT_WHY_LIFE))
        take_life(w, th, t, e);
    take_pair(w, t, e);
}

const struct pt_report_watch pt_why_second_watch = { .typed = second_typed,
                                                     .unread = unread,
                                                     .taken = second_taken,
                                                     .spent = spent,
                                                     .settled = settled,
                                                     .long_call = long_call,
                                                     .ended = pt_why_ended,
                                                     .holds = holds,
                                                     .released = released };
