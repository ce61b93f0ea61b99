/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/clock.h: the clocks of a log. */
#include <posixtrace/clock.h>
#include <stddef.h>
#include <sys/timex.h>
#include "api/guard.h"
#include "api/sized.h"
#include "control/sequence.h"
#include "log/reader/reader.h"
#include "model/sync.h"

_Static_assert(sizeof(struct posixtrace_clock_knot) == sizeof(struct pt_knot) &&
                   offsetof(struct posixtrace_clock_knot, ns) == offsetof(struct pt_knot, ns),
               "the same members");

static struct posixtrace_clock_reading public_reading(const struct pt_clock_reading *r)
{
    return (struct posixtrace_clock_reading){
        .ticks = r->ts,
        .ns = r->ns,
        .most_error_ns = r->most,
        .error_ns = r->estimated,
        .status = r->status,
        .synchronised = r->status >= 0 && !(r->status & STA_UNSYNC) && r->most >= 0,
        .left = r->left,
    };
}

static int get_reading(const struct pt_stream *s, size_t i, struct pt_clock_reading *reading)
{
    return s->pieces ? pt_sequence_clock(s, i, reading) : pt_log_reader_clock(s->log, i, reading);
}

PT_PUBLIC int posixtrace_clock_reading(trace_id_t trid, size_t index,
                                       struct posixtrace_clock_reading *reading, size_t size)
{
    struct posixtrace_clock_reading to;
    struct pt_clock_reading from;
    struct pt_guard g;
    int r;

    if (!reading || size == 0 || !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    r = get_reading(g.s, index, &from);
    pthread_mutex_unlock(&g.s->reading);
    if (r == 1) {
        to = public_reading(&from);
        pt_sized_copy(reading, size, &to, sizeof to);
    }
    return pt_guard_leave(&g, r == 1 ? 0 : -ENOENT);
}

static int get_sync(const struct pt_stream *s, size_t i, struct pt_sync *point)
{
    return s->pieces ? pt_sequence_point(s, i, point) : pt_log_reader_point(s->log, i, point);
}

/* Under the reading lock. */
static bool get_point(const struct pt_stream *s, size_t i, struct posixtrace_clock_point *to)
{
    struct pt_sync point, before;

    if (get_sync(s, i, &point) != 1)
        return false;
    *to = (struct posixtrace_clock_point){ .ticks = point.ts, .ns = point.ns, .slope = point.mult };
    to->step = i > 0 && pt_log_reader_params(s->log)->clock != POSIXTRACE_CLOCK_REALTIME &&
               get_sync(s, i - 1, &before) == 1 && pt_sync_is_step(&before, &point);
    return true;
}

PT_PUBLIC int posixtrace_clock_point(trace_id_t trid, size_t index,
                                     struct posixtrace_clock_point *point, size_t size)
{
    struct posixtrace_clock_point to;
    struct pt_guard g;
    bool found;

    if (!point || size == 0 || !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    found = get_point(g.s, index, &to);
    pthread_mutex_unlock(&g.s->reading);
    if (found)
        pt_sized_copy(point, size, &to, sizeof to);
    return pt_guard_leave(&g, found ? 0 : -ENOENT);
}

static void add_reading(struct posixtrace_clock_quality *q, const struct pt_clock_reading *from)
{
    struct posixtrace_clock_reading r = public_reading(from);

    q->readings++;
    q->left += r.left;
    q->unknown += r.status < 0;
    q->unsynchronised += r.status >= 0 && !r.synchronised;
    if (r.synchronised && r.most_error_ns > q->most_error_ns)
        q->most_error_ns = r.most_error_ns;
    if (r.synchronised && r.error_ns > q->error_ns)
        q->error_ns = r.error_ns;
}

/* The log's own table says what time it was at the last reading.  Under the reading lock. */
static void add_points(struct posixtrace_clock_quality *q, const struct pt_stream *s,
                       const struct pt_clock_reading *last)
{
    struct posixtrace_clock_point p;

    for (size_t i = 0; get_point(s, i, &p); i++) {
        struct pt_sync point = { .ts = p.ticks, .ns = p.ns, .mult = p.slope };

        q->steps += p.step;
        if (q->readings > 0 && (i == 0 || p.ticks <= last->ts))
            q->off_ns = (int64_t)((uint64_t)pt_sync_apply(&point, last->ts) - (uint64_t)last->ns);
    }
}

PT_PUBLIC int posixtrace_clock_quality(trace_id_t trid, struct posixtrace_clock_quality *quality,
                                       size_t size)
{
    struct posixtrace_clock_quality q = { .most_error_ns = -1, .error_ns = -1 };
    struct pt_clock_reading reading, last = { .ts = 0 };
    struct pt_guard g;

    if (!quality || size == 0 || !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    for (size_t i = 0; get_reading(g.s, i, &reading) == 1; i++) {
        add_reading(&q, &reading);
        last = reading;
    }
    add_points(&q, g.s, &last);
    pthread_mutex_unlock(&g.s->reading);
    pt_sized_copy(quality, size, &q, sizeof q);
    return pt_guard_leave(&g, 0);
}

PT_PUBLIC int posixtrace_set_clock_map(trace_id_t trid, const struct posixtrace_clock_knot *knots,
                                       size_t count)
{
    struct pt_guard g;
    int r;

    if ((count && !knots) || !pt_guard_enter(&g, trid, PT_STREAM_RECORDED))
        return EINVAL;
    pthread_mutex_lock(&g.s->reading);
    r = g.s->pieces ? pt_sequence_set_map(g.s, (const void *)knots, count)
                    : pt_log_reader_set_map(g.s->log, (const void *)knots, count);
    pthread_mutex_unlock(&g.s->reading);
    return pt_guard_leave(&g, r);
}
