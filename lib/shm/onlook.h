/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Onlookers: processes that read the chunks of a segment although they neither made it nor write
 * into it.  Its memory is not given back while one of them may read it (layout.h says why).
 *
 *   onlooker                                shutdown (pt_seg_release)
 *   1  maps the segment                     1  closes the stream, waits for its writers
 *   2  stores its entry (CAS), or sets      2  sets PT_MEMORY_GIVEN
 *      PT_MEMORY_KEPT                       3  loads PT_MEMORY_KEPT and the entries: gives
 *   3  loads PT_MEMORY_GIVEN:                  the memory back if no onlooker may live
 *      set: no chunk is read, and it leaves
 *   4  reads chunks
 *   5  clears its entry
 *   6  loads PT_MEMORY_GIVEN: if it is set, does what shutdown does in its step 3
 *
 * All of these are sequentially consistent.  So of an onlooker's step 2 and a shutdown's step 2
 * one comes first: either the onlooker finds PT_MEMORY_GIVEN, or the shutdown finds the entry.  The
 * same holds for an onlooker that comes while another one leaves.  Of several onlookers that leave
 * at once, or while the shutdown looks, the last one to clear its entry finds PT_MEMORY_GIVEN and
 * no entry.  Two may find that: to give memory back twice does no harm.
 *
 * Death.  An entry has the process's number and start time.  A process that looks at it finds out
 * whether that process still maps the segment, as of an owner (liveness.h), so the entry of an
 * onlooker that was killed, or has executed another program, counts no more, and the next onlooker
 * takes its place.
 * An onlooker that is killed after the shutdown gives nothing back: the memory then stays
 * until the last process that maps the segment ends, as it does where an onlooker cannot be judged
 * (another pid namespace, no /proc) or came when all entries were taken.  An error in this
 * direction costs memory for a while, one in the other would cost the onlooker its life.
 *
 * A process that can write the segment can change all of this, and can truncate the file just as
 * well.
 *
 * Nothing here is done by an event.  Async-signal-safe.
 */
#ifndef PT_RING_ONLOOK_H
#define PT_RING_ONLOOK_H

#include "shm/segment.h"

struct pt_onlook {
    uint64_t word; /* 0: not announced, or without an entry */
    unsigned entry;
};

/* Before the first look at a chunk.  -ENXIO: the memory of the chunks goes or has gone. */
int pt_onlook_begin(struct pt_onlook *o, struct pt_seg *seg);
/* After the last one.  True: the memory of the chunks is to be given back now. */
bool pt_onlook_end(struct pt_onlook *o, struct pt_seg *seg);
/* No onlooker begins from now on.  True: none is left, either. */
bool pt_onlook_give(struct pt_seg *seg);

#endif
