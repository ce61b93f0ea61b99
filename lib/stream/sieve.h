/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Asking whether an event of which the gate says so is to be recorded: first the stream's
 * expression, then the program's own function.
 *
 * A thread has the expression in a form of its own, by stream and level, made from the text in
 * the segment when it is asked for the first time and again when the filter has changed: so
 * nothing is shared, and nothing has to be freed while somebody uses it.  Everything
 * here is async-signal-safe and allocates by mmap() only.
 */
#ifndef PT_STREAM_SIEVE_H
#define PT_STREAM_SIEVE_H

#include <posixtrace/event.h>
#include "stream/thread.h"

/* Inside an event. */
bool pt_sieve_wants(struct pt_self *self, struct pt_lane *lane, unsigned bit,
                    const struct posixtrace_event *event);

/* A child that is forked now has the lane's expression, too: the fork is inside an event. */
void pt_sieve_keep(const struct pt_lane *lane, bool on);

/* The event as one is asked about it: without a time, which it does not have yet.  name_room:
 * for its name, which the map that is shared may lose meanwhile. */
void pt_sieve_event(const struct pt_self *self, const struct pt_thread *t,
                    struct posixtrace_event *event, char name_room[TRACE_EVENT_NAME_MAX + 1],
                    uint32_t id, const void *data, size_t len, uint64_t addr);

#endif
