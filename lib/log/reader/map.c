/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Another clock in the place of the log's own: what posixtrace_set_clock_map() gives.  It becomes a
 * table of points like that of the log, so that all that converts times stays as it is.  The slope
 * of a point has 32 bits after the binary point; pieces are halved until that is a nanosecond.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "log/reader/state.h"

#define MOST_POINTS ((size_t)1 << 20)   /* 24 MB; longer pieces, if there were more */
#define MOST_MULT   (UINT64_C(1) << 44) /* 4096 ns a tick */

struct map {
    struct pt_sync *points;
    size_t count, room;
};

static int put(struct map *t, uint64_t ts, int64_t ns, uint64_t mult)
{
    if (t->count == 4 * MOST_POINTS)
        return -EFBIG;
    if (t->count && ts <= t->points[t->count - 1].ts)
        return 0;
    if (pt_array_grow(&t->points, &t->room, t->count, sizeof *t->points) != 0)
        return -ENOMEM;
    t->points[t->count++] = (struct pt_sync){ .ts = ts, .ns = ns, .mult = mult };
    return 0;
}

static uint64_t slope(const struct pt_knot *a, const struct pt_knot *b)
{
    return pt_mul128_div((uint64_t)b->ns - (uint64_t)a->ns, b->ts - a->ts);
}

static bool ascend(const struct pt_knot *a, const struct pt_knot *b)
{
    return b->ts > a->ts && b->ns > a->ns && slope(a, b) > 0 && slope(a, b) <= MOST_MULT;
}

/* How often a piece is halved to be of at most so many ticks. */
static unsigned halvings(const struct pt_knot *a, const struct pt_knot *b, uint64_t most)
{
    unsigned k = 0;

    while ((b->ts - a->ts) >> k > most)
        k++;
    return k;
}

static int put_piece(struct map *t, struct pt_knot a, struct pt_knot b, unsigned k)
{
    struct pt_knot middle = { a.ts + (b.ts - a.ts) / 2,
                              (int64_t)((uint64_t)a.ns + ((uint64_t)b.ns - (uint64_t)a.ns) / 2) };
    int error;

    if (k == 0 || !ascend(&a, &middle) || !ascend(&middle, &b))
        return put(t, a.ts, a.ns, slope(&a, &b));
    error = put_piece(t, a, middle, k - 1);
    return error ? error : put_piece(t, middle, b, k - 1);
}

/* The longest pieces for which there are not too many. */
static uint64_t piece_length(const struct pt_knot *knots, size_t n, uint64_t most)
{
    for (;; most *= 2) {
        size_t points = 0;

        for (size_t i = 1; i < n && points <= MOST_POINTS; i++) {
            unsigned k = halvings(&knots[i - 1], &knots[i], most);

            points += k > 20 ? MOST_POINTS + 1 : (size_t)1 << k;
        }
        if (points <= MOST_POINTS || most > UINT64_MAX / 4)
            return most;
    }
}

static int build(struct map *t, const struct pt_knot *knots, size_t n, uint64_t most)
{
    const struct pt_knot *last = &knots[n - 1];
    int error = 0;

    most = piece_length(knots, n, most);
    for (size_t i = 1; i < n && !error; i++)
        error = put_piece(t, knots[i - 1], knots[i], halvings(&knots[i - 1], &knots[i], most));
    return error ? error : put(t, last->ts, last->ns, slope(last - 1, last));
}

/* The point of the imported log's table, and those that the other clock has within its piece:
 * from its ticks to its times, and from these to the other clock's. */
static int compose(struct map *to, const struct pt_sync *a, uint64_t end, const struct map *b)
{
    size_t k = pt_sync_find(b->points, b->count, (uint64_t)a->ns);
    int64_t last = pt_sync_apply(a, end);
    int error = put(to, a->ts, pt_sync_apply(&b->points[k], (uint64_t)a->ns),
                    pt_mul128_mul(a->mult, b->points[k].mult));

    for (k++; !error && a->mult && k < b->count && (int64_t)b->points[k].ts <= last; k++) {
        const struct pt_sync *p = &b->points[k];
        uint64_t ts;

        if ((int64_t)p->ts <= a->ns)
            continue;
        ts = a->ts + pt_mul128_div(p->ts - (uint64_t)a->ns, a->mult) + 1;
        if (ts > a->ts && ts <= end)
            error = put(to, ts, pt_sync_apply(p, (uint64_t)pt_sync_apply(a, ts)),
                        pt_mul128_mul(a->mult, p->mult));
    }
    return error;
}

static int compose_all(const struct pt_log_reader *r, struct map *t)
{
    struct map made = { .points = NULL };
    int error = 0;

    for (size_t i = 0; i < r->sync_count && !error; i++) {
        uint64_t end = i + 1 < r->sync_count ? r->syncs[i + 1].ts - 1 : INT64_MAX;

        error = compose(&made, &r->syncs[i], end > r->syncs[i].ts ? end : r->syncs[i].ts, t);
    }
    if (error || r->sync_count == 0) { /* without a point ticks are nanoseconds */
        free(made.points);
        return error;
    }
    free(t->points);
    *t = made;
    return 0;
}

int pt_log_reader_set_map(struct pt_log_reader *r, const struct pt_knot *knots, size_t n)
{
    bool imported = r->params.clock == POSIXTRACE_CLOCK_REALTIME;
    struct map t = { .points = NULL };
    int error = n == 1 ? -EINVAL : 0;

    if (n && imported && !r->source.seekable)
        return -ESPIPE;
    for (size_t i = 1; i < n && !error; i++)
        error = ascend(&knots[i - 1], &knots[i]) ? 0 : -EINVAL;
    if (n && !error)
        error = build(&t, knots, n, UINT64_C(1) << (imported ? 30 : 32));
    if (n && !error && imported)
        error = compose_all(r, &t);
    if (error) {
        free(t.points);
        return error;
    }
    free(r->map);
    r->map = t.points;
    r->map_count = t.count;
    r->sync_from = r->sync_to = 0;
    r->sync_at = PT_NO_SYNC;
    return 0;
}

int pt_log_reader_clock(const struct pt_log_reader *r, size_t i, struct pt_clock_reading *reading)
{
    for (uint32_t id = 1; id < r->texts.end[PT_TEXT_CLOCK]; id++) {
        const char *text = pt_string_table_get(&r->texts, PT_TEXT_CLOCK, id);

        if (text && pt_clock_text_get(text, reading) && i-- == 0)
            return 1;
    }
    return 0;
}

int pt_log_reader_point(const struct pt_log_reader *r, size_t i, struct pt_sync *point)
{
    if (i >= r->sync_count)
        return 0;
    *point = r->syncs[i];
    return 1;
}
