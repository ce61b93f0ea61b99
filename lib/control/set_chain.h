/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Which stream takes what finds no room in another: writer/chain.h. */
#ifndef PT_CONTROL_SET_CHAIN_H
#define PT_CONTROL_SET_CHAIN_H

#include "stream/stream.h"

/* What the first refuses goes to that stream; NULL: to none.  Both are ours to control. */
void pt_chain_set_next(struct pt_stream *s, const struct pt_stream *next);
/* Its gates stay closed, or are its own again.  As a change of the filter, with the errors of
 * pt_pages_each(); then nothing has changed, or, with force, all that can be reached. */
int pt_chain_set_behind(struct pt_stream *s, bool behind, bool force);

#endif
