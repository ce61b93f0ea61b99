/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the calling thread waits for, stored in its slots; the protocol is in shm/waiting.h.
 *
 * The stores are made under the protection of an event: inside at level 0, after a look at each
 * epoch.  A handler inside an event has that event's, since the thread's word stays set until the
 * handler has returned.  It makes no writers then: a call that begins there is shown in streams in
 * which the thread has recorded before.
 */
#ifndef PT_WRITER_WAITING_H
#define PT_WRITER_WAITING_H

#include <posixtrace/system.h>

/* Stores *w into the slots of the streams in w->streams, bits of a gate word; clock: that of
 * w->began. */
void pt_waiting_begin(const struct posixtrace_waiting *w, int clock);
/* The call is over: outer, or nothing, takes its place. */
void pt_waiting_end(uint64_t streams, const struct posixtrace_waiting *outer);

#endif
