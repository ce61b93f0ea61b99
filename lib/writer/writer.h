/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The slow half of writing: attaching a lane to a stream, changing chunks,
 * being full.  Async-signal-safe and lock-free; each lane has one owner and is
 * never re-entered.  Used by events and, under the controller's mutex, by the
 * control writer.
 */
#ifndef PT_WRITER_WRITER_H
#define PT_WRITER_WRITER_H

#include "process/thread.h"

/* Attaches lane to the stream of seg as a writer of its own. 0 or -ENOMEM. */
int pt_lane_attach(struct pt_lane *lane, struct pt_seg *seg, uint64_t epoch,
                   const struct pt_author *author);

/*
 * Writes one record with time ts (or later: a change of chunk reads the clock
 * again), or counts its loss: lane->counted, or leaves it to the next stream:
 * lane->onward, or drops it, since the stream does not run.  The lane's slot is inside.
 * id may carry PT_RECORD_TRUNCATED.  True: recorded.
 */
bool pt_lane_write(struct pt_lane *lane, uint32_t id, const void *data, size_t len, uint64_t addr,
                   uint64_t ts);

/* Sets the author of the next records; room: bytes that the next record may need.  For the
 * control writer, which different threads use. */
void pt_lane_set_author(struct pt_lane *lane, const struct pt_author *author, uint32_t room);

/* The control writer's: continues in slot index, which another process has used since,
 * with chunk number at - 1 (0: none).  False: that is not such a slot's chunk. */
bool pt_lane_take_up(struct pt_lane *lane, struct pt_seg *seg, uint32_t index, uint32_t at);
/* Is there room in the chunk for a record with len bytes? */
bool pt_lane_has_room(struct pt_lane *lane, uint32_t len);

/* Makes sure that the lane has a chunk; false: none to be had. */
bool pt_lane_reserve(struct pt_lane *lane);
/* Makes sure that all of its chunk has memory. */
bool pt_lane_back(struct pt_lane *lane);
/* Closes the current chunk, if any. */
void pt_lane_close_chunk(struct pt_lane *lane);

/* After siglongjmp has left an event of this lane half-way: continues after the last
 * commit. */
void pt_lane_recover(struct pt_lane *lane);

/* There is no slot or chunk for the lane: counted once for each. */
void pt_lane_refuse(struct pt_lane *lane, struct pt_seg_header *h);
/* Counts a loss; cause is one of PT_LOST_*. */
void pt_lane_lost(struct pt_lane *lane, unsigned cause, size_t len);

#endif
