/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The accounts of a running stream at one moment, while its writers record events.
 *
 *     recorded = delivered + excluded + lost + still to be delivered
 *
 * must hold for each writer at one moment; no lock can stop writers, so the order decides:
 *
 *   1  the chunks: which writers have events there       a writer without a slot is known
 *                                                        by its events only
 *   2  the slots: recorded by each writer, R, and by     an event below R was committed
 *      those whose slots were reused, in one sum         before this
 *   3  the chunks: which events below R are there        events recorded after 2 do not
 *                                                        count
 *
 * An event below R that was neither seen nor found by 3 was overwritten before 3, or, for an
 * onlooker, taken by the consumer: it will not be delivered.  One that is overwritten after 3
 * counts as still to be delivered here, and as lost in the next accounts.  So the losses only grow,
 * and the sum is R, which is not less than the events recorded before the call and not more than
 * those after it.
 *
 * For writers without a slot only the sum of their events is known (shm/slot.h).  A writer that 3
 * finds and neither 1 nor 2 may have started, recorded and ended between those; then it is in the
 * sum of its slot.  The writers of a slot have ascending numbers, so it is in the sum if the last
 * writer in the sum is that one or a later one; otherwise it started after 2 and does not count.
 * An onlooker keeps for each writer the last counts of its slot; further events in the sums were
 * never seen.  It decides in the same way which writers were in the sums at its start.
 *
 * It changes neither the segment nor the consumer's memory.  So it can run in the middle of a flush
 * round, where tallies and cursors agree although the round is not complete.  The caller holds the
 * reading lock.
 */
#ifndef PT_CONSUMER_BALANCE_H
#define PT_CONSUMER_BALANCE_H

#include "consumer/consumer.h"
#include "log/contents.h"

enum pt_balance_source {
    PT_BALANCE_OWN, /* recorded and lost are its own */
    PT_BALANCE_SUM  /* they are in the sums of those without a slot */
};

/* One writer. */
struct pt_balance_entry {
    struct pt_account t; /* as the consumer knows it; zeros but for the author */
    enum pt_balance_source source;
    bool has_slot; /* at step 2 */
    uint64_t recorded, lost[PT_LOST_OWN];
    uint64_t pending;
    uint64_t first_no, end_no; /* of the pending events */
};

struct pt_balance {
    struct pt_balance_entry *entries;
    uint32_t *index; /* open addressing by wid: entry + 1 */
    uint32_t count, room, index_room;
    uint64_t factor;     /* of its hash: traced processes can choose their wids */
    struct pt_past past; /* all slots' past, as of step 2 */
    uint64_t *past_wid;  /* of each slot the last writer in it */
    uint32_t slots;
    struct pt_folded folded; /* of tallies that the consumer had forgotten by then */
    uint64_t lost_no_slot[PT_LOST_OWN];
    uint8_t *copy; /* of the chunk that is looked at */
    bool discover; /* step 1 */
};

/* Takes the accounts of l and its segment.  0 or -ENOMEM; the caller initialises *b with zeros, and
 * frees it in either case. */
int pt_balance_take(const struct pt_consumer *l, struct pt_balance *b);
void pt_balance_free(struct pt_balance *b);

/* Adds the losses of one writer, by cause, and its recorded events.  Only for writers with an entry
 * of their own. */
void pt_balance_add(const struct pt_consumer *l, const struct pt_balance_entry *e,
                    uint64_t lost[PT_LOSS_CAUSES], uint64_t *recorded);
/* The same of those that are not known singly. */
void pt_balance_add_rest(const struct pt_consumer *l, const struct pt_balance *b,
                         uint64_t lost[PT_LOSS_CAUSES], uint64_t *recorded);
/* The losses of the stream when the onlooker took its first accounts.  If the stream has
 * overwritten events since the last clear, all events that it does not hold any more count as
 * overwritten, because it is unknown which of them a reader or the log had taken before. */
void pt_balance_before(const struct pt_consumer *l, const struct pt_balance *b,
                       uint64_t lost[PT_LOST_OWN]);

#endif
