/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where an onlooker has started.  A passive consumer reads a stream that has another consumer, or
 * none, and changes nothing in the segment: it publishes no position, frees neither chunks nor
 * slots, resets nothing and restarts nothing.  It starts with the oldest event in a chunk that no
 * consumer has read to its end.  LOOP and the other consumer may take its chunks; it can still read
 * a free chunk until a writer reuses it.
 *
 * What the stream had lost before is not the onlooker's loss.  So it keeps the counts of that
 * moment, and its accounts are differences (balance.h).  The numbering shows the events that it
 * misses, from its start on (pt_account.base_no).  If the START of some events was taken from it,
 * it misses these events, too.
 *
 * All of it is written once, by pt_consumer_look_on(); a consumer that is not passive has zeros.
 */
#ifndef PT_CONSUMER_ONLOOKER_H
#define PT_CONSUMER_ONLOOKER_H

#include <stdlib.h>
#include "shm/slot.h"

struct pt_onlooker {
    uint64_t ts; /* the header's lost_last_ts, or just before a later clear_ts */
    uint64_t no_slot[PT_LOST_OWN];
    uint64_t switches;          /* lost_switches */
    uint64_t lost[PT_LOST_OWN]; /* losses of the stream until then, see balance.h */
    struct pt_past past;        /* of all slots */
    uint64_t *past_wid;         /* for each slot the wid of its last past writer */
    uint32_t slots;
};

static inline void pt_onlooker_deinit(struct pt_onlooker *o)
{
    free(o->past_wid);
}

#endif
