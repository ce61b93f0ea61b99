/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Channels between threads: pipes, by their names in the kernel, which all processes see; event
 * counters, by their descriptors in their process, as they have no names of their own; each
 * direction of a connection, by the names of its ends (posixtrace_connection).
 *
 * What a descriptor is, and what an epoll has, is known until a gap: an event that was lost may
 * have said that it is another one.  The end of a connection whose event has no name for the other
 * end has the one that the other end's event says.
 */
#ifndef PT_REPORT_CHANNELS_H
#define PT_REPORT_CHANNELS_H

#include <posixtrace/event.h>
#include <posixtrace/system.h>

#include "analysis/report/report_map.h"

/* A side of a channel: 0 reads from it, 1 writes to it, -1: that is none.  Calls whose channels
 * have the same key are on the same one. */
struct pt_report_channel {
    struct pt_report_key key;
    int side;
};

static inline bool pt_report_channel_is_socket(const struct pt_report_channel *c)
{
    return c->key.c == 2;
}

/* What ended a wait for work. */
struct pt_report_ready {
    bool known; /* all that was ready is here, each as one side of a channel */
    unsigned count;
    struct pt_report_channel at[POSIXTRACE_READY_MAX];
    /* Ready to read and to write: the second, which has ended the wait if its call came first. */
    struct pt_report_channel also[POSIXTRACE_READY_MAX];
};

struct pt_report_channels {
    struct pt_report_map ends;    /* process, descriptor */
    struct pt_report_map peers;   /* name of an end of a connection */
    struct pt_report_map members; /* process and epoll, descriptor */
    struct pt_report_map data;    /* process and epoll, data */
};

/* Events, in order, with the number of gaps.  0 or ENOMEM. */
int pt_report_channels_named(struct pt_report_channels *c, const struct posixtrace_event *e,
                             uint64_t gap);
int pt_report_channels_connected(struct pt_report_channels *c, const struct posixtrace_event *e,
                                 uint64_t gap);
int pt_report_channels_set(struct pt_report_channels *c, const struct posixtrace_event *e,
                           uint64_t gap);
void pt_report_channels_closed(struct pt_report_channels *c, pid_t pid, uint32_t descriptor);

/* The channel of a call on a descriptor. */
struct pt_report_channel pt_report_channels_of(const struct pt_report_channels *c, pid_t pid,
                                               uint32_t descriptor, uint32_t call, uint64_t gap);
/* Those of an event posixtrace_ready. */
void pt_report_channels_ready(const struct pt_report_channels *c, const struct posixtrace_event *e,
                              uint64_t gap, struct pt_report_ready *ready);
void pt_report_channels_deinit(struct pt_report_channels *c);

#endif
