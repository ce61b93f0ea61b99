/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A run: passes events from the stream to the metrics that use their types.  The meaning of an id
 * is found by its name at its first event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "analysis/metrics/engine/bounds.h"
#include "analysis/metrics/engine/uncertainty.h"
#include "analysis/metrics/engine/engine.h"
#include "analysis/metrics/run/gap_marks.h"
#include "analysis/metrics/run/reader.h"
#include "analysis/metrics/run/run.h"

enum { BATCH = 64 }; /* events read at once */

struct event_type {
    bool known, thread_ends, is_switch, is_cpu_time, is_sleep;
    bool plain; /* known, and only metrics use it */
    struct pt_meaning *meanings;
    size_t count;
};

struct posixtrace_metric_run {
    struct pt_engine engine;
    trace_id_t trid;
    struct event_type *types; /* by id */
    size_t type_count;
    bool stopped; /* by STOP, and nothing came since */
    bool full;    /* the last STOP was automatic: the stream was full */
    bool gap;     /* reported by the caller, and no event came since */
    bool grows;   /* a log whose stream is still active */
    struct pt_gap_marks marks;
    bool (*wants)(void *context, const struct posixtrace_event *begin);
    void *wants_context;
};

static bool add_meaning(struct event_type *t, struct pt_machine *m, size_t index)
{
    struct pt_meaning *more = realloc(t->meanings, (t->count + 1) * sizeof *more);

    if (!more)
        return false;
    t->meanings = more;
    more[t->count++] = pt_engine_meaning(m, index);
    return true;
}

static int learn_type(posixtrace_metric_run_t *run, struct event_type *t, trace_event_id_t id)
{
    char buffer[TRACE_EVENT_NAME_MAX + 1];
    const char *name = pt_reader_name(run->trid, id, buffer);

    for (size_t i = 0; i < run->engine.count; i++) {
        struct pt_machine *m = &run->engine.machines[i];
        size_t index = name ? pt_machine_event(m->metric, name) : m->metric->event_count;

        if ((index < m->metric->event_count || m->metric->looks_at_all) &&
            !add_meaning(t, m, index))
            return ENOMEM;
    }
    t->thread_ends = name && strcmp(name, "posixtrace_thread_end") == 0;
    t->is_switch = name && strncmp(name, "posixtrace_switch_", 18) == 0;
    t->is_cpu_time = name && strcmp(name, "posixtrace_cpu_time") == 0;
    t->is_sleep = name && strncmp(name, "posixtrace_sleep", 16) == 0;
    t->plain = id > POSIX_TRACE_ERROR && !t->thread_ends && !t->is_switch && !t->is_cpu_time &&
               !t->is_sleep;
    t->known = true;
    return 0;
}

static struct event_type *type_of(posixtrace_metric_run_t *run, trace_event_id_t id)
{
    if (id >= run->type_count) {
        size_t count = id + 64;
        struct event_type *more = realloc(run->types, count * sizeof *more);

        if (!more)
            return NULL;
        memset(more + run->type_count, 0, (count - run->type_count) * sizeof *more);
        run->types = more;
        run->type_count = count;
    }
    return &run->types[id];
}

/* A sleep may have been due before the stream began, and a measurement hidden in a gap may begin
 * then.  So the due time counts for metrics that do not use this event, too. */
static void note_due(struct pt_engine *e, const struct posixtrace_event *event)
{
    int64_t due = 0;

    if (event->data_len >= 16)
        memcpy(&due, (const char *)event->data + 8, sizeof due);
    if (due > 0 && due < e->first_ns)
        e->first_ns = due;
}

/* before_ns: the time of the event before, or PT_NONE_BEFORE. */
static void note_gap(posixtrace_metric_run_t *run, const struct posixtrace_event *event,
                     int64_t before_ns)
{
    struct pt_engine *e = &run->engine;
    bool unmarked = pt_gap_marks_lack_begin(&run->marks, event->id);

    unmarked = unmarked && before_ns != PT_NONE_BEFORE;
    if (unmarked)
        pt_engine_gap_begin(e, PT_GAP_UNREAD, before_ns);
    switch (event->id) {
    case POSIX_TRACE_FILTER: /* the event that a measurement waits for may be filtered now */
        if (!e->in_gap) {
            pt_engine_gap_begin(e, PT_GAP_UNREAD, event->ns);
            pt_engine_gap_end(e, PT_GAP_UNREAD, event->ns);
        }
        break;
    case POSIX_TRACE_STOP: pt_engine_gap_begin(e, PT_GAP_STOPPED, event->ns); break;
    case POSIX_TRACE_START: pt_engine_gap_end(e, PT_GAP_STOPPED, event->ns); break;
    case POSIX_TRACE_OVERFLOW: pt_engine_gap_begin(e, PT_GAP_OVERFLOW, event->ns); break;
    case POSIX_TRACE_RESUME: pt_engine_gap_end(e, PT_GAP_OVERFLOW, event->ns); break;
    }
    if (unmarked)
        pt_engine_gap_end(e, PT_GAP_UNREAD, event->ns);
}

/* The thread id is known, but with another pthread_t: that thread ended unnoticed, and this is the
 * next one with its number.  Events about a thread by others (context switches, CPU times) may have
 * the pthread_t of either. */
static int tell_apart(struct pt_engine *e, const struct event_type *t,
                      const struct posixtrace_event *event, struct pt_traced_thread **thread)
{
    if (t->is_switch || t->is_cpu_time || event->thread_id == 0)
        return 0;
    if ((*thread)->thread_id == 0) {
        (*thread)->thread_id = event->thread_id;
        return 0;
    }
    pt_engine_thread_ends(e, *thread);
    return pt_engine_thread(e, event, thread);
}

/* To all metrics that know its type. */
static inline int feed(struct pt_engine *e, const struct event_type *t,
                       const struct posixtrace_event *event)
{
    struct pt_tuple tuple = { .event = event, .thread = e->last, .ns = event->ns };
    int error = 0;

    if (!tuple.thread || event->tid == 0 || tuple.thread->key.tid != (uint32_t)event->tid ||
        tuple.thread->key.pid != (uint32_t)event->pid)
        error = pt_engine_thread(e, event, &tuple.thread);
    if (tuple.thread && tuple.thread->thread_id != event->thread_id)
        error = tell_apart(e, t, event, &tuple.thread);
    pt_assert(!tuple.thread || (tuple.thread->key.pid == (uint32_t)event->pid &&
                                tuple.thread->key.tid == (uint32_t)event->tid));
    e->current = tuple.thread;
    e->event = event;
    e->stored++;
    if (tuple.thread)
        tuple.thread->events++;
    for (size_t i = 0; i < t->count && !error; i++)
        error = pt_engine_hear(e, &t->meanings[i], &tuple);
    return error;
}

static void look_for_hidden_losses(posixtrace_metric_run_t *run)
{
    if (!(run->engine.in_gap & PT_GAP_UNMARKED) && pt_reader_hides_losses(run->trid))
        pt_engine_gap_begin(&run->engine, PT_GAP_UNMARKED, run->engine.now);
}

static void begin_stream(posixtrace_metric_run_t *run, const struct posixtrace_event *event)
{
    if (run->engine.gap == 0 || event->ns < run->engine.first_ns)
        run->engine.first_ns = event->ns;
    look_for_hidden_losses(run);
    if (pt_reader_begins_in_gap(run->trid))
        pt_engine_gap_begin(&run->engine, PT_GAP_OVERFLOW, event->ns);
}

/* A full stream has stopped by itself: it counts the events after that as lost. */
static bool is_automatic(const struct posixtrace_event *stop)
{
    int automatic = 0;

    if (stop->data_len >= sizeof automatic)
        memcpy(&automatic, stop->data, sizeof automatic);
    return automatic != 0;
}

/* Takes an event of a type that is new or not plain.  before_ns: as in note_gap(). */
static int take_special(posixtrace_metric_run_t *run, const struct posixtrace_event *event,
                        int64_t before_ns)
{
    struct event_type *t = type_of(run, event->id);
    struct pt_engine *e = &run->engine;
    int error;

    if (!t || (!t->known && learn_type(run, t, event->id) != 0))
        return ENOMEM;
    if (e->events == 1) /* its type is new */
        begin_stream(run, event);
    run->stopped = event->id == POSIX_TRACE_STOP && !e->in_gap;
    run->full = run->stopped && is_automatic(event);
    if (event->id <= POSIX_TRACE_ERROR) {
        note_gap(run, event, before_ns);
        return 0;
    }
    if (t->is_sleep)
        note_due(e, event);
    error = feed(e, t, event);
    if (t->is_switch || t->is_cpu_time)
        pt_bounds_event(e, e->last, event, t->is_switch);
    if (t->is_switch)
        t->plain = true; /* further events of the type need no check */
    if (t->thread_ends && e->last)
        pt_engine_thread_ends(e, e->last);
    return error;
}

static inline int take_event(posixtrace_metric_run_t *run, const struct posixtrace_event *event)
{
    struct pt_engine *e = &run->engine;
    int64_t before_ns = run->gap || e->events == 0 ? PT_NONE_BEFORE : e->now;
    int error;

    if (run->gap)
        pt_engine_gap_end(e, PT_GAP_UNREAD, event->ns);
    run->gap = false;
    e->events++;
    e->now = event->ns;
    if (e->in_gap && event->id > POSIX_TRACE_ERROR) {
        pt_engine_gap_end(e, PT_GAP_STOPPED, event->ns); /* it runs, START or not */
        e->gap_to = event->ns;
    }
    if (event->id < run->type_count && run->types[event->id].plain) {
        run->stopped = false;
        error = feed(e, &run->types[event->id], event);
    } else {
        error = take_special(run, event, before_ns);
    }
    if (e->in_gap && event->id > POSIX_TRACE_ERROR)
        pt_engine_gap_goes_on(e);
    return error ? error : e->stopped;
}

int posixtrace_metric_run_create(const posixtrace_metric_t *const *metrics, size_t count,
                                 trace_id_t trid,
                                 int (*measured)(void *context,
                                                 const struct posixtrace_measurement *m),
                                 void *context, posixtrace_metric_run_t **run)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    posixtrace_metric_run_t *made;
    int error;

    if (!metrics || count == 0 || !run)
        return EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!metrics[i])
            return EINVAL;
    made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    made->trid = trid;
    error = pt_engine_init(&made->engine, metrics, count);
    made->engine.measured = measured;
    made->engine.context = context;
    if (error == 0 && !pt_reader_name(trid, POSIX_TRACE_START, name))
        error = EINVAL;
    if (error == 0)
        error = pt_reader_rewind(trid);
    made->grows = pt_reader_grows(trid);
    if (error)
        posixtrace_metric_run_free(made);
    else
        *run = made;
    return error;
}

/* The reader does not fill the name. */
static bool wants_named(void *context, const struct posixtrace_event *event)
{
    posixtrace_metric_run_t *run = context;
    struct posixtrace_event named = *event;
    char buffer[TRACE_EVENT_NAME_MAX + 1];
    const char *name = pt_reader_name(run->trid, event->id, buffer);

    named.name = name ? name : "";
    return run->wants(run->wants_context, &named);
}

void posixtrace_metric_run_select(posixtrace_metric_run_t *run,
                                  bool (*wants)(void *context,
                                                const struct posixtrace_event *begin),
                                  void *context)
{
    if (!run)
        return;
    run->wants = wants;
    run->wants_context = context;
    run->engine.wants = wants ? wants_named : NULL;
    run->engine.wants_context = run;
}

/* Events before the first one that is read are missing. */
static void begin_with_gap(posixtrace_metric_run_t *run)
{
    struct pt_engine *e = &run->engine;

    if (run->gap || !pt_reader_begin(run->trid, &e->first_ns))
        return;
    e->now = e->first_ns;
    pt_engine_gap_begin(e, PT_GAP_UNREAD, e->now);
    run->gap = true;
}

static void begin_unread(posixtrace_metric_run_t *run)
{
    if (run->engine.events == 0)
        begin_with_gap(run);
    else
        posixtrace_metric_run_gap(run);
}

int pt_metric_run_event(posixtrace_metric_run_t *run, const struct posixtrace_event *event)
{
    return take_event(run, event);
}

void pt_metric_run_unread(posixtrace_metric_run_t *run)
{
    begin_unread(run);
}

int posixtrace_metric_run_take(posixtrace_metric_run_t *run, uint64_t events, int *unavailable)
{
    struct posixtrace_event batch[BATCH];
    uint64_t left = events ? events : UINT64_MAX;
    size_t count;
    bool gap = false;
    int error = 0;

    if (!run || !unavailable)
        return EINVAL;
    *unavailable = 0;
    /* Losses that were counted since the last call are later than all events taken until then. */
    if (run->grows && run->engine.events > 0)
        look_for_hidden_losses(run);
    for (; error == 0 && left > 0; left -= count) {
        error = pt_reader_next(run->trid, batch, left < BATCH ? (size_t)left : BATCH, &count, &gap);
        if (error == 0 && gap)
            begin_unread(run);
        if (error == 0 && count == 0) {
            *unavailable = 1;
            break;
        }
        for (size_t i = 0; error == 0 && i < count; i++)
            error = take_event(run, &batch[i]);
    }
    return error;
}

void posixtrace_metric_run_gap(posixtrace_metric_run_t *run)
{
    /* The time before the first event is unknown, but not a gap. */
    if (!run || run->engine.events == 0)
        return;
    pt_engine_gap_begin(&run->engine, PT_GAP_UNREAD, run->engine.now);
    run->gap = true;
    run->stopped = false;
}

int posixtrace_metric_run_end(posixtrace_metric_run_t *run)
{
    int64_t last_ns;
    bool full, open;

    if (!run)
        return EINVAL;
    full = run->stopped && run->full && pt_reader_was_full(run->trid);
    if (run->stopped && !full)
        pt_engine_gap_is_end(&run->engine);
    full |= (run->engine.in_gap & PT_GAP_OVERFLOW) != 0;
    open = pt_reader_end(run->trid, &last_ns) && run->gap;
    pt_engine_end(&run->engine, last_ns, open || full);
    return run->engine.stopped;
}

uint64_t posixtrace_metric_run_events(const posixtrace_metric_run_t *run)
{
    return run ? run->engine.events : 0;
}

void posixtrace_metric_run_doubt(const posixtrace_metric_run_t *run, size_t index,
                                 struct posixtrace_doubt *doubt, size_t size)
{
    const struct pt_engine *e = run ? &run->engine : NULL;
    struct posixtrace_doubt d;
    int64_t hidden;

    if (!doubt)
        return;
    memset(doubt, 0, size);
    if (!e || index >= e->count)
        return;
    d = e->machines[index].doubt;
    hidden = pt_uncertainty_hidden(e, &e->machines[index]);
    if (hidden > d.at_most_ns)
        d.at_most_ns = hidden;
    memcpy(doubt, &d, size < sizeof d ? size : sizeof d);
}

bool posixtrace_metric_run_saw(const posixtrace_metric_run_t *run, const char *event)
{
    char buffer[TRACE_EVENT_NAME_MAX + 1];

    for (size_t id = 0; run && event && id < run->type_count; id++) {
        const char *name = run->types[id].known
                               ? pt_reader_name(run->trid, (trace_event_id_t)id, buffer)
                               : NULL;

        if (name && pt_is_type_of(event, name))
            return true;
    }
    return false;
}

void posixtrace_metric_run_free(posixtrace_metric_run_t *run)
{
    if (!run)
        return;
    for (size_t i = 0; i < run->type_count; i++)
        free(run->types[i].meanings);
    free(run->types);
    pt_engine_deinit(&run->engine);
    free(run);
}
