/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A group of clocks and the messages between them.  Each clock has an axis of its own, steady
 * nanoseconds of the trace clock.  The common clock is a function of each axis: a line, or a line
 * of several pieces, which no message received before it was sent contradicts.  The interval of a
 * clock at a time is that of all such functions of all clocks together, so that bounds of all paths
 * between hosts count.
 *
 * The kernel's bounds are messages, too: to and from UTC, a clock after the last one.
 */
#ifndef PT_SYNC_GROUP_H
#define PT_SYNC_GROUP_H

#include "analysis/sync/sync_hull.h"
#include "analysis/sync/sync_state.h"

/* The messages from one clock to another. */
struct pt_sync_channel {
    size_t from, to;
    struct pt_sync_message *messages; /* in any order; the solution sorts them */
    size_t count;
    bool kernel; /* from or to UTC */
};

struct pt_sync_group {
    size_t clocks; /* UTC has this number */
    size_t reference;
    const int64_t *begin, *end; /* of each: where its logs begin and end, on its axis */
    struct pt_sync_channel *channels;
    size_t channel_count;
};

/* The common clock over the axis of one. */
struct pt_sync_line {
    unsigned source;
    size_t count; /* knots */
    int64_t *axis, *common;
    struct pt_sync_bound *bounds;
    size_t bound_count;
    int64_t least_ppb, most_ppb;
};

struct pt_sync_solution {
    struct pt_sync_line *lines; /* of each clock */
    struct pt_sync_between *between;
    size_t between_count;
    unsigned pieces;
    bool kernel_dropped;
    /* Of a group without a solution: messages that contradict */
    struct pt_sync_clash {
        size_t channel;
        struct pt_sync_message message;
    } * clashes;
    size_t clash_count;
};

/* 0; EDOM: no clocks fit, and only clashes is filled in; ENOMEM.  To be freed in any case. */
int pt_sync_solve(const struct pt_sync_group *g, struct pt_sync_solution *s);
void pt_sync_solution_free(struct pt_sync_solution *s, size_t clocks);

#endif
