/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Clocks as they are used: which one a log has, its map, and its intervals.  An interval is known
 * at some times, its bounds; between two of them each end lies on a line.
 */
#include <errno.h>
#include <math.h>
#include <posixtrace/info.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sync/sync_state.h"

static const uint8_t none[16];

/* The caller's structure, in its size. */
static void give(void *to, size_t to_size, const void *from, size_t from_size)
{
    if (to_size > from_size)
        memset((char *)to + from_size, 0, to_size - from_size);
    memcpy(to, from, to_size < from_size ? to_size : from_size);
}

void posixtrace_sync_free(posixtrace_sync_t *sync)
{
    if (!sync)
        return;
    for (size_t i = 0; i < sync->host_count; i++) {
        free(sync->hosts[i].knots);
        free(sync->hosts[i].bounds);
    }
    for (size_t i = 0; i < sync->between_count; i++)
        free(sync->between[i].bounds);
    free(sync->hosts);
    free(sync->between);
    free(sync->links);
    free(sync->conflicts);
    free(sync);
}

/* ---- which clock ---- */

void pt_sync_identify(struct pt_sync_host *h, const struct posixtrace_info *info)
{
    memcpy(h->host, info->host, sizeof h->host);
    memcpy(h->boot_id, info->boot_id, sizeof h->boot_id);
    h->clock = info->clock;
    memset(h->log_id, 0, sizeof h->log_id);
    if (!h->host[0] && memcmp(h->boot_id, none, sizeof none) == 0)
        memcpy(h->log_id, info->id, sizeof h->log_id);
}

bool pt_sync_is_of(const struct pt_sync_host *h, const struct posixtrace_info *info)
{
    struct pt_sync_host like = { .clock = -1 };

    pt_sync_identify(&like, info);
    return strncmp(h->host, like.host, sizeof h->host) == 0 && h->clock == like.clock &&
           memcmp(h->boot_id, like.boot_id, sizeof h->boot_id) == 0 &&
           memcmp(h->log_id, like.log_id, sizeof h->log_id) == 0;
}

int posixtrace_sync_find(const posixtrace_sync_t *sync, trace_id_t trid, size_t *index)
{
    struct posixtrace_info info;
    struct posixtrace_clock_quality q;

    if (!sync || !index || posixtrace_clock_quality(trid, &q, sizeof q) != 0 ||
        posixtrace_get_info(trid, &info, sizeof info) != 0)
        return EINVAL;
    for (size_t i = 0; i < sync->host_count; i++)
        if (pt_sync_is_of(&sync->hosts[i], &info)) {
            *index = i;
            return 0;
        }
    return ENOENT;
}

int posixtrace_sync_apply(const posixtrace_sync_t *sync, trace_id_t trid)
{
    size_t i;
    int error = posixtrace_sync_find(sync, trid, &i);

    if (error)
        return error;
    return posixtrace_set_clock_map(trid, sync->hosts[i].knots, sync->hosts[i].knot_count);
}

int posixtrace_sync_host(const posixtrace_sync_t *sync, size_t index,
                         struct posixtrace_sync_host *host, size_t size)
{
    struct posixtrace_sync_host to = { .host = "" };
    const struct pt_sync_host *h;

    if (!sync || !host || size == 0)
        return EINVAL;
    if (index >= sync->host_count)
        return ENOENT;
    h = &sync->hosts[index];
    to.host = h->host;
    memcpy(to.boot_id, h->boot_id, sizeof to.boot_id);
    to.clock = h->clock;
    to.source = h->source;
    to.first_ns = h->first_ns;
    to.last_ns = h->last_ns;
    to.offset_ns = h->offset_ns;
    to.drift_ppb = h->drift_ppb;
    give(host, size, &to, sizeof to);
    return 0;
}

/* ---- intervals ---- */

int64_t pt_sync_sum(int64_t a, int64_t b)
{
    int64_t sum;

    if (a == INT64_MIN || b == INT64_MIN)
        return INT64_MIN;
    if (a == INT64_MAX || b == INT64_MAX)
        return INT64_MAX;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* The distance, INT64_MAX if it is longer. */
static int64_t apart(int64_t from, int64_t to)
{
    int64_t d;

    return __builtin_sub_overflow(to, from, &d) ? INT64_MAX : d;
}

/* Outward: an interval may be wider, never narrower. */
static int64_t rounded(double value, bool up)
{
    double r = up ? ceil(value) : floor(value);

    if (r >= 9e18)
        return INT64_MAX;
    return r <= -9e18 ? INT64_MIN : (int64_t)r;
}

/* value, and ppb of the distance more. */
static int64_t beyond(int64_t value, int64_t distance, int64_t ppb)
{
    if (value == INT64_MIN || value == INT64_MAX)
        return value;
    return pt_sync_sum(value, rounded((double)distance * ((double)ppb / 1e9), ppb > 0));
}

static int64_t between(int64_t a, int64_t b, double part, bool up)
{
    if (a == INT64_MIN || b == INT64_MIN || a == INT64_MAX || b == INT64_MAX)
        return up ? INT64_MAX : INT64_MIN;
    return rounded((double)a + ((double)b - (double)a) * part, up);
}

static struct posixtrace_interval look_up(const struct pt_sync_bound *b, size_t n, int64_t ns,
                                          int64_t least_ppb, int64_t most_ppb)
{
    size_t low = 0, high = n - 1;
    const struct pt_sync_bound *edge = ns <= b[0].ns ? &b[0] : &b[n - 1];
    double part;

    if (ns <= b[0].ns || ns >= b[n - 1].ns) {
        int64_t distance = ns < edge->ns ? apart(ns, edge->ns) : apart(edge->ns, ns);

        return (struct posixtrace_interval){ beyond(edge->least, distance, least_ppb),
                                             beyond(edge->most, distance, most_ppb) };
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (b[middle].ns <= ns)
            low = middle;
        else
            high = middle;
    }
    part = (double)apart(b[low].ns, ns) / (double)apart(b[low].ns, b[high].ns);
    return (struct posixtrace_interval){ between(b[low].least, b[high].least, part, false),
                                         between(b[low].most, b[high].most, part, true) };
}

static struct posixtrace_interval error_of(const struct pt_sync_host *h, int64_t ns)
{
    return look_up(h->bounds, h->bound_count, ns, h->least_ppb, h->most_ppb);
}

int posixtrace_sync_error(const posixtrace_sync_t *sync, size_t index, int64_t ns,
                          struct posixtrace_interval *error)
{
    if (!sync || !error)
        return EINVAL;
    if (index >= sync->host_count)
        return ENOENT;
    *error = error_of(&sync->hosts[index], ns);
    return 0;
}

static void widen(struct posixtrace_interval *w, struct posixtrace_interval by)
{
    w->least_ns = by.least_ns < w->least_ns ? by.least_ns : w->least_ns;
    w->most_ns = by.most_ns > w->most_ns ? by.most_ns : w->most_ns;
}

/* The ends run on lines between bounds, so the widest place is a bound or an end of the time. */
int posixtrace_sync_error_within(const posixtrace_sync_t *sync, size_t index, int64_t from_ns,
                                 int64_t to_ns, struct posixtrace_interval *error)
{
    struct posixtrace_interval widest;
    const struct pt_sync_host *h;

    if (!sync || !error || from_ns > to_ns)
        return EINVAL;
    if (index >= sync->host_count)
        return ENOENT;
    h = &sync->hosts[index];
    widest = error_of(h, from_ns);
    widen(&widest, error_of(h, to_ns));
    for (size_t i = 0; i < h->bound_count; i++)
        if (h->bounds[i].ns > from_ns && h->bounds[i].ns < to_ns)
            widen(&widest, (struct posixtrace_interval){ h->bounds[i].least, h->bounds[i].most });
    *error = widest;
    return 0;
}

static int64_t minus(int64_t a)
{
    return a == INT64_MIN ? INT64_MAX : a == INT64_MAX ? INT64_MIN : -a;
}

static struct posixtrace_interval less(struct posixtrace_interval a, struct posixtrace_interval b)
{
    return (struct posixtrace_interval){ pt_sync_sum(a.least_ns, minus(b.most_ns)),
                                         pt_sync_sum(a.most_ns, minus(b.least_ns)) };
}

/* By how much the error of a clock changes over that distance, forward or back. */
static struct posixtrace_interval change(const struct pt_sync_host *h, int64_t from_ns,
                                         int64_t to_ns)
{
    int64_t distance = from_ns < to_ns ? apart(from_ns, to_ns) : apart(to_ns, from_ns);
    struct posixtrace_interval d = { beyond(0, distance, h->least_ppb),
                                     beyond(0, distance, h->most_ppb) };

    return from_ns > to_ns ? less((struct posixtrace_interval){ 0, 0 }, d) : d;
}

/* By the bounds of the two clocks together, at the earlier time; and by how much the other error
 * can change until the later one. */
static void narrow(const posixtrace_sync_t *sync, size_t from, int64_t from_ns, size_t to,
                   int64_t to_ns, struct posixtrace_interval *d)
{
    size_t a = from < to ? from : to, b = from < to ? to : from;
    int64_t at = from_ns < to_ns ? from_ns : to_ns;
    struct posixtrace_interval together, drift;

    /* error(to, to_ns) - error(from, from_ns), with both errors at the earlier time first */
    drift = from_ns < to_ns ? change(&sync->hosts[to], from_ns, to_ns)
                            : change(&sync->hosts[from], from_ns, to_ns);
    for (size_t i = 0; i < sync->between_count; i++) {
        const struct pt_sync_between *w = &sync->between[i];

        if (w->from != a || w->to != b || at < w->bounds[0].ns ||
            at > w->bounds[w->bound_count - 1].ns)
            continue;
        together = look_up(w->bounds, w->bound_count, at, 0, 0);
        if (from > to)
            together = less((struct posixtrace_interval){ 0, 0 }, together);
        together.least_ns = pt_sync_sum(together.least_ns, drift.least_ns);
        together.most_ns = pt_sync_sum(together.most_ns, drift.most_ns);
        d->least_ns = together.least_ns > d->least_ns ? together.least_ns : d->least_ns;
        d->most_ns = together.most_ns < d->most_ns ? together.most_ns : d->most_ns;
    }
}

int posixtrace_sync_difference(const posixtrace_sync_t *sync, size_t from, int64_t from_ns,
                               size_t to, int64_t to_ns, struct posixtrace_interval *difference)
{
    struct posixtrace_interval d = { 0, 0 };
    int64_t length;

    if (!sync || !difference)
        return EINVAL;
    if (from >= sync->host_count || to >= sync->host_count)
        return ENOENT;
    if (from == to) {
        d = change(&sync->hosts[from], from_ns, to_ns);
    } else {
        d = less(error_of(&sync->hosts[to], to_ns), error_of(&sync->hosts[from], from_ns));
        narrow(sync, from, from_ns, to, to_ns, &d);
    }
    if (__builtin_sub_overflow(to_ns, from_ns, &length))
        length = to_ns < 0 ? INT64_MIN : INT64_MAX;
    difference->least_ns = pt_sync_sum(length, d.least_ns);
    difference->most_ns = pt_sync_sum(length, d.most_ns);
    return 0;
}

/* ---- how it was made ---- */

int posixtrace_sync_summary(const posixtrace_sync_t *sync, struct posixtrace_sync_summary *summary,
                            size_t size)
{
    if (!sync || !sync->made || !summary || size == 0)
        return EINVAL;
    give(summary, size, &sync->summary, sizeof sync->summary);
    return 0;
}

int posixtrace_sync_link(const posixtrace_sync_t *sync, size_t index,
                         struct posixtrace_sync_link *link, size_t size)
{
    if (!sync || !sync->made || !link || size == 0)
        return EINVAL;
    if (index >= sync->link_count)
        return ENOENT;
    give(link, size, &sync->links[index], sizeof sync->links[index]);
    return 0;
}

int posixtrace_sync_conflict(const posixtrace_sync_t *sync, size_t index,
                             struct posixtrace_sync_conflict *conflict, size_t size)
{
    if (!sync || !sync->made || !conflict || size == 0)
        return EINVAL;
    if (index >= sync->conflict_count)
        return ENOENT;
    give(conflict, size, &sync->conflicts[index], sizeof sync->conflicts[index]);
    return 0;
}
