/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Telling the application that a stream is getting full, through an eventfd
 * (posixtrace_watch_fill).
 *
 * Whoever closes a chunk, in any process, compares what is full with fill_mark and wakes
 * fill_futex.  A thread of the creator sleeps there, sets fill_mark to 0 and writes to the
 * descriptor, which other processes do not have: once for a passing, however many writers
 * have woken it.  It has a descriptor table of its own, so that the program may
 * close what it likes, and open files under the same numbers.
 *
 * The writers do not clear the mark: one that is killed before its wake-up leaves it for the
 * next chunk that is closed.  Until the thread has run, each closed chunk costs a system call.
 *
 * Whoever gives chunks back, and so is the consumer, sets fill_mark to fill_level again when
 * it is 0 and less is full than that.  The thread does the same after it has cleared the mark:
 * the consumer may have given all chunks back before.  A chunk may be closed between the look
 * and the store, so both look again afterwards.
 *
 * The level changes, to 0 or another, before the mark does (pt_fill_end, watch).  Whoever sets
 * the mark loads the level again after it and repeats the store until they are the same:
 * otherwise a store that comes late would leave a mark that no thread is there to clear, and
 * each chunk that is closed would cost a system call.
 */
#ifndef PT_CONTROL_FILL_H
#define PT_CONTROL_FILL_H

struct pt_stream;
struct pt_fill;

/* fd is told each time the stream passes percent of its size, from below; percent 0:
 * no more.  -EBADF, -ENOMEM, -EMFILE, or why the thread gets no table of its own. */
int pt_fill_watch(struct pt_stream *s, unsigned percent, int fd);
/* When the stream goes. */
void pt_fill_end(struct pt_stream *s);

#endif
