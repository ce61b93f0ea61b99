/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Onlookers: processes that read the chunks of a segment although they neither made it nor write
 * into it.  The memory of the chunks is not freed while one of them may read it (layout.h has the
 * reason).
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
 * same holds for an onlooker that comes while another one leaves.  If several onlookers leave at
 * the same time, or during the shutdown's check, the last one to clear its entry finds
 * PT_MEMORY_GIVEN and no entry.  Two may find that: freeing the memory twice does no harm.
 *
 * Death.  An entry has the process's pid and start time.  Another process can find out whether that
 * process still maps the segment, as for an owner (liveness.h).  So the entry of an onlooker that
 * was killed, or has executed another program, does not count any more, and the next onlooker takes
 * its place.  An onlooker that is killed after the shutdown frees nothing: the memory then stays
 * until the last process that maps the segment ends.  The same is true if the liveness of an
 * onlooker is unknown (another pid namespace, no /proc), or if all entries were in use when it
 * came.  An error in this direction costs memory for some time; one in the other would kill the
 * onlooker.
 *
 * A process that can write the segment can change all of this; it can also truncate the file.
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

/* Called before the first access to a chunk.  -ENXIO: the memory of the chunks is being freed or
 * was freed. */
int pt_onlook_begin(struct pt_onlook *o, struct pt_seg *seg);
/* Called after the last access.  True: the caller has to free the memory of the chunks now. */
bool pt_onlook_end(struct pt_onlook *o, struct pt_seg *seg);
/* No onlooker begins from now on.  True: none is left, either. */
bool pt_onlook_give(struct pt_seg *seg);

#endif
