/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The filter for the marks that a consumer makes (STOP of an automatic stop, OVERFLOW and RESUME of
 * a loss) is the one in force when the stream stopped or lost events.  The consumer finds that
 * later, when a controller may have changed the filter.  So the first one of consumer and
 * controllers chooses for all, by the filter in force at that time:
 *
 *   controller                               consumer
 *   choose, if the stream is full            finds the stream full: choose
 *   choose, if a loss is not taken yet       note the filter, take the loss, take the choice;
 *   filter_now = new place                     without one, the noted filter counts
 *
 * h->stop_marks has the time of the stop in the bits where the state word has it, so a choice
 * counts for one stop.  h->loss_marks has the time of the choice there, or is 0; the consumer
 * clears it when it takes the loss.  For a RESUME later than the choice, the filter in force when
 * it is made counts.  In both words the two low bits are the marks that the filter leaves out.
 *
 * A controller that finds no loss after its choice undoes the choice, because the consumer was
 * faster.  If it is killed between the two, the choice decides about the next loss: one OVERFLOW
 * and one RESUME may be shown or left out by an older filter.  posix_trace_clear() needs no choice:
 * its consumer takes losses and choice as for a mark (pt_consumer_clear).  An onlooker clears
 * nothing, and uses each choice once.
 *
 * For a stop or loss during a change of the filter, either of the two filters counts.
 */
#ifndef PT_SHM_MARK_FILTER_H
#define PT_SHM_MARK_FILTER_H

#include "base/clock.h"
#include "shm/segment.h"

enum pt_mark {
    PT_MARK_STOP = 1,
    PT_MARK_FULL_OVERFLOW = 2, /* in stop_marks */
    PT_MARK_OVERFLOW = 1,
    PT_MARK_RESUME = 2
}; /* in loss_marks */

static inline unsigned pt_mark_bits(const struct pt_seg_header *h, uint32_t first, uint32_t second)
{
    const struct pt_set *filter = pt_seg_filter(h);

    return (unsigned)pt_set_has(filter, first) | (unsigned)pt_set_has(filter, second) << 1;
}

/* ---- automatic stops; state is the word of the full stream ---- */

/* The marks that are left out, by the choice if there is one, else by the filter in force. */
static inline unsigned pt_stop_marks(const struct pt_seg_header *h, uint64_t state)
{
    uint64_t word = pt_load_seqcst(&h->stop_marks);

    return pt_state_turn(word, 0) == pt_state_turn(state, 0)
               ? pt_state_of(word)
               : pt_mark_bits(h, POSIX_TRACE_STOP, POSIX_TRACE_OVERFLOW);
}

static inline unsigned pt_stop_marks_choose(struct pt_seg_header *h, uint64_t state)
{
    uint64_t word = pt_load_seqcst(&h->stop_marks);
    unsigned out = pt_stop_marks(h, state);

    if (pt_state_turn(word, 0) != pt_state_turn(state, 0) &&
        !pt_cas_seqcst(&h->stop_marks, &word, pt_state_make(out, 0) | pt_state_turn(state, 0)))
        out = pt_stop_marks(h, state);
    return out;
}

/* ---- losses ---- */

static inline unsigned pt_loss_marks_now(const struct pt_seg_header *h)
{
    return pt_mark_bits(h, POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME);
}

/* Is there a loss that the consumer has not taken? */
static inline bool pt_loss_is_there(const struct pt_seg_header *h)
{
    return pt_load_seqcst(&h->lost_first_ts) != UINT64_MAX ||
           pt_load_seqcst(&h->missed_last) > pt_load_seqcst(&h->missed_told);
}

/* Called by a controller before it changes the filter. */
static inline void pt_loss_marks_choose(struct pt_seg *seg)
{
    struct pt_seg_header *h = seg->h;
    uint64_t none = 0, choice;

    if (!pt_loss_is_there(h) || pt_load_seqcst(&h->loss_marks))
        return;
    choice = pt_state_make(pt_loss_marks_now(h), pt_clock_now(seg->g.clock));
    if (pt_cas_seqcst(&h->loss_marks, &none, choice) && !pt_loss_is_there(h))
        pt_cas_seqcst(&h->loss_marks, &choice, 0);
}

/* Called by the consumer after it has taken the loss.  0: the filter was not changed since. */
static inline uint64_t pt_loss_marks_take(struct pt_seg_header *h)
{
    return pt_exchange_seqcst(&h->loss_marks, 0);
}

/* Is ts before the choice?  Both within 2^61 ticks. */
static inline bool pt_loss_marks_cover(uint64_t choice, uint64_t ts)
{
    return (int64_t)(pt_state_turn(choice, 0) - (ts << 2)) >= 0;
}

#endif
