/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writer slots.  FREE -> CLAIMED -> LIVE -> ENDING -> ENDED -> FREE; the claimer
 * owns a slot until it ends it or is found dead.  Ending takes several stores;
 * each can be done again by who finds that the one who did them has died.  An
 * ended slot keeps its counts until a consumer has taken them, or under pressure
 * until another writer needs it; then they go to the slot's past, which is the sum
 * of all writers that it had.
 *
 * How many events a writer has recorded: the number of its next one.  That is
 * next_no while it has no chunk, else chunk_base plus the chunk's count.  At a
 * change of chunk next_no is stored before chunk is cleared, and chunk_base
 * before chunk is set, so the sum is right at any moment, also after SIGKILL.
 * Who reads it while the writer goes on must find chunk and chunk_base unchanged
 * afterwards: the writer may have come back to the same chunk.
 */
#ifndef PT_SHM_SLOT_H
#define PT_SHM_SLOT_H

#include "shm/segment.h"

/* Claims a slot for a writer; author->wid is ignored and assigned, 0 for a control writer.
 * copy tells copies of the library in one process apart.  -ENOMEM: no slot to be had. */
int pt_slot_attach(struct pt_seg *seg, const struct pt_author *author, uint64_t copy,
                   uint32_t *index);
/* The latest name of a living writer's thread, from any thread of its process.  The name is stored
 * before author.names goes up, and is read after it: a look that finds the last number has found
 * the last name, also where two threads store one at the same time.  It is lost if another writer
 * needs the slot before the consumer has looked. */
void pt_slot_name(struct pt_seg *seg, uint32_t index, const char name[16]);
/* Ends a slot: its chunk is orphaned, its counts stay. */
void pt_slot_detach(struct pt_seg *seg, uint32_t index, uint64_t last_ts);
/* The same of a writer that does not exist any more; state: the slot's, from before
 * that was looked at. */
void pt_slot_end_dead(struct pt_seg *seg, uint32_t index, uint32_t state);
/* Ends a control slot that the lock word does not name, if nobody writes in it
 * (stream/control_lock.c).  True: it did. */
bool pt_slot_end_control(struct pt_seg *seg, uint32_t index);
/* Ends the slots of threads that do not exist any more; how many. */
unsigned pt_slot_sweep(struct pt_seg *seg);
/*
 * The same for that many slots, from where the step before ended; how many.  Each new writer
 * takes a step of 4 where there are 64 slots or more, and a writer takes one of 16 before the
 * stream gets one more chunk.  Where L writers live and the others are killed, a turn over N
 * slots needs N / 4 writers and ends N - L: no more than L / 3 dead slots pile up, however
 * many writers there were.
 */
unsigned pt_slot_sweep_step(struct pt_seg *seg, unsigned looks);

/* The consumer has taken the counts of an ended slot that it claimed: the next
 * writer may have it. */
void pt_slot_release(struct pt_seg *seg, uint32_t index);

/* What a slot says at one moment: the counts of its writer, unless those are in the
 * past already, and of all the writers before. */
struct pt_slot_view {
    uint64_t wid; /* the slot's writer's number, which is in author.wid, too */
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
