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
 * events younger than its entry, for PT_STALL_NS; after that it holds none back, and its event is
 * delivered late.  Each event has a value of inside of its own (it counts after its word is stored,
 * see process/thread.h), so a writer with many short events is not taken for stopped.
 *
 * LOOP.  More threads than processors that flood a stream would hide all of it from its reader:
 * some of them always lose their processor inside.  So a writer also holds none back if
 *
 *   it has had no processor from a look S on, which found it in this event, until after the load of
 *   inside (its processor time is the same), and LOOP has overwritten events younger than S.
 *
 * Then it has read the clock before S, and its event is not younger than the newest overwritten
 * one, so it counts as overwritten; or it will read it later than T.  Known for the threads of the
 * consumer's process only.
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
    uint64_t still_ts; /* the stream's clock at S, 0: no such look; its processor time at S */
    uint64_t ran_ns;
    uint64_t wid; /* whose: the slot may have got another writer */
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
