/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which filter the START of an automatic restart shows: the one in force when the stream ran
 * again, which is the old set of the FILTER that follows.  The consumer makes that START in a
 * later round, when others may have changed the filter.
 *
 * Who changes the filter holds the control lock, and records FILTER only where the stream runs.
 * The consumer restarts without the lock.  So they agree by one word, h->start_filter: a count
 * that the consumer advances with each restart, and the place in h->filters that was chosen.
 *
 *   consumer                                 controller
 *   gap_to = time                            choose, if the stream has been restarted
 *   start_filter = count + 1, none chosen    FILTER, if the stream runs
 *   state: full -> running                   filter_now = new place
 *   choose                                   was full, and runs now: choose; FILTER, if the
 *                                              place that is chosen is not the new one
 *
 * To choose is to exchange "none" for the place that is in force, so the first one decides for
 * all.  A change with FILTER comes after a choice, and so is not in START.  One without FILTER
 * was made in a full stream: either the controller finds it full afterwards, so that every
 * choice comes later and START shows the change; or it finds the stream running, and the word
 * says whether START shows it.
 *
 * No filter is prepared in the place that is chosen, until the next restart (pt_steer_set_filter).
 *
 * Who is killed between two steps: without a choice the filter in force is that of START,
 * because no FILTER was recorded since.  Whoever reads a dead consumer's stream takes it so.
 *
 * Others may write anything here: a place is below PT_FILTERS whatever the word is, and no loop
 * has more than PT_START_TRIES turns.
 */
#ifndef PT_SHM_START_FILTER_H
#define PT_SHM_START_FILTER_H

#include "shm/layout.h"

#define PT_START_TRIES 100u

/* The place that is chosen; PT_FILTERS: none. */
static inline unsigned pt_start_filter_place(uint64_t word)
{
    return (unsigned)((word + PT_FILTERS) % (PT_FILTERS + 1));
}

/* By the consumer, between its store of gap_to and the change of state. */
static inline void pt_start_filter_renew(struct pt_seg_header *h)
{
    uint64_t word = pt_load_relaxed(&h->start_filter);

    pt_store_seqcst(&h->start_filter, (word / (PT_FILTERS + 1) + 1) * (PT_FILTERS + 1));
}

/* The place that is chosen, by us if nobody has.  PT_FILTERS: the stream was never restarted,
 * or its consumer is about to do it. */
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

/* The filter of the last restart; where the words change without end, a mixture. */
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
