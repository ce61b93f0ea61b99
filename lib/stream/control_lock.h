/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The control lock of a stream serialises start, stop and filter among all processes that
 * may control it.  The protocol is in control_lock.c.
 *
 *   pt_control_lock_begin .. pt_control_lock_end   brackets a change; takes s->control, and
 *                                    inside it the segment's lock
 *
 * A holder that makes no progress for PT_STALL_NS loses the lock to a waiter.  It notices
 * that at the next pt_control_lock_holds(), or at the latest when pt_control_lock_end() returns
 * false; then the caller repeats its change.
 */
#ifndef PT_STREAM_CONTROL_LOCK_H
#define PT_STREAM_CONTROL_LOCK_H

#include "stream/stream.h"

/* By the creator, before another process can map the segment: makes the first control slot. */
int pt_control_lock_init(struct pt_stream *s);

/* 0; for processes other than the creator -ENXIO: the stream has ended, or -ENOTSUP. */
int pt_control_lock_begin(struct pt_stream *s);
/* True: the caller still has the lock, so values that it read before are valid. */
bool pt_control_lock_holds(const struct pt_stream *s);
/* The caller makes progress: changes the word, so that no waiter takes the lock over.  Does nothing
 * without the lock. */
void pt_control_lock_renew(struct pt_stream *s);
/* False: another thread took the lock over; repeat the change.  Also true after so many losses
 * in a row that only a process that overwrites the lock word can be the cause. */
bool pt_control_lock_end(struct pt_stream *s);

/* Puts a set and an expression (NULL: keep the current one) into force, unless the lock was
 * taken over; *version is the new h->filter_now.  False: nothing has changed. */
bool pt_control_lock_set_filter(struct pt_stream *s, const struct pt_set *set,
                                const char *expression, uint64_t *version);

/* Sets the gates as the state word requires, and, after a holder that did not complete its
 * change, writes the missing record.  The caller holds the lock.  0, or an error of
 * pt_pages_each() if gates are to be opened. */
int pt_control_lock_settle(struct pt_stream *s, bool after_another);

#endif
