/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See soak_model.h. */
#include <posixtrace/event.h>
#include "torture/soak_model.h"

struct soak_lane *soak_lane;
pid_t *soak_tid;
uint32_t soak_lanes;

void soak_note(struct soak_moment *m)
{
    for (uint32_t i = 0; i < BOOKS_LANES; i++) {
        m->returned[i] = soak_lane[i].returned;
        m->begun[i] = soak_lane[i].begun;
    }
}

bool soak_counts(const struct soak_stream *s, uint32_t i)
{
    return s->running && !(s->filtered && i % 2) && (s->inherited || !soak_lane[i].child);
}

static uint64_t more_than(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void open_windows(struct soak_view *v, uint32_t i, const struct soak_moment *from,
                         const struct soak_moment *to)
{
    v->open_most[i] = from->returned[i];
    v->open_least[i] = to->begun[i];
}

static void close_windows(struct soak_view *v, uint32_t i, const struct soak_moment *from,
                          const struct soak_moment *to)
{
    v->least[i] += more_than(from->returned[i], v->open_least[i]);
    v->most[i] += to->begun[i] - v->open_most[i];
}

void soak_change(const struct soak_stream *was, struct soak_stream *now,
                 const struct soak_moment *from, const struct soak_moment *to)
{
    struct soak_view *views[] = { &now->owner, &now->onlooker };

    for (uint32_t i = 0; i < BOOKS_LANES; i++)
        for (unsigned k = 0; k < 2; k++) {
            if (!views[k]->is || soak_counts(was, i) == soak_counts(now, i))
                continue;
            if (soak_counts(now, i))
                open_windows(views[k], i, from, to);
            else
                close_windows(views[k], i, from, to);
        }
}

/* Together with the window that is open.  The threads rest. */
static void bounds(const struct soak_stream *s, const struct soak_view *v, uint32_t i,
                   uint64_t *least, uint64_t *most)
{
    *least = v->least[i];
    *most = v->most[i];
    if (soak_counts(s, i)) {
        *least += more_than(soak_lane[i].returned, v->open_least[i]);
        *most += soak_lane[i].begun - v->open_most[i];
    }
}

/* A thread that had no processor for a second may bring its event late; the stream says so. */
static void check_time(const struct soak_view *v)
{
    struct posixtrace_info info;

    DEMAND_OK(posixtrace_get_info(v->trid, &info, sizeof info));
    DEMAND(v->backward <= info.late, "%s: time went back %llu times, %llu events came late",
           v->name, (unsigned long long)v->backward, (unsigned long long)info.late);
}

/* What was generated, and what of it was read or lost. */
static void add_up(const struct soak_stream *s, const struct soak_view *v, const struct books *b,
                   uint64_t *all_least, uint64_t *all_most, uint64_t *all_have)
{
    uint64_t least, most;

    *all_least = *all_most = v->others;
    *all_have = b->sum - v->sum_before;
    for (uint32_t i = 0; i < soak_lanes; i++) {
        bounds(s, v, i, &least, &most);
        *all_least += least;
        *all_most += most;
        *all_have += v->read[i];
    }
}

bool soak_has_all(const struct soak_stream *s, const struct soak_view *v)
{
    uint64_t least, most, have;
    struct books b;

    books_take(&b, v->trid, soak_tid, soak_lanes);
    add_up(s, v, &b, &least, &most, &have);
    return have >= least;
}

void soak_check_books(const struct soak_stream *s, const struct soak_view *v, bool at_end)
{
    uint64_t least, most, all_least, all_most, all_have, have;
    struct books b;
    bool known;

    books_take(&b, v->trid, soak_tid, soak_lanes);
    known = b.others + b.others_lost == 0;
    for (uint32_t i = 0; i < soak_lanes; i++) {
        have = v->read[i] + b.lost[i] - v->lost_before[i];
        bounds(s, v, i, &least, &most);
        DEMAND(!known || (have <= most && (!at_end || have >= least)),
               "%s, lane %u%s: generated %llu to %llu, read %llu, lost %llu%s", v->name, i,
               soak_lane[i].child ? " (a child)" : "", (unsigned long long)least,
               (unsigned long long)most, (unsigned long long)v->read[i],
               (unsigned long long)(b.lost[i] - v->lost_before[i]), at_end ? "" : " so far");
    }
    add_up(s, v, &b, &all_least, &all_most, &all_have);
    DEMAND(all_have <= all_most && (!at_end || all_have >= all_least),
           "%s: generated %llu to %llu, read or lost %llu%s", v->name,
           (unsigned long long)all_least, (unsigned long long)all_most,
           (unsigned long long)all_have, at_end ? "" : " so far");
    DEMAND(s->fd >= 0 || b.sum == b.all, "%s: lost %llu by threads, %llu in all", v->name,
           (unsigned long long)b.sum, (unsigned long long)b.all);
    check_time(v);
}

static void take_event(struct soak_view *v, const struct posixtrace_event *e)
{
    struct payload p;

    if (e->ns < v->last_ns)
        v->backward++;
    else
        v->last_ns = e->ns;
    if (strncmp(e->name, "soak ", 5) != 0)
        return;
    DEMAND(payload_is_whole(&p, e->data, e->data_len), "%s: torn event of %zu bytes", v->name,
           e->data_len);
    DEMAND(p.lane < soak_lanes && p.seq < soak_lane[p.lane].begun + soak_lane[p.lane].child,
           "%s: lane %u, event %llu", v->name, p.lane, (unsigned long long)p.seq);
    DEMAND(p.seq >= v->next[p.lane], "%s, lane %u: event %llu where %llu or later was due", v->name,
           p.lane, (unsigned long long)p.seq, (unsigned long long)v->next[p.lane]);
    v->next[p.lane] = p.seq + 1;
    v->read[p.lane]++;
}

void soak_read_some(struct soak_view *v, uint64_t at_most)
{
    struct posixtrace_event e;
    int none = 0;

    for (uint64_t i = 0; i < at_most; i++) {
        DEMAND_OK(posixtrace_next_event(v->trid, &e, sizeof e, &none));
        if (none)
            return;
        take_event(v, &e);
    }
}

void soak_begin_again(struct soak_view *v)
{
    struct books b;

    books_take(&b, v->trid, soak_tid, soak_lanes);
    memcpy(v->lost_before, b.lost, sizeof v->lost_before);
    v->sum_before = b.sum;
    v->backward = 0;
    for (uint32_t i = 0; i < BOOKS_LANES; i++) {
        v->least[i] = v->most[i] = v->read[i] = v->others = 0;
        v->open_least[i] = v->open_most[i] = v->next[i] = soak_lane[i].begun;
    }
}
