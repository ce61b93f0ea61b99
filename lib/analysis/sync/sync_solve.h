/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A linear program: the greatest value of an objective over all x, each of them within a box, that
 * keep many sparse constraints.  The dual simplex method (Lemke 1954): it begins at the corner of
 * the box that is best, and at each step takes up the constraint that is violated most in place of
 * one that is kept anyway.
 */
#ifndef PT_SYNC_SOLVE_H
#define PT_SYNC_SOLVE_H

#include <stdbool.h>
#include <stddef.h>

enum { PT_ROW_TERMS = 4, PT_SOLVE_VARIABLES = 512 };

/* The sum of factor[i] * x[variable[i]] is at most limit. */
struct pt_linear_row {
    double limit;
    unsigned terms;
    unsigned variable[PT_ROW_TERMS];
    double factor[PT_ROW_TERMS];
    size_t tag; /* the caller's */
};

struct pt_program {
    size_t variables;
    double box; /* |x| is at most that */
    const struct pt_linear_row *rows;
    size_t row_count;
    /* Working memory, pt_program_room() */
    double *inverse, *y, *lambda;
    size_t *basis; /* a row, or row_count + 2 * variable + (0: x <= box, 1: -x <= box) */
};

/* Allocates or frees the working memory.  0 or ENOMEM. */
int pt_program_room(struct pt_program *p);
void pt_program_free(struct pt_program *p);

/*
 * The greatest sum of c[i] * x[i].  0: x has where it is, and basis which constraints hold it
 * there; EDOM: no x keeps all constraints, and those in conflict[], whose *conflicts places are at
 * most variables + 1, are enough for that.
 */
int pt_program_solve(struct pt_program *p, const double *c, double *x, size_t *conflict,
                     size_t *conflicts);

/* Is x of the last solution on its box?  Then it is not bounded by constraints. */
bool pt_program_is_loose(const struct pt_program *p, const double *x, size_t variable);

#endif
