/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What sync_group.c, which solves a group of clocks, and sync_lines.c, its results, share. */
#ifndef PT_SYNC_WORK_H
#define PT_SYNC_WORK_H

#include "analysis/sync/sync_group.h"
#include "analysis/sync/sync_program.h"

enum { PT_SYNC_TIMES = 8 }; /* bounds of a line of one piece, less one */

/* What the programs of one set of constraints have given. */
struct pt_sync_limits {
    size_t times;                     /* of each clock */
    double *least, *most;             /* clock by clock, over its axis; infinite: none */
    double *slope_least, *slope_most; /* of each clock */
    double *sum;                      /* of all solutions, */
    size_t solutions;                 /* so many */
};

struct pt_sync_work {
    const struct pt_sync_group *g;
    struct pt_sync_program p;
    struct pt_sync_limits b;
    unsigned pieces;
    bool *with_kernel; /* each channel; NULL: none */
};

/* Time t of a clock's axis: a knot, or between two. */
struct pt_sync_place pt_sync_place_at(const struct pt_sync_work *w, size_t t);
int64_t pt_sync_axis_of(const struct pt_sync_work *w, size_t clock, struct pt_sync_place at);
/* Is the solution held by the box there?  Then there is no bound. */
bool pt_sync_is_loose(const struct pt_sync_work *w, size_t clock, struct pt_sync_place at);
bool pt_sync_is_bounded(const struct pt_sync_limits *b, size_t clock);

/* The line of a clock; the mean of the solutions is in w->p.x.  0 or ENOMEM. */
int pt_sync_fill_line(const struct pt_sync_work *w, const struct pt_sync_limits *messages,
                      size_t clock, struct pt_sync_line *line);
/* The bounds of two clocks together, for each two.  0 or an error. */
int pt_sync_all_between(struct pt_sync_work *w, struct pt_sync_solution *s);

#endif
