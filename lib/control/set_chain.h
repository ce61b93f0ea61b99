/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Links streams to a chain: writer/chain.h. */
#ifndef PT_CONTROL_SET_CHAIN_H
#define PT_CONTROL_SET_CHAIN_H

#include "stream/stream.h"

/* Events that s refuses go to next; NULL: they are lost.  The caller controls both streams. */
void pt_chain_set_next(struct pt_stream *s, const struct pt_stream *next);
/* A successor's gates stay closed; otherwise its filter and state set them again.  Works like a
 * change of the filter, with the errors of pt_pages_each(): then nothing has changed, or, with
 * force, all processes that can be reached. */
int pt_chain_set_successor(struct pt_stream *s, bool is_successor, bool force);

#endif
