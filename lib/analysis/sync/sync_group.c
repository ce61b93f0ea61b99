/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See sync_group.h.  For each clock and some times of its axis two programs: the greatest and the
 * least value of the common clock.  Between these times the least value is concave and the greatest
 * convex, so that lines between them are outside of the interval, never inside.  The clock that is
 * used is the mean of all solutions: a mean of solutions is one.
 *
 * The messages alone come first.  For clocks that they do not bound on both sides the kernel's
 * bounds are added; where these are unknown as well, the clock stays as near to the host's own
 * CLOCK_REALTIME as messages allow, and its interval has no end.
 */
#include "analysis/sync/sync_group.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sync/sync_work.h"

enum { MOST_VARIABLES = 64, MESSAGES_A_PIECE = 16, MOST_PIECES = 64 };
#define PIECE_NS INT64_C(600000000000) /* a drift is taken to be constant for so long */

void pt_sync_solution_free(struct pt_sync_solution *s, size_t clocks)
{
    for (size_t i = 0; s->lines && i < clocks; i++) {
        free(s->lines[i].axis);
        free(s->lines[i].common);
        free(s->lines[i].bounds);
    }
    for (size_t i = 0; i < s->between_count; i++)
        free(s->between[i].bounds);
    free(s->between);
    free(s->lines);
    free(s->clashes);
    *s = (struct pt_sync_solution){ .lines = NULL };
}

static void bounds_free(struct pt_sync_limits *b)
{
    free(b->least);
    free(b->most);
    free(b->slope_least);
    free(b->slope_most);
    free(b->sum);
    *b = (struct pt_sync_limits){ .times = 0 };
}

static int bounds_init(struct pt_sync_limits *b, const struct pt_sync_program *p)
{
    size_t sub = p->pieces >= PT_SYNC_TIMES ? 1 : p->clocks > 16 ? 2 : PT_SYNC_TIMES / p->pieces;

    *b = (struct pt_sync_limits){ .times = sub * p->pieces + 1 };
    b->least = calloc(p->clocks * b->times, sizeof *b->least);
    b->most = calloc(p->clocks * b->times, sizeof *b->most);
    b->slope_least = calloc(p->clocks, sizeof *b->slope_least);
    b->slope_most = calloc(p->clocks, sizeof *b->slope_most);
    b->sum = calloc(p->lp.variables + 1, sizeof *b->sum);
    return b->least && b->most && b->slope_least && b->slope_most && b->sum ? 0 : ENOMEM;
}

struct pt_sync_place pt_sync_place_at(const struct pt_sync_work *w, size_t t)
{
    size_t sub = (w->b.times - 1) / w->p.pieces, piece = t / sub;

    if (piece == w->p.pieces)
        return (struct pt_sync_place){ piece - 1, 1 };
    return (struct pt_sync_place){ piece, (double)(t % sub) / (double)sub };
}

int64_t pt_sync_axis_of(const struct pt_sync_work *w, size_t clock, struct pt_sync_place at)
{
    int64_t low = pt_sync_knot(&w->p, clock, at.piece);
    int64_t high = pt_sync_knot(&w->p, clock, at.piece + 1);

    return at.part >= 1 ? high : low + (int64_t)((double)(high - low) * at.part);
}

/* ---- programs ---- */

/* Runs the objective, and keeps its solution for the mean. */
static int run(struct pt_sync_work *w)
{
    int error = pt_sync_program_run(&w->p);

    for (size_t v = 0; !error && v < w->p.lp.variables; v++)
        w->b.sum[v] += w->p.x[v];
    w->b.solutions += !error;
    return error;
}

bool pt_sync_is_loose(const struct pt_sync_work *w, size_t clock, struct pt_sync_place at)
{
    size_t v = pt_sync_variable(&w->p, clock) + at.piece;

    return pt_program_is_loose(&w->p.lp, w->p.x, v) || pt_program_is_loose(&w->p.lp, w->p.x, v + 1);
}

static int value_bounds(struct pt_sync_work *w, size_t clock, size_t t)
{
    struct pt_sync_place at = pt_sync_place_at(w, t);
    size_t i = clock * w->b.times + t;

    for (int sign = -1; sign <= 1; sign += 2) {
        double value;
        int error;

        pt_sync_objective_clear(&w->p);
        pt_sync_objective_add(&w->p, clock, at, sign);
        error = run(w);
        if (error)
            return error;
        value = pt_sync_value(&w->p, w->p.x, clock, at);
        if (pt_sync_is_loose(w, clock, at))
            value = sign * INFINITY;
        *(sign < 0 ? &w->b.least[i] : &w->b.most[i]) = value;
    }
    return 0;
}

/* The least and the greatest drift over all pieces. */
static int slope_bounds(struct pt_sync_work *w, size_t clock)
{
    w->b.slope_least[clock] = INFINITY;
    w->b.slope_most[clock] = -INFINITY;
    for (size_t k = 0; k < w->p.pieces; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const struct pt_sync_place low = { k, 0 }, high = { k, 1 };
            double length = (double)(pt_sync_axis_of(w, clock, high) -
                                     pt_sync_axis_of(w, clock, low)),
                   slope;
            int error;

            pt_sync_objective_clear(&w->p);
            pt_sync_objective_add(&w->p, clock, high, sign);
            pt_sync_objective_add(&w->p, clock, low, -sign);
            error = run(w);
            if (error)
                return error;
            slope = (pt_sync_value(&w->p, w->p.x, clock, high) -
                     pt_sync_value(&w->p, w->p.x, clock, low)) /
                    length;
            w->b.slope_least[clock] = fmin(w->b.slope_least[clock], slope);
            w->b.slope_most[clock] = fmax(w->b.slope_most[clock], slope);
        }
    return 0;
}

static int all_bounds(struct pt_sync_work *w)
{
    int error = 0;

    for (size_t i = 0; i < w->g->clocks && !error; i++) {
        if (i == w->g->reference)
            continue;
        for (size_t t = 0; t < w->b.times && !error; t++)
            error = value_bounds(w, i, t);
        if (!error)
            error = slope_bounds(w, i);
    }
    return error;
}

static void work_free(struct pt_sync_work *w)
{
    pt_sync_program_free(&w->p);
    bounds_free(&w->b);
}

static int prepare(struct pt_sync_work *w)
{
    int error = pt_sync_program_init(&w->p, w->g, w->pieces, w->with_kernel);

    return error ? error : bounds_init(&w->b, &w->p);
}

/* ---- by messages ---- */

static unsigned first_pieces(const struct pt_sync_group *g, unsigned most)
{
    uint64_t pieces = 1, least = UINT64_MAX;

    for (size_t i = 0; i < g->clocks; i++) {
        uint64_t n = (uint64_t)(g->end[i] - g->begin[i]) / (uint64_t)PIECE_NS + 1;

        pieces = n > pieces ? n : pieces;
    }
    for (size_t i = 0; i < g->channel_count; i++)
        if (!g->channels[i].kernel && g->channels[i].count)
            least = g->channels[i].count < least ? g->channels[i].count : least;
    least = least == UINT64_MAX ? 1 : least / MESSAGES_A_PIECE;
    pieces = pieces < least ? pieces : least;
    pieces = pieces < most ? pieces : most;
    return pieces < 1 ? 1 : (unsigned)pieces;
}

static int note_clashes(const struct pt_sync_program *p, struct pt_sync_solution *s)
{
    free(s->clashes);
    s->clash_count = 0;
    s->clashes = calloc(p->conflicts + 1, sizeof *s->clashes);
    for (size_t i = 0; s->clashes && i < p->conflicts; i++)
        if (p->conflict[i] < p->row_count && p->rows[p->conflict[i]].tag != PT_SYNC_NO_TAG)
            s->clashes[s->clash_count++] = p->kept[p->rows[p->conflict[i]].tag];
    return s->clashes ? EDOM : ENOMEM;
}

/* In as few pieces as fit the messages; *w is left for its solution. */
static int by_messages(struct pt_sync_work *w, struct pt_sync_solution *s)
{
    size_t others = w->g->clocks > 1 ? w->g->clocks - 1 : 1;
    size_t room = MOST_VARIABLES / others;
    unsigned most = room < 3 ? 1 : room > MOST_PIECES ? MOST_PIECES : (unsigned)room - 1;

    for (w->pieces = first_pieces(w->g, most);; w->pieces *= 2) {
        int error = prepare(w);

        if (!error)
            error = all_bounds(w);
        if (error == EDOM)
            error = note_clashes(&w->p, s);
        if (error != EDOM || 2 * w->pieces > most)
            return error;
        work_free(w);
    }
}

/* ---- by the kernel ---- */

bool pt_sync_is_bounded(const struct pt_sync_limits *b, size_t clock)
{
    for (size_t t = 0; t < b->times; t++)
        if (isinf(b->least[clock * b->times + t]) || isinf(b->most[clock * b->times + t]))
            return false;
    return true;
}

static bool has_kernel(const struct pt_sync_group *g, size_t clock)
{
    for (size_t i = 0; i < g->channel_count; i++)
        if (g->channels[i].kernel && g->channels[i].count &&
            (g->channels[i].from == clock || g->channels[i].to == clock))
            return true;
    return false;
}

/* UTC is tied to the reference, or to a clock that messages tie to it. */
static size_t anchor(const struct pt_sync_work *w)
{
    const struct pt_sync_group *g = w->g;

    for (size_t i = 0; !has_kernel(g, g->reference) && i < g->clocks; i++)
        if (i != g->reference && pt_sync_is_bounded(&w->b, i) && has_kernel(g, i))
            return i;
    return g->reference;
}

/* Which of the kernel's channels are needed.  False: none helps. */
static bool choose_kernel(const struct pt_sync_work *w, bool *with_kernel)
{
    size_t tie = anchor(w);
    bool any = false;

    for (size_t i = 0; i < w->g->channel_count; i++) {
        const struct pt_sync_channel *c = &w->g->channels[i];
        size_t clock = c->from < w->g->clocks ? c->from : c->to;
        bool needs;

        with_kernel[i] = false;
        if (!c->kernel || clock == w->g->clocks) /* from UTC to UTC */
            continue;
        needs = clock != w->g->reference && !pt_sync_is_bounded(&w->b, clock);
        with_kernel[i] = clock == tie || needs;
        any |= with_kernel[i] && needs;
    }
    return any && has_kernel(w->g, tie);
}

/* Where the messages know both ends they count alone: the kernel's bounds may be wrong. */
static void keep_messages(struct pt_sync_work *all, const struct pt_sync_work *messages)
{
    size_t n = messages->b.times;

    for (size_t i = 0; i < messages->g->clocks; i++) {
        if (i == messages->g->reference || !pt_sync_is_bounded(&messages->b, i))
            continue;
        for (size_t t = 0; t < n; t++) {
            int64_t at = pt_sync_axis_of(all, i, pt_sync_place_at(all, t));
            double differ = pt_sync_rough(&messages->p, i, at) - pt_sync_rough(&all->p, i, at);

            all->b.least[i * n + t] = messages->b.least[i * n + t] + differ;
            all->b.most[i * n + t] = messages->b.most[i * n + t] + differ;
        }
        all->b.slope_least[i] = messages->b.slope_least[i] + messages->p.drift[i] - all->p.drift[i];
        all->b.slope_most[i] = messages->b.slope_most[i] + messages->p.drift[i] - all->p.drift[i];
    }
}

static int by_kernel(struct pt_sync_work *all, struct pt_sync_solution *s)
{
    int error = prepare(all);

    if (!error)
        error = all_bounds(all);
    s->kernel_dropped = error == EDOM;
    return error;
}

/* ---- the clock that is used ---- */

/* Clocks without an end stay near their own CLOCK_REALTIME: as near as the messages allow, by
 * decades. */
static int settle_loose(struct pt_sync_work *w)
{
    bool any = false;
    int error;

    for (size_t i = 0; i < w->g->clocks; i++)
        any |= i != w->g->reference && !pt_sync_is_bounded(&w->b, i);
    if (!any)
        return 0;
    for (double near = 1e3; near < 4e14; near *= 10) {
        struct pt_sync_work narrow = { .g = w->g,
                                       .pieces = w->pieces,
                                       .with_kernel = w->with_kernel };

        error = prepare(&narrow);
        for (size_t i = 0; i < w->g->clocks && !error; i++)
            if (i != w->g->reference && !pt_sync_is_bounded(&w->b, i))
                error = pt_sync_program_near(&narrow.p, i, near, -near);
        if (!error)
            error = all_bounds(&narrow);
        if (!error) {
            memcpy(w->b.sum, narrow.b.sum, w->p.lp.variables * sizeof *w->b.sum);
            w->b.solutions = narrow.b.solutions;
        }
        work_free(&narrow);
        if (error != EDOM)
            return error;
    }
    return 0;
}

/* ---- all ---- */

static int fill(struct pt_sync_work *w, const struct pt_sync_limits *messages,
                struct pt_sync_solution *s)
{
    int error = settle_loose(w);

    s->pieces = w->p.pieces;
    s->lines = calloc(w->g->clocks, sizeof *s->lines);
    if (!s->lines)
        return ENOMEM;
    for (size_t v = 0; v < w->p.lp.variables; v++)
        w->p.x[v] = w->b.solutions ? w->b.sum[v] / (double)w->b.solutions : 0;
    for (size_t i = 0; i < w->g->clocks && !error; i++)
        error = pt_sync_fill_line(w, messages, i, &s->lines[i]);
    return error ? error : pt_sync_all_between(w, s);
}

int pt_sync_solve(const struct pt_sync_group *g, struct pt_sync_solution *s)
{
    struct pt_sync_work messages = { .g = g }, all = { .g = g };
    bool *with_kernel = calloc(g->channel_count + 1, sizeof *with_kernel), with = false;
    int error;

    *s = (struct pt_sync_solution){ .lines = NULL };
    error = with_kernel ? by_messages(&messages, s) : ENOMEM;
    if (!error && choose_kernel(&messages, with_kernel)) {
        all.pieces = messages.pieces;
        all.with_kernel = with_kernel;
        error = by_kernel(&all, s);
        with = error == 0;
        if (with)
            keep_messages(&all, &messages);
        error = error == EDOM ? 0 : error;
    }
    if (!error)
        error = fill(with ? &all : &messages, &messages.b, s);
    work_free(&messages);
    work_free(&all);
    free(with_kernel);
    return error;
}
