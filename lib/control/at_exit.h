/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The streams of a process that calls exit(), and what other threads do with them then.
 *
 * A creation has no handle yet, a shutdown takes the stream out of the table of handles before it
 * completes the log, and a snapshot has a mapping of its own.  So exit() finds none of them in the
 * table.  They are counted, and exit() waits for them:
 *
 *   shutdowns   without limit, as for a log that it completes itself
 *   snapshots   until one copies no event for PATIENCE_NS: the file may be a pipe without a reader
 *   creations   for PATIENCE_NS: the log may be such a pipe, too.  Then it shuts the stream down
 *
 * A thread that begins a creation meanwhile gets EAGAIN, so a log is complete or was never begun.
 * Exit handlers that come later can create streams; they are shut down when the library goes, after
 * which nothing is created any more.
 *
 * If a signal handler that has interrupted a call of this library calls exit(), the call may hold
 * what another thread waits for.  Then no wait lasts longer than PATIENCE_NS, and none is for the
 * call itself.
 */
#ifndef PT_CONTROL_AT_EXIT_H
#define PT_CONTROL_AT_EXIT_H

#include <stdint.h>

enum pt_unfinished { PT_SHUTDOWNS, PT_SNAPSHOTS, PT_CREATIONS, PT_EXITS, PT_UNFINISHED };

/* exit() waits for a call between the two.  end() takes what begin() has returned; in a child that
 * a handler has forked in between it does nothing.  Calls may be nested. */
uint32_t pt_unfinished_begin(enum pt_unfinished kind);
void pt_unfinished_end(enum pt_unfinished kind, uint32_t instance);
/* begin() for a creation, until its stream has a handle: 0, or -EAGAIN in exit(). */
int pt_creation_begin(uint32_t *instance);
/* A snapshot has copied an event. */
void pt_unfinished_advance(void);

/* Shuts all streams down. */
void pt_streams_at_exit(void);
/* The same for those that were created since; first until no other thread is in that.  C libraries
 * may let two threads call exit() at once, and each exit handler runs in one of them: glibc before
 * 2.41. */
void pt_streams_at_last(void);

#endif
