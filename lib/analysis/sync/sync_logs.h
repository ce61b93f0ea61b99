/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clocks of logs.  A clock's axis is its trace clock in nanoseconds: on one line from the first
 * point of its logs' tables to the last one, without the steps that CLOCK_REALTIME made meanwhile,
 * and equal to CLOCK_REALTIME as it was set at the end.
 */
#ifndef PT_SYNC_LOGS_H
#define PT_SYNC_LOGS_H

#include "analysis/sync/sync_messages.h"

struct pt_sync_axis {
    struct pt_sync_host host;
    bool any; /* a point of a table */
    uint64_t first_ticks, last_ticks;
    int64_t first_ns, last_ns; /* first_ns: without the steps since */
    uint64_t slope;            /* at the end */
    struct posixtrace_clock_knot line[2];
    bool has_events;
    int64_t begin, end; /* on the axis */
    uint64_t kernel;    /* usable readings */
    int64_t error_ns;   /* the worst of their bounds */
};

struct pt_sync_logs {
    const trace_id_t *trids;
    size_t count;
    size_t *clock; /* of each log */
    struct pt_sync_axis *axes;
    size_t clocks;
};

/* Finds the clocks, and puts the logs on their axes.  0, EINVAL, E2BIG, ENOMEM or others. */
int pt_sync_logs_open(struct pt_sync_logs *l);
/* The logs' own times again. */
void pt_sync_logs_close(struct pt_sync_logs *l);
/* The readings of the host's clock as messages from and to UTC. */
int pt_sync_logs_kernel(struct pt_sync_logs *l, size_t clock, struct pt_sync_channel *from_utc,
                        struct pt_sync_channel *to_utc);
/* Ticks of the trace clock at a time of the axis. */
uint64_t pt_sync_ticks(const struct pt_sync_axis *a, int64_t at);
/* The axis at ticks. */
int64_t pt_sync_axis_at(const struct pt_sync_axis *a, uint64_t ticks);

#endif
