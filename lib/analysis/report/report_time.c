/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The time of threads.  Each nanosecond between the first and the last event of a thread is added
 * to one share, when the next event of the thread shows that nothing happened until then.
 *
 * With switches the place of the thread decides, and where it waits, the innermost call.  Before
 * the first switch the share is not known yet: 'early' collects it.  If that switch is away from
 * a processor, the thread had one all the time.
 *
 * Without switches calls count as waits.  CPU times bound what lies between them: a thread that has
 * run for lo to hi ns, with W ns in calls and O ns outside, has run outside of calls for lo - W ns
 * at least, and has been off the processor for O - hi ns at least.  The rest of O is unknown.
 */
#include "analysis/report/report_state.h"

#include <string.h>

#include "base/assert.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t pt_report_selected(const posixtrace_report_t *r, int64_t from, int64_t to)
{
    from = larger(from, r->options.from_ns);
    to = smaller(to, r->options.to_ns);
    return to > from ? to - from : 0;
}

bool pt_report_counts(posixtrace_report_t *r, const struct pt_report_thread *th, bool wanted,
                      int64_t from, int64_t to)
{
    if (!wanted || !th->wanted || to < r->options.from_ns || from > r->options.to_ns)
        return false;
    if (from >= r->options.from_ns && to <= r->options.to_ns)
        return true;
    r->summary.crossing++;
    return false;
}

static int64_t take_all(int64_t *share)
{
    int64_t sum = 0;

    for (unsigned i = 0; i < PT_REPORT_SHARES; i++)
        sum += share[i];
    memset(share, 0, PT_REPORT_SHARES * sizeof *share);
    return sum;
}

static unsigned add_early(struct pt_report_thread *th, int64_t time, bool cut)
{
    unsigned share = PT_REPORT_UNKNOWN;

    th->broken |= cut;
    if (th->depth > 0) {
        share = th->open[th->depth - 1].call->kind;
        th->early[share] += time;
        th->in_calls += time;
    } else if (th->sure) {
        share = PT_REPORT_UNSURE;
        th->outside += time;
    } else {
        th->early[PT_REPORT_UNKNOWN] += time;
        th->broken = true;
    }
    return share;
}

/* The last ones, without those before them. */
static void keep_pending(struct pt_report_thread *th, int64_t from, int64_t to)
{
    if (th->pending_count == PT_REPORT_PENDING) {
        memmove(th->pending, th->pending + 1, sizeof th->pending - sizeof th->pending[0]);
        th->pending_count--;
    }
    th->pending[th->pending_count].from = from;
    th->pending[th->pending_count++].to = to;
}

/* Nothing has happened to the thread until ns. */
static void add_until(posixtrace_report_t *r, struct pt_report_thread *th, int64_t ns)
{
    int64_t time = pt_report_selected(r, th->at, ns);
    bool cut = ns > th->at && time != ns - th->at;
    unsigned share = PT_REPORT_UNKNOWN;

    if (th->place == PT_REPORT_NO_SWITCH) {
        share = add_early(th, time, cut);
    } else {
        if (th->place == PT_REPORT_ON)
            share = PT_REPORT_RUN;
        else if (th->place == PT_REPORT_READY)
            share = PT_REPORT_RUNNABLE;
        else if (th->place == PT_REPORT_OFF && th->depth > 0)
            share = th->open[th->depth - 1].call->kind;
        else if (th->place == PT_REPORT_OFF)
            share = PT_REPORT_UNSURE;
        if (share == PT_REPORT_UNSURE)
            keep_pending(th, th->at, ns);
        th->share[share] += time;
    }
    if (r->watch && ns > th->at)
        r->watch->spent(r->watcher, th, th->at, ns, share);
    th->at = larger(th->at, ns);
}

/* Ends the time since the last CPU time, without another one. */
static void drop_cpu_time(struct pt_report_thread *th)
{
    th->early[PT_REPORT_UNKNOWN] += th->outside;
    th->in_calls = th->outside = 0;
    th->has_cpu_time = th->broken = false;
}

void pt_report_thread_was_outside(const posixtrace_report_t *r, struct pt_report_thread *th,
                                  bool known)
{
    if (th->share[PT_REPORT_UNSURE] > 0 && r->watch)
        r->watch->settled(r->watcher, th, known);
    th->share[known ? PT_REPORT_UNNAMED : PT_REPORT_UNKNOWN] += th->share[PT_REPORT_UNSURE];
    th->share[PT_REPORT_UNSURE] = 0;
    th->pending_count = 0;
}

/* Nothing says in which call the thread is, if calls are recorded when they end. */
static void lose_outside(const posixtrace_report_t *r, struct pt_report_thread *th)
{
    pt_report_thread_was_outside(r, th, th->sure && !r->long_only);
}

void pt_report_thread_long_call(posixtrace_report_t *r, struct pt_report_thread *th, unsigned kind,
                                int64_t begin, int64_t ns)
{
    int64_t time = 0;

    begin = larger(begin, th->own_ns);
    if (th->depth > 0)
        return;
    if (th->place == PT_REPORT_NO_SWITCH) {
        if (th->has_cpu_time)
            begin = larger(begin, th->cpu_ns);
        time = pt_report_selected(r, begin, ns);
        if (th->sure)
            th->outside -= time;
        else
            th->early[PT_REPORT_UNKNOWN] -= time;
        th->early[kind] += time;
        th->in_calls += time;
        return;
    }
    for (unsigned i = 0; i < th->pending_count; i++)
        time += pt_report_selected(r, larger(th->pending[i].from, begin), th->pending[i].to);
    pt_assert(time <= th->share[PT_REPORT_UNSURE]);
    th->share[kind] += time;
    th->share[PT_REPORT_UNSURE] -= time;
}

static void forget(posixtrace_report_t *r, struct pt_report_thread *th)
{
    lose_outside(r, th);
    drop_cpu_time(th);
    for (unsigned i = 0; i < PT_REPORT_SHARES; i++)
        th->old[i] += th->early[i];
    memset(th->early, 0, sizeof th->early);
    pt_report_calls_lost(r, th);
    th->handlers = 0;
    th->sure = false;
    th->preemptor = NULL;
    if (th->place != PT_REPORT_NO_SWITCH)
        th->place = PT_REPORT_LOST;
}

void pt_report_thread_at(posixtrace_report_t *r, struct pt_report_thread *th, int64_t ns)
{
    int64_t lost;

    if (th->gap == r->gap) {
        add_until(r, th, ns);
        return;
    }
    lost = smaller(larger(pt_gaps_begin(&r->gaps, th->gap + 1), th->at), ns);
    add_until(r, th, lost);
    forget(r, th);
    th->share[PT_REPORT_UNKNOWN] += pt_report_selected(r, th->at, ns);
    if (r->watch && ns > th->at)
        r->watch->spent(r->watcher, th, th->at, ns, PT_REPORT_UNKNOWN);
    th->at = larger(th->at, ns);
    th->own_ns = th->at;
    th->gap = r->gap;
}

void pt_report_thread_runs(struct pt_report_thread *th)
{
    if (th->place != PT_REPORT_NO_SWITCH)
        th->place = PT_REPORT_ON;
}

/* The first switch of the thread. */
static void settle_early(struct pt_report_thread *th, enum pt_report_role role)
{
    drop_cpu_time(th);
    th->share[role == PT_REPORT_SWITCH_IN ? PT_REPORT_UNKNOWN : PT_REPORT_RUN] += take_all(
        th->early);
    th->share[PT_REPORT_UNKNOWN] += take_all(th->old);
    th->row.by_switches = true;
}

void pt_report_thread_switches(posixtrace_report_t *r, struct pt_report_thread *th,
                               enum pt_report_role role)
{
    bool counts = pt_report_selected(r, th->at, th->at + 1) > 0;

    if (th->place == PT_REPORT_NO_SWITCH)
        settle_early(th, role);
    if (role == PT_REPORT_SWITCH_OUT && th->depth > 0)
        th->open[th->depth - 1].off = true;
    th->row.switches += counts && role != PT_REPORT_SWITCH_IN;
    th->row.preemptions += counts && role == PT_REPORT_PREEMPTED;
    th->place = role == PT_REPORT_SWITCH_IN    ? PT_REPORT_ON
                : role == PT_REPORT_SWITCH_OUT ? PT_REPORT_OFF
                                               : PT_REPORT_READY;
}

static int64_t as_time(uint64_t ns)
{
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The shares of the time outside of calls, between two CPU times of the thread. */
static void settle_cpu_time(struct pt_report_thread *th, uint64_t run, uint64_t more, int64_t ns)
{
    uint64_t from = th->run > UINT64_MAX - th->more ? UINT64_MAX : th->run + th->more;
    uint64_t to = run > UINT64_MAX - more ? UINT64_MAX : run + more;
    int64_t lo = as_time(less(run, from)),
            hi = smaller(as_time(less(to, th->run)), ns - th->cpu_ns);
    int64_t runs = smaller(th->outside, larger(0, lo - th->in_calls));
    int64_t off = larger(0, th->outside - larger(hi, runs));

    pt_assert(runs + off <= th->outside);
    th->early[PT_REPORT_RUN] += runs;
    th->early[PT_REPORT_UNNAMED] += off;
    th->early[PT_REPORT_UNKNOWN] += th->outside - runs - off;
    th->in_calls = th->outside = 0;
}

void pt_report_thread_cpu_time(struct pt_report_thread *th, const struct posixtrace_event *e)
{
    uint64_t run = pt_report_u64(e, 0), more = pt_report_u64(e, 8);

    th->row.by_cpu_times = true;
    if (th->place != PT_REPORT_NO_SWITCH || e->data_len < 16)
        return;
    if (th->has_cpu_time && !th->broken)
        settle_cpu_time(th, run, more, e->ns);
    else
        drop_cpu_time(th);
    th->run = run;
    th->more = more;
    th->cpu_ns = e->ns;
    th->has_cpu_time = true;
}

bool pt_report_still_waits(const posixtrace_report_t *r, const struct pt_report_thread *th)
{
    return th->depth > 0 && !th->ended && !r->in_gap && th->gap == r->gap &&
           (th->place == PT_REPORT_OFF || th->place == PT_REPORT_NO_SWITCH);
}

void pt_report_thread_close(posixtrace_report_t *r, struct pt_report_thread *th)
{
    struct posixtrace_report_thread *row = &th->row;

    row->waits_for = -1;
    for (unsigned i = 0; i < th->depth && th->gap == r->gap; i++)
        th->open[i].object->row.open += th->open[i].wanted && th->wanted;
    if (pt_report_still_waits(r, th)) {
        row->waits_for = (int)th->open[th->depth - 1].call->kind;
        row->waits_since = th->open[th->depth - 1].ns;
        pt_report_thread_at(r, th, th->process->last_ns);
        row->end_ns = th->at;
    }
    if (r->summary.calls == 0 && r->summary.gaps == 0)
        pt_report_thread_was_outside(r, th, true); /* calls were not asked for */
    lose_outside(r, th);
    drop_cpu_time(th);
    for (unsigned i = 0; i < PT_REPORT_SHARES; i++)
        th->share[i] += th->early[i] + th->old[i];
    /* Its switches may be among what was lost: then a call need not be a wait. */
    if (r->summary.unmarked ||
        (!row->by_switches && r->summary.switches > 0 && r->summary.gaps > 0))
        th->share[PT_REPORT_UNKNOWN] = take_all(th->share);
    memcpy(row->wait_ns, th->share, sizeof row->wait_ns);
    row->run_ns = th->share[PT_REPORT_RUN];
    row->runnable_ns = th->share[PT_REPORT_RUNNABLE];
    row->unnamed_ns = th->share[PT_REPORT_UNNAMED];
    row->unknown_ns = th->share[PT_REPORT_UNKNOWN];
    row->total_ns = take_all(th->share);
}
