/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Samples the CPU time of threads from time to time, where the system refuses context switches.
 *
 * The sampled threads are those that record in the stream, of all processes.  The times of others
 * are of no use, because there are no events to relate them to.
 *
 * The flush thread decides when to sample (flush/cputime.h), and is the only caller, so there is no
 * lock.  A look makes a sample of a thread only if the thread has run since the previous look; then
 * also one for the time of that look, which shows how long the thread had not run.
 *
 * A look at a stopped stream makes samples for the time of the stop; later ones would not be part
 * of the stream.
 *
 * Without room the oldest samples are dropped, since later ones contain nearly the same.  The entry
 * for a thread's end cannot be replaced, so it is dropped last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "shm/slot.h"
#include "source/backlog.h"
#include "source/run_time.h"
#include "source/run_times.h"

/* A slot of the segment, and the state of its writer. */
struct watched {
    uint64_t wid; /* 0: it is not watched */
    int32_t pid, tid;
    uint64_t recorded;
    struct pt_run_time last; /* ts 0: never sampled */
    uint64_t told_ts;        /* time of the last sample that was reported */
    bool told;               /* a sample was reported */
};

struct run_times {
    struct pt_seg *seg;
    struct watched *watched; /* by slot */
    uint32_t count;
    struct pt_switch *list;
    size_t used, room, given;
    uint64_t given_ts; /* all samples before this time were taken */
    uint32_t order;
};

static void make_room(struct run_times *s)
{
    size_t drop = s->room / 4, kept = 0;

    for (size_t i = 0; i < s->used; i++)
        if (i >= drop || pt_switch_is_note(s->list[i].what))
            s->list[kept++] = s->list[i];
    if (kept == s->used) {
        kept -= drop;
        memmove(s->list, s->list + drop, kept * sizeof *s->list);
    }
    s->used = kept;
}

static void add(struct run_times *s, const struct pt_switch *k)
{
    if (k->ts < s->given_ts)
        return;
    if (s->used == s->room)
        make_room(s);
    s->list[s->used] = *k;
    s->list[s->used++].order = s->order++;
}

static void tell(struct run_times *s, struct watched *w, const struct pt_run_time *t)
{
    const struct pt_switch k = { .ts = t->ts,
                                 .pid = w->pid,
                                 .tid = w->tid,
                                 .what = PT_SWITCH_TIME,
                                 .value = (uint32_t)t->more_ns,
                                 .run_ns = t->run_ns };

    /* An uncertainty of over four seconds: the sample is useless. */
    if (t->more_ns > UINT32_MAX)
        return;
    add(s, &k);
    w->told = true;
    w->told_ts = t->ts;
}

/* Its thread id may be another thread's from now on. */
static void forget(struct run_times *s, struct watched *w)
{
    const struct pt_switch k = {
        .ts = pt_clock_now(s->seg->g.clock), .pid = w->pid, .tid = w->tid, .what = PT_SWITCH_ENDED
    };

    if (w->told)
        add(s, &k);
    memset(w, 0, sizeof *w);
}

/* Makes it the entry of the slot's writer; false: that is no thread which lives. */
static bool watch(struct run_times *s, uint32_t i, struct pt_slot_view *v)
{
    struct watched *w = &s->watched[i];
    bool live = pt_slot_is_live(pt_load_acquire(&pt_seg_slot(s->seg, i)->state));

    pt_slot_look(s->seg, i, v);
    live = live && v->own && v->author.level == 0 && v->author.tid > 0 && v->author.pid > 0;
    if (w->wid && (!live || w->wid != v->wid))
        forget(s, w);
    if (live && !w->wid) {
        w->wid = v->wid;
        w->pid = v->author.pid;
        w->tid = v->author.tid;
    }
    return live;
}

static unsigned look_at(struct run_times *s, uint32_t i)
{
    uint64_t state = pt_load_seqcst(&s->seg->h->state);
    struct watched *w = &s->watched[i];
    unsigned found = 0;
    struct pt_slot_view v;
    struct pt_run_time t;
    bool ran;

    if (!watch(s, i, &v))
        return 0;
    if (w->recorded != v.mine.recorded)
        found |= PT_LOOK_RECORDED;
    w->recorded = v.mine.recorded;
    if (pt_run_time_get(s->seg->g.clock, w->pid, w->tid, &t) < 0)
        return found;
    ran = w->last.ts == 0 || t.run_ns != w->last.run_ns;
    if (pt_state_of(state) != PT_RUNNING)
        pt_run_time_date_back(s->seg->g.clock, &t, pt_state_ts(s->seg->h, state));
    if (ran && w->last.ts > w->told_ts && w->last.ts < t.ts)
        tell(s, w, &w->last);
    if (ran && t.ts > w->told_ts)
        tell(s, w, &t);
    w->last = t;
    return found | (ran ? PT_LOOK_RAN : 0);
}

static unsigned look(struct pt_switch_source *source)
{
    struct run_times *s = (void *)source;
    uint32_t n = pt_slot_count(s->seg);
    unsigned found = 0;

    if (n > s->count) {
        struct watched *more = realloc(s->watched, n * sizeof *more);

        if (more) {
            memset(more + s->count, 0, (n - s->count) * sizeof *more);
            s->watched = more;
            s->count = n;
        }
    }
    for (uint32_t i = 0; i < n && i < s->count; i++)
        found |= look_at(s, i);
    return found;
}

static size_t take(struct pt_switch_source *source, uint64_t before, const struct pt_switch **list)
{
    struct run_times *s = (void *)source;

    if (s->used > 1)
        qsort(s->list, s->used, sizeof *s->list, pt_switch_by_time);
    for (s->given = 0; s->given < s->used && s->list[s->given].ts < before;)
        s->given++;
    if (before > s->given_ts)
        s->given_ts = before;
    *list = s->list;
    return s->given;
}

static void done(struct pt_switch_source *source)
{
    struct run_times *s = (void *)source;

    s->used -= s->given;
    memmove(s->list, s->list + s->given, s->used * sizeof *s->list);
    s->given = 0;
}

static void close_source(struct pt_switch_source *source)
{
    struct run_times *s = (void *)source;

    free(s->watched);
    free(s->list);
    free(s);
}

static int open_source(struct pt_switch_source **source, const struct pt_switch_request *request)
{
    struct run_times *s = calloc(1, sizeof *s);

    if (!s)
        return -ENOMEM;
    s->seg = request->seg;
    s->room = request->room < 4 ? 4 : (size_t)request->room;
    s->list = calloc(s->room, sizeof *s->list);
    if (!s->list) {
        close_source((void *)s);
        return -ENOMEM;
    }
    *source = (void *)s;
    return 0;
}

const struct pt_switch_ops pt_run_times = {
    .open = open_source,
    .take = take,
    .done = done,
    .close = close_source,
    .look = look,
};
