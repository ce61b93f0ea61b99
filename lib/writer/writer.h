/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The slow half of writing: attaching a writer to a stream, changing chunks,
 * being full.  Async-signal-safe and lock-free; each writer has one owner and is
 * never re-entered.  Used by events and, under the controller's mutex, by the
 * control writer.
 */
#ifndef PT_WRITER_WRITER_H
#define PT_WRITER_WRITER_H

#include "process/thread.h"

/* Attaches writer to the stream of seg as a writer of its own. 0 or -ENOMEM. */
int pt_writer_attach(struct pt_writer *writer, struct pt_seg *seg, uint64_t epoch,
                     const struct pt_author *author);

/* False: the stream is not full, or it has room kept for events of that type.  Else the event is
 * counted as lost, left to the next stream or dropped, as below. */
bool pt_writer_turns_away(struct pt_writer *writer, uint32_t id, size_t len);

/*
 * Writes one record with time ts (or later: a change of chunk reads the clock
 * again), or counts its loss: writer->counted, or leaves it to the next stream:
 * writer->onward, or drops it, since the stream does not run.  The writer's slot is inside.
 * id may carry PT_RECORD_TRUNCATED.  True: recorded.
 */
bool pt_writer_write(struct pt_writer *writer, uint32_t id, const void *data, size_t len,
                     uint64_t addr, uint64_t ts);

/* Sets the author of the next records; room: bytes that the next record may need.  For the
 * control writer, which different threads use. */
void pt_writer_set_author(struct pt_writer *writer, const struct pt_author *author, uint32_t room);

/* The control writer's: continues in slot index, which another process has used since,
 * with chunk number at - 1 (0: none).  False: that is not such a slot's chunk. */
bool pt_writer_take_up(struct pt_writer *writer, struct pt_seg *seg, uint32_t index, uint32_t at);
/* Is there room in the chunk for a record with len bytes? */
bool pt_writer_has_room(struct pt_writer *writer, uint32_t len);

/* Makes sure that the writer has a chunk; false: none to be had.  overwrites: in a LOOP stream it
 * may be the oldest one. */
bool pt_writer_reserve(struct pt_writer *writer, bool overwrites);
/* Makes sure that all of its chunk has memory. */
bool pt_writer_back(struct pt_writer *writer);
/* Closes the current chunk, if any. */
void pt_writer_close_chunk(struct pt_writer *writer);

/* After siglongjmp has left an event of this writer half-way: continues after the last
 * commit. */
void pt_writer_recover(struct pt_writer *writer);

/* There is no slot or chunk for the writer: counted once for each. */
void pt_writer_refuse(struct pt_writer *writer, struct pt_seg_header *h);
/* Counts a loss; cause is one of PT_LOST_*. */
void pt_writer_lost(struct pt_writer *writer, unsigned cause, size_t len);

#endif
