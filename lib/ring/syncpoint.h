/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clock table of a segment.  A point holds from its own time on, and it is
 * published before that time comes, so nobody has converted a time behind it
 * with the point before: live and offline reading give the same nanosecond.
 *
 * Small deviations are steered back: the new point continues where the old
 * one has got to, with a slope that meets CLOCK_REALTIME a second later.  A
 * deviation of more than 10 ms is a step of CLOCK_REALTIME and shows as one.
 */
#ifndef PT_RING_SYNCPOINT_H
#define PT_RING_SYNCPOINT_H

#include "ring/layout.h"

/* The first point; before the segment is used by anyone else. */
void pt_syncpoint_first(struct pt_seg_header *h, int clock);
/* Adds a point if the newest is over a second old and off by more than 2 us.
 * Lock-free, async-signal-safe; any process. */
void pt_syncpoint_maintain(struct pt_seg_header *h, int clock);

/* How many points there are, within the table. */
static inline uint32_t pt_syncpoint_count(const struct pt_seg_header *h)
{
    uint32_t n = pt_load_acquire(&h->syncs);

    return n < PT_SYNC_MAX ? n : PT_SYNC_MAX;
}

/* CLOCK_REALTIME nanoseconds of a time in ticks, whatever others write into the table. */
int64_t pt_syncpoint_convert(const struct pt_seg_header *h, uint64_t ts);

#endif
