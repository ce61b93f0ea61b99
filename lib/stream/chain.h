/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams one behind the other: what finds no room in one is recorded in the next.
 *
 * The gates are those of the first; the others run with their gates closed.  A writer that
 * is refused by a full stream looks into its header for the name of the next, and for that
 * name's bit in its own process's page, and writes there, with a time of its own taken when
 * it is inside.  So nothing has to be switched at the moment at which the stream gets full: whether
 * a writer comes by before or after, on which processor, in a handler, killed before or behind
 * any store, its event is in one of them, or counted as lost in one.
 *
 * Where none takes it, the loss is counted once: in the stream that has no memory for it, or
 * is full and has no next; otherwise in the first.  That is so where a next one has no slot for the
 * thread, has no room for the process, does not want events of that type, or does not run,
 * though it may have run when its state was loaded.
 */
#ifndef PT_STREAM_CHAIN_H
#define PT_STREAM_CHAIN_H

#include "stream/stream.h"
#include "stream/thread.h"

static inline bool pt_chain_has_next(const struct pt_seg_header *h)
{
    return pt_load_relaxed(&h->next_file[0]) != 0;
}

/* Inside an event at this level, and out of lane's slot: lane has left an event to the next.
 * self is the process's; in a half event of a forked child (fork.h), where it may also be the
 * child's or NULL, nothing is done. */
void pt_chain_follow(struct pt_self *self, struct pt_thread *t, unsigned level,
                     struct pt_lane *lane, uint32_t id, const void *data, size_t len,
                     uint64_t addr);

/* What the first refuses goes to that stream; NULL: to none.  Both are ours to control. */
void pt_chain_set_next(struct pt_stream *s, const struct pt_stream *next);
/* Its gates stay closed, or are its own again.  As a change of the filter. */
int pt_chain_set_behind(struct pt_stream *s, bool behind);

#endif
