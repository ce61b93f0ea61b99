/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Windows and gaps as the consumer follows them: START and STOP open and close windows; between an
 * automatic stop and the restart the stream refuses events.  See consumer.h. */
#include "base/assert.h"
#include "base/clock.h"
#include "consumer/consumer.h"
#include "shm/attention.h"
#include "shm/mark_filter.h"
#include "shm/start_filter.h"

/* ---- windows ---- */

bool pt_consumer_take_window(struct pt_consumer *l, const struct pt_cursor *c)
{
    bool open = pt_load_relaxed(&pt_seg_chunk(l->seg, c->index)->window) != 0;

    if (!pt_cursor_valid(l, c))
        return false;
    l->window_open = open;
    return true;
}

bool pt_consumer_relearn_window(struct pt_consumer *l)
{
    const struct pt_cursor *oldest = NULL;

    for (uint32_t i = 0; i < l->known_room; i++) {
        const struct pt_cursor *c = l->known[i];

        if (c && c->author.wid == 0 && (!oldest || c->gen < oldest->gen) && pt_cursor_valid(l, c))
            oldest = c;
    }
    if (!oldest)
        return false;
    return oldest->off != sizeof(struct pt_chunk) || pt_consumer_take_window(l, oldest);
}

void pt_consumer_settle_window(struct pt_consumer *l)
{
    l->window_lost = false;
    if (!pt_consumer_relearn_window(l))
        l->window_open = l->window_now;
}

void pt_consumer_learn_window(struct pt_consumer *l)
{
    l->window_ts = 0;
    pt_consumer_settle_window(l);
}

void pt_consumer_set_window(struct pt_consumer *l, bool open, uint64_t ts)
{
    if (ts < l->window_ts)
        return;
    l->window_open = open;
    l->window_ts = ts;
}

/*
 * ---- automatic stops ----
 *
 * A writer whose chunk has room still records in a stream that has stopped itself, also between the
 * consumer's last scan and the restart.  The consumer reads such an event only after the restart,
 * when the stream may have stopped itself again.  So the gap before the last one is kept, too
 * (past_from, past_to).  An older one is not needed: the consumer ends a gap only after the
 * watermark has passed its start, and by then it has read all events of the gap before.
 */

/* The time until which events after an automatic stop are refused; 0 if this stream ever had a
 * successor in a chain: writers then do not count such events as lost, and those that still found
 * room are part of the stream. */
static uint64_t refuse_until(const struct pt_consumer *l, uint64_t ts)
{
    return pt_load_relaxed(&l->seg->h->keeps_late) ? 0 : ts;
}

/* When the gap ended, which its consumer or a clear has done.  An onlooker takes the time from the
 * header; if the header is already about a later gap, the onlooker refuses none of the events it
 * finds.  *restarted: the stream ran again at that time. */
static uint64_t end_of_gap(const struct pt_consumer *l, uint64_t state, bool *restarted)
{
    const struct pt_seg_header *h = l->seg->h;
    uint64_t to = pt_load_acquire(&h->gap_to);

    *restarted = false;
    if (!l->passive || pt_state_ts(h, state) == 0 || pt_load_relaxed(&h->gap_from) != l->gap_from ||
        to < l->gap_from)
        return pt_state_is_full(state) ? l->gap_from : pt_clock_now(l->seg->g.clock);
    *restarted = pt_load_relaxed(&h->start_told) <= to;
    return to;
}

static void end_gap(struct pt_consumer *l, uint64_t state)
{
    bool restarted;
    uint64_t to = end_of_gap(l, state, &restarted);

    l->start_due = restarted && l->automatic == PT_AUTO_STOPPED;
    l->start_ts = to;
    if (l->start_due)
        pt_start_filter_copy(l->seg->h, &l->start_filter);
    l->automatic = PT_AUTO_NONE;
    l->gap_to = refuse_until(l, to);
}

static void begin_gap(struct pt_consumer *l, uint64_t from)
{
    pt_assert_call(l->automatic == PT_AUTO_NONE);
    l->past_from = l->gap_from;
    l->past_to = l->gap_to < from ? l->gap_to : from;
    pt_assert(l->past_to <= from);
    l->automatic = PT_AUTO_STOP_DUE;
    l->gap_from = from;
    l->gap_to = refuse_until(l, UINT64_MAX);
}

void pt_consumer_look_at_state(struct pt_consumer *l)
{
    uint64_t state = pt_load_seqcst(&l->seg->h->state), ts = pt_state_ts(l->seg->h, state);
    bool full = pt_state_is_full(state);

    /* Not for LOOP streams, which do not start without room for START.  An earlier opened_ts stays
     * while the window is still closed there, because unread events may be from that time on. */
    if (pt_state_runs(state) && l->seg->g.attr.stream_policy != POSIX_TRACE_LOOP &&
        (l->window_open || l->opened_ts <= l->window_ts))
        l->opened_ts = ts;
    /* An onlooker may miss the end of a gap and find the next one. */
    if (l->automatic != PT_AUTO_NONE && (!full || ts != l->gap_from))
        end_gap(l, state);
    if (l->automatic == PT_AUTO_NONE && full) {
        l->stop_out = l->passive || l->seg->copy ? pt_stop_marks(l->seg->h, state)
                                                 : pt_stop_marks_choose(l->seg->h, state);
        begin_gap(l, ts);
    }
}

/* Called before the stream leaves the full state: stores the gap for recovery and onlookers.
 * start_told later than gap_to means that no START is due. */
static void store_gap(const struct pt_consumer *l, uint64_t to, bool runs)
{
    struct pt_seg_header *h = l->seg->h;

    pt_assert_call(!l->passive && !l->seg->copy);
    pt_store_relaxed(&h->gap_from, l->gap_from);
    if (!runs)
        pt_store_relaxed(&h->start_told, to + 1);
    pt_store_release(&h->gap_to, to);
    pt_start_filter_renew(h);
}

void pt_consumer_take_gap(struct pt_consumer *l)
{
    const struct pt_seg_header *h = l->seg->h;

    /* The consumer was killed before the change of state: the stream is still stopped. */
    if (h->gap_to == 0 || (pt_state_is_full(h->state) && pt_state_ts(h, h->state) < h->gap_to))
        return;
    l->gap_from = h->gap_from;
    l->start_ts = h->gap_to;
    if (h->start_told <= h->gap_to)
        l->opened_ts = h->gap_to;
    else
        pt_consumer_set_window(l, false, h->gap_to);
    l->gap_to = refuse_until(l, h->gap_to);
    l->start_due = h->gap_to > h->start_told && h->gap_to >= h->clear_ts;
    pt_start_filter_copy(h, &l->start_filter);
}

/* Another thread or process has changed the state, so no START is due from this consumer. */
static void cancel_start(struct pt_consumer *l)
{
    pt_store_release(&l->seg->h->start_told, pt_load_relaxed(&l->seg->h->gap_to));
}

bool pt_consumer_restart(struct pt_consumer *l)
{
    struct pt_seg_header *h = l->seg->h;
    uint64_t state = pt_load_seqcst(&h->state), now;
    bool runs;

    if (l->automatic != PT_AUTO_STOPPED || l->seg->copy || l->passive)
        return false;
    l->automatic = PT_AUTO_NONE;
    do {
        if (!pt_state_is_full(state)) {
            cancel_start(l);
            return false;
        }
        runs = pt_state_runs(state);
        now = pt_clock_now(l->seg->g.clock);
        store_gap(l, now, runs);
    } while (!pt_state_change(h, &state, runs ? PT_RUNNING : PT_SUSPENDED, now));
    pt_start_filter_choose(h);
    pt_start_filter_copy(h, &l->start_filter);
    pt_stream_forget_stop(h);
    l->gap_to = refuse_until(l, now);
    l->start_ts = now;
    l->start_due = runs;
    l->resume_due = !runs;
    pt_consumer_set_window(l, runs, now);
    return l->start_due;
}

void pt_consumer_restart_cleared(struct pt_consumer *l)
{
    uint64_t state = pt_load_seqcst(&l->seg->h->state);

    if (l->passive || !pt_state_is_full(state))
        return;
    begin_gap(l, pt_state_ts(l->seg->h, state));
    l->automatic = PT_AUTO_STOPPED;
    pt_consumer_restart(l);
    l->start_due = l->resume_due = false;
}

/* ---- the marks of a loss ---- */

/* The choice about this loss, or 0.  For an onlooker a choice that it has already used is about an
 * older loss. */
static uint64_t take_choice(struct pt_consumer *l)
{
    uint64_t choice;

    if (!l->passive)
        return pt_loss_marks_take(l->seg->h);
    choice = pt_load_seqcst(&l->seg->h->loss_marks);
    if (choice == l->marks_met)
        return 0;
    l->marks_met = choice;
    return choice;
}

void pt_consumer_take_marks(struct pt_consumer *l, unsigned now)
{
    uint64_t choice = take_choice(l);

    pt_assert(l->passive || !l->marks_met);
    if (l->marks_known)
        return;
    l->marks_known = true;
    l->marks_choice = choice;
    l->marks_out = choice ? pt_state_of(choice) : now;
}

bool pt_consumer_shows_mark(struct pt_consumer *l, uint32_t id, uint64_t ts)
{
    unsigned mark = id == POSIX_TRACE_RESUME ? PT_MARK_RESUME : PT_MARK_OVERFLOW;
    unsigned out = pt_loss_marks_now(l->seg->h);

    if (l->marks_known &&
        (mark == PT_MARK_OVERFLOW || (l->marks_choice && pt_loss_marks_cover(l->marks_choice, ts))))
        out = l->marks_out;
    if (mark == PT_MARK_RESUME)
        l->marks_known = false;
    return !(out & mark);
}
