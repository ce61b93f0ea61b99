/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Trace ids.  A lock-free hash table (liburcu's rculfhash) finds the stream of a trid; a reference
 * keeps it while a call uses it.  The table is private to the process: a trid has no meaning in
 * another one, and a forked child's look-ups do not find the parent's streams.
 *
 * A look-up protects only the small handle object between finding and referencing, for a few
 * instructions.  After that no look-up can use a handle that has left the table, and the handle is
 * reused for another stream.  No lock is taken, so a child made by fork(), _Fork() or clone() at
 * any moment can use the table.
 */
#ifndef PT_STREAM_HANDLE_H
#define PT_STREAM_HANDLE_H

#include "stream/stream.h"

/* Publishes a stream under a new trid. 0 or -ENOMEM. */
int pt_handle_add(struct pt_stream *s, trace_id_t *trid);
/* The stream, referenced, if it is one of kinds (enum pt_stream_kind) and of this process. */
struct pt_stream *pt_handle_get(trace_id_t trid, unsigned kinds);
void pt_handle_put(struct pt_stream *s);
/* Takes it out of the table, wakes its readers and waits until no thread uses it:
 * the caller then owns it.  NULL: not there (any more). */
struct pt_stream *pt_handle_remove(trace_id_t trid, unsigned kinds);
/* The same by exit(): calls of the calling thread, which its signal handler has interrupted, do not
 * continue, and are not waited for.  *interrupted: there are such calls; they may hold locks of the
 * stream.  until: how long it waits for other threads' calls, on CLOCK_MONOTONIC; 0: no limit.
 * NULL also if one of them still uses the stream then: its memory is to stay. */
struct pt_stream *pt_handle_remove_at_exit(trace_id_t trid, unsigned kinds, uint64_t until,
                                           bool *interrupted);
/* Is the calling thread in a call with a trid, which its signal handler has interrupted? */
bool pt_handle_has_call(void);
/* Some active stream of this process that is still in the table, or 0. */
trace_id_t pt_handle_any_active(void);

#endif
