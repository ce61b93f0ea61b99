/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads the events, and gives each to what its type is for.  See report_state.h.
 */
#include "analysis/report/report_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>
#include <posixtrace/system.h>

#include "analysis/metrics/run/reader.h"

enum { BATCH = 64 };

/* ---- gaps ---- */

static void begin_gap(posixtrace_report_t *r, enum pt_report_gap why, int64_t ns)
{
    if (!r->in_gap) {
        pt_gaps_add(&r->gaps, ++r->gap, ns);
        r->gap_ns = ns;
        r->gap_why = why;
        r->summary.gaps++;
    }
    r->in_gap |= why;
}

static void end_gap(posixtrace_report_t *r, enum pt_report_gap why, int64_t ns)
{
    unsigned before = r->in_gap;

    r->in_gap &= ~(unsigned)why;
    if (!before || r->in_gap)
        return;
    r->summary.gap_ns += pt_report_selected(r, r->gap_ns, ns);
    if (r->each.gap && !r->each_error)
        r->each_error = r->each.gap(r->each.context, r->gap_why, r->gap_ns, ns);
}

/* before_ns: the time of the event before, or PT_NONE_BEFORE. */
static void take_mark(posixtrace_report_t *r, const struct posixtrace_event *e, int64_t before_ns)
{
    if (pt_gap_marks_lack_begin(&r->marks, e->id) && before_ns != PT_NONE_BEFORE)
        begin_gap(r, e->id == POSIX_TRACE_START ? PT_REPORT_GAP_STOPPED : PT_REPORT_GAP_OVERFLOW,
                  before_ns);
    switch (e->id) {
    case POSIX_TRACE_OVERFLOW: begin_gap(r, PT_REPORT_GAP_OVERFLOW, e->ns); break;
    case POSIX_TRACE_RESUME: end_gap(r, PT_REPORT_GAP_OVERFLOW, e->ns); break;
    case POSIX_TRACE_STOP: begin_gap(r, PT_REPORT_GAP_STOPPED, e->ns); break;
    case POSIX_TRACE_START: end_gap(r, PT_REPORT_GAP_STOPPED, e->ns); break;
    case POSIX_TRACE_FILTER: /* the end of a call may be left out from now on */
        begin_gap(r, PT_REPORT_GAP_FILTER, e->ns);
        end_gap(r, PT_REPORT_GAP_FILTER, e->ns);
        break;
    default: break;
    }
}

/* ---- types, threads ---- */

static bool grow_types(posixtrace_report_t *r, trace_event_id_t id)
{
    size_t count = (size_t)id + 64;
    struct pt_report_type *types = realloc(r->types, count * sizeof *types);
    struct pt_report_pair **pairs;

    if (!types)
        return false;
    r->types = types;
    pairs = realloc(r->pair_of, count * sizeof *pairs);
    if (!pairs)
        return false;
    r->pair_of = pairs;
    memset(types + r->type_count, 0, (count - r->type_count) * sizeof *types);
    memset(pairs + r->type_count, 0, (count - r->type_count) * sizeof(void *));
    r->type_count = count;
    return true;
}

/* NULL: no memory. */
static const struct pt_report_type *type_of(posixtrace_report_t *r, trace_event_id_t id)
{
    char buffer[TRACE_EVENT_NAME_MAX + 1];
    struct pt_report_type *t;
    const char *name;

    if (id >= r->type_count && !grow_types(r, id))
        return NULL;
    t = &r->types[id];
    if (t->known)
        return t;
    name = pt_reader_name(r->trid, id, buffer);
    *t = pt_report_type_of(name);
    if (r->watch)
        r->watch->typed(r->watcher, name, t);
    if (t->role == PT_REPORT_PAIR_BEGIN || t->role == PT_REPORT_PAIR_END) {
        r->pair_of[id] = pt_report_pair_of(r, name, t->stem);
        if (!r->pair_of[id])
            return NULL;
    }
    return t;
}

static void name_thread(struct pt_report_thread *th, const struct posixtrace_event *e)
{
    th->row.thread_id = e->thread_id;
    strncpy(th->row.name, e->thread_name ? e->thread_name : "", sizeof th->row.name - 1);
}

static struct pt_report_thread *make_thread(posixtrace_report_t *r,
                                            const struct posixtrace_event *e)
{
    struct pt_report_key key = { .a = (uint32_t)e->pid, .b = (uint32_t)e->tid };
    struct pt_report_thread *th = pt_report_map_make(&r->threads, key, sizeof *th);

    key.b = 0;
    if (!th || th->any)
        return th;
    th->process = pt_report_map_make(&r->processes, key, sizeof *th->process);
    if (!th->process)
        return NULL;
    th->process->pid = e->pid;
    th->any = true;
    th->row.pid = e->pid;
    th->row.tid = e->tid;
    th->row.begin_ns = th->at = th->own_ns = e->ns;
    th->row.waits_for = -1;
    th->gap = r->gap;
    th->wanted = !r->options.wants_thread ||
                 r->options.wants_thread(r->options.context, e->pid, e->tid);
    th->row.selected = th->wanted;
    name_thread(th, e);
    return th;
}

static struct pt_report_thread *thread_of(posixtrace_report_t *r, const struct posixtrace_event *e)
{
    struct pt_report_thread **recent = &r->recent[(uint32_t)e->tid % PT_REPORT_RECENT];

    if (!*recent || (*recent)->row.tid != e->tid || (*recent)->row.pid != e->pid)
        *recent = make_thread(r, e);
    r->last = *recent;
    return r->last;
}

bool pt_report_wants_begin(posixtrace_report_t *r, const struct posixtrace_event *e)
{
    char buffer[TRACE_EVENT_NAME_MAX + 1];
    struct posixtrace_event named = *e;
    const char *name;

    if (!r->options.wants_begin)
        return true;
    name = pt_reader_name(r->trid, e->id, buffer);
    named.name = name ? name : "";
    return r->options.wants_begin(r->options.context, &named);
}

/* ---- events ---- */

/* After these a thread may still be in a call that began before. */
static bool leaves_doubt(const struct pt_report_thread *th, const struct pt_report_type *t)
{
    return th->process->handlers || t->role == PT_REPORT_UNLOCK ||
           (t->role == PT_REPORT_END && t->call->unlock && !th->sure);
}

static int take_call(posixtrace_report_t *r, struct pt_report_thread *th,
                     const struct pt_report_type *t, const struct posixtrace_event *e)
{
    r->summary.calls++;
    if (t->role == PT_REPORT_BEGIN)
        return pt_report_call_begins(r, th, t->call, e);
    if (t->role == PT_REPORT_END)
        return pt_report_call_ends(r, th, t->call, e);
    return pt_report_unlocks(r, th, t->call, e);
}

/* The number of a thread that has ended was given to another one. */
static void begin_life(posixtrace_report_t *r, struct pt_report_thread *th)
{
    if (th->ended) {
        pt_report_calls_lost(r, th);
        th->life++;
        th->ended = false;
    }
    th->handlers = 0;
    pt_report_thread_was_outside(r, th, th->sure || r->summary.gaps == 0); /* none before it */
    th->sure = true;
}

static int take_other(posixtrace_report_t *r, struct pt_report_thread *th,
                      const struct pt_report_type *t, const struct posixtrace_event *e)
{
    switch (t->role) {
    case PT_REPORT_THREAD_BEGIN: begin_life(r, th); break;
    case PT_REPORT_THREAD_END: th->ended = true; break;
    case PT_REPORT_SIGNAL_BEGIN:
        th->handlers++;
        th->process->handlers = true;
        break;
    case PT_REPORT_SIGNAL_END: th->handlers -= th->handlers > 0; break;
    case PT_REPORT_LONG_CALL:
        r->summary.calls++;
        r->long_only = true;
        return pt_report_long_call(r, th, e);
    case PT_REPORT_NAMES_DESCRIPTOR:
        if (r->watch && pt_report_channels_named(&r->channels, e, r->gap) != 0)
            return ENOMEM;
        return pt_report_names_descriptor(r, e);
    case PT_REPORT_CONNECTION:
        return r->watch ? pt_report_channels_connected(&r->channels, e, r->gap) : 0;
    case PT_REPORT_EPOLL_SET: return r->watch ? pt_report_channels_set(&r->channels, e, r->gap) : 0;
    case PT_REPORT_FOUND_READY: return pt_report_notes_ready(r, th, e);
    case PT_REPORT_PAIR_BEGIN:
        r->summary.pairs++;
        return pt_report_pair_begins(r, th, r->pair_of[e->id], e);
    case PT_REPORT_PAIR_END: return pt_report_pair_ends(r, th, r->pair_of[e->id], e);
    default: break;
    }
    return 0;
}

/* Does the event say that the thread was in no call since its last one? */
static bool settles(const posixtrace_report_t *r, const struct pt_report_thread *th,
                    const struct pt_report_type *t, bool was_sure)
{
    if (r->long_only)
        return !th->process->handlers && th->sure;
    return was_sure || (th->sure && t->role != PT_REPORT_END);
}

static bool is_inside(enum pt_report_role role)
{
    return role == PT_REPORT_SIGNAL_BEGIN || role == PT_REPORT_SIGNAL_END ||
           role == PT_REPORT_NAMES_DESCRIPTOR || role == PT_REPORT_CONNECTION ||
           role == PT_REPORT_FOUND_READY;
}

/* An event that the thread records itself. */
static int take_own(posixtrace_report_t *r, struct pt_report_thread *th,
                    const struct pt_report_type *t, const struct posixtrace_event *e)
{
    bool was_sure = th->sure;
    int error;

    if (e->thread_id != th->row.thread_id && e->thread_id)
        name_thread(th, e); /* another program, or another thread with that number */
    th->row.events += e->ns >= r->options.from_ns && e->ns < r->options.to_ns;
    pt_report_thread_runs(th);
    if (t->role == PT_REPORT_BEGIN || t->role == PT_REPORT_END || t->role == PT_REPORT_UNLOCK)
        error = take_call(r, th, t, e);
    else
        error = take_other(r, th, t, e);
    if (is_inside(t->role))
        return error; /* it may be in a call that is recorded when it ends */
    th->sure = th->sure || !leaves_doubt(th, t);
    pt_report_thread_was_outside(r, th, settles(r, th, t, was_sure));
    th->own_ns = e->ns;
    return error;
}

static int take_switch(posixtrace_report_t *r, struct pt_report_thread *th,
                       enum pt_report_role role, const struct posixtrace_event *e)
{
    int error = pt_report_cpu_switch(r, th, role, e);

    r->summary.switches++;
    pt_report_thread_switches(r, th, role);
    return error;
}

static int take_of_thread(posixtrace_report_t *r, const struct pt_report_type *t,
                          const struct posixtrace_event *e)
{
    struct pt_report_thread *th = thread_of(r, e);

    if (!th)
        return ENOMEM;
    if (t->role == PT_REPORT_THREAD_BEGIN && th->ended)
        th->at = e->ns > th->at ? e->ns : th->at; /* between two threads of that number */
    pt_report_thread_at(r, th, e->ns);
    th->row.end_ns = th->at;
    th->process->last_ns = th->at > th->process->last_ns ? th->at : th->process->last_ns;
    if (t->role >= PT_REPORT_SWITCH_IN && t->role <= PT_REPORT_PREEMPTED)
        return take_switch(r, th, t->role, e);
    if (t->role == PT_REPORT_STILL_WAITS)
        return pt_report_notes_wait(r, th, e);
    if (t->role != PT_REPORT_CPU_TIME)
        return take_own(r, th, t, e);
    r->summary.cpu_times++;
    pt_report_thread_cpu_time(th, e);
    return 0;
}

static void begin_trace(posixtrace_report_t *r, int64_t ns)
{
    r->summary.first_ns = ns;
    if (pt_reader_hides_losses(r->trid)) {
        r->summary.unmarked = true;
        begin_gap(r, PT_REPORT_GAP_UNMARKED, ns);
    }
    if (pt_reader_begins_in_gap(r->trid))
        begin_gap(r, PT_REPORT_GAP_OVERFLOW, ns);
}

int pt_report_event(posixtrace_report_t *r, const struct posixtrace_event *e)
{
    const struct pt_report_type *t = type_of(r, e->id);
    int64_t before_ns = r->unread || r->summary.events == 0 ? PT_NONE_BEFORE : r->now;
    int error = 0;

    if (!t)
        return ENOMEM;
    if (r->summary.events++ == 0)
        begin_trace(r, e->ns);
    if (r->unread)
        end_gap(r, PT_REPORT_GAP_UNREAD, e->ns);
    r->unread = false;
    r->now = e->ns > r->now ? e->ns : r->now;
    r->summary.last_ns = r->now;
    if (e->id <= POSIX_TRACE_ERROR) {
        take_mark(r, e, before_ns);
        if (t->watched)
            r->watch->taken(r->watcher, NULL, t, e);
        return 0;
    }
    end_gap(r, PT_REPORT_GAP_STOPPED, e->ns); /* it runs, START or not */
    if (e->tid != 0 && !(r->watch && r->watch->marks_only))
        error = take_of_thread(r, t, e);
    if (t->watched && error == 0)
        r->watch->taken(r->watcher, e->tid != 0 ? r->last : NULL, t, e);
    if (r->in_gap)
        r->gap++;
    return error ? error : r->each_error;
}

void pt_report_unread(posixtrace_report_t *r)
{
    if (r->summary.events > 0) {
        begin_gap(r, PT_REPORT_GAP_UNREAD, r->now);
        r->unread = true;
    }
    if (r->watch)
        r->watch->unread(r->watcher);
}

/* ---- the interface ---- */

int posixtrace_report_create(trace_id_t trid, const struct posixtrace_report_options *options,
                             size_t size, posixtrace_report_t **report)
{
    struct posixtrace_report_options all = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
    char name[TRACE_EVENT_NAME_MAX + 1];
    posixtrace_report_t *r;
    uint64_t long_calls;
    int error;

    if (!report || (options && size == 0) || !pt_reader_name(trid, POSIX_TRACE_START, name))
        return EINVAL;
    error = pt_reader_rewind(trid);
    if (error)
        return error;
    r = calloc(1, sizeof *r);
    if (!r || pt_gaps_init(&r->gaps) != 0) {
        free(r);
        return ENOMEM;
    }
    if (options)
        memcpy(&all, options, size < sizeof all ? size : sizeof all);
    r->options = all;
    r->trid = trid;
    r->now = INT64_MIN;
    r->long_only = posixtrace_event_count(trid, POSIXTRACE_LONG_CALL, &long_calls) == 0 &&
                   long_calls > 0;
    *report = r;
    return 0;
}

int posixtrace_report_take(posixtrace_report_t *r, uint64_t events, int *unavailable)
{
    struct posixtrace_event batch[BATCH];
    uint64_t left = events ? events : UINT64_MAX;
    size_t count = 1;
    bool gap = false;
    int error = 0;

    if (!r || !unavailable)
        return EINVAL;
    *unavailable = 0;
    for (; error == 0 && left > 0 && count > 0; left -= count) {
        error = pt_reader_next(r->trid, batch, left < BATCH ? (size_t)left : BATCH, &count, &gap);
        if (error)
            break;
        if (gap)
            pt_report_unread(r);
        for (size_t i = 0; error == 0 && i < count; i++)
            error = pt_report_event(r, &batch[i]);
    }
    *unavailable = count == 0;
    return error;
}

int posixtrace_report_end(posixtrace_report_t *r)
{
    if (!r)
        return EINVAL;
    if (r->in_gap == PT_REPORT_GAP_STOPPED) { /* recording has ended, and nothing came since */
        r->summary.gaps--;
        r->gap--;
        r->in_gap = 0;
    }
    if (r->in_gap)
        end_gap(r, (enum pt_report_gap)r->in_gap, r->now);
    if (!r->summary.unmarked && r->summary.events > 0)
        r->summary.unmarked = pt_reader_hides_losses(r->trid); /* a pipe knows it now */
    for (size_t i = 0; i < r->threads.count; i++)
        pt_report_thread_close(r, r->threads.items[i]);
    for (size_t i = 0; i < r->objects.count; i++) {
        struct pt_report_object *o = r->objects.items[i];

        o->row.statistics = o->statistics;
    }
    pt_report_pairs_close(r);
    r->summary.long_calls_only = r->long_only;
    return r->each_error;
}

void posixtrace_report_free(posixtrace_report_t *r)
{
    if (!r)
        return;
    pt_report_objects_free(r);
    pt_report_sites_free(r);
    pt_report_pairs_free(r);
    for (size_t i = 0; i < r->threads.count; i++)
        free(((struct pt_report_thread *)r->threads.items[i])->ready);
    pt_report_channels_deinit(&r->channels);
    pt_report_map_deinit(&r->threads);
    pt_report_map_deinit(&r->processes);
    pt_report_map_deinit(&r->objects);
    pt_report_map_deinit(&r->names);
    pt_report_map_deinit(&r->contention);
    pt_report_map_deinit(&r->cpus);
    pt_report_map_deinit(&r->pairs);
    pt_report_map_deinit(&r->begun);
    pt_gaps_deinit(&r->gaps);
    free(r->types);
    free(r->pair_of);
    free(r);
}

uint64_t posixtrace_report_events(const posixtrace_report_t *r)
{
    return r ? r->summary.events : 0;
}

const struct posixtrace_report_summary *posixtrace_report_summary(const posixtrace_report_t *r)
{
    return r ? &r->summary : NULL;
}

static void *item_of(const struct pt_report_map *m, size_t i)
{
    return i < m->count ? m->items[i] : NULL;
}

const struct posixtrace_report_thread *posixtrace_report_thread(const posixtrace_report_t *r,
                                                                size_t i)
{
    const struct pt_report_thread *th = r ? item_of(&r->threads, i) : NULL;

    return th ? &th->row : NULL;
}

const struct posixtrace_report_object *posixtrace_report_object(const posixtrace_report_t *r,
                                                                size_t i)
{
    const struct pt_report_object *o = r ? item_of(&r->objects, i) : NULL;

    return o ? &o->row : NULL;
}

const struct posixtrace_report_pair *posixtrace_report_pair(const posixtrace_report_t *r, size_t i)
{
    const struct pt_report_pair *p = r ? item_of(&r->pairs, i) : NULL;

    return p ? &p->row : NULL;
}
