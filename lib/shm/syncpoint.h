/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clock table of a segment: the first point, and pairs of points that follow it in the
 * order in which sync_next[] names them.
 *
 * Small deviations are steered back: a pair's first point continues where the table has got
 * to, with a slope that meets CLOCK_REALTIME a second later, when its second point resumes
 * the true slope.  A deviation of more than 10 ms is a step of CLOCK_REALTIME and shows as
 * one.
 *
 * Guarantee: a time that a reader has converted converts to the same nanosecond ever after,
 * live and in the log, wherever a thread of any process is killed, stopped or left by
 * siglongjmp; and no such thread keeps others from adding points.
 *
 * Words
 *   sync_used[]   a bit for each pair: who sets it owns the pair alone, and may give it back
 *   sync_pair[]   written by the owner, before the pair is named; never after
 *   sync_next[k]  the k-th decision, the only word on which threads agree:
 *                   odd or 0   open.  Readers have converted times below that value
 *                   even       closed for ever: 2 * (pair + 1)
 *   syncs         1 + a number of closed decisions, for a start of the search; 0: no points
 *
 * To add a pair (writers and consumers, whoever finds the newest point old and off)
 *   1  find the first open decision, load its value r
 *   2  own a pair; none left: the table stays as it is
 *   3  write both points.  The first is later than r
 *   4  compare and exchange sync_next[k] from r to the pair.  Failed: another pair was
 *      named, or a reader came past r.  Give the pair back: a later call tries again
 *
 * To read up to the time t (pt_syncpoint_reach)
 *   1  find the first open decision, load its value r.  t < r: done
 *   2  compare and exchange it from r to an odd value above t.  Failed: from 1 again
 *
 * A pair that is named at k begins after the value that it has replaced, so after every time
 * that was read with k open: the exchange fails if a reader was there since 1.  An adder that
 * stands still for an hour between 3 and 4 finds another value after it, or has missed
 * nothing.  A thread that is killed or left between 2 and 4 takes its pair with it, one of
 * PT_SYNC_PAIRS; pairs are not reclaimed from the dead, since this needs a kill within 100 ns
 * that occur once in a second at most.
 *
 * Order: 4 is a release of 3; who loads the closed value (acquire) finds the points complete.
 * sync_next[k] is closed before sync_next[k + 1] is looked at, so the points ascend.
 * Every failed exchange means that another one succeeded: lock-free.  test/model/sync.pml
 */
#ifndef PT_SHM_SYNCPOINT_H
#define PT_SHM_SYNCPOINT_H

#include "shm/layout.h"

/* The first point; before the segment is used by anyone else. */
void pt_syncpoint_first(struct pt_seg_header *h, int clock);
/* Adds a pair if the newest point is over a second old and off by more than 2 us.
 * Async-signal-safe; any process. */
void pt_syncpoint_maintain(struct pt_seg_header *h, int clock);

/* How many points there are; those for all times up to ts are among them for ever.  Changes
 * the segment, so that no later point is in force before ts. */
uint32_t pt_syncpoint_reach(struct pt_seg_header *h, uint64_t ts);
/* How many there are now, of a segment that nobody writes to any more. */
uint32_t pt_syncpoint_count(const struct pt_seg_header *h);
/* Point i, below a number that one of these has returned. */
void pt_syncpoint_get(const struct pt_seg_header *h, uint32_t i, struct pt_sync *point);

/* CLOCK_REALTIME nanoseconds of a time in ticks, whatever others write into the table. */
int64_t pt_syncpoint_convert(struct pt_seg_header *h, uint64_t ts);

#endif
