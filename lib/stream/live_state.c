/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Whether the stream runs, as its consumer follows it: the windows that START and STOP make,
 * and the automatic stops between which it refuses events.  See live.h. */
#include "base/clock.h"
#include "stream/live.h"

/* ---- windows ---- */

bool pt_live_take_window(struct pt_live *l, const struct pt_cursor *c)
{
    bool open = pt_load_relaxed(&pt_seg_chunk(l->seg, c->index)->window) != 0;

    if (!pt_cursor_valid(l, c))
        return false;
    l->window_open = open;
    return true;
}

bool pt_live_relearn_window(struct pt_live *l)
{
    const struct pt_cursor *oldest = NULL;

    for (uint32_t i = 0; i < l->known_room; i++) {
        const struct pt_cursor *c = l->known[i];

        if (c && c->author.wid == 0 && (!oldest || c->gen < oldest->gen) && pt_cursor_valid(l, c))
            oldest = c;
    }
    if (!oldest)
        return false;
    return oldest->off != sizeof(struct pt_chunk) || pt_live_take_window(l, oldest);
}

void pt_live_settle_window(struct pt_live *l)
{
    l->window_lost = false;
    if (!pt_live_relearn_window(l))
        l->window_open = l->window_now;
}

void pt_live_learn_window(struct pt_live *l)
{
    l->window_ts = 0;
    pt_live_settle_window(l);
}

void pt_live_set_window(struct pt_live *l, bool open, uint64_t ts)
{
    if (ts < l->window_ts)
        return;
    l->window_open = open;
    l->window_ts = ts;
}

/* ---- automatic stops ---- */

/* Until when events behind an automatic stop are refused.  Where another stream was behind
 * this one, none of them is counted by its writer; what some have still found room for is
 * part of the stream. */
static uint64_t refuse_until(const struct pt_live *l, uint64_t ts)
{
    return pt_load_relaxed(&l->seg->h->keeps_late) ? 0 : ts;
}

void pt_live_look_at_state(struct pt_live *l)
{
    uint64_t state = pt_load_seqcst(&l->seg->h->state);

    if (pt_state_of(state) != PT_SUSPENDED)
        l->opened_ts = pt_state_ts(state);
    if (l->automatic == PT_AUTO_NONE && pt_state_of(state) == PT_AUTOSTOPPED) {
        l->automatic = PT_AUTO_STOP_DUE;
        l->gap_from = pt_state_ts(state);
        l->gap_to = refuse_until(l, UINT64_MAX);
    } else if (l->passive && l->automatic == PT_AUTO_STOPPED && pt_state_of(state) == PT_RUNNING) {
        l->automatic = PT_AUTO_NONE;   /* by its consumer */
        l->start_ts = pt_state_ts(state);
        l->gap_to = refuse_until(l, l->start_ts);
        l->start_due = true;
    } else if (l->automatic != PT_AUTO_NONE && pt_state_of(state) != PT_AUTOSTOPPED) {
        l->automatic = PT_AUTO_NONE;   /* cleared meanwhile */
        l->gap_to = refuse_until(l, pt_clock_now(l->seg->g.clock));
    }
}

/* Before the stream runs again, for who comes after SIGKILL. */
static void leave_gap(const struct pt_live *l, uint64_t to)
{
    pt_store_relaxed(&l->seg->h->gap_from, l->gap_from);
    pt_store_release(&l->seg->h->gap_to, to);
}

void pt_live_take_gap(struct pt_live *l)
{
    const struct pt_seg_header *h = l->seg->h;

    /* Killed before it ran again: the stop goes on. */
    if (h->gap_to == 0 ||
        (pt_state_of(h->state) == PT_AUTOSTOPPED && pt_state_ts(h->state) < h->gap_to))
        return;
    l->gap_from = h->gap_from;
    l->start_ts = h->gap_to;
    l->opened_ts = h->gap_from;
    l->gap_to = refuse_until(l, h->gap_to);
    l->start_due = h->gap_to > h->start_told && h->gap_to >= h->clear_ts;
}

bool pt_live_restart(struct pt_live *l)
{
    struct pt_seg_header *h = l->seg->h;
    uint64_t state = pt_load_seqcst(&h->state), now = pt_clock_now(l->seg->g.clock);

    if (l->automatic != PT_AUTO_STOPPED || l->seg->copy || l->passive)
        return false;
    leave_gap(l, now);
    if (pt_state_of(state) == PT_AUTOSTOPPED &&
        pt_cas_seqcst(&h->state, &state, pt_state_make(PT_RUNNING, now))) {
        pt_and_seqcst(&h->attention, ~PT_WAIT_STOPPED);
        l->gap_to = refuse_until(l, now);
        l->start_ts = now;
        l->start_due = true;
    } else {
        pt_store_release(&h->start_told, now);   /* somebody else has started it */
    }
    l->automatic = PT_AUTO_NONE;
    return l->start_due;
}
