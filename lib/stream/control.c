/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Steering an active stream: start, stop, clear, flush. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/sys.h"
#include "base/thread.h"
#include "shm/dir.h"
#include "stream/attached.h"
#include "stream/flush.h"
#include "stream/gates.h"
#include "stream/steer.h"

static void fill_author(struct pt_author *a)
{
    memset(a, 0, sizeof *a);
    a->level = PT_LEVEL_CONTROL;
    a->pid = (int32_t)getpid();
    a->tid = pt_sys_tid();
    a->thread_id = (uint64_t)(uintptr_t)pthread_self();
    prctl(PR_GET_NAME, (unsigned long)a->name, 0, 0, 0);
    a->name[15] = '\0';
}

/* Behind all but a STOP there is room for one, whichever thread calls for it: a stream that
 * fills up can still say when it was stopped. */
static uint32_t room_needed(uint32_t id, uint32_t len)
{
    return id == POSIX_TRACE_STOP
               ? len : len + pt_record_max_size(sizeof(int)) + pt_record_max_size(0);
}

/* Without its record a LOOP stream does not begin; another does, and is full. */
static void note_window(struct pt_stream *s, uint32_t id, bool written)
{
    struct pt_seg_header *h = s->seg->h;
    bool begins = id == POSIX_TRACE_START &&
                  (written || s->seg->g.attr.stream_policy != POSIX_TRACE_LOOP);

    if ((begins || id == POSIX_TRACE_STOP) && pt_steer_holds(s))
        pt_store_relaxed(&h->window, (uint32_t)begins);
}

/* The chunk first, then the time, then the look at the lock: see steer.c. */
bool pt_stream_put_control(struct pt_stream *s, uint32_t id, const void *data, uint32_t len,
                           uint64_t addr)
{
    struct pt_lane *lane = &s->lane;
    struct pt_slot *slot = lane->slot;
    struct pt_seg_header *h = s->seg->h;
    struct pt_author a;
    bool written = false;
    uint64_t ts;

    if (slot) {
        /* Control records may be longer than the data of user events. */
        lane->max_data = 2 * sizeof(struct pt_set);
        pt_store_seqcst(&slot->inside, pt_clock_now(PT_CLOCK_MONOTONIC) | 1u);
        pt_fence_seqcst();
        fill_author(&a);
        if (a.tid != slot->author.tid || a.thread_id != slot->author.thread_id)
            pt_lane_set_author(lane, &a, pt_record_max_size(len));
        if (!pt_lane_has_room(lane, room_needed(id & PT_RECORD_ID_MASK, len)))
            pt_lane_close_chunk(lane);
        pt_lane_reserve(lane);
        ts = pt_clock_now(s->seg->g.clock);
        if (pt_set_has(pt_seg_filter(h), id & PT_RECORD_ID_MASK))
            id |= PT_RECORD_TRUNCATED;
        if (pt_steer_holds(s))
            written = pt_lane_write(lane, id, data, len, addr, ts);
    }
    note_window(s, id & PT_RECORD_ID_MASK, written);
    if (slot) {
        pt_store_seqcst(&slot->inside, 0u);
        pt_fence_seqcst();
    }
    if (pt_load_relaxed(&h->attention) & PT_WAIT_READER)
        pt_stream_wake(h, PT_WAIT_READER);
    return written;
}

/* The page of another process that the stream traces, or NULL. */
static struct pt_page *page_of(struct pt_stream *s, uint32_t pid, uint64_t start)
{
    struct pt_page *page;
    char file[64];

    if (pid == s->pid && start == s->start)
        return s->page;
    return pt_page_open_of(&page, s->uid, pid, start, file) == 0 ? page : NULL;
}

/* fn for the page of every process in the stream's table. */
static void each_page(struct pt_stream *s,
                      void (*fn)(struct pt_stream *s, struct pt_page *page, unsigned bit,
                                 void *context),
                      void *context)
{
    for (unsigned i = 0; i < pt_seg_proc_count(s->seg); i++) {
        const struct pt_proc *p = pt_seg_proc(s->seg, i);
        uint32_t pid = pt_load_seqcst(&p->pid), bit = pt_load_seqcst(&p->bit);
        struct pt_page *page;

        if (pid == 0 || bit >= PT_STREAMS)
            continue;
        page = page_of(s, pid, pt_load_seqcst(&p->start));
        if (!page)
            continue;
        if (pt_page_bit_is_of(page, bit, s->seg->file))
            fn(s, page, bit, context);
        if (page != s->page)
            pt_page_unmap(page);
    }
}

/* Each gate after a look whether we may still.  gates NULL: all are closed. */
static void set_gates(struct pt_stream *s, struct pt_page *page, unsigned bit, void *gates)
{
    /* Without a shadow there is no way to ask: joining the stream would have failed. */
    if (gates && pt_gates_make_room(gates, page, bit) < 0)
        gates = NULL;
    for (uint32_t id = 0; id < PT_ID_MAX; id++) {
        enum pt_gate gate = gates ? pt_gates_decide(gates, page, bit, id) : PT_GATE_CLOSED;

        if (!pt_steer_holds(s))
            return;
        pt_page_set_gate(page, bit, id, gate);
    }
}

void pt_stream_update_gates(struct pt_stream *s, bool open)
{
    struct pt_gates gates;

    pt_fence_seqcst();
    if (!open) {
        each_page(s, set_gates, NULL);
        return;
    }
    pt_gates_init(&gates, s->seg->h, s->names);
    each_page(s, set_gates, &gates);
    pt_gates_deinit(&gates);
}

static void forget(struct pt_stream *s, struct pt_page *page, unsigned bit, void *context)
{
    (void)context;
    if (page != s->page)
        pt_page_give_bit(page, bit);
}

void pt_stream_forget_processes(struct pt_stream *s)
{
    each_page(s, forget, NULL);
}

/* -ENOMEM: what begins with no START would be outside all windows, and not be counted. */
static int begin_window(struct pt_stream *s, uint64_t state, bool recorded)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t now;

    if (!pt_steer_holds(s))
        return 0;
    if (!recorded && s->seg->g.attr.stream_policy == POSIX_TRACE_LOOP)
        return -ENOMEM;
    now = pt_clock_now(s->seg->g.clock);
    if (now <= s->lane.last)
        now = s->lane.last + 1;   /* not the time of the STOP before */
    if (recorded ? pt_state_change(h, &state, PT_RUNNING, now)
                 : pt_stream_stop_full(h, &state, now))
        pt_stream_update_gates(s, true);
    return 0;
}

/* A full stream that was stopped: its consumer starts it when it has made room, and puts the
 * START.  The state that is left to change. */
static uint64_t leave_halt(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t state = pt_load_seqcst(&h->state), running;

    while (pt_state_of(state) == PT_HALTED && pt_steer_holds(s)) {
        running = pt_state_turn(state, PT_AUTOSTOPPED);
        if (pt_cas_seqcst(&h->state, &state, running)) {
            note_window(s, POSIX_TRACE_START, false);
            pt_stream_update_gates(s, true);
            return running;
        }
    }
    return state;
}

/*
 * The record first, so that it is older than all events; then the state, which
 * processes that are only now taken into the stream look at; then the gates.
 * Without room for the record see steer.c.
 */
int pt_stream_start(struct pt_stream *s, uint64_t addr)
{
    struct pt_seg_header *h = s->seg->h;
    struct pt_set filter;
    uint64_t state;
    bool recorded;
    int r, e;

    do {
        r = pt_steer_begin(s);
        if (r < 0)
            return r;
        e = 0;
        state = leave_halt(s);
        if (pt_state_of(state) == PT_SUSPENDED) {
            pt_set_copy(&filter, pt_seg_filter(h));
            recorded = pt_stream_put_control(s, POSIX_TRACE_START, &filter, sizeof filter, addr);
            e = begin_window(s, state, recorded);
        }
    } while (!pt_steer_end(s));
    return e;
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
        note_window(s, POSIX_TRACE_STOP, false);
    else
        pt_stream_put_control(s, POSIX_TRACE_STOP, &by_call, sizeof by_call, addr);
    return true;
}

/* The state first, then the gates, then the record: what a thread that passed
 * its gate before stamps later lies behind STOP and outside the window. */
int pt_stream_stop(struct pt_stream *s, uint64_t addr)
{
    uint64_t state;
    int r;

    do {
        r = pt_steer_begin(s);
        if (r < 0)
            return r;
        state = pt_load_seqcst(&s->seg->h->state);
        while (pt_state_runs(state) && pt_steer_holds(s) && !leave_running(s, &state, addr))
            ;
    } while (!pt_steer_end(s));
    return 0;
}

static void make_room(struct pt_stream *s, struct pt_page *page, unsigned bit, void *error)
{
    int *e = error;

    (void)s;
    if (pt_page_take_shadow(page, bit) < 0)
        *e = -EAGAIN;
}

int pt_stream_make_room(struct pt_stream *s)
{
    int e = 0;

    each_page(s, make_room, &e);
    return e;
}

/* The lock is held.  The time of the clear. */
static uint64_t forget_all(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;
    struct pt_set nothing;
    uint64_t state = pt_load_seqcst(&h->state), ts, version;
    int by_call = 0;

    pt_set_empty(&nothing);
    pt_steer_set_filter(s, &nothing, "", &version);
    while (pt_state_is_full(state)) {
        if (!pt_cas_seqcst(&h->state, &state, pt_state_make(PT_SUSPENDED, 0)))
            continue;
        pt_stream_put_control(s, POSIX_TRACE_STOP | PT_RECORD_TRUNCATED, &by_call,
                              sizeof by_call, 0);
        break;
    }
    pt_stream_update_gates(s, pt_state_of(pt_load_seqcst(&h->state)) == PT_RUNNING);
    pt_stream_forget_stop(h);
    ts = pt_clock_now(s->seg->g.clock);
    pt_store_seqcst(&h->clear_ts, ts);
    return ts;
}

/* The consumer's part, where readers are that. */
static int clear_unread(struct pt_stream *s, uint64_t ts)
{
    sigset_t before;
    int r = -EINVAL;

    pt_thread_hold_signals(&before);
    if (pt_stream_is_ours(s)) {
        pthread_mutex_lock(&s->reading);
        r = pt_live_clear(&s->live, ts);
        pthread_mutex_unlock(&s->reading);
    }
    pt_thread_let_signals(&before);
    return r;
}

int pt_stream_clear(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;
    uint64_t ts;
    int r;

    do {
        r = pt_steer_begin(s);
        if (r < 0)
            return r;
        ts = forget_all(s);
    } while (!pt_steer_end(s));

    r = s->flusher ? pt_flusher_clear(s->flusher, ts) : clear_unread(s, ts);
    if (pt_stream_is_ours(s)) {
        pt_store_seqcst(&h->overrun, 0u);
        pt_store_seqcst(&h->recycled, 0u);
    }
    return r;
}

void pt_stream_put_mark(struct pt_stream *s, uint32_t id, uint64_t addr)
{
    if (pt_steer_begin(s) < 0)
        return;
    if (pt_state_of(pt_load_seqcst(&s->seg->h->state)) == PT_RUNNING)
        pt_stream_put_control(s, id, NULL, 0, addr);
    pt_steer_end(s);
}

/* Of a stream that another process owns: its flush thread does it. */
static int ask_owner_to_flush(struct pt_stream *s)
{
    struct pt_seg_header *h = s->seg->h;

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
