/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A process that has no struct pt_self yet, because it had no descriptor or no memory when its
 * first event came.  Its later events try again: the first one that comes ten milliseconds after
 * the last attempt, and, if the process inherits streams, every 64th; else the 64th, 128th, 256th
 * and so on, from the 4096th on every 4096th.
 *
 * Losses.  Events that a forked child loses in the streams that it inherits are counted at once, in
 * the memory from its parent (count_unmade in writer/event.c).  Other streams cannot be found until
 * the attempt succeeds: of another process, which traces this one directly, and those that a new
 * image inherits, or that the parent has not mapped.  So the events are counted
 * here by type, and then for each such stream whose gate is open: all of them if it was started
 * before the first attempt failed; else those since the last failed attempt, which may include up
 * to ten milliseconds too many and leave out earlier losses.
 *
 * If another thread makes the struct pt_self meanwhile, an event that was not counted at once is
 * recorded after all: what the parent had does not count then (find_self in writer/event.c).
 *
 * A forked child has a copy of this, which differs from its own by the process's instance; the
 * counts are in memory that fork wipes.
 * Async-signal-safe.
 */
#ifndef PT_PROCESS_UNMADE_H
#define PT_PROCESS_UNMADE_H

#include "process/self.h"

/* Is an event to try?  True also for the first one. */
bool pt_unmade_is_due(void);
/* An attempt has failed.  heir: of a child that inherits streams. */
void pt_unmade_failed(bool heir);
/* So many events of that type were lost. */
void pt_unmade_note(uint32_t id, uint64_t events);
/* Called when the struct pt_self is made and has mapped the streams that trace the process: counts
 * their losses. */
void pt_unmade_settle(struct pt_self *self);

#endif
