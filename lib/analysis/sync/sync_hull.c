/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See sync_hull.h.  Andrew's monotone chain over (time of sending, apparent latency).  Differences
 * are exact, and their products have an error of 2^-52 of a nanosecond's product with the span: a
 * vertex that is left out by rounding is within a fraction of a nanosecond of the hull.
 */
#include "analysis/sync/sync_hull.h"

#include <stdlib.h>

static int64_t latency(const struct pt_sync_message *m)
{
    return (int64_t)((uint64_t)m->received - (uint64_t)m->sent);
}

static int by_time(const void *a, const void *b)
{
    const struct pt_sync_message *x = a, *y = b;

    if (x->sent != y->sent)
        return x->sent < y->sent ? -1 : 1;
    return latency(x) < latency(y) ? -1 : latency(x) > latency(y);
}

void pt_sync_sort(struct pt_sync_message *messages, size_t count)
{
    if (count)
        qsort(messages, count, sizeof *messages, by_time);
}

/* Is b not below the line from a to c? */
static int is_above(const struct pt_sync_message *a, const struct pt_sync_message *b,
                    const struct pt_sync_message *c)
{
    double x1 = (double)(b->sent - a->sent), x2 = (double)(c->sent - a->sent);
    double y1 = (double)(int64_t)((uint64_t)latency(b) - (uint64_t)latency(a));
    double y2 = (double)(int64_t)((uint64_t)latency(c) - (uint64_t)latency(a));

    return x1 * y2 <= x2 * y1;
}

size_t pt_sync_hull(struct pt_sync_message *messages, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct pt_sync_message m = messages[i];

        if (n && messages[n - 1].sent == m.sent)
            continue; /* the same time, and no shorter latency */
        while (n >= 2 && is_above(&messages[n - 2], &messages[n - 1], &m))
            n--;
        messages[n++] = m;
    }
    return n;
}
