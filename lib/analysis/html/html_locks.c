/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Which thread has a lock when, and which thread let another one continue; see html_states.h. */
#include <errno.h>
#include <stdlib.h>
#include <posixtrace/system.h>

#include "analysis/html/html_states.h"

enum { LOCK_ROWS = 4096 };
enum {
    FLOW_LOCK,
    FLOW_CONDITION,
    FLOW_SEMAPHORE,
    FLOW_BARRIER,
    FLOW_PIPE,
    FLOW_THREAD,
    FLOW_SOCKET
};

static struct pt_html_object *object_of(struct pt_html_watch *w, struct pt_report_object *o)
{
    struct pt_html_object *object = o ? o->watched : NULL;

    if (object || !o)
        return object;
    object = calloc(1, sizeof *object);
    if (!object) {
        pt_html_fail(w->h, ENOMEM);
        return NULL;
    }
    object->row = PT_HTML_NO_ROW;
    o->watched = object;
    return object;
}

/* ---- locks ---- */

static uint32_t row_of(struct pt_html_watch *w, const struct pt_report_object *o,
                       struct pt_html_object *object)
{
    struct pt_html_row row = { .kind = PT_HTML_LOCK, .object = o->row.object };
    const struct pt_html_process *process;

    if (object->row != PT_HTML_NO_ROW || w->lock_rows == LOCK_ROWS)
        return object->row;
    process = pt_html_process_of(w->h, o->row.pid);
    if (!process)
        return PT_HTML_NO_ROW;
    row.owner = process->number;
    object->row = pt_html_row_of(w->h, row);
    if (++w->lock_rows == LOCK_ROWS)
        pt_html_note(w->h, "The page has the first %d locks.", LOCK_ROWS);
    return object->row;
}

static void put_hold(struct pt_html_watch *w, const struct pt_report_object *o,
                     const struct pt_html_hold *hold, int64_t to)
{
    const struct pt_html_runner *runner = pt_html_runner_of(w, hold->thread);
    struct pt_html_item item = { .count = 1, .begin = pt_html_time(w->h, hold->from) };
    int64_t length = pt_html_time(w->h, to) - item.begin;

    item.row = row_of(w, o, o->watched);
    if (!runner || item.row == PT_HTML_NO_ROW)
        return;
    item.value = runner->lane->number + 1;
    item.length = item.covered = length > 0 ? length : 0;
    pt_html_detail_add(w->h, &item);
}

/* After a loss nothing is known of those before it. */
static void forget_old(struct pt_html_watch *w, const struct pt_report_object *o,
                       struct pt_html_object *object)
{
    size_t kept = 0;

    for (size_t i = 0; i < object->count; i++) {
        const struct pt_html_hold *hold = &object->holds[i];

        if (hold->gap == w->report->gap)
            object->holds[kept++] = *hold;
        else
            put_hold(w, o, hold, pt_gaps_begin(&w->report->gaps, hold->gap + 1));
    }
    object->count = kept;
}

void pt_html_lock_held(struct pt_html_watch *w, struct pt_report_object *o,
                       struct pt_report_thread *th)
{
    struct pt_html_object *object = object_of(w, o);
    struct pt_html_hold *holds;

    if (!object || w->h->error)
        return;
    forget_old(w, o, object);
    holds = pt_html_more(w->h, object->holds, object->count, &object->room, sizeof *holds);
    if (!holds)
        return;
    object->holds = holds;
    holds[object->count++] = (struct pt_html_hold){ th, th->at, w->report->gap };
}

void pt_html_lock_released(struct pt_html_watch *w, struct pt_report_object *o,
                           struct pt_report_thread *th, int64_t ns)
{
    struct pt_html_object *object = o->watched;

    if (!object || w->h->error)
        return;
    forget_old(w, o, object);
    for (size_t i = 0; i < object->count; i++) {
        if (object->holds[i].thread != th)
            continue;
        put_hold(w, o, &object->holds[i], ns);
        object->holds[i] = object->holds[--object->count];
        return;
    }
}

void pt_html_locks_end(struct pt_html_watch *w)
{
    for (size_t i = 0; i < w->report->objects.count; i++) {
        struct pt_report_object *o = w->report->objects.items[i];
        struct pt_html_object *object = o->watched;

        if (!object)
            continue;
        forget_old(w, o, object);
        for (size_t n = 0; n < object->count; n++)
            put_hold(w, o, &object->holds[n], w->report->now);
        free(object->holds);
        free(object);
        o->watched = NULL;
    }
}

/* ---- flows ---- */

void pt_html_wakes(struct pt_html_watch *w, struct pt_report_object *o, struct pt_report_thread *th,
                   int64_t ns)
{
    struct pt_html_object *object = object_of(w, o);

    if (!object)
        return;
    object->waker = th;
    object->wake_ns = ns;
}

static int kind_of(const struct pt_report_call *call)
{
    switch (call->id) {
    case POSIXTRACE_MUTEX_LOCK:
    case POSIXTRACE_RWLOCK_LOCK: return FLOW_LOCK;
    case POSIXTRACE_COND_WAIT: return FLOW_CONDITION;
    case POSIXTRACE_SEM_WAIT: return FLOW_SEMAPHORE;
    case POSIXTRACE_BARRIER_WAIT: return FLOW_BARRIER;
    case POSIXTRACE_THREAD_JOIN: return FLOW_THREAD;
    case POSIXTRACE_IO:
    case POSIXTRACE_POLL: return FLOW_PIPE;
    default: return -1;
    }
}

static void put_flow(struct pt_html_watch *w, unsigned kind, struct pt_report_thread *from,
                     int64_t ns, struct pt_report_thread *to)
{
    const struct pt_html_runner *a = pt_html_runner_of(w, from), *b = pt_html_runner_of(w, to);
    struct pt_html_flow flow = { .kind = kind, .ns = pt_html_time(w->h, ns) };

    if (!a || !b || a->lane->shared || b->lane->shared)
        return;
    flow.from = a->lane->number;
    flow.to = b->lane->number;
    flow.length = pt_html_time(w->h, to->at) - flow.ns;
    if (flow.length >= 0)
        pt_html_flow_add(w->h, &flow);
}

void pt_html_call_ended(struct pt_html_watch *w, struct pt_report_thread *th,
                        const struct pt_report_open *open, int64_t result)
{
    const struct pt_html_object *object = open->object->watched;
    int kind = kind_of(open->call);
    struct pt_report_thread *from = NULL;
    bool is_socket = false;
    int64_t ns = 0;

    if (kind == FLOW_LOCK && (open->holder.thread || open->off)) {
        from = pt_report_held_since(w->report, open->object, th, open->ns).thread;
        ns = open->object->last_ns;
    } else if (kind == FLOW_PIPE) {
        from = result > 0 ? pt_html_transfer_of(w, th, open, &ns, &is_socket) : NULL;
        kind = is_socket ? FLOW_SOCKET : kind;
    } else if (kind > FLOW_LOCK && object && object->waker && object->wake_ns >= open->ns) {
        from = object->waker;
        ns = object->wake_ns;
    }
    if (from && from != th)
        put_flow(w, (unsigned)kind, from, ns, th);
}
