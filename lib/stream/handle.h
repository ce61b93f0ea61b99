/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Trace ids.  A lock-free hash table under RCU (liburcu, bp flavour) finds the
 * stream of a trid; a reference keeps it while a call works with it.  The
 * table is private: a trid means nothing in another process, and a forked
 * child's own look-ups do not find the parent's streams.
 *
 * RCU protects only the small handle objects between finding and referencing;
 * read sides are a few instructions long.  After a grace period a handle serves
 * another stream.  In a forked child grace periods may never end (readers that
 * did not survive the fork), so handles are then left alone: tens of bytes each.
 */
#ifndef PT_STREAM_HANDLE_H
#define PT_STREAM_HANDLE_H

#include "stream/stream.h"

/* Publishes a stream under a new trid. 0 or -ENOMEM. */
int pt_handle_add(struct pt_stream *s, trace_id_t *trid);
/* The stream, referenced, if it is one of kinds (enum pt_stream_kind) and of this process. */
struct pt_stream *pt_handle_get(trace_id_t trid, unsigned kinds);
void pt_handle_put(struct pt_stream *s);
/* Takes it out of the table, wakes its readers and waits until nobody uses it:
 * the caller then owns it.  NULL: not there (any more). */
struct pt_stream *pt_handle_remove(trace_id_t trid, unsigned kinds);
/* Some active stream of this process that is still in the table, or 0. */
trace_id_t pt_handle_any_active(void);

#endif
