/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The calls that have not returned, as POSIXTRACE_WAITING events of the threads that are in them
 * (shm/waiting.h).
 *
 * In a log.  A thread that was killed in a call: in the round that finds its slot ended.  All
 * others: when the stream was stopped, at that time, in the first round after it; when it ends, in
 * the last round.  When the owner of the stream has died, recovery makes them of the segment.
 * Their time then is that of the last event, or that at which the last call began, so that
 * recovery makes the same events each time.
 *
 * Like context switches they are events of an author of level PT_LEVEL_MADE, in no chunk: the
 * accounts of the thread do not contain them.  Time and slot name one, so that a log has each once.
 */
#ifndef PT_CONSUMER_WAITING_H
#define PT_CONSUMER_WAITING_H

#include "consumer/collect.h"
#include "shm/waiting.h"

/* The data of the event. */
struct pt_waiting_data {
    uint32_t type, call;
    uint64_t object;
    int64_t duration; /* ns; -1: unknown */
    uint64_t caller;
};
void pt_waiting_fill(struct pt_seg *seg, const struct pt_slot_waiting *w, uint64_t ts,
                     struct pt_waiting_data *data);

/* A part of pt_collect_write(), after the events of the round. */
int pt_collect_waiting(struct pt_collect *r);

#endif
