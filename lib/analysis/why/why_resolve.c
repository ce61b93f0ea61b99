/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Segments of a time of a thread, and below each wait what the thread did that is waited for.  The
 * segments of a frame add up to it: what no part of the thread covers is unknown.
 *
 * Where one thread begins an instance and another one ends it, it was handed over when the first
 * one signalled for the first time what the other one waits for.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/why/why_state.h"
#include "base/assert.h"

enum { ROWS_MOST = 16384 };

struct posixtrace_why_segment *pt_why_add_row(posixtrace_why_t *w, const struct pt_why_frame *f,
                                              int64_t from, int64_t to)
{
    struct pt_why_rows *r = &w->rows;

    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        struct posixtrace_why_segment *rows = realloc(r->rows, room * sizeof *rows);

        if (!rows) {
            w->error = ENOMEM;
            return NULL;
        }
        r->rows = rows;
        r->room = room;
    }
    pt_assert(r->count < r->room);
    r->rows[r->count] = (struct posixtrace_why_segment){ .depth = f->depth,
                                                         .state = POSIXTRACE_WHY_UNKNOWN,
                                                         .begin_ns = from,
                                                         .end_ns = to,
                                                         .pid = f->thread ? f->thread->row.pid : 0,
                                                         .tid = f->thread ? f->thread->row.tid : 0,
                                                         .name = "" };
    return &r->rows[r->count++];
}

static void add_unknown(posixtrace_why_t *w, const struct pt_why_frame *f, int64_t from, int64_t to,
                        enum posixtrace_why_reason reason)
{
    struct posixtrace_why_segment *s = pt_why_add_row(w, f, from, to);

    if (s)
        s->reason = reason;
}

static void add_state(posixtrace_why_t *w, const struct pt_why_frame *f,
                      const struct pt_why_part *p, enum posixtrace_why_state state)
{
    struct posixtrace_why_segment *s = pt_why_add_row(w, f, p->at.from, p->at.to);

    if (s)
        s->state = state;
}

/* ---- preempted ---- */

static void add_runnable(posixtrace_why_t *w, const struct pt_why_frame *f, int64_t from,
                         int64_t to, const struct pt_why_hold *h)
{
    struct posixtrace_why_segment *s = pt_why_add_row(w, f, from, to);

    if (!s)
        return;
    s->state = POSIXTRACE_WHY_RUNNABLE;
    if (!h)
        return;
    s->relation = POSIXTRACE_WHY_RAN;
    s->other_pid = h->thread->row.pid;
    s->other_tid = h->thread->row.tid;
    s->other_ns = h->at.from;
}

/* By which threads had the processor. */
static void resolve_runnable(posixtrace_why_t *w, const struct pt_why_frame *f,
                             const struct pt_why_part *p)
{
    struct pt_report_key key = { .a = p->cpu };
    const struct pt_why_cpu *cpu = pt_report_map_find(&w->cpus, key);
    const struct pt_why_hold *holds = cpu ? cpu->holds.items : NULL;
    size_t i = cpu ? pt_why_list_find(&cpu->holds, sizeof *holds, p->at.from) : 0;
    int64_t at = p->at.from;

    for (; cpu && i < cpu->holds.count && holds[i].at.from < p->at.to; i++) {
        int64_t from = pt_why_larger(at, holds[i].at.from);
        int64_t to = pt_why_smaller(p->at.to, pt_why_hold_end(w, &holds[i]));

        if (holds[i].thread == f->thread || to <= from)
            continue;
        if (from > at)
            add_runnable(w, f, at, from, NULL);
        add_runnable(w, f, from, to, &holds[i]);
        at = to;
    }
    if (at < p->at.to)
        add_runnable(w, f, at, p->at.to, NULL);
}

/* ---- a thread ---- */

/* Before its first switch.  In a log that has lost events, a thread without a switch may have lost
 * them. */
static uint8_t early_share(const posixtrace_why_t *w, const struct pt_why_runner *runner,
                           const struct pt_why_part *p)
{
    if (runner->switches)
        return p->gap == runner->switch_gap && !runner->begins_off ? PT_REPORT_RUN
                                                                   : PT_REPORT_UNKNOWN;
    return w->switches > 0 && w->gap_count > 0 ? PT_REPORT_UNKNOWN : p->share;
}

static void resolve_part(posixtrace_why_t *w, const struct pt_why_frame *f,
                         const struct pt_why_part *p)
{
    const struct pt_why_runner *runner = f->thread->watched;
    uint8_t share = p->early ? early_share(w, runner, p) : p->share;
    bool ended = runner->ended && p->at.from >= runner->ended_ns;

    if (share == PT_REPORT_RUN)
        add_state(w, f, p, POSIXTRACE_WHY_RUN);
    else if (share == PT_REPORT_RUNNABLE)
        resolve_runnable(w, f, p);
    else if (share < POSIXTRACE_WAIT_KINDS && p->object)
        pt_why_wait(w, f, p);
    else if (ended && (share == PT_REPORT_UNSURE || share == PT_REPORT_UNNAMED))
        add_state(w, f, p, POSIXTRACE_WHY_ENDED);
    else if (share == PT_REPORT_UNNAMED)
        add_state(w, f, p, POSIXTRACE_WHY_OFF);
    else
        add_unknown(w, f, p->at.from, p->at.to,
                    p->early && share == PT_REPORT_UNSURE ? POSIXTRACE_WHY_NO_SWITCH
                                                          : POSIXTRACE_WHY_LOST);
}

static void resolve_gap(posixtrace_why_t *w, const struct pt_why_frame *f, int64_t from, int64_t to)
{
    const struct pt_why_runner *runner = f->thread ? f->thread->watched : NULL;
    bool left_out = runner && from < runner->parts.lost_to;

    add_unknown(w, f, from, to, left_out ? POSIXTRACE_WHY_LEFT_OUT : POSIXTRACE_WHY_LOST);
}

/* The time of the frame's thread. */
static void resolve(posixtrace_why_t *w, const struct pt_why_frame *f)
{
    struct pt_why_runner *runner;
    int64_t at = f->from;
    size_t i;

    if (f->thread && f->thread->at < f->to)
        pt_report_thread_at(w->report, f->thread, f->to);
    runner = f->thread ? pt_why_of(w, f->thread) : NULL;
    i = runner ? pt_why_list_find(&runner->parts, sizeof(struct pt_why_part), at) : 0;
    for (; runner && i < runner->parts.count && at < f->to && !w->error; i++) {
        struct pt_why_part p = ((struct pt_why_part *)runner->parts.items)[i];

        if (p.at.from >= f->to || w->rows.count > 4 * ROWS_MOST)
            break;
        p.whole_from = p.at.from;
        p.whole_to = p.at.to;
        p.at.from = pt_why_larger(p.at.from, at);
        p.at.to = pt_why_smaller(p.at.to, f->to);
        if (p.at.from > at)
            resolve_gap(w, f, at, p.at.from);
        resolve_part(w, f, &p);
        at = p.at.to;
    }
    if (at < f->to && w->rows.count > 4 * ROWS_MOST)
        add_unknown(w, f, at, f->to, POSIXTRACE_WHY_LEFT_OUT);
    else if (at < f->to)
        resolve_gap(w, f, at, f->to);
}

/* Is the other one among the threads that wait for this one?  kept: they all wait for what the next
 * one has. */
static bool is_circle(const struct pt_why_frame *f, const struct pt_report_thread *other,
                      bool *kept)
{
    for (; f && f->thread != other; f = f->above)
        *kept &= f->kept;
    return f != NULL;
}

void pt_why_descend(posixtrace_why_t *w, const struct pt_why_frame *f,
                    struct pt_report_thread *other, bool kept)
{
    struct posixtrace_why_segment *s = &w->rows.rows[w->rows.count - 1];
    struct pt_why_frame below = { .above = f,
                                  .thread = other,
                                  .from = s->begin_ns,
                                  .to = s->end_ns,
                                  .depth = f->depth + 1,
                                  .kept = kept };

    if (is_circle(f, other, &kept))
        s->deadlock = kept;
    else if (below.depth > PT_WHY_DEPTH || w->rows.count > ROWS_MOST)
        s->details_left_out = true;
    else
        resolve(w, &below);
}

/* ---- instances ---- */

static struct pt_report_thread *thread_of(posixtrace_why_t *w, pid_t pid, pid_t tid)
{
    struct pt_report_key key = { .a = (uint32_t)pid, .b = (uint32_t)tid };
    struct pt_why_runner *runner = pt_report_map_find(&w->runners, key);

    return runner ? runner->thread : NULL;
}

static bool is_signal_wait(const struct pt_why_part *p)
{
    return p->object && !p->failed &&
           (p->share == POSIXTRACE_WAIT_CONDITION || p->share == POSIXTRACE_WAIT_SEMAPHORE ||
            p->share == POSIXTRACE_WAIT_IO || p->share == POSIXTRACE_WAIT_WORK);
}

/* The signals of the object by which the other thread ended a wait of the frame's thread; where it
 * did not wait, those for which it waited last. */
static const struct pt_why_list *channel(posixtrace_why_t *w, const struct pt_why_frame *f,
                                         const struct pt_report_thread *other)
{
    const struct pt_why_runner *runner = pt_why_of(w, f->thread);
    const struct pt_why_part *p = runner ? runner->parts.items : NULL;
    unsigned count;

    for (size_t i = p ? pt_why_list_find(&runner->parts, sizeof *p, f->from) : 0;
         p && i < runner->parts.count && p[i].at.from < f->to; i++) {
        const struct pt_why_list *list = is_signal_wait(&p[i]) ? pt_why_wakes(w, &p[i]) : NULL;
        const struct pt_why_wake *wake = pt_why_waker(
            list, f->thread, pt_why_larger(p[i].call_ns, f->from), p[i].at.to, &count);

        if (wake && wake->thread == other)
            return list;
    }
    return runner && runner->channel.object ? pt_why_wakes(w, &runner->channel) : NULL;
}

/* When the other thread signalled it first; INT64_MAX: never. */
static int64_t handed_over(posixtrace_why_t *w, const struct pt_why_frame *f,
                           const struct pt_report_thread *other)
{
    const struct pt_why_list *list;
    const struct pt_why_wake *wakes;

    pt_report_thread_at(w->report, f->thread, f->to);
    list = channel(w, f, other);
    wakes = list ? list->items : NULL;
    for (size_t i = list ? pt_why_list_find(list, sizeof *wakes, f->from - 1) : 0;
         list && i < list->count && wakes[i].at.from < f->to; i++)
        if (wakes[i].thread == other)
            return wakes[i].at.from;
    return INT64_MAX;
}

static void resolve_both(posixtrace_why_t *w, struct pt_why_frame *first, struct pt_why_frame *last)
{
    int64_t to = last->to, ns = INT64_MAX;

    if (first->thread && last->thread)
        ns = handed_over(w, last, first->thread);
    if (ns < to) {
        first->to = last->from = ns;
        if (first->to > first->from)
            resolve(w, first);
        resolve(w, last);
        return;
    }
    add_unknown(w, last, first->from, to, POSIXTRACE_WHY_NO_HANDOVER);
    if (w->error || !last->thread)
        return;
    last->depth = 1;
    resolve(w, last);
}

void pt_why_resolve(posixtrace_why_t *w, const struct posixtrace_why_instance *i)
{
    struct pt_why_frame first = { .thread = thread_of(w, i->pid, i->tid),
                                  .from = i->begin_ns,
                                  .to = i->end_ns };
    struct pt_why_frame last = first;

    w->rows.count = 0;
    w->resolved++;
    last.thread = thread_of(w, i->end_pid, i->end_tid);
    if (i->end_ns <= i->begin_ns)
        return;
    if (first.thread == last.thread)
        resolve(w, &first);
    else
        resolve_both(w, &first, &last);
}
