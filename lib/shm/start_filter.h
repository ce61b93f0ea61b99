/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The filter in the START of an automatic restart is the one in force when the stream ran again; it
 * is also the old set in the next FILTER.  The consumer makes that START in a later round, when a
 * controller may have changed the filter.
 *
 * A thread that changes the filter holds the control lock, and records FILTER only if the stream
 * runs.  The consumer restarts without the lock.  They agree by one word, h->start_filter: a count
 * that the consumer increments with each restart, and the chosen place in h->filters.
 *
 *   consumer                                 controller
 *   gap_to = time                            choose, if the stream has been restarted
 *   start_filter = count + 1, none chosen    FILTER, if the stream runs
 *   state: full -> running                   filter_now = new place
 *   gap_to, state = time after that
 *   choose                                   no FILTER yet, and runs now: choose; FILTER, if the
 *                                              place that is chosen is not the new one
 *
 * To choose is to exchange "none" for the place in force, so the first choice counts.  A change
 * with FILTER comes after a choice, so START does not show it.  A change without FILTER was made in
 * a stream that was full, or became full for want of room for FILTER.  If the controller finds the
 * stream still full afterwards, every choice comes later, and START shows the change.  If it finds
 * the stream running, the word says whether START shows it.
 *
 * Two cases are left.  A restart changes the state twice, and the second change ends the gap: a
 * FILTER with a time between the two is in the gap, and refused.  And a stop and a restart may come
 * between FILTER and the change of filter_now, so that START shows the old filter after FILTER.
 *
 * The chosen place is not reused for a new filter until the next restart
 * (pt_control_lock_set_filter).
 *
 * If a process is killed between two steps and no place is chosen, the filter in force is that of
 * START, because no FILTER was recorded since.  Recovery uses it.
 *
 * Other processes may write any value: a place is below PT_FILTERS for every value of the word, and
 * no loop has more than PT_START_TRIES turns.
 */
#ifndef PT_SHM_START_FILTER_H
#define PT_SHM_START_FILTER_H

#include "shm/layout.h"

#define PT_START_TRIES 100u

/* The chosen place; PT_FILTERS: none. */
static inline unsigned pt_start_filter_place(uint64_t word)
{
    return (unsigned)((word + PT_FILTERS) % (PT_FILTERS + 1));
}

/* Called by the consumer between its store of gap_to and the change of state. */
static inline void pt_start_filter_renew(struct pt_seg_header *h)
{
    uint64_t word = pt_load_relaxed(&h->start_filter);

    pt_store_seqcst(&h->start_filter, (word / (PT_FILTERS + 1) + 1) * (PT_FILTERS + 1));
}

/* Full, and its consumer is about to restart it, or will do so next. */
static inline bool pt_start_filter_is_near(const struct pt_seg_header *h, uint64_t state)
{
    uint64_t to = pt_load_acquire(&h->gap_to), from = pt_load_acquire(&h->gap_from);

    return pt_state_is_full(state) && from == pt_state_ts(h, state) && from <= to;
}

/* How often the stream was restarted until it had *state, its present one.  The consumer counts
 * before it changes the state.  So a restart is left out that is counted and has not happened: its
 * gap is that of the state, and no place is chosen, since that of the restart before was chosen
 * before the gap was stored. */
static inline uint64_t pt_start_filter_restarts(const struct pt_seg_header *h, uint64_t *state)
{
    uint64_t word = 0, was;
    bool near = false;

    *state = pt_load_seqcst(&h->state);
    for (unsigned i = 0; i < PT_START_TRIES; i++) {
        was = *state;
        near = pt_start_filter_is_near(h, was);
        word = pt_load_seqcst(&h->start_filter);
        *state = pt_load_seqcst(&h->state);
        if (*state == was && pt_start_filter_is_near(h, was) == near)
            break;
    }
    near = near && word != 0 && pt_start_filter_place(word) == PT_FILTERS;
    return word / (PT_FILTERS + 1) - near;
}

/* Chooses the place, or returns the one that was chosen.  PT_FILTERS: the stream was never
 * restarted, or its consumer is about to restart it. */
static inline unsigned pt_start_filter_choose(struct pt_seg_header *h)
{
    uint64_t word = pt_load_seqcst(&h->start_filter), state;
    unsigned place = pt_start_filter_place(word);

    for (unsigned i = 0; word && place == PT_FILTERS && i < PT_START_TRIES; i++) {
        state = pt_load_seqcst(&h->state);
        if (pt_state_is_full(state) && pt_state_ts(h, state) < pt_load_seqcst(&h->gap_to))
            break;
        place = (unsigned)(pt_load_seqcst(&h->filter_now) % PT_FILTERS);
        if (!pt_cas_seqcst(&h->start_filter, &word, word + 1 + place))
            place = pt_start_filter_place(word);
    }
    return place;
}

/* A copy of the filter of the last restart; a mixture if the words change without end. */
static inline void pt_start_filter_copy(const struct pt_seg_header *h, struct pt_set *set)
{
    for (unsigned i = 0; i < PT_START_TRIES; i++) {
        uint64_t word = pt_load_acquire(&h->start_filter);
        uint64_t now = pt_load_acquire(&h->filter_now);
        unsigned place = pt_start_filter_place(word);

        pt_set_copy(set, &h->filters[place == PT_FILTERS ? now % PT_FILTERS : place]);
        pt_fence_acquire();
        if (pt_load_relaxed(&h->start_filter) == word &&
            (place != PT_FILTERS || pt_load_relaxed(&h->filter_now) == now))
            return;
    }
}

#endif
