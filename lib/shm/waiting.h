/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a thread waits for now, in its writer slot of level 0 in each stream that wants the call: so
 * that other processes know of a call that has not returned, and recovery after SIGKILL, also where
 * no event of it is recorded (--longer-than).
 *
 * A sequence lock with one writer.  number has another value for each content, and is 0 while the
 * content changes.
 *
 *   thread (writer/waiting.c)               reader
 *   store number = 0                        load wid, number: N; 0: it waits for nothing
 *   store began, object, ... (release)      copy the others
 *   store number = N (release)              (acquire fence) number and wid are the same: the copy
 *                                           is good, else again, a bounded number of times
 *   at the end of the call
 *   store number = 0
 *
 * Writers.  The slot's thread, only inside an event's protection (process/thread.h), so that the
 * segment stays mapped; pt_slot_attach(), before the slot is LIVE; the consumer, by
 * compare-and-exchange of N with 0, of a writer that has ended.
 *
 * A signal between any two stores: a call in the handler has a higher N for its content, and stores
 * at its end the interrupted call again, under a further N.  The interrupted stores then continue
 * with values that are those in the slot already, and with the N that they began with, or a later
 * one that nothing else has.  So each N that a reader finds twice had one content between.
 * A handler left by siglongjmp() leaves its call there, until the next call of the thread begins
 * or ends.
 * SIGKILL between any two stores: number is 0, and the thread waits for nothing: the call had not
 * begun, or had ended.
 * A forked child has a slot of its own, with nothing in it.  A thread that ends, ends its calls;
 * one that is killed leaves what it waited for, until the slot's next writer comes.
 *
 * All that a reader loads may have been stored by another process: it is checked here.
 */
#ifndef PT_SHM_WAITING_H
#define PT_SHM_WAITING_H

#include "shm/slot.h"

static inline void pt_waiting_clear(struct pt_slot *s)
{
    pt_store_release(&s->waiting.number, 0u);
}

/* number: one that the slot has not had.  *w has the rest. */
static inline void pt_waiting_put(struct pt_slot *s, uint64_t number,
                                  const struct pt_slot_waiting *w)
{
    pt_store_relaxed(&s->waiting.number, 0u);
    pt_store_release(&s->waiting.began, w->began);
    pt_store_release(&s->waiting.object, w->object);
    pt_store_release(&s->waiting.caller, w->caller);
    pt_store_release(&s->waiting.type, w->type);
    pt_store_release(&s->waiting.call, w->call);
    pt_store_release(&s->waiting.number, number);
}

/* What the writer of a slot waits for; wid: that writer.  False: for nothing, or for
 * something that cannot be. */
bool pt_waiting_look(struct pt_seg *seg, uint32_t index, uint64_t wid, struct pt_slot_waiting *w);

#endif
