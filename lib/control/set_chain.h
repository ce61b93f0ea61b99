/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Links streams to a chain: writer/chain.h. */
#ifndef PT_CONTROL_SET_CHAIN_H
#define PT_CONTROL_SET_CHAIN_H

#include "stream/stream.h"

/* Events that s refuses go to next, whose gates stay closed.  The caller has references to both.
 * -EINVAL: they make no chain; -EBUSY: next has a predecessor; -ENOTSUP; and as a change of the
 * filter: then nothing has changed. */
int pt_chain_link(struct pt_stream *s, struct pt_stream *next, trace_id_t next_trid);
/* Events that s refuses are lost, and its successor records its own; errors of pt_pages_each(). */
int pt_chain_unlink(struct pt_stream *s);
/* The same in a shutdown of s, in all processes that can be reached.  s has no handle any more:
 * before that another thread could still link it. */
void pt_chain_release(struct pt_stream *s);

#endif
