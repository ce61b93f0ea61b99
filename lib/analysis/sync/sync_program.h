/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The linear program of a group of clocks.  Of each clock but the reference it has a variable a
 * knot of its axis: by how much the common clock is there beyond a rough one.
 */
#ifndef PT_SYNC_PROGRAM_H
#define PT_SYNC_PROGRAM_H

#include "analysis/sync/sync_group.h"
#include "analysis/sync/sync_solve.h"

/* How much faster one trace clock may run than another, which is measured over a fraction of a
 * millisecond in a log without a second point of its table. */
#define PT_SYNC_MOST_DRIFT 0.002
#define PT_SYNC_NO_TAG     SIZE_MAX

struct pt_sync_program {
    const struct pt_sync_group *group;
    size_t clocks;        /* with UTC */
    unsigned pieces;      /* of each axis */
    int64_t *begin, *end; /* of each axis */
    int64_t *shift;       /* the rough clock: at the start of the axis, */
    double *drift;        /* and from there on */
    struct pt_linear_row *rows;
    size_t row_count, row_room;
    /* The messages that the rows are of, by tag */
    struct pt_sync_clash *kept;
    size_t kept_count, kept_room;
    struct pt_program lp;
    double *objective, *x;
    size_t *conflict;
    size_t conflicts;
};

/* with_kernel[channel]: whether a channel of the kernel's counts; NULL: none does. */
int pt_sync_program_init(struct pt_sync_program *p, const struct pt_sync_group *g, unsigned pieces,
                         const bool *with_kernel);
void pt_sync_program_free(struct pt_sync_program *p);

/* A place on an axis: between two knots. */
struct pt_sync_place {
    size_t piece;
    double part; /* 0 to 1; less or more beyond the ends */
};
struct pt_sync_place pt_sync_place_of(const struct pt_sync_program *p, size_t clock, int64_t at);
int64_t pt_sync_knot(const struct pt_sync_program *p, size_t clock, size_t k);
/* The first variable of a clock, which has pieces + 1; of the reference there is none. */
size_t pt_sync_variable(const struct pt_sync_program *p, size_t clock);

/* What the rough clock adds to the time of an axis. */
double pt_sync_rough(const struct pt_sync_program *p, size_t clock, int64_t at);

/* Another constraint: at all knots the clock adds from least to most to the time of its axis. */
int pt_sync_program_near(struct pt_sync_program *p, size_t clock, double most, double least);

/* An objective: cleared, a clock's value at a place added, solved.  0, EDOM or ENOMEM. */
void pt_sync_objective_clear(struct pt_sync_program *p);
void pt_sync_objective_add(struct pt_sync_program *p, size_t clock, struct pt_sync_place at,
                           double factor);
int pt_sync_program_run(struct pt_sync_program *p);
/* The value of a clock at a place, by x. */
double pt_sync_value(const struct pt_sync_program *p, const double *x, size_t clock,
                     struct pt_sync_place at);

#endif
