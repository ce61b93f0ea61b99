/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The time intervals of losses that leave no other mark: no memory for the thread, or handlers
 * nested too deep.  For a full stream there is STOP, for overwritten events the gap in their
 * numbers.  These losses have neither a number nor a place, and their threads may have no slot.
 *
 *   writer                              consumer
 *   lose the event: read the clock: t   read the clock: T
 *   missed_first = t, the first time    barrier in all writers
 *   missed_last = max(.., t), unless    load missed_last: L, then missed_first
 *     it is above t - PT_MISSED_GRAIN   deliver events older than T
 *
 * The words are never reset, so any number of consumers may load them.  Many writers that lose
 * events at the same time store once a grain, and otherwise share the cache line.
 *
 * A gap is reported correctly if some point of it lies between a thread's last event before the
 * loss and its first event after it.  Suppose the consumer delivers the event after the loss now,
 * so its time is below T.  Then the consumer has seen the thread's store to missed_last, since it
 * sees all stores that precede an event older than T (watermark.h).  If the store changed L, the
 * time from the previous T to this one is a gap.  If not, t was at most L + PT_MISSED_GRAIN for the
 * old L, so a gap lasts at least that long.  Rule: the time from the previous T to T is a gap if L
 * is new, or if the previous T is below L + PT_MISSED_GRAIN.  No gap has to start before
 * missed_first: a writer that lost an event earlier stores its note later than that, and records
 * its next event later still.
 *
 * test/model/missed.pml is a model of this.
 */
#ifndef PT_SHM_MISSED_H
#define PT_SHM_MISSED_H

#include "base/clock.h"
#include "shm/segment.h"

/* In ticks of the stream: a third of a millisecond with a TSC of 3 GHz. */
#define PT_MISSED_GRAIN (1u << 20)

/* Called by a writer that has counted such a loss. */
static inline void pt_loss_interval_note(struct pt_seg *seg)
{
    struct pt_seg_header *h = seg->h;
    uint64_t now = pt_clock_now(seg->g.clock), none = 0;

    pt_note_overrun(h);
    if (pt_load_seqcst(&h->missed_first) == 0)
        pt_cas_seqcst(&h->missed_first, &none, now);
    if (now > pt_load_seqcst(&h->missed_last) + PT_MISSED_GRAIN)
        pt_max_seqcst(&h->missed_last, now);
}

/*
 * Called by a consumer that has taken a watermark.  Is the time before it, from the previous
 * watermark or *from on, a gap?  *known belongs to the consumer, 0 at first.
 */
static inline bool pt_loss_interval_look(struct pt_seg_header *h, uint64_t last_watermark,
                                         uint64_t *known, uint64_t *from)
{
    uint64_t last = pt_load_seqcst(&h->missed_last), was = *known;

    if (last == 0)
        return false;
    *known = last;
    *from = pt_load_seqcst(&h->missed_first);
    return last != was || last_watermark < last + PT_MISSED_GRAIN;
}

#endif
