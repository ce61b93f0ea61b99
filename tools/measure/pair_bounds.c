/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See pair_bounds.h. */
#include "measure/pair_bounds.h"

#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

enum { SAMPLES = 16 }; /* the error of clocks changes slowly */

void pair_bounds_make(struct pair_bounds *b, const trace_id_t *trids, const char *const *names,
                      size_t count, size_t metrics)
{
    memset(b, 0, sizeof *b);
    b->logs = count;
    b->clocks = host_clocks_make(trids, names, count);
    b->unknown = tool_zeroed(metrics * sizeof *b->unknown);
    if (host_clocks_several(b->clocks))
        return;
    host_clocks_free(b->clocks);
    b->clocks = NULL;
}

void pair_bounds_free(struct pair_bounds *b)
{
    host_clocks_free(b->clocks);
    free(b->unknown);
    memset(b, 0, sizeof *b);
}

/* ---- which hosts ---- */

static struct pair_hosts *hosts_of(struct pair_bounds *b, size_t from, size_t to)
{
    for (size_t i = 0; i < b->host_count; i++) {
        struct pair_hosts *h = &b->hosts[i];

        if ((host_clocks_same(b->clocks, h->a, from) && host_clocks_same(b->clocks, h->b, to)) ||
            (host_clocks_same(b->clocks, h->a, to) && host_clocks_same(b->clocks, h->b, from)))
            return h;
    }
    b->more_hosts |= b->host_count == PAIR_HOSTS_KEPT;
    if (b->more_hosts)
        return NULL;
    b->hosts[b->host_count] = (struct pair_hosts){ .a = from, .b = to };
    return &b->hosts[b->host_count++];
}

/* The distance, INT64_MAX if it is longer. */
static int64_t apart(int64_t from, int64_t to)
{
    int64_t d;

    return __builtin_sub_overflow(to, from, &d) ? INT64_MAX : d;
}

static void note(struct pair_bounds *b, size_t metric,
                 const struct posixtrace_pair_measurement *pair,
                 const struct posixtrace_interval *d)
{
    struct pair_hosts *h = hosts_of(b, pair->begin.stream, pair->end.stream);
    int64_t length = apart(pair->begin.ns, pair->end.ns);
    int64_t up = apart(length, d->most_ns), down = apart(d->least_ns, length);

    b->unknown[metric] += d->most_ns == INT64_MAX && !pair->unknown;
    if (!h)
        return;
    h->unknown += d->most_ns == INT64_MAX;
    h->bounded += d->most_ns < INT64_MAX;
    if (d->most_ns < INT64_MAX && d->least_ns > INT64_MIN)
        up = down > up ? down : up;
    if (d->most_ns < INT64_MAX && up > h->error_ns)
        h->error_ns = up;
}

/* ---- bounds ---- */

static int64_t most_of(int64_t ns)
{
    return ns < 0 ? 0 : ns > POSIXTRACE_NO_BOUND ? POSIXTRACE_NO_BOUND : ns;
}

/* One of its events was lost, in any log that may have it. */
static void widen(const struct pair_bounds *b, size_t metric,
                  const struct posixtrace_pair_measurement *pair,
                  bool (*has)(const void *context, size_t log, size_t metric), const void *context,
                  struct posixtrace_measurement *m)
{
    bool has_begin = pair->begin.stream < b->logs;
    size_t known = has_begin ? pair->begin.stream : pair->end.stream;

    for (size_t i = 0; known < b->logs && i < b->logs; i++) {
        size_t from = has_begin ? known : i, to = has_begin ? i : known;
        int64_t most;

        if (m->length_ns == POSIXTRACE_NO_BOUND || !has(context, i, metric))
            continue;
        most = most_of(
            host_clocks_between(b->clocks, from, pair->begin.ns, to, pair->end.ns).most_ns);
        m->length_ns = most > m->length_ns ? most : m->length_ns;
    }
}

bool pair_bounds_apply(struct pair_bounds *b, size_t metric,
                       const struct posixtrace_pair_measurement *pair,
                       bool (*has)(const void *context, size_t log, size_t metric),
                       const void *context, struct posixtrace_measurement *m)
{
    struct posixtrace_interval d;

    if (!b->clocks)
        return true;
    if (pair->begin.stream >= b->logs || pair->end.stream >= b->logs) {
        widen(b, metric, pair, has, context, m);
        return true;
    }
    if (host_clocks_same(b->clocks, pair->begin.stream, pair->end.stream))
        return true;
    d = host_clocks_between(b->clocks, pair->begin.stream, pair->begin.ns, pair->end.stream,
                            pair->end.ns);
    if (d.most_ns < 0)
        return false;
    note(b, metric, pair, &d);
    m->length_ns = most_of(d.most_ns);
    m->least_ns = pair->unknown || d.least_ns < 0 ? 0 : d.least_ns;
    m->unknown |= d.most_ns == INT64_MAX;
    m->bound = !m->unknown && m->least_ns < m->length_ns;
    return true;
}

static int64_t widest_at(const struct pair_bounds *b, size_t metric,
                         bool (*has)(const void *context, size_t log, size_t metric),
                         const void *context, int64_t ns)
{
    int64_t widest = 0;

    for (size_t i = 0; i < b->logs; i++)
        for (size_t k = 0; has(context, i, metric) && k < b->logs; k++) {
            int64_t most = !host_clocks_same(b->clocks, i, k) && has(context, k, metric)
                               ? most_of(host_clocks_between(b->clocks, i, ns, k, ns).most_ns)
                               : 0;

            widest = most > widest ? most : widest;
        }
    return widest;
}

int64_t pair_bounds_widest(const struct pair_bounds *b, size_t metric,
                           bool (*has)(const void *context, size_t log, size_t metric),
                           const void *context, int64_t first_ns, int64_t last_ns)
{
    int64_t step = apart(first_ns, last_ns) / SAMPLES, widest = 0;

    for (int i = 0; b->clocks && i <= SAMPLES && widest < POSIXTRACE_NO_BOUND; i++) {
        int64_t at = widest_at(b, metric, has, context, first_ns + i * step);

        widest = at > widest ? at : widest;
    }
    return widest;
}
