/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Between which times events were lost that leave no other mark: for want of
 * memory for their thread, or in handlers nested too deep.  A full stream is told
 * of by STOP, an overwritten one by the numbers of its events; these have neither
 * a number nor a place, and come from threads that may have no slot.
 *
 *   writer                              consumer
 *   lose the event: read the clock: t   read the clock: T
 *   missed_first = t, the first time    barrier in all writers
 *   missed_last = max(.., t), unless    load missed_last: L, then missed_first
 *     it is above t - PT_MISSED_GRAIN   hand out what is older than T
 *
 * Nobody resets the words, so any number of consumers may look.  Many who lose at
 * once store once a grain, and share the line between.
 *
 * A gap is told rightly if some point of it lies between the events of a thread
 * before its loss and behind it.  Say the one behind it is handed out now, so its
 * time is below T: the note before it is seen, as every store that an event
 * before T is behind (watermark.h).  If it has changed L, the time from the last
 * T to this one is a gap.  If not, t is at most L + PT_MISSED_GRAIN with an L that
 * was there: a gap lasts that long at least.  So: what lies before T and not before
 * the last T is a gap if L is new, or the last T is below L + PT_MISSED_GRAIN.
 * Whoever loses an event before missed_first notes it later than that, and what it
 * records behind the note is later still: the gap need not begin before.
 *
 * test/model/missed.pml is a model of this.
 */
#ifndef PT_SHM_MISSED_H
#define PT_SHM_MISSED_H

#include "base/clock.h"
#include "shm/segment.h"

/* In ticks of the stream: a third of a millisecond with a TSC of 3 GHz. */
#define PT_MISSED_GRAIN (1u << 20)

/* By who has counted such a loss. */
static inline void pt_missed_note(struct pt_seg *seg)
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
 * By who has taken a watermark: is what lies before it, and before neither the last one
 * nor *from, a gap?  *known belongs to the consumer, 0 at first.
 */
static inline bool pt_missed_look(struct pt_seg_header *h, uint64_t last_watermark, uint64_t *known,
                                  uint64_t *from)
{
    uint64_t last = pt_load_seqcst(&h->missed_last), was = *known;

    if (last == 0)
        return false;
    *known = last;
    *from = pt_load_seqcst(&h->missed_first);
    return last != was || last_watermark < last + PT_MISSED_GRAIN;
}

#endif
