/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The control lock of a stream: who may start, stop and filter it, among all
 * processes that can.  The protocol is in steer.c.
 *
 *   pt_steer_begin .. pt_steer_end   brackets a change; takes s->control, and
 *                                    inside it the segment's lock
 *
 * A holder that stands still for PT_STALL_NS is passed by.  It notices at the
 * next pt_steer_holds(), at the latest at the end, which then says so: what was
 * to be done is to be done again.
 */
#ifndef PT_STREAM_STEER_H
#define PT_STREAM_STEER_H

#include "stream/stream.h"

/* The creator's, before anybody else knows the segment: the first control slot. */
int pt_steer_init(struct pt_stream *s);

/* 0; to who is not its creator -ENXIO: the stream is over, -ENOTSUP. */
int pt_steer_begin(struct pt_stream *s);
/* Do we still have the lock?  What was read before it was so then. */
bool pt_steer_holds(const struct pt_stream *s);
/* False: somebody has passed us by; begin again.  True as well after that many times in a row
 * that only another process's writing over the lock word explains. */
bool pt_steer_end(struct pt_stream *s);

/* Puts a set and an expression (NULL: the one that is) into force, unless we were passed
 * by; *version is then what h->filter_now has become.  False: nothing has changed. */
bool pt_steer_set_filter(struct pt_stream *s, const struct pt_set *set, const char *expression,
                         uint64_t *version);

/* What the state word says: the gates, and, after a holder that did not end what
 * it had begun, the record that is missing.  The lock is held. */
void pt_steer_settle(struct pt_stream *s, bool after_another);

#endif
