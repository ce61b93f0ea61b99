/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The watermark: a time before which every event is committed.
 *
 *   writer                          consumer
 *   store inside (a new value)      read the clock: T
 *   (compiler fence)                barrier in all writers
 *   read the clock                  load inside of every slot
 *   write the record
 *   store commit (release)
 *   store inside = 0 (release)
 *
 * The consumer's barrier makes each writer pass a full fence between T and the load.  inside == 0:
 * either the store of inside comes after that fence; then the writer's clock reading does, too, and
 * is later than T.  Or the event is over and its commit visible.  So such a writer commits no event
 * older than T later.  inside != 0: its event is later than the last time at which the consumer
 * found inside 0, or another value.  The consumer never waits: a writer stopped inside holds back
 * events younger than its entry, until it has stood still for too long (PT_STALL_NS, or until LOOP
 * has overwritten events that are younger than the look which found it); after that it holds none
 * back, and its event is delivered late, or is overwritten with those of its time.  Without the
 * second bound, more threads than processors that flood a small stream would hide all of it from
 * its reader: some of them are always interrupted inside.  Each event has a value of inside of its
 * own (it counts after its word is stored, see process/thread.h), so a writer with many short
 * events is not taken for stopped.
 *
 * A slot that is attached after the load does no harm: attach_ts is later than T.
 * Writers without membarrier have a full fence after the first store instead.
 */
#ifndef PT_SHM_WATERMARK_H
#define PT_SHM_WATERMARK_H

#include "shm/segment.h"

struct pt_seen {
    uint64_t inside;   /* the value last seen, 0 outside */
    uint64_t bound;    /* nothing of this writer is to come before it */
    uint64_t since_ns; /* CLOCK_MONOTONIC when that value was first seen */
    uint64_t since_ts; /* the same, by the stream's clock */
    uint64_t wid;      /* whose: the slot may have got another writer */
};

/* One consumer's memory of the writers. */
struct pt_watch {
    struct pt_seen *seen;
    uint32_t room;
    uint64_t looked; /* clock at the last look */
    bool passive;    /* changes nothing: dead writers are for others to find */
    bool held;       /* some writer inside holds the watermark back */
};

void pt_watch_init(struct pt_watch *w);
void pt_watch_deinit(struct pt_watch *w);
/* Never blocks.  The watermark never decreases; events of a stalled writer may be older.  0: no
 * time is certain. */
uint64_t pt_watch_look(struct pt_watch *w, struct pt_seg *seg);

#endif
