/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Steering an active stream: start, stop, clear, flush. */
#include <errno.h>
#include <pthread.h>
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "control/control.h"
#include "flush/thread.h"
#include "shm/attention.h"
#include "stream/control_lock.h"
#include "stream/pages.h"

/* -ENOMEM: without a START the events would be outside all windows, and not be counted.  Errors of
 * pt_pages_each(). */
static int begin_window(struct pt_stream *s, uint64_t state, bool recorded)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t now;

    if (!pt_control_lock_holds(s))
        return 0;
    if (!recorded && s->seg->g.attr.stream_policy == POSIX_TRACE_LOOP)
        return -ENOMEM;
    now = pt_clock_now(s->seg->g.clock);
    if (now <= s->writer.last)
        now = s->writer.last + 1; /* not the time of the STOP before */
    if (recorded ? pt_state_change(h, &state, PT_RUNNING, now)
                 : pt_stream_stop_full(h, &state, now))
        return pt_stream_update_gates(s, true);
    return 0;
}

/* A full stream that was stopped: its consumer starts it when it has made room, and puts the
 * START.  The state that is left to change. */
static uint64_t leave_halt(struct pt_stream *s, int *error)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t state = pt_load_seqcst(&h->state), running;

    while (pt_state_of(state) == PT_HALTED && pt_control_lock_holds(s)) {
        running = pt_state_turn(state, PT_AUTOSTOPPED);
        if (pt_cas_seqcst(&h->state, &state, running)) {
            pt_stream_note_window(s, POSIX_TRACE_START, false);
            *error = pt_stream_update_gates(s, true);
            return running;
        }
    }
    return state;
}

/* STOP of a full stream is no record: its consumer has that of the moment at which it was
 * full, and closes the window if the stream is not started before it is empty. */
static bool leave_running(struct pt_stream *s, uint64_t *state, uint64_t addr)
{
    struct pt_seg_header *h = s->seg->h;
    bool full = pt_state_is_full(*state);
    int by_call = 0;

    if (full ? !pt_cas_seqcst(&h->state, state, pt_state_turn(*state, PT_HALTED))
             : !pt_state_change(h, state, PT_SUSPENDED, pt_clock_now(s->seg->g.clock)))
        return false;
    pt_stream_update_gates(s, false);
    if (full)
        pt_stream_note_window(s, POSIX_TRACE_STOP, false);
    else
        pt_stream_put_control(s, POSIX_TRACE_STOP, &by_call, sizeof by_call, addr);
    return true;
}

/* The lock is held.  The order is state, gates, record.  A thread may pass its gate before that and
 * stamp its event later; the event then is after STOP and outside the window. */
static void suspend(struct pt_stream *s, uint64_t addr)
{
    uint64_t state = pt_load_seqcst(&s->seg->h->state);

    while (pt_state_runs(state) && pt_control_lock_holds(s) && !leave_running(s, &state, addr))
        ;
}

/*
 * The lock is held.  The order is record, so that it is older than all events; state, which
 * processes load that join the stream now; gates.  stream/control_lock.c has the case without room
 * for the record.
 */
static int start(struct pt_stream *s, uint64_t addr)
{
    uint64_t state = pt_load_seqcst(&s->seg->h->state);
    struct pt_set filter;
    bool recorded;
    int r = pt_state_runs(state) ? 0 : pt_pages_check(s);

    if (r < 0)
        return r;
    state = leave_halt(s, &r);
    if (pt_state_of(state) == PT_SUSPENDED) {
        pt_set_copy(&filter, pt_seg_filter(s->seg->h));
        recorded = pt_stream_put_control(s, POSIX_TRACE_START, &filter, sizeof filter, addr);
        r = begin_window(s, state, recorded);
    }
    if (r < 0)
        suspend(s, addr); /* a process that has joined since the check cannot be reached */
    return r;
}

int pt_stream_start(struct pt_stream *s, uint64_t addr)
{
    int r, e;

    do {
        r = pt_control_lock_begin(s);
        if (r < 0)
            return r;
        e = start(s, addr);
    } while (!pt_control_lock_end(s));
    return e;
}

int pt_stream_stop(struct pt_stream *s, uint64_t addr)
{
    int r;

    do {
        r = pt_control_lock_begin(s);
        if (r < 0)
            return r;
        suspend(s, addr);
    } while (!pt_control_lock_end(s));
    return 0;
}

/* The lock is held.  A stream that is full is empty at once, and suspended.  Does it run?  One load
 * decides: it may fill and be restarted at any moment. */
static bool leave_full(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t state = pt_load_seqcst(&h->state);
    int by_call = 0;

    while (pt_state_is_full(state)) {
        if (!pt_cas_seqcst(&h->state, &state, pt_state_make(PT_SUSPENDED, 0)))
            continue;
        pt_stream_put_control(s, POSIX_TRACE_STOP | PT_RECORD_TRUNCATED, &by_call, sizeof by_call,
                              0);
        return false;
    }
    return pt_state_runs(state);
}

/* The lock is held.  The filter of a new stream; after an error the old one is in force. */
static int forget_filter(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;
    bool running = pt_state_of(pt_load_seqcst(&h->state)) == PT_RUNNING;
    char expression[PT_FILTER_TEXT];
    struct pt_set nothing, filter;
    uint64_t version;
    int r = running ? pt_pages_check(s) : 0;

    if (r < 0)
        return r;
    pt_seg_filter_copy(h, &filter);
    pt_seg_expression(h, expression);
    pt_set_empty(&nothing);
    pt_control_lock_set_filter(s, &nothing, "", &version);
    running = leave_full(s);
    r = pt_stream_update_gates(s, running);
    if (r < 0) {
        pt_control_lock_set_filter(s, &filter, expression, &version);
        pt_stream_update_gates(s, running);
    }
    return r;
}

/* The lock is held.  *ts: the time of the clear. */
static int forget_all(struct pt_stream *s, uint64_t *ts)
{
    int r = forget_filter(s);

    if (r < 0)
        return r;
    pt_stream_forget_stop(s->seg->h);
    /* Before the time: a chunk that is overwritten later is noted again. */
    pt_store_seqcst(&s->seg->h->recycled, 0u);
    *ts = pt_clock_now(s->seg->g.clock);
    pt_store_seqcst(&s->seg->h->clear_ts, *ts);
    return 0;
}

/* The consumer's part, where readers are that. */
static int clear_unread(struct pt_stream *s, uint64_t ts)
{
    sigset_t before;
    int r = -EINVAL;

    pt_thread_hold_signals(&before);
    if (pt_stream_is_ours(s)) {
        pthread_mutex_lock(&s->reading);
        r = pt_consumer_clear(&s->live, ts);
        pthread_mutex_unlock(&s->reading);
    }
    pt_thread_let_signals(&before);
    return r;
}

static int clear(struct pt_stream *s)
{
    uint64_t ts = 0;
    int r, e;

    do {
        r = pt_control_lock_begin(s);
        if (r < 0)
            return r;
        e = forget_all(s, &ts);
    } while (!pt_control_lock_end(s));
    if (e < 0)
        return e;

    r = s->flusher ? pt_flusher_clear(s->flusher, ts) : clear_unread(s, ts);
    if (pt_stream_is_ours(s))
        pt_store_seqcst(&s->seg->h->overrun, 0u);
    return r;
}

int pt_stream_clear(struct pt_stream *s)
{
    int r = s->flusher ? pt_flusher_clear_begin(s->flusher) : 0;

    if (r < 0)
        return r;
    r = clear(s);
    if (s->flusher)
        pt_flusher_clear_end(s->flusher);
    return r;
}

/* For a stream of another process: requests the flush from its flush thread. */
static int ask_owner_to_flush(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;

    pt_store_seqcst(&s->flush_since, pt_load_seqcst(&h->flush_errors) | UINT64_C(1) << 32);
    pt_store_seqcst(&h->flush_asked_from, 1u);
    pt_add_seqcst(&h->flush_futex, 1u);
    pt_futex_wake_all(&h->flush_futex);
    return 0;
}

int pt_stream_flush(struct pt_stream *s, uint64_t addr)
{
    struct pt_flush_status st;
    int r = s->seg->g.has_log ? pt_attached_check(s) : -EINVAL;

    if (r < 0)
        return r;
    pt_stream_put_mark(s, POSIX_TRACE_FLUSH_START, addr);
    if (!s->flusher)
        return ask_owner_to_flush(s);
    pt_flusher_ask(s->flusher);
    pt_flusher_status(s->flusher, &st, false);
    return -st.error;
}
