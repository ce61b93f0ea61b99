/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clock table of a segment: the first point, then pairs of points in the order of sync_next[].
 *
 * Small deviations are corrected by slewing: a pair's first point continues at the table's present
 * value, with a slope that meets CLOCK_REALTIME a second later, when its second point takes up
 * the rate that CLOCK_REALTIME had since it was last compared.  A deviation of more than 10 ms is a
 * step of CLOCK_REALTIME and becomes a step of the table.
 *
 * The table has room for PT_SYNC_PAIRS corrections in the life of a stream.  A steady rate takes a
 * few of them; each change of rate, one to three.  As the table fills, larger deviations are left:
 * the first 90 corrections are of deviations beyond 2 us to 4 ms, the other 16 beyond 10 ms to
 * 1.3 s.
 * sync_left says that a deviation of more than 10 ms was found and not corrected.
 *
 * Guarantee: a time that a reader has converted always converts to the same nanosecond, live and in
 * the log, even if threads are killed, stopped or left by siglongjmp at any place; and no such
 * thread prevents others from adding points.
 *
 * Words
 *   sync_used[]   a bit for each pair: the thread that sets it owns the pair, and may free it
 *   sync_pair[]   written by the owner before sync_next[] names the pair, never after
 *   sync_next[k]  the k-th decision, on which threads agree:
 *                   odd or 0   open.  Readers have converted times below that value
 *                   even       closed for ever: 2 * (pair + 1)
 *   sync_left     1: times were off by more than 10 ms and the table was too full to correct that
 *   syncs         1 + a number of closed decisions, where a search may start; 0: no points
 *
 * To add a pair (a writer or consumer that finds the newest point too old and inexact)
 *   1  find the first open decision, load its value r
 *   2  own a pair; none left: the table does not change
 *   3  write both points.  The first is later than r
 *   4  compare and exchange sync_next[k] from r to the pair.  If it fails, another pair was named,
 *      or a reader has read beyond r.  Free the pair: a later call tries again
 *
 * To read up to the time t (pt_syncpoint_reach)
 *   1  find the first open decision, load its value r.  t < r: done
 *   2  compare and exchange it from r to an odd value above t.  If it fails, repeat from 1
 *
 * A pair that is named at k starts after the value that it has replaced, so after every time that
 * was read with k open: the exchange fails if a reader came since 1.  A thread that is stopped for
 * an hour between 3 and 4 then finds another value, or nothing has changed.  A thread that is
 * killed or left between 2 and 4 loses its pair, one of PT_SYNC_PAIRS.  Such pairs are not
 * reclaimed, because this needs a kill within 100 ns that occur at most once a second.
 *
 * Order: 4 releases 3, so a thread that loads the closed value (acquire) finds the points complete.
 * sync_next[k] is closed before sync_next[k + 1] is loaded, so the points ascend.  Every failed
 * exchange means that another one succeeded: lock-free.  test/model/sync.pml
 */
#ifndef PT_SHM_SYNCPOINT_H
#define PT_SHM_SYNCPOINT_H

#include "shm/layout.h"

/* Stores the first point, before the segment is published. */
void pt_syncpoint_first(struct pt_seg_header *h, int clock);
/* Adds a pair if the newest point is over a second old and off by more than 2 us, or more in a
 * table that fills.  Async-signal-safe; any process. */
void pt_syncpoint_maintain(struct pt_seg_header *h, int clock);
/* The same, where CLOCK_REALTIME showed real at now.  The table has a point. */
void pt_syncpoint_compare(struct pt_seg_header *h, int clock, uint64_t now, int64_t real);
/* Was a deviation of more than 10 ms not corrected, for want of room? */
bool pt_syncpoint_is_left(const struct pt_seg_header *h);
/* The same, at most once in 2^22 ticks, 1 to 4 ms, of all writers; now: a recent time.  Comparing
 * the clocks takes longer than a change of chunk. */
static inline void pt_syncpoint_look(struct pt_seg_header *h, int clock, uint64_t now)
{
    uint32_t period = (uint32_t)(now >> 22);

    if (pt_load_relaxed(&h->sync_looked) == period)
        return;
    pt_store_relaxed(&h->sync_looked, period);
    pt_syncpoint_maintain(h, clock);
}

/* How many points there are; those for all times up to ts are among them for ever.  Changes
 * the segment, so that no later point is in force before ts. */
uint32_t pt_syncpoint_reach(struct pt_seg_header *h, uint64_t ts);
/* The number of points that there are now.  Where no process writes any more, all of them. */
uint32_t pt_syncpoint_count(const struct pt_seg_header *h);
/* Point i; i is below a number that one of these functions has returned. */
void pt_syncpoint_get(const struct pt_seg_header *h, uint32_t i, struct pt_sync *point);

/* Converts ticks to CLOCK_REALTIME nanoseconds; safe for any contents of the table. */
int64_t pt_syncpoint_convert(struct pt_seg_header *h, uint64_t ts);
/* Nanoseconds between two times, from <= to, without the steps of CLOCK_REALTIME. */
int64_t pt_syncpoint_elapsed(struct pt_seg_header *h, uint64_t from, uint64_t to);
/* A time before now as CLOCK_REALTIME would have shown it if it had always been set as now. */
int64_t pt_syncpoint_since(struct pt_seg_header *h, int clock, uint64_t ts);
/* Converts one of several times, mostly ascending.  *reached: how many points were in force up to
 * the latest of them, at first 0.  *stepped: set if CLOCK_REALTIME was set since. */
int64_t pt_syncpoint_convert_next(struct pt_seg_header *h, uint64_t ts, uint32_t *reached,
                                  bool *stepped);

#endif
