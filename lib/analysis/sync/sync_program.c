/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See sync_program.h. */
#include "analysis/sync/sync_program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_RANGE 1000000 /* ns of an axis */
#define SMALL       1e-7

/* ---- axes ---- */

int64_t pt_sync_knot(const struct pt_sync_program *p, size_t clock, size_t k)
{
    int64_t length = p->end[clock] - p->begin[clock];

    return k == p->pieces ? p->end[clock]
                          : p->begin[clock] + length / p->pieces * (int64_t)k +
                                length % p->pieces * (int64_t)k / p->pieces;
}

struct pt_sync_place pt_sync_place_of(const struct pt_sync_program *p, size_t clock, int64_t at)
{
    double length = (double)(p->end[clock] - p->begin[clock]);
    double along = (double)(at - p->begin[clock]) / length * p->pieces;
    size_t k = along <= 0 ? 0 : along >= p->pieces ? p->pieces - 1 : (size_t)along;
    int64_t low, high;

    /* as the knots are, which are rounded */
    while (k > 0 && at < pt_sync_knot(p, clock, k))
        k--;
    while (k + 1 < p->pieces && at >= pt_sync_knot(p, clock, k + 1))
        k++;
    low = pt_sync_knot(p, clock, k);
    high = pt_sync_knot(p, clock, k + 1);
    along = (double)(at - low) / (double)(high - low);
    /* A factor of nearly 0 would spoil the inverse, and is worth less than a nanosecond. */
    along = fabs(along) < SMALL ? 0 : fabs(along - 1) < SMALL ? 1 : along;
    return (struct pt_sync_place){ k, along };
}

size_t pt_sync_variable(const struct pt_sync_program *p, size_t clock)
{
    return (clock - (clock > p->group->reference)) * (p->pieces + 1);
}

/* The same axes with and without the kernel. */
static void widen(struct pt_sync_program *p, size_t clock, int64_t at)
{
    if (clock >= p->clocks)
        return;
    p->begin[clock] = at < p->begin[clock] ? at : p->begin[clock];
    p->end[clock] = at > p->end[clock] ? at : p->end[clock];
}

static bool counts(const struct pt_sync_channel *c, size_t i, const bool *with_kernel)
{
    return c->count > 0 && (!c->kernel || (with_kernel && with_kernel[i]));
}

static void set_axes(struct pt_sync_program *p)
{
    const struct pt_sync_group *g = p->group;

    for (size_t i = 0; i < p->clocks; i++) {
        p->begin[i] = i < g->clocks ? g->begin[i] : INT64_MAX;
        p->end[i] = i < g->clocks ? g->end[i] : INT64_MIN;
    }
    for (size_t c = 0; c < g->channel_count; c++)
        for (size_t k = 0; k < g->channels[c].count; k++) {
            widen(p, g->channels[c].from, g->channels[c].messages[k].sent);
            widen(p, g->channels[c].to, g->channels[c].messages[k].received);
        }
    for (size_t i = 0; i < p->clocks; i++) {
        if (p->end[i] < p->begin[i])
            p->begin[i] = p->end[i] = 0;
        if (p->end[i] - p->begin[i] < LEAST_RANGE)
            p->end[i] = p->begin[i] + LEAST_RANGE;
    }
}

/* ---- the rough clock ---- */

double pt_sync_rough(const struct pt_sync_program *p, size_t clock, int64_t at)
{
    return (double)p->shift[clock] + p->drift[clock] * (double)(at - p->begin[clock]);
}

/* The shortest latency of messages, of those in a span, by the clock that is
 * known.  False: there are too few. */
static bool shortest(const struct pt_sync_program *p, const struct pt_sync_channel *c, size_t known,
                     int64_t begin, int64_t end, double *least)
{
    size_t n = 0;

    *least = INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        const struct pt_sync_message *m = &c->messages[i];
        int64_t at = c->from == known ? m->sent : m->received;
        double d = (double)(m->received - m->sent);

        if (at < begin || at > end)
            continue;
        d += pt_sync_rough(p, known, at) * (c->from == known ? -1 : 1);
        *least = fmin(*least, d);
        n++;
    }
    return n > 0;
}

/* The difference to the other clock's time, so that the messages of that time suit: in the
 * middle, where there are some in both directions. */
static bool offset(const struct pt_sync_program *p, const struct pt_sync_channel *there,
                   const struct pt_sync_channel *back, size_t known, int64_t begin, int64_t end,
                   double *value)
{
    double a = 0, b = 0;
    bool has_there = there && shortest(p, there, known, begin, end, &a);
    bool has_back = back && shortest(p, back, known, begin, end, &b);

    *value = has_there && has_back ? (b - a) / 2 : has_there ? -a : b;
    return (has_there || has_back) && has_there == (there != NULL) && has_back == (back != NULL);
}

static bool rough_clock(struct pt_sync_program *p, const bool *with_kernel, size_t known,
                        size_t clock)
{
    const struct pt_sync_group *g = p->group;
    const struct pt_sync_channel *there = NULL, *back = NULL;
    int64_t length = p->end[known] - p->begin[known];
    double first, last, all;

    for (size_t i = 0; i < g->channel_count; i++) {
        const struct pt_sync_channel *c = &g->channels[i];

        if (!counts(c, i, with_kernel))
            continue;
        there = c->from == known && c->to == clock ? c : there;
        back = c->from == clock && c->to == known ? c : back;
    }
    if (!offset(p, there, back, known, INT64_MIN, INT64_MAX, &all))
        return false;
    p->shift[clock] = llrint(all);
    if (!offset(p, there, back, known, INT64_MIN, p->begin[known] + length / 3, &first) ||
        !offset(p, there, back, known, p->end[known] - length / 3, INT64_MAX, &last))
        return true;
    p->drift[clock] = (last - first) / ((double)length * 2 / 3);
    if (fabs(p->drift[clock]) > PT_SYNC_MOST_DRIFT)
        p->drift[clock] = 0;
    else
        p->shift[clock] = llrint(first - p->drift[clock] * (double)length / 6);
    return true;
}

/* From the reference on along messages; a clock that none reaches keeps its own time. */
static int set_shifts(struct pt_sync_program *p, const bool *with_kernel)
{
    size_t *queue = calloc(p->clocks, sizeof *queue), first = 0, last = 0;
    bool *seen = calloc(p->clocks, sizeof *seen);

    for (size_t start = 0; queue && seen && start <= p->clocks; start++) {
        size_t root = start == 0 ? p->group->reference : start - 1;

        if (seen[root])
            continue;
        seen[root] = true;
        for (queue[last++] = root; first < last; first++)
            for (size_t i = 0; i < p->clocks; i++)
                if (!seen[i] && rough_clock(p, with_kernel, queue[first], i)) {
                    seen[i] = true;
                    queue[last++] = i;
                }
    }
    free(queue);
    free(seen);
    return queue && seen ? 0 : ENOMEM;
}

/* ---- rows ---- */

static int grow(void *array, size_t *room, size_t count, size_t size)
{
    void **pointer = array, *grown;

    if (count < *room)
        return 0;
    grown = realloc(*pointer, (2 * *room + 16) * size);
    if (!grown)
        return ENOMEM;
    *pointer = grown;
    *room = 2 * *room + 16;
    return 0;
}

static void add_terms(const struct pt_sync_program *p, struct pt_linear_row *row, size_t clock,
                      struct pt_sync_place at, double factor)
{
    size_t v = pt_sync_variable(p, clock) + at.piece;

    if (clock == p->group->reference)
        return;
    row->variable[row->terms] = (unsigned)v;
    row->factor[row->terms++] = factor * (1 - at.part);
    row->variable[row->terms] = (unsigned)v + 1;
    row->factor[row->terms++] = factor * at.part;
}

static int put_row(struct pt_sync_program *p, struct pt_linear_row row)
{
    if (grow(&p->rows, &p->row_room, p->row_count, sizeof *p->rows) != 0)
        return ENOMEM;
    p->rows[p->row_count++] = row;
    return 0;
}

/* Received after it was sent. */
static int put_message(struct pt_sync_program *p, size_t channel, const struct pt_sync_message *m)
{
    const struct pt_sync_channel *c = &p->group->channels[channel];
    double limit = (double)(m->received - m->sent) + pt_sync_rough(p, c->to, m->received) -
                   pt_sync_rough(p, c->from, m->sent);
    struct pt_linear_row row = { .limit = limit, .tag = p->kept_count };

    if (grow(&p->kept, &p->kept_room, p->kept_count, sizeof *p->kept) != 0)
        return ENOMEM;
    p->kept[p->kept_count++] = (struct pt_sync_clash){ channel, *m };
    add_terms(p, &row, c->from, pt_sync_place_of(p, c->from, m->sent), 1);
    add_terms(p, &row, c->to, pt_sync_place_of(p, c->to, m->received), -1);
    return put_row(p, row);
}

/* Of messages that were sent in one piece: by the pieces in which they were received. */
static int put_piece(struct pt_sync_program *p, size_t channel, const struct pt_sync_message *m,
                     size_t count)
{
    struct pt_sync_message *part = malloc((count + 1) * sizeof *part);
    size_t to = p->group->channels[channel].to;
    int error = part ? 0 : ENOMEM;

    for (size_t k = 0; !error && k < p->pieces; k++) {
        size_t n = 0;

        for (size_t i = 0; i < count; i++)
            if (pt_sync_place_of(p, to, m[i].received).piece == k)
                part[n++] = m[i];
        n = pt_sync_hull(part, n);
        for (size_t i = 0; i < n && !error; i++)
            error = put_message(p, channel, &part[i]);
    }
    free(part);
    return error;
}

static int put_channel(struct pt_sync_program *p, size_t channel)
{
    const struct pt_sync_channel *c = &p->group->channels[channel];
    size_t begin = 0;
    int error = 0;

    pt_sync_sort(c->messages, c->count);
    for (size_t k = 0; k < p->pieces && !error; k++) {
        size_t end = begin;

        while (end < c->count &&
               (k + 1 == p->pieces || c->messages[end].sent < pt_sync_knot(p, c->from, k + 1)))
            end++;
        error = put_piece(p, channel, c->messages + begin, end - begin);
        begin = end;
    }
    return error;
}

/* No clock drifts more than that. */
static int put_drifts(struct pt_sync_program *p)
{
    for (size_t i = 0; i < p->clocks; i++)
        for (size_t k = 0; i != p->group->reference && k < p->pieces; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                unsigned v = (unsigned)(pt_sync_variable(p, i) + k);
                double length = (double)(pt_sync_knot(p, i, k + 1) - pt_sync_knot(p, i, k));
                struct pt_linear_row row = {
                    .limit = (PT_SYNC_MOST_DRIFT - sign * p->drift[i]) * length + 1,
                    .terms = 2,
                    .variable = { v, v + 1 },
                    .factor = { -sign, sign },
                    .tag = PT_SYNC_NO_TAG
                };

                if (put_row(p, row) != 0)
                    return ENOMEM;
            }
    return 0;
}

int pt_sync_program_near(struct pt_sync_program *p, size_t clock, double most, double least)
{
    for (size_t k = 0; k <= p->pieces; k++) {
        unsigned v = (unsigned)(pt_sync_variable(p, clock) + k);
        double rough = pt_sync_rough(p, clock, pt_sync_knot(p, clock, k));
        struct pt_linear_row above = {
            .limit = most - rough, .terms = 1, .variable = { v }, .factor = { 1 }
        };
        struct pt_linear_row below = {
            .limit = rough - least, .terms = 1, .variable = { v }, .factor = { -1 }
        };

        above.tag = below.tag = PT_SYNC_NO_TAG;
        if (put_row(p, above) != 0 || put_row(p, below) != 0)
            return ENOMEM;
    }
    return 0;
}

/* Beyond that no clock is from its rough shift that messages bound on both sides: each is at most
 * as far as they let it, and drifts. */
static double box_of(const struct pt_sync_program *p)
{
    double most = 1e6;

    for (size_t i = 0; i < p->row_count; i++)
        most = fmax(most, fabs(p->rows[i].limit));
    return 8 * most * (double)p->clocks;
}

int pt_sync_program_init(struct pt_sync_program *p, const struct pt_sync_group *g, unsigned pieces,
                         const bool *with_kernel)
{
    size_t n = (g->clocks + (with_kernel != NULL) - 1) * (pieces + 1);
    int error;

    *p = (struct pt_sync_program){ .group = g, .pieces = pieces };
    p->clocks = g->clocks + (with_kernel != NULL);
    p->begin = calloc(p->clocks, sizeof *p->begin);
    p->end = calloc(p->clocks, sizeof *p->end);
    p->shift = calloc(p->clocks, sizeof *p->shift);
    p->drift = calloc(p->clocks, sizeof *p->drift);
    p->objective = calloc(n + 1, sizeof *p->objective);
    p->x = calloc(n + 1, sizeof *p->x);
    p->conflict = calloc(n + 2, sizeof *p->conflict);
    if (!p->begin || !p->end || !p->shift || !p->drift || !p->objective || !p->x || !p->conflict)
        return ENOMEM;
    set_axes(p);
    error = set_shifts(p, with_kernel);
    for (size_t i = 0; i < g->channel_count && !error; i++)
        if (counts(&g->channels[i], i, with_kernel))
            error = put_channel(p, i);
    if (!error)
        error = put_drifts(p);
    p->lp = (struct pt_program){ .variables = n, .box = box_of(p) };
    return error ? error : pt_program_room(&p->lp);
}

void pt_sync_program_free(struct pt_sync_program *p)
{
    free(p->begin);
    free(p->end);
    free(p->shift);
    free(p->drift);
    free(p->rows);
    free(p->kept);
    free(p->objective);
    free(p->x);
    free(p->conflict);
    pt_program_free(&p->lp);
}

/* ---- objectives ---- */

void pt_sync_objective_clear(struct pt_sync_program *p)
{
    memset(p->objective, 0, p->lp.variables * sizeof *p->objective);
}

void pt_sync_objective_add(struct pt_sync_program *p, size_t clock, struct pt_sync_place at,
                           double factor)
{
    size_t v = pt_sync_variable(p, clock) + at.piece;

    if (clock == p->group->reference)
        return;
    p->objective[v] += factor * (1 - at.part);
    p->objective[v + 1] += factor * at.part;
}

int pt_sync_program_run(struct pt_sync_program *p)
{
    p->lp.rows = p->rows;
    p->lp.row_count = p->row_count;
    return pt_program_solve(&p->lp, p->objective, p->x, p->conflict, &p->conflicts);
}

double pt_sync_value(const struct pt_sync_program *p, const double *x, size_t clock,
                     struct pt_sync_place at)
{
    size_t v = pt_sync_variable(p, clock) + at.piece;

    return clock == p->group->reference ? 0 : x[v] * (1 - at.part) + x[v + 1] * at.part;
}
