/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writer slots.  FREE -> CLAIMED -> LIVE -> ENDING -> ENDED -> FREE.  The thread that claims a slot
 * owns it until it ends the slot or is found dead.  Ending takes several stores; if the thread dies
 * half-way, another one repeats them.  An ended slot keeps its counts until a consumer has taken
 * them, or until another writer needs the slot.  Then the counts are added to the slot's past, the
 * sum of its earlier writers.
 *
 * The number of events that a writer has recorded is the number of its next one: next_no while it
 * has no chunk, else chunk_base plus the chunk's count.  At a change of chunk next_no is stored
 * before chunk is cleared, and chunk_base before chunk is set, so the number is right at any
 * moment, also after SIGKILL.  A reader that loads it while the writer records must find chunk and
 * chunk_base unchanged afterwards, because the writer may have returned to the same chunk.
 */
#ifndef PT_SHM_SLOT_H
#define PT_SHM_SLOT_H

#include "shm/segment.h"

/* Claims a slot for a writer; author->wid is ignored and assigned, 0 for a control writer.
 * copy: which copy of the library in this process.  -ENOMEM: no slot is free. */
int pt_slot_attach(struct pt_seg *seg, const struct pt_author *author, uint64_t copy,
                   uint32_t *index);
/* Stores the latest name of a living writer's thread, from any thread of its process.  The name is
 * stored before author.names is incremented, and read after it: a reader that finds the last number
 * has the last name, also if two threads store one at the same time.  The name is lost if another
 * writer reuses the slot before the consumer has read it. */
void pt_slot_name(struct pt_seg *seg, uint32_t index, const char name[16]);
/* Ends a slot: its chunk is orphaned, its counts stay. */
void pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts);
/* The same for a writer that does not exist any more; state: the slot's, loaded before that was
 * checked. */
void pt_slot_end_dead(struct pt_seg *seg, uint32_t index, uint32_t state);
/* Ends a control slot that the lock word does not name, if no thread writes in it
 * (stream/control_lock.c).  True: it did. */
bool pt_slot_end_control(struct pt_seg *seg, uint32_t index);
/* Ends the slots of threads that do not exist any more; returns their number. */
unsigned pt_slot_sweep(struct pt_seg *seg);
/*
 * The same for that many slots, from the end of the previous step; returns the number of ended
 * slots.  Each new writer makes a step of 4 if there are 64 slots or more, and a writer makes one
 * of 16 before the stream gets another chunk.  If L writers live and the others are killed, a pass
 * over N slots needs N / 4 new writers and ends N - L slots.  So at most about L / 3 dead slots
 * exist, however many writers there were.
 */
unsigned pt_slot_sweep_step(struct pt_seg *seg, unsigned looks);

/* The consumer has taken the counts of an ended slot that it claimed: the next
 * writer may have it. */
void pt_slot_release(struct pt_seg *seg, uint32_t index);

/* A consistent view of a slot: the counts of its writer, unless those are in the past already, and
 * the past of its earlier writers. */
struct pt_slot_view {
    uint64_t wid; /* the wid of the slot's writer, also in author.wid */
    bool own;     /* author and mine hold, and are not in past */
    bool stable;
    uint64_t past_wid; /* the last writer in past; those before it have lower numbers */
    struct pt_author author;
    struct pt_past mine, past;
};
void pt_slot_look(struct pt_seg *seg, uint32_t index, struct pt_slot_view *v);

/* Events recorded so far. */
uint64_t pt_slot_recorded(struct pt_seg *seg, uint32_t index);
/* A stream size with room for all that the stream can hold and everything that it was too full
 * for so far; 0: it was never full. */
uint64_t pt_slot_advised_size(struct pt_seg *seg);
/* Slots that this mapping can look at. */
uint32_t pt_slot_count(struct pt_seg *seg);

#endif
