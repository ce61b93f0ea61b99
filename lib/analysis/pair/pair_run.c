/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Takes the items of all streams in one order of time: by their times, and of equal ones by the
 * places of their streams.  A stream keeps its own order: a late event counts at the time of the
 * one before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "analysis/metrics/run/reader.h"
#include "analysis/pair/pair_state.h"

/* ---- the heap ---- */

static bool is_before(const struct pt_pair_source *a, const struct pt_pair_source *b)
{
    return a->key < b->key || (a->key == b->key && a->place < b->place);
}

static void sink(posixtrace_pair_run_t *run, size_t at)
{
    struct pt_pair_source **heap = run->heap, *moved = heap[at];
    size_t child;

    while ((child = 2 * at + 1) < run->heap_count) {
        child += child + 1 < run->heap_count && is_before(heap[child + 1], heap[child]);
        if (!is_before(heap[child], moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static int make_ready(posixtrace_pair_run_t *run)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < run->source_count; i++) {
        error = pt_pair_source_next(run, &run->sources[i]);
        run->heap[i] = &run->sources[i];
    }
    run->heap_count = run->source_count;
    for (size_t i = run->heap_count / 2; i-- > 0;)
        sink(run, i);
    run->ready = error == 0;
    return error;
}

/* ---- items ---- */

static bool is_automatic(const struct posixtrace_event *stop)
{
    int automatic = 0;

    if (stop->data_len >= sizeof automatic)
        memcpy(&automatic, stop->data, sizeof automatic);
    return automatic != 0;
}

static void take_mark(posixtrace_pair_run_t *run, struct pt_pair_source *s,
                      const struct posixtrace_event *e)
{
    switch (e->id) {
    case POSIX_TRACE_FILTER: /* an event may be filtered now */
        if (!s->in_gap) {
            pt_pair_gap_begin(run, s, PT_PAIR_UNREAD, e->ns);
            pt_pair_gap_end(run, s, PT_PAIR_UNREAD, e->ns);
        }
        break;
    case POSIX_TRACE_START: pt_pair_gap_end(run, s, PT_PAIR_STOPPED, e->ns); break;
    case POSIX_TRACE_OVERFLOW: pt_pair_gap_begin(run, s, PT_PAIR_OVERFLOW, e->ns); break;
    case POSIX_TRACE_RESUME: pt_pair_gap_end(run, s, PT_PAIR_OVERFLOW, e->ns); break;
    }
}

/* Last events of what waits may have been before. */
static void take_first(posixtrace_pair_run_t *run, struct pt_pair_source *s, int64_t ns)
{
    s->begun = true;
    if (run->seq > 0)
        pt_pair_source_starts(run, s, ns);
    if (pt_reader_hides_losses(s->trid))
        pt_pair_gap_begin(run, s, PT_PAIR_HIDDEN, ns);
    if (pt_reader_begins_in_gap(s->trid))
        pt_pair_gap_begin(run, s, PT_PAIR_OVERFLOW, ns);
}

static int take_event(posixtrace_pair_run_t *run, struct pt_pair_source *s)
{
    const struct posixtrace_event *e = &s->batch[s->at];

    if (s->unread)
        pt_pair_gap_end(run, s, PT_PAIR_UNREAD, e->ns);
    s->unread = false;
    if (!s->begun)
        take_first(run, s, e->ns);
    if (s->type->is_mark) {
        take_mark(run, s, e);
        return 0;
    }
    pt_pair_gap_end(run, s, PT_PAIR_STOPPED, e->ns); /* it runs, START or not */
    return pt_pair_take(run, s, s->type, e);
}

static int take_last(posixtrace_pair_run_t *run, struct pt_pair_source *s)
{
    int64_t last_ns;
    bool open = pt_reader_end(s->trid, &last_ns) && s->unread;

    open |= (s->in_gap & PT_PAIR_OVERFLOW) != 0 || (s->full && (s->in_gap & PT_PAIR_STOPPED));
    pt_pair_source_ends(run, s, s->item_ns, open);
    return 0;
}

/* A STOP that ends the trace leaves nothing out, unless the stream was full. */
static void take_stop(posixtrace_pair_run_t *run, struct pt_pair_source *s, int64_t ns,
                      bool automatic)
{
    s->full = automatic && pt_reader_was_full(s->trid);
    if (s->item != PT_PAIR_ITEM_LAST || s->full)
        pt_pair_gap_begin(run, s, PT_PAIR_STOPPED, ns);
}

/* The earliest item of all. */
static int take_item(posixtrace_pair_run_t *run)
{
    struct pt_pair_source *s = run->heap[0];
    bool stop = s->item == PT_PAIR_ITEM_EVENT && s->batch[s->at].id == POSIX_TRACE_STOP;
    bool automatic = stop && is_automatic(&s->batch[s->at]);
    int64_t ns = s->item_ns;
    int error = 0;

    run->now = s->key;
    switch (s->item) {
    case PT_PAIR_ITEM_EVENT: error = take_event(run, s); break;
    case PT_PAIR_ITEM_GAP: pt_pair_gap_begin(run, s, PT_PAIR_UNREAD, ns); break;
    case PT_PAIR_ITEM_LAST: error = take_last(run, s); break;
    case PT_PAIR_ITEM_NONE: break;
    }
    if (error == 0)
        error = pt_pair_source_next(run, s);
    if (error)
        return error;
    if (stop)
        take_stop(run, s, ns, automatic);
    if (s->item == PT_PAIR_ITEM_NONE)
        run->heap[0] = run->heap[--run->heap_count];
    if (run->heap_count > 0)
        sink(run, 0);
    return 0;
}

/* ---- the interface ---- */

static int init_source(posixtrace_pair_run_t *run, struct pt_pair_source *s, trace_id_t trid,
                       size_t place)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    int error;

    s->trid = trid;
    s->place = place;
    s->key = s->now = INT64_MIN;
    if (!pt_reader_name(trid, POSIX_TRACE_START, name))
        return EINVAL;
    s->names_later = posix_trace_rewind(trid) == ESPIPE || pt_reader_grows(trid);
    error = pt_reader_rewind(trid);
    if (error == 0)
        error = posixtrace_fields_create(trid, &s->fields);
    return error ? error : pt_pair_types_learn(run, s);
}

static int init(posixtrace_pair_run_t *run, const posixtrace_pair_t *const *pairs,
                size_t pair_count, const trace_id_t *trids, size_t count)
{
    int error = 0;

    run->fault.other = SIZE_MAX;
    if (getrandom(&run->factor, sizeof run->factor, GRND_NONBLOCK) != sizeof run->factor)
        run->factor = 0x9e3779b97f4a7c15u ^ (uintptr_t)run;
    run->factor |= 1;
    run->matches = calloc(pair_count, sizeof *run->matches);
    run->sources = calloc(count, sizeof *run->sources);
    run->heap = calloc(count, sizeof(struct pt_pair_source *));
    if (!run->matches || !run->sources || !run->heap)
        return ENOMEM;
    for (size_t i = 0; i < pair_count; i++) {
        struct pt_pair_match *m = &run->matches[run->match_count++];

        m->pair = pairs[i];
        memset(m->text, -1, sizeof m->text);
        TAILQ_INIT(&m->open);
        TAILQ_INIT(&m->done);
    }
    for (size_t i = 0; error == 0 && i < count; i++)
        error = init_source(run, &run->sources[run->source_count++], trids[i], i);
    return error;
}

int posixtrace_pair_run_create(
    const posixtrace_pair_t *const *pairs, size_t pair_count, const trace_id_t *trids, size_t count,
    int (*measured)(void *context, const struct posixtrace_pair_measurement *m), void *context,
    posixtrace_pair_run_t **run, struct posixtrace_pair_fault *fault)
{
    posixtrace_pair_run_t *made;
    int error;

    if (!pairs || pair_count == 0 || pair_count > PT_PAIRS_MAX || !trids || count == 0 || !run)
        return EINVAL;
    for (size_t i = 0; i < pair_count; i++)
        if (!pairs[i])
            return EINVAL;
    made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    made->measured = measured;
    made->context = context;
    error = init(made, pairs, pair_count, trids, count);
    if (error == EINVAL && fault)
        *fault = made->fault;
    if (error)
        posixtrace_pair_run_free(made);
    else
        *run = made;
    return error;
}

void posixtrace_pair_run_select(posixtrace_pair_run_t *run,
                                bool (*wants)(void *context, size_t stream,
                                              const struct posixtrace_event *begin),
                                void *context)
{
    if (!run)
        return;
    run->wants = wants;
    run->wants_context = context;
}

void posixtrace_pair_run_reversed(posixtrace_pair_run_t *run,
                                  bool (*reversed)(void *context,
                                                   const struct posixtrace_pair_measurement *m,
                                                   int *stop))
{
    if (run)
        run->reversed = reversed;
}

int posixtrace_pair_run_take(posixtrace_pair_run_t *run, uint64_t events, int *unavailable)
{
    uint64_t until;
    int error = 0;

    if (!run || !unavailable)
        return EINVAL;
    until = events && events < UINT64_MAX - run->events ? run->events + events : UINT64_MAX;
    if (!run->ready)
        error = make_ready(run);
    while (error == 0 && run->stopped == 0 && run->heap_count > 0 && run->events < until)
        error = take_item(run);
    *unavailable = error == 0 && run->heap_count == 0;
    return error ? error : run->stopped;
}

int posixtrace_pair_run_end(posixtrace_pair_run_t *run)
{
    int error = 0;

    if (!run)
        return EINVAL;
    for (size_t i = 0; error == 0 && run->stopped == 0 && i < run->match_count; i++)
        error = pt_pair_settle(run, i);
    return error ? error : run->stopped;
}

uint64_t posixtrace_pair_run_events(const posixtrace_pair_run_t *run)
{
    return run ? run->events : 0;
}

void posixtrace_pair_run_doubt(const posixtrace_pair_run_t *run, size_t pair,
                               struct posixtrace_pair_doubt *doubt, size_t size)
{
    const struct posixtrace_pair_doubt *d;

    if (!doubt)
        return;
    memset(doubt, 0, size);
    if (!run || pair >= run->match_count)
        return;
    d = &run->matches[pair].doubt;
    memcpy(doubt, d, size < sizeof *d ? size : sizeof *d);
}

const struct posixtrace_pair_fault *posixtrace_pair_run_fault(const posixtrace_pair_run_t *run)
{
    return run ? &run->fault : NULL;
}

void posixtrace_pair_run_free(posixtrace_pair_run_t *run)
{
    if (!run)
        return;
    for (size_t i = 0; i < run->match_count; i++)
        pt_pair_table_free(&run->matches[i]);
    for (size_t i = 0; i < run->source_count; i++) {
        pt_pair_types_free(&run->sources[i]);
        posixtrace_fields_free(run->sources[i].fields);
    }
    free(run->matches);
    free(run->sources);
    free(run->heap);
    free(run);
}
