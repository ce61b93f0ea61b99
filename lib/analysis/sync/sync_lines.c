/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The results of a group of clocks: lines, bounds, and pairs of clocks together. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sync/sync_work.h"

enum { MARGIN_NS = 4 };

static int64_t outward(double value, bool up)
{
    if (isinf(value) || fabs(value) > 9e18)
        return up ? INT64_MAX : INT64_MIN;
    return up ? (int64_t)ceil(value) + MARGIN_NS : (int64_t)floor(value) - MARGIN_NS;
}

static int64_t ppb(double slope, bool up)
{
    double value = slope * 1.01e9;

    value = value > 1e9 ? 1e9 : value < -1e9 ? -1e9 : value;
    return up ? (int64_t)ceil(fmax(value, 0)) + 1 : (int64_t)floor(fmin(value, 0)) - 1;
}

static int64_t common_at(const struct pt_sync_work *w, size_t clock, struct pt_sync_place at)
{
    int64_t axis = pt_sync_axis_of(w, clock, at);

    return axis +
           llrint(pt_sync_rough(&w->p, clock, axis) + pt_sync_value(&w->p, w->p.x, clock, at));
}

/* The bounds, less the mean, which is in x. */
static void fill_bounds(const struct pt_sync_work *w, size_t clock, struct pt_sync_line *line)
{
    double least = 0, most = 0;

    for (size_t t = 0; t < w->b.times; t++) {
        struct pt_sync_place at = pt_sync_place_at(w, t);
        double mean = pt_sync_value(&w->p, w->p.x, clock, at);
        size_t i = clock * w->b.times + t;
        struct pt_sync_bound b = { common_at(w, clock, at), -MARGIN_NS, MARGIN_NS };

        if (clock == w->g->reference) {
            b.least = b.most = 0;
        } else {
            b.least = outward(fmin(w->b.least[i] - mean, 0), false);
            b.most = outward(fmax(w->b.most[i] - mean, 0), true);
        }
        line->bounds[line->bound_count++] = b;
    }
    for (size_t k = 0; clock != w->g->reference && k < w->p.pieces; k++) {
        const struct pt_sync_place low = { k, 0 }, high = { k, 1 };
        double slope = (pt_sync_value(&w->p, w->p.x, clock, high) -
                        pt_sync_value(&w->p, w->p.x, clock, low)) /
                       (double)(pt_sync_axis_of(w, clock, high) - pt_sync_axis_of(w, clock, low));

        least = fmin(least, w->b.slope_least[clock] - slope);
        most = fmax(most, w->b.slope_most[clock] - slope);
    }
    line->least_ppb = clock == w->g->reference ? 0 : ppb(least, false);
    line->most_ppb = clock == w->g->reference ? 0 : ppb(most, true);
}

int pt_sync_fill_line(const struct pt_sync_work *w, const struct pt_sync_limits *messages,
                      size_t clock, struct pt_sync_line *line)
{
    line->axis = calloc(w->p.pieces + 1u, sizeof *line->axis);
    line->common = calloc(w->p.pieces + 1u, sizeof *line->common);
    line->bounds = calloc(w->b.times, sizeof *line->bounds);
    if (!line->axis || !line->common || !line->bounds)
        return ENOMEM;
    for (size_t k = 0; k <= w->p.pieces; k++) {
        struct pt_sync_place at = { k < w->p.pieces ? k : k - 1, k < w->p.pieces ? 0 : 1 };

        line->axis[k] = pt_sync_axis_of(w, clock, at);
        line->common[k] = common_at(w, clock, at);
    }
    line->count = w->p.pieces + 1;
    fill_bounds(w, clock, line);
    line->source = clock == w->g->reference              ? POSIXTRACE_SYNC_REFERENCE
                   : pt_sync_is_bounded(messages, clock) ? POSIXTRACE_SYNC_MESSAGES
                   : pt_sync_is_bounded(&w->b, clock)    ? POSIXTRACE_SYNC_KERNEL
                                                         : POSIXTRACE_SYNC_UNKNOWN;
    return 0;
}

/* ---- two clocks together ---- */

/* The place of a clock's axis whose common time is that. */
static struct pt_sync_place place_of_common(const struct pt_sync_work *w, const double *mean,
                                            size_t clock, int64_t common)
{
    int64_t at = common - w->p.shift[clock];

    for (int i = 0; i < 6; i++)
        at = common - llrint(pt_sync_rough(&w->p, clock, at) +
                             pt_sync_value(&w->p, mean, clock, pt_sync_place_of(&w->p, clock, at)));
    return pt_sync_place_of(&w->p, clock, at);
}

static int bound_between(struct pt_sync_work *w, const double *mean, size_t from, size_t to,
                         struct pt_sync_bound *b)
{
    struct pt_sync_place a = place_of_common(w, mean, from, b->ns);
    struct pt_sync_place z = place_of_common(w, mean, to, b->ns);
    double middle = pt_sync_value(&w->p, mean, to, z) - pt_sync_value(&w->p, mean, from, a);

    for (int sign = -1; sign <= 1; sign += 2) {
        double value;
        int error;

        pt_sync_objective_clear(&w->p);
        pt_sync_objective_add(&w->p, to, z, sign);
        pt_sync_objective_add(&w->p, from, a, -sign);
        error = pt_sync_program_run(&w->p);
        if (error)
            return error;
        value = pt_sync_value(&w->p, w->p.x, to, z) - pt_sync_value(&w->p, w->p.x, from, a);
        if (pt_sync_is_loose(w, to, z) || pt_sync_is_loose(w, from, a))
            value = sign * INFINITY;
        if (sign < 0)
            b->least = outward(fmin(value - middle, 0), false) - MARGIN_NS;
        else
            b->most = outward(fmax(value - middle, 0), true) + MARGIN_NS;
    }
    return 0;
}

/* Of clocks that messages bound, whose common times overlap.  Only lines without knots: between
 * two bounds of others the interval would be unknown. */
static int add_between(struct pt_sync_work *w, const double *mean, struct pt_sync_solution *s,
                       size_t from, size_t to)
{
    const struct pt_sync_line *a = &s->lines[from], *b = &s->lines[to];
    int64_t begin = a->common[0] > b->common[0] ? a->common[0] : b->common[0];
    int64_t end = a->common[1] < b->common[1] ? a->common[1] : b->common[1];
    struct pt_sync_between *between;
    int error = 0;

    if (a->source != POSIXTRACE_SYNC_MESSAGES || b->source != POSIXTRACE_SYNC_MESSAGES ||
        end - begin < PT_SYNC_TIMES)
        return 0;
    between = &s->between[s->between_count];
    *between = (struct pt_sync_between){ .from = from, .to = to };
    between->bounds = calloc(PT_SYNC_TIMES / 2 + 1, sizeof *between->bounds);
    if (!between->bounds)
        return ENOMEM;
    s->between_count++;
    for (int t = 0; t <= PT_SYNC_TIMES / 2 && !error; t++) {
        struct pt_sync_bound *bound = &between->bounds[between->bound_count++];

        bound->ns = begin + (end - begin) / (PT_SYNC_TIMES / 2) * t;
        error = bound_between(w, mean, from, to, bound);
    }
    return error;
}

int pt_sync_all_between(struct pt_sync_work *w, struct pt_sync_solution *s)
{
    size_t n = w->g->clocks;
    double *mean;
    int error = 0;

    if (n < 3 || n > 12 || w->p.pieces > 1)
        return 0;
    s->between = calloc(n * n, sizeof *s->between);
    mean = malloc((w->p.lp.variables + 1) * sizeof *mean);
    if (!mean || !s->between) {
        free(mean);
        return ENOMEM;
    }
    memcpy(mean, w->p.x, w->p.lp.variables * sizeof *mean);
    for (size_t i = 0; i < n && !error; i++)
        for (size_t k = i + 1; k < n && !error; k++)
            error = add_between(w, mean, s, i, k);
    free(mean);
    return error;
}
