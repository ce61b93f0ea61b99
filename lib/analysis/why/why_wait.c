/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Segments of a wait: for a lock by the threads that had it, one after the other; for a condition,
 * a semaphore or a barrier until the signal and after it.
 *
 * A call on the other side of a pipe or connection is a signal, too.  A signal is said to have
 * ended a wait if all signals of the object in it are of one thread.  A thread that waits for a
 * condition and has its signal waits for the mutex, while another one has that.
 */
#include <posixtrace/system.h>

#include "analysis/why/why_state.h"

static void name_object(struct posixtrace_why_segment *s, const struct pt_report_object *o)
{
    s->has_object = o->row.kind != POSIXTRACE_WAIT_SLEEP && o->row.kind != POSIXTRACE_WAIT_SIGNAL;
    s->is_descriptor = o->row.is_descriptor;
    s->object = o->row.object;
    s->name = o->row.name ? o->row.name : "";
}

static struct posixtrace_why_segment *add_wait(posixtrace_why_t *w, const struct pt_why_frame *f,
                                               const struct pt_why_part *p, int64_t from,
                                               int64_t to)
{
    struct posixtrace_why_segment *s = pt_why_add_row(w, f, from, to);

    if (!s)
        return NULL;
    s->state = POSIXTRACE_WHY_WAIT;
    s->kind = p->call->kind;
    s->caller = p->caller;
    if (s->kind == POSIXTRACE_WAIT_IO || s->kind == POSIXTRACE_WAIT_WORK ||
        s->kind == POSIXTRACE_WAIT_FILE_LOCK)
        s->call = p->number;
    name_object(s, p->object);
    return s;
}

static void name_other(struct posixtrace_why_segment *s, enum posixtrace_why_relation relation,
                       const struct pt_report_thread *th, uint64_t caller, int64_t ns)
{
    s->relation = relation;
    s->other_pid = th->row.pid;
    s->other_tid = th->row.tid;
    s->other_caller = caller;
    s->other_ns = ns;
}

/* ---- locks ---- */

struct lock { /* a wait for one */
    const struct pt_why_part *part;
    const struct pt_report_object *object;
    bool held_only; /* it is no wait for it while no thread has it */
};

static void add_held(posixtrace_why_t *w, const struct pt_why_frame *f, const struct lock *l,
                     int64_t from, int64_t to, const struct pt_why_hold *h)
{
    struct posixtrace_why_segment *s = add_wait(w, f, l->part, from, to);

    if (!s)
        return;
    s->kind = POSIXTRACE_WAIT_LOCK;
    name_object(s, l->object);
    name_other(s, POSIXTRACE_WHY_HOLDS, h->thread, h->caller, h->at.from);
    pt_why_descend(w, f, h->thread, !l->part->failed);
}

/* last: the one that unlocked it last, or NULL. */
static void add_free(posixtrace_why_t *w, const struct pt_why_frame *f, const struct lock *l,
                     int64_t from, int64_t to, const struct pt_why_hold *last)
{
    struct posixtrace_why_segment *s = add_wait(w, f, l->part, from, to);

    if (!s || l->held_only || !last || last->at.to < l->part->call_ns || !last->unlocked)
        return;
    name_other(s, POSIXTRACE_WHY_UNLOCKED, last->thread, last->unlock_caller, last->at.to);
}

/* Readers may have it together; then ends are in no order. */
static size_t first_hold(const struct lock *l, const struct pt_why_list *list, int64_t from)
{
    size_t i;

    if (l->part->call->id == POSIXTRACE_RWLOCK_LOCK)
        return 0;
    i = pt_why_list_find(list, sizeof(struct pt_why_hold), from);
    return i > 0 ? i - 1 : 0;
}

static void resolve_lock(posixtrace_why_t *w, const struct pt_why_frame *f, const struct lock *l,
                         int64_t from, int64_t to)
{
    const struct pt_why_object *object = l->object->watched;
    const struct pt_why_list none = { .items = NULL }, *list = object ? &object->holds : &none;
    const struct pt_why_hold *last = NULL;
    int64_t at = from;

    for (size_t i = first_hold(l, list, from); i < list->count && at < to && !w->error; i++) {
        struct pt_why_hold h = ((struct pt_why_hold *)list->items)[i];
        int64_t end = pt_why_hold_end(w, &h);

        if (h.at.from >= to)
            break;
        if (h.thread != f->thread && end > at) {
            if (h.at.from > at)
                add_free(w, f, l, at, h.at.from, last);
            at = pt_why_larger(at, h.at.from);
            add_held(w, f, l, at, pt_why_smaller(end, to), &h);
            at = pt_why_smaller(end, to);
        }
        if (h.thread != f->thread && (!last || end >= pt_why_hold_end(w, last)))
            last = &((struct pt_why_hold *)list->items)[i];
    }
    if (at < to && !w->error)
        add_free(w, f, l, at, to, last);
}

/* ---- signals ---- */

const struct pt_why_list *pt_why_wakes(const posixtrace_why_t *w, const struct pt_why_part *p)
{
    const struct pt_why_object *object = p->object->watched;
    const struct pt_why_pipe *pipe = NULL;
    int side = p->channel.side;

    if (side >= 0)
        pipe = pt_report_map_find(&w->pipes, p->channel.key);
    if (side >= 0)
        return pipe ? &pipe->calls[1 - side] : NULL;
    return object ? &object->wakes : NULL;
}

const struct pt_why_wake *pt_why_waker(const struct pt_why_list *list,
                                       const struct pt_report_thread *th, int64_t from, int64_t to,
                                       unsigned *count)
{
    const struct pt_why_wake *wakes = list ? list->items : NULL, *found = NULL;
    bool one = true;

    *count = 0;
    if (!list || from < list->lost_to)
        return NULL;
    for (size_t i = pt_why_list_find(list, sizeof *wakes, from - 1);
         i < list->count && wakes[i].at.from <= to; i++) {
        if (wakes[i].thread == th)
            continue;
        one &= !found || found->thread == wakes[i].thread;
        found = &wakes[i];
        ++*count;
    }
    return one ? found : NULL;
}

/* That of other processes at the same address; without a thread: several have signalled. */
static struct pt_why_wake waker_elsewhere(const posixtrace_why_t *w, const struct pt_why_part *p,
                                          unsigned *count)
{
    const struct pt_report_map *processes = &w->report->processes;
    struct pt_why_wake found = { .thread = NULL };
    bool several = false;

    *count = 0;
    for (size_t i = 0; i < processes->count; i++) {
        const struct pt_report_process *process = processes->items[i];
        const struct pt_report_object *o = pt_report_object_at(w->report, p->call, process->pid,
                                                               p->object->row.object);
        const struct pt_why_object *object = o && o != p->object ? o->watched : NULL;
        const struct pt_why_wake *wake;
        unsigned more = 0;

        wake = pt_why_waker(object ? &object->wakes : NULL, NULL, p->call_ns, p->whole_to, &more);
        several |= more > 0 && (!wake || *count > 0);
        if (wake)
            found = *wake;
        *count += more;
    }
    if (several)
        found = (struct pt_why_wake){ .thread = NULL };
    return found;
}

/* No thread of the process is known to have signalled the semaphore or condition in the wait. */
static void name_elsewhere(const posixtrace_why_t *w, struct posixtrace_why_segment *s,
                           const struct pt_why_part *p)
{
    const struct pt_why_list *list = pt_why_wakes(w, p);
    struct pt_why_wake wake;
    unsigned count;

    if (p->failed || (s->kind != POSIXTRACE_WAIT_CONDITION && s->kind != POSIXTRACE_WAIT_SEMAPHORE))
        return;
    s->details_left_out = list && p->call_ns < list->lost_to;
    wake = waker_elsewhere(w, p, &count);
    if (count == 0 && p->taken && !s->details_left_out)
        s->relation = POSIXTRACE_WHY_NOT_RECORDED;
    if (count == 0)
        return;
    s->relation = POSIXTRACE_WHY_ELSEWHERE;
    s->signals = count;
    if (wake.thread)
        name_other(s, POSIXTRACE_WHY_ELSEWHERE, wake.thread, wake.caller, wake.at.from);
}

static void name_signal(struct posixtrace_why_segment *s, const struct pt_why_wake *wake)
{
    name_other(s, s->begin_ns < wake->at.from ? POSIXTRACE_WHY_SIGNALS : POSIXTRACE_WHY_SIGNALLED,
               wake->thread, wake->caller, wake->at.from);
}

static void add_signalled(posixtrace_why_t *w, const struct pt_why_frame *f,
                          const struct pt_why_part *p, int64_t from, int64_t to,
                          const struct pt_why_wake *wake, unsigned count)
{
    struct posixtrace_why_segment *s = to > from ? add_wait(w, f, p, from, to) : NULL;

    if (!s)
        return;
    s->signals = count;
    if (count == 0)
        name_elsewhere(w, s, p);
    if (!wake)
        return;
    name_signal(s, wake);
    if (s->relation == POSIXTRACE_WHY_SIGNALS)
        pt_why_descend(w, f, wake->thread, false);
}

/* After its signal a thread that waits for a condition needs the mutex. */
static void resolve_after(posixtrace_why_t *w, const struct pt_why_frame *f,
                          const struct pt_why_part *p, int64_t from, const struct pt_why_wake *wake,
                          unsigned count)
{
    struct lock l = { .part = p, .object = p->mutex, .held_only = true };
    size_t row = w->rows.count;

    if (p->call->kind != POSIXTRACE_WAIT_CONDITION || !p->mutex || f->thread->process->handlers) {
        add_signalled(w, f, p, from, p->at.to, wake, count);
        return;
    }
    resolve_lock(w, f, &l, from, p->at.to);
    for (; row < w->rows.count; row++) { /* those that were not held */
        struct posixtrace_why_segment *s = &w->rows.rows[row];

        if (s->depth != f->depth || s->kind != POSIXTRACE_WAIT_CONDITION)
            continue;
        s->signals = count;
        if (wake)
            name_signal(s, wake);
    }
}

/* The first of the signals, that came in the call; INT64_MAX: none. */
static int64_t first_signal(const struct pt_why_list *list, const struct pt_why_part *p)
{
    const struct pt_why_wake *wakes = list ? list->items : NULL;
    size_t i = list ? pt_why_list_find(list, sizeof *wakes, p->call_ns - 1) : 0;

    return list && i < list->count ? wakes[i].at.from : INT64_MAX;
}

static void resolve_signal(posixtrace_why_t *w, const struct pt_why_frame *f,
                           const struct pt_why_part *p)
{
    const struct pt_why_list *list = pt_why_wakes(w, p);
    const struct pt_why_wake *wake = NULL;
    int64_t ns = p->at.to;
    unsigned count = 0;

    if (!p->failed)
        wake = pt_why_waker(list, f->thread, p->call_ns, p->whole_to, &count);
    if (p->call->kind == POSIXTRACE_WAIT_BARRIER && count != 1)
        wake = NULL;
    if (count == 1)
        ns = wake->at.from;
    else if (count > 1 && !p->early && first_signal(list, p) < p->whole_from)
        ns = p->at.from;
    ns = pt_why_larger(p->at.from, pt_why_smaller(ns, p->at.to));
    add_signalled(w, f, p, p->at.from, ns, wake, count);
    if (ns < p->at.to && !w->error)
        resolve_after(w, f, p, ns, wake, count);
}

static void resolve_join(posixtrace_why_t *w, const struct pt_why_frame *f,
                         const struct pt_why_part *p)
{
    const struct pt_why_object *object = p->object->watched;
    struct pt_report_thread *other = object ? object->awaited : NULL;
    struct posixtrace_why_segment *s = add_wait(w, f, p, p->at.from, p->at.to);

    if (!s || !other)
        return;
    name_other(s, POSIXTRACE_WHY_IS_AWAITED, other, 0, 0);
    pt_why_descend(w, f, other, true);
}

/* For the end of a process: that of its first thread. */
static void resolve_child(posixtrace_why_t *w, const struct pt_why_frame *f,
                          const struct pt_why_part *p)
{
    struct posixtrace_why_segment *s = add_wait(w, f, p, p->at.from, p->at.to);
    int64_t pid = p->result > 0 ? p->result : (int64_t)p->object->row.object;
    struct pt_report_key key = { .a = (uint64_t)pid, .b = (uint64_t)pid };
    const struct pt_why_runner *runner = pid > 0 ? pt_report_map_find(&w->runners, key) : NULL;

    if (!s || !runner || !runner->thread || runner->thread == f->thread)
        return;
    name_other(s, POSIXTRACE_WHY_IS_AWAITED, runner->thread, 0, 0);
    pt_why_descend(w, f, runner->thread, true);
}

void pt_why_wait(posixtrace_why_t *w, const struct pt_why_frame *f, const struct pt_why_part *p)
{
    struct lock l = { .part = p, .object = p->object };

    switch (p->call->kind) {
    case POSIXTRACE_WAIT_LOCK: resolve_lock(w, f, &l, p->at.from, p->at.to); break;
    case POSIXTRACE_WAIT_CONDITION:
    case POSIXTRACE_WAIT_SEMAPHORE:
    case POSIXTRACE_WAIT_BARRIER:
    case POSIXTRACE_WAIT_IO:
    case POSIXTRACE_WAIT_WORK: resolve_signal(w, f, p); break;
    case POSIXTRACE_WAIT_THREAD: resolve_join(w, f, p); break;
    case POSIXTRACE_WAIT_CHILD: resolve_child(w, f, p); break;
    default: add_wait(w, f, p, p->at.from, p->at.to); break;
    }
}
