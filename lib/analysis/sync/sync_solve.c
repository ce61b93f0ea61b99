/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See sync_solve.h.  The basis has as many constraints as there are variables, which meet in x; y
 * is the weight of each in the objective, never below 0.  inverse is that of the matrix of their
 * factors, a row a variable, and is made again from time to time against rounding.  Where steps no
 * longer make the value smaller, rows are chosen by their order (Bland 1977), so that it ends.
 */
#include "analysis/sync/sync_solve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 0.25 /* ns: a constraint counts as kept */
#define TINY      1e-7 /* a factor counts as 0 */
#define FRESH     16u  /* steps until the inverse is made again */

int pt_program_room(struct pt_program *p)
{
    size_t n = p->variables;

    p->inverse = calloc(2 * n * n + 1, sizeof *p->inverse);
    p->y = calloc(n + 1, sizeof *p->y);
    p->lambda = calloc(n + 1, sizeof *p->lambda);
    p->basis = calloc(n + 1, sizeof *p->basis);
    if (p->inverse && p->y && p->lambda && p->basis)
        return 0;
    pt_program_free(p);
    return ENOMEM;
}

void pt_program_free(struct pt_program *p)
{
    free(p->inverse);
    free(p->y);
    free(p->lambda);
    free(p->basis);
    p->inverse = p->y = p->lambda = NULL;
    p->basis = NULL;
}

/* Any constraint as a row: those of the box have one term. */
static struct pt_linear_row row_of(const struct pt_program *p, size_t i)
{
    if (i < p->row_count)
        return p->rows[i];
    i -= p->row_count;
    return (struct pt_linear_row){ .limit = p->box,
                                   .terms = 1,
                                   .variable = { (unsigned)(i / 2) },
                                   .factor = { i % 2 ? -1.0 : 1.0 } };
}

static double excess(const struct pt_linear_row *row, const double *x)
{
    double sum = -row->limit;

    for (unsigned i = 0; i < row->terms; i++)
        sum += row->factor[i] * x[row->variable[i]];
    return sum;
}

/* x = inverse * limits */
static void place(const struct pt_program *p, double *x)
{
    size_t n = p->variables;

    memset(x, 0, n * sizeof *x);
    for (size_t k = 0; k < n; k++) {
        double limit = row_of(p, p->basis[k]).limit;

        for (size_t v = 0; v < n; v++)
            x[v] += p->inverse[k * n + v] * limit;
    }
}

/* ---- the inverse ---- */

static void swap_rows(double *a, double *b, size_t n)
{
    for (size_t v = 0; v < n && a != b; v++) {
        double kept = a[v];

        a[v] = b[v];
        b[v] = kept;
    }
}

static void subtract(double *from, const double *row, double by, size_t n)
{
    for (size_t v = 0; v < n; v++)
        from[v] -= by * row[v];
}

/* The matrix of the basis in a, and in w the unit matrix. */
static void fill(const struct pt_program *p, double *a, double *w)
{
    size_t n = p->variables;

    memset(a, 0, n * n * sizeof *a);
    memset(w, 0, n * n * sizeof *w);
    for (size_t k = 0; k < n; k++) {
        struct pt_linear_row row = row_of(p, p->basis[k]);

        for (unsigned i = 0; i < row.terms; i++)
            a[k * n + row.variable[i]] += row.factor[i];
        w[k * n + k] = 1;
    }
}

/* Makes a diagonal (Gauss and Jordan, with pivots); false: it is singular. */
static bool eliminate(double *a, double *w, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;

        for (size_t r = c; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[pivot * n + c]))
                pivot = r;
        if (fabs(a[pivot * n + c]) < 1e-13)
            return false;
        swap_rows(a + c * n, a + pivot * n, n);
        swap_rows(w + c * n, w + pivot * n, n);
        for (size_t r = 0; r < n; r++) {
            double by = a[r * n + c] / a[c * n + c];

            if (r == c || by == 0)
                continue;
            subtract(a + r * n, a + c * n, by, n);
            subtract(w + r * n, w + c * n, by, n);
        }
    }
    return true;
}

/* From the basis.  False: there is none, and it stays as it is. */
static bool invert(struct pt_program *p)
{
    size_t n = p->variables;
    double *a = p->inverse + n * n, *w = malloc((n * n + 1) * sizeof *w);
    bool good = w != NULL;

    if (good) {
        fill(p, a, w);
        good = eliminate(a, w, n);
    }
    for (size_t c = 0; good && c < n; c++)
        for (size_t k = 0; k < n; k++)
            p->inverse[k * n + c] = w[c * n + k] / a[c * n + c];
    free(w);
    return good;
}

/* ---- steps ---- */

/* The best corner of the box. */
static void begin(struct pt_program *p, const double *c)
{
    size_t n = p->variables;

    memset(p->inverse, 0, n * n * sizeof *p->inverse);
    for (size_t v = 0; v < n; v++) {
        bool low = c[v] < 0;

        p->basis[v] = p->row_count + 2 * v + low;
        p->y[v] = fabs(c[v]);
        p->inverse[v * n + v] = low ? -1 : 1;
    }
}

/* The constraint that is violated most, or in_order the first one.  False: all are kept. */
static bool find_violated(const struct pt_program *p, const double *x, bool in_order, size_t *which)
{
    double worst = TOLERANCE;
    bool found = false;

    for (size_t i = 0; i < p->row_count && !(found && in_order); i++) {
        double by = excess(&p->rows[i], x);

        if (by > worst) {
            worst = by;
            *which = i;
            found = true;
        }
    }
    for (size_t v = 0; v < p->variables && !(found && in_order); v++)
        if (fabs(x[v]) - p->box > worst) {
            worst = fabs(x[v]) - p->box;
            *which = p->row_count + 2 * v + (x[v] < 0);
            found = true;
        }
    return found;
}

/* Which place of the basis the row takes: of those that keep y >= 0 the one with the greatest
 * factor, or in_order the first row.  False: none, so that no x keeps both. */
static bool find_place(const struct pt_program *p, bool in_order, size_t *place_of)
{
    double least = INFINITY;
    bool found = false;

    for (size_t k = 0; k < p->variables; k++)
        if (p->lambda[k] > TINY)
            least = fmin(least, p->y[k] / p->lambda[k]);
    for (size_t k = 0; k < p->variables; k++) {
        if (p->lambda[k] <= TINY || p->y[k] / p->lambda[k] > least + 1e-12)
            continue;
        if (!found ||
            (in_order ? p->basis[k] < p->basis[*place_of] : p->lambda[k] > p->lambda[*place_of]))
            *place_of = k;
        found = true;
    }
    return found;
}

static void exchange(struct pt_program *p, size_t place_of, size_t row)
{
    size_t n = p->variables;
    double *out = p->inverse + place_of * n, by = p->lambda[place_of];
    double step = p->y[place_of] / by;

    for (size_t v = 0; v < n; v++)
        out[v] /= by;
    for (size_t k = 0; k < n; k++) {
        if (k == place_of || p->lambda[k] == 0)
            continue;
        subtract(p->inverse + k * n, out, p->lambda[k], n);
        p->y[k] -= step * p->lambda[k];
        p->y[k] = p->y[k] < 0 ? 0 : p->y[k];
    }
    p->y[place_of] = step;
    p->basis[place_of] = row;
}

static void note_conflict(const struct pt_program *p, size_t row, size_t *conflict,
                          size_t *conflicts)
{
    *conflicts = 0;
    conflict[(*conflicts)++] = row;
    for (size_t k = 0; k < p->variables; k++)
        if (p->lambda[k] < -TINY)
            conflict[(*conflicts)++] = p->basis[k];
}

/* The row as a sum of those of the basis. */
static void express(struct pt_program *p, size_t row)
{
    const struct pt_linear_row r = row_of(p, row);
    size_t n = p->variables;

    for (size_t k = 0; k < n; k++) {
        p->lambda[k] = 0;
        for (unsigned i = 0; i < r.terms; i++)
            p->lambda[k] += p->inverse[k * n + r.variable[i]] * r.factor[i];
    }
}

/* A result counts only without what rounding has added up. */
static bool refresh(struct pt_program *p, double *x, bool *fresh)
{
    if (*fresh || !invert(p))
        return false;
    place(p, x);
    *fresh = true;
    return true;
}

int pt_program_solve(struct pt_program *p, const double *c, double *x, size_t *conflict,
                     size_t *conflicts)
{
    size_t n = p->variables, row = 0, place_of = 0, orderly = 40 * (n + 10);
    bool fresh = true;

    begin(p, c);
    place(p, x);
    for (size_t step = 1; step < 400 * (n + 10); step++) {
        if (!find_violated(p, x, step > orderly, &row)) {
            if (refresh(p, x, &fresh))
                continue;
            return 0;
        }
        express(p, row);
        if (!find_place(p, step > orderly, &place_of)) {
            if (refresh(p, x, &fresh))
                continue;
            note_conflict(p, row, conflict, conflicts);
            return EDOM;
        }
        exchange(p, place_of, row);
        fresh = step % FRESH == 0 && invert(p);
        place(p, x);
    }
    *conflicts = 0;
    return EDOM;
}

bool pt_program_is_loose(const struct pt_program *p, const double *x, size_t variable)
{
    return fabs(x[variable]) > p->box * 0.9;
}
