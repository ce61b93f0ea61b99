/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See auto_stop.h. */
#include <string.h>
#include "base/assert.h"
#include "base/clock.h"
#include "consumer/auto_stop.h"
#include "shm/attention.h"
#include "shm/mark_filter.h"
#include "shm/start_filter.h"

void pt_auto_stop_init(struct pt_auto_stop *a, struct pt_seg *seg)
{
    memset(a, 0, sizeof *a);
    a->seg = seg;
    a->unseen_from = UINT64_MAX;
}

void pt_auto_stop_clear(struct pt_auto_stop *a, uint64_t ts)
{
    bool full = a->phase != PT_AUTO_NONE;

    if ((full ? a->past_from : a->gap_from) <= ts)
        a->start_due = a->resume_due = false;
    if (!full && a->gap_from <= ts && !a->gap_ran)
        a->gap_to = ts;
    if (a->past_from <= ts && a->past_to > ts && !a->past_ran)
        a->past_to = ts;
}

/* The time until which events after an automatic stop are refused; 0 if this stream ever had a
 * successor in a chain: writers then do not count such events as lost, and those that still found
 * room are part of the stream. */
static uint64_t refuse_until(const struct pt_auto_stop *a, uint64_t ts)
{
    return pt_load_relaxed(&a->seg->h->keeps_late) ? 0 : ts;
}

/* When the gap ended, which its consumer or a clear has done.  An onlooker takes the time from the
 * header, where it is final once a place is chosen (shm/start_filter.h), and until then the present
 * time; if the header is already about a later gap, the onlooker refuses none of the events it
 * finds.  *restarted: the stream ran again at that time; *known: the header is about this gap. */
static uint64_t end_of_gap(const struct pt_auto_stop *a, uint64_t state, bool *restarted,
                           bool *known)
{
    const struct pt_seg_header *h = a->seg->h;
    bool full = pt_state_is_full(state);
    uint64_t word = pt_load_acquire(&h->start_filter), to = pt_load_acquire(&h->gap_to);

    *restarted = *known = false;
    if (!a->passive || pt_state_ts(h, state) == 0 || pt_load_relaxed(&h->gap_from) != a->gap_from ||
        to < a->gap_from)
        return full ? a->gap_from : pt_clock_now(a->seg->g.clock);
    *restarted = pt_load_relaxed(&h->start_told) <= to;
    *known = true;
    if (*restarted && pt_start_filter_place(word) == PT_FILTERS)
        return full ? pt_state_ts(h, state) : pt_clock_now(a->seg->g.clock);
    return to;
}

static void end_gap(struct pt_auto_stop *a, uint64_t state)
{
    bool restarted, known;
    uint64_t to = end_of_gap(a, state, &restarted, &known);

    a->start_due = restarted && a->phase == PT_AUTO_STOPPED;
    a->start_ts = to;
    if (a->start_due)
        pt_start_filter_copy(a->seg->h, &a->start_filter);
    /* A STOP that was not due yet would now come after the START, or with the next one. */
    if (a->passive && a->phase == PT_AUTO_STOP_DUE)
        a->unseen_from = a->gap_from;
    else
        a->restarts += known;
    a->phase = PT_AUTO_NONE;
    a->gap_to = refuse_until(a, to);
    a->gap_ran = restarted;
}

static void begin_gap(struct pt_auto_stop *a, uint64_t from)
{
    pt_assert_call(a->phase == PT_AUTO_NONE);
    a->past_from = a->gap_from;
    a->past_to = a->gap_to < from ? a->gap_to : from;
    a->past_ran = a->gap_ran;
    a->gap_ran = false;
    pt_assert(a->past_to <= from);
    a->phase = PT_AUTO_STOP_DUE;
    a->gap_from = from;
    a->gap_to = refuse_until(a, UINT64_MAX);
}

void pt_auto_stop_look(struct pt_auto_stop *a, uint64_t state)
{
    uint64_t ts = pt_state_ts(a->seg->h, state);
    bool full = pt_state_is_full(state);

    /* An onlooker may miss the end of a gap and find the next one. */
    if (a->phase != PT_AUTO_NONE && (!full || ts != a->gap_from))
        end_gap(a, state);
    if (a->phase == PT_AUTO_NONE && full) {
        a->stop_out = a->passive || a->seg->copy ? pt_stop_marks(a->seg->h, state)
                                                 : pt_stop_marks_choose(a->seg->h, state);
        begin_gap(a, ts);
    }
}

bool pt_auto_stop_missed(struct pt_auto_stop *a, uint64_t restarts, uint64_t *from)
{
    bool missed = (int64_t)(restarts - a->restarts) > 0;

    if (a->unseen_from < *from)
        *from = a->unseen_from;
    missed |= a->unseen_from != UINT64_MAX;
    a->unseen_from = UINT64_MAX;
    if (missed)
        a->restarts = restarts;
    return missed;
}

/* Called before the stream leaves the full state: stores the gap for recovery and onlookers.
 * start_told later than gap_to means that no START is due. */
static void store_gap(const struct pt_auto_stop *a, uint64_t to, bool runs)
{
    struct pt_seg_header *h = a->seg->h;

    pt_assert_call(!a->passive && !a->seg->copy);
    pt_store_relaxed(&h->gap_from, a->gap_from);
    if (!runs)
        pt_store_relaxed(&h->start_told, to + 1);
    pt_store_release(&h->gap_to, to);
    pt_start_filter_renew(h);
}

void pt_auto_stop_recover(struct pt_auto_stop *a, struct pt_windows *w)
{
    const struct pt_seg_header *h = a->seg->h;

    /* The consumer was killed before the change of state: the stream is still stopped. */
    if (h->gap_to == 0 || (pt_state_is_full(h->state) && pt_state_ts(h, h->state) < h->gap_to))
        return;
    a->gap_from = h->gap_from;
    a->start_ts = h->gap_to;
    if (h->start_told <= h->gap_to)
        pt_windows_run_since(w, h->gap_to);
    else
        pt_windows_set(w, false, h->gap_to);
    a->gap_to = refuse_until(a, h->gap_to);
    a->gap_ran = true;
    a->start_due = h->gap_to > h->start_told && h->gap_to >= h->clear_ts;
    pt_start_filter_copy(h, &a->start_filter);
}

/* Another thread or process has changed the state, so no START is due from this consumer. */
static void cancel_start(struct pt_auto_stop *a)
{
    pt_store_release(&a->seg->h->start_told, pt_load_relaxed(&a->seg->h->gap_to));
}

/* Called after the stream was made to run at *state.  Until then it refused events, some of them
 * later than the time of that change, which was read before.  So the gap ends at a time after the
 * change, or where the stream has stopped again, and the state gets that time.  A thread may have
 * recorded an event of its chunk in between, and may have lost the next ones: it is in the gap. */
static uint64_t end_after_change(const struct pt_auto_stop *a, uint64_t state)
{
    struct pt_seg_header *h = a->seg->h;
    uint64_t now = pt_clock_now(a->seg->g.clock), ts;

    /* Killed before the store, the consumer leaves the earlier end: recovery takes that. */
    ts = pt_state_change(h, &state, PT_RUNNING, now) ? now : pt_state_ts(h, state);
    now = ts < now ? ts : now;
    pt_store_release(&h->gap_to, now);
    return now;
}

bool pt_auto_stop_restart(struct pt_auto_stop *a, struct pt_windows *w)
{
    struct pt_seg_header *h = a->seg->h;
    uint64_t state = pt_load_seqcst(&h->state), now, changed;
    bool runs;

    if (a->phase != PT_AUTO_STOPPED || a->seg->copy || a->passive)
        return false;
    a->phase = PT_AUTO_NONE;
    do {
        if (!pt_state_is_full(state)) {
            cancel_start(a);
            return false;
        }
        runs = pt_state_runs(state);
        now = pt_clock_now(a->seg->g.clock);
        store_gap(a, now, runs);
    } while (!pt_state_change(h, &state, runs ? PT_RUNNING : PT_SUSPENDED, now));
    changed = now;
    if (runs)
        now = end_after_change(a, pt_state_make(PT_RUNNING, now));
    pt_start_filter_choose(h);
    pt_start_filter_copy(h, &a->start_filter);
    pt_stream_forget_stop(h);
    a->gap_to = refuse_until(a, now);
    a->gap_ran = true;
    a->start_ts = now;
    a->start_due = runs;
    a->resume_due = !runs;
    /* Where the stream has stopped again, the time of START is that of this stop.  The window opens
     * before, else the stop would be taken for that of a stream which was full when it started. */
    pt_windows_set(w, runs, changed);
    return a->start_due;
}

void pt_auto_stop_restart_cleared(struct pt_auto_stop *a, struct pt_windows *w, uint64_t ts)
{
    uint64_t state = pt_load_seqcst(&a->seg->h->state), from = pt_state_ts(a->seg->h, state);

    if (a->passive || !pt_state_is_full(state) || from > ts)
        return;
    if (a->phase == PT_AUTO_NONE)
        begin_gap(a, from);
    if (a->gap_from != from)
        return;
    a->phase = PT_AUTO_STOPPED;
    pt_auto_stop_restart(a, w);
    a->start_due = a->resume_due = false;
}
