/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A chain of streams: an event that finds no room in one is recorded in the next.
 *
 * Only the gates of the first stream are open; the others run with closed gates.  A writer
 * that a full stream refuses reads the name of the next stream in its header, finds the gate
 * bit of that name in the page of its own process, and writes there, with a new time that it
 * takes when it is inside.  So no switch is needed at the moment at which a stream gets full.
 * Each event is in one stream of the chain, or counted as lost in one, whenever and on
 * whichever processor the writer runs, in a signal handler, and killed between any two
 * stores.
 *
 * If no stream takes the event, the loss is counted once: in the stream that has no memory for
 * it, or is full and has no next; otherwise in the first.  The latter is the case if a next
 * stream has no slot for the thread, has no room for the process, does not record events of
 * that type, or does not run, though it may have run when its state was loaded.
 */
#ifndef PT_WRITER_CHAIN_H
#define PT_WRITER_CHAIN_H

#include "process/thread.h"

static inline bool pt_chain_has_next(const struct pt_seg_header *h)
{
    return pt_load_relaxed(&h->next_file[0]) != 0;
}

/* Inside an event at this level, and out of writer's slot: writer has left an event to the next.
 * self is the process's; in a half event of a forked child (process/fork.h), where it may also be
 * the child's or NULL, nothing is done. */
void pt_chain_follow(struct pt_self *self, struct pt_thread *t, unsigned level,
                     struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                     uint64_t addr);

#endif
