/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reports through an eventfd that a stream is getting full (posixtrace_watch_fill).
 *
 * A writer that closes a chunk, in any process, compares the number of full chunks with fill_mark
 * and wakes fill_futex.  A thread of the creator sleeps there.  It sets fill_mark to 0 and writes
 * to the descriptor, which other processes do not have: once each time the level is passed, however
 * many writers have woken it.  Before it writes, each writer that is inside an event leaves it, so
 * that a reader that is woken and does not block finds events.  The thread has a descriptor table
 * of its own, so the program may close any descriptor, and open files under the same numbers.
 *
 * Writers do not clear the mark: if one is killed before its wake-up, the next closed chunk wakes
 * the thread.  Until the thread has run, each closed chunk costs a system call.
 *
 * The consumer, when it frees chunks, sets fill_mark to fill_level again if the mark is 0 and fewer
 * chunks are full.  The thread does the same after it has cleared the mark, because the consumer
 * may have freed all chunks before that.  A chunk may be closed between the check and the store, so
 * both check again after the store.
 *
 * A reader that does not block and finds nothing, while as many chunks are full, sets the mark too,
 * and looks once more (control/read.c): a writer inside an event held the events back, or chunks
 * were closed after the reader had looked and before it freed others.
 *
 * The level changes, to 0 or another value, before the mark does (pt_fill_watermark_end, watch).
 * After a store to the mark the level is loaded again, and the store is repeated until both are the
 * same. Otherwise a late store would leave a mark without a thread to clear it, and each closed
 * chunk would cost a system call.
 */
#ifndef PT_CONTROL_FILL_H
#define PT_CONTROL_FILL_H

struct pt_stream;
struct pt_fill_watermark;

/* fd gets a count each time the stream fills beyond percent of its size; percent 0: ends that.
 * -EBADF, -ENOMEM, -EMFILE, or the error of unsharing the descriptor table. */
int pt_fill_watermark_watch(struct pt_stream *s, unsigned percent, int fd);
/* Called when the stream is destroyed. */
void pt_fill_watermark_end(struct pt_stream *s);

#endif
