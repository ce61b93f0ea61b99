/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Jobs that are open, and what they are made of; see jobs_state.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/jobs/jobs_state.h"

struct pt_jobs_thread *pt_jobs_of(posixtrace_jobs_t *j, struct pt_report_thread *th)
{
    struct pt_jobs_thread *jt = th->watched;

    if (jt)
        return jt;
    jt = calloc(1, sizeof *jt);
    if (jt)
        jt->open = calloc(j->slot_count + 1, sizeof *jt->open);
    if (!jt || !jt->open) {
        free(jt);
        j->error = ENOMEM;
        return NULL;
    }
    jt->wanted = th->wanted;
    jt->early = INT64_MIN;
    jt->gap = th->gap;
    th->watched = jt;
    return jt;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool collects(const struct pt_jobs_open *o)
{
    return o->is_open || o->is_armed;
}

static bool is_early(const struct pt_report_thread *th)
{
    return th->place == PT_REPORT_NO_SWITCH;
}

/* ---- shares ---- */

/* Is the thread in the call that the job waits for its release in? */
static bool in_release(const struct pt_jobs_open *o, const struct pt_report_thread *th)
{
    const struct pt_report_open *call = th->depth > 0 ? &th->open[th->depth - 1] : NULL;

    return o->is_armed && call && call->call == o->call && call->ns == o->armed;
}

static enum pt_jobs_share share_of(const struct pt_jobs_open *o, const struct pt_report_thread *th,
                                   unsigned share)
{
    switch (share) {
    case PT_REPORT_RUN: return th->depth > 0 ? PT_JOBS_SYSTEM : PT_JOBS_RUN;
    case PT_REPORT_RUNNABLE: return PT_JOBS_RUNNABLE;
    case PT_REPORT_UNNAMED: return PT_JOBS_UNNAMED;
    case PT_REPORT_UNKNOWN: return PT_JOBS_UNKNOWN;
    case PT_REPORT_UNSURE: return PT_JOBS_UNSURE;
    default: return in_release(o, th) ? PT_JOBS_WAKEUP : (enum pt_jobs_share)share;
    }
}

/* The part of the time that is of the job. */
static int64_t part_of(const struct pt_jobs_open *o, int64_t from, int64_t to)
{
    from = larger(from, o->from);
    return collects(o) && to > from ? to - from : 0;
}

static void add_to_all(const posixtrace_jobs_t *j, struct pt_jobs_thread *jt, int64_t from,
                       int64_t to, enum pt_jobs_share share)
{
    for (size_t i = 0; i < j->slot_count; i++)
        jt->open[i].sum.ns[share] += part_of(&jt->open[i], from, to);
}

static void keep_pending(const posixtrace_jobs_t *j, struct pt_jobs_thread *jt, int64_t from,
                         int64_t to)
{
    if (jt->pending_count == PT_JOBS_PENDING) {
        add_to_all(j, jt, jt->pending[0].from, jt->pending[0].to, PT_JOBS_UNKNOWN);
        memmove(jt->pending, jt->pending + 1, sizeof jt->pending - sizeof jt->pending[0]);
        jt->pending_count--;
    }
    jt->pending[jt->pending_count].from = from;
    jt->pending[jt->pending_count++].to = to;
}

void pt_jobs_add(posixtrace_jobs_t *j, struct pt_report_thread *th, int64_t from, int64_t to,
                 unsigned share)
{
    struct pt_jobs_thread *jt = pt_jobs_of(j, th);

    if (!jt)
        return;
    if (share == PT_REPORT_UNSURE && !is_early(th)) {
        keep_pending(j, jt, from, to);
        return;
    }
    for (size_t i = 0; i < j->slot_count; i++) {
        struct pt_jobs_open *o = &jt->open[i];

        o->sum.ns[share_of(o, th, share)] += part_of(o, from, to);
    }
}

void pt_jobs_left(const posixtrace_jobs_t *j, struct pt_jobs_thread *jt, int64_t ns, bool preempted)
{
    for (size_t i = 0; i < j->slot_count; i++) {
        struct pt_jobs_open *o = &jt->open[i];

        if (!collects(o) || ns < o->from)
            continue;
        o->sum.switches++;
        o->sum.preemptions += preempted;
    }
}

void pt_jobs_settle(const posixtrace_jobs_t *j, struct pt_jobs_thread *jt, bool known)
{
    for (unsigned i = 0; i < jt->pending_count; i++)
        add_to_all(j, jt, jt->pending[i].from, jt->pending[i].to,
                   known ? PT_JOBS_UNNAMED : PT_JOBS_UNKNOWN);
    jt->pending_count = 0;
}

void pt_jobs_name(const posixtrace_jobs_t *j, struct pt_jobs_thread *jt, unsigned kind,
                  int64_t begin, int64_t ns)
{
    for (unsigned i = 0; i < jt->pending_count; i++) {
        int64_t from = larger(jt->pending[i].from, begin), to = jt->pending[i].to;

        if (to > ns)
            to = ns;
        if (to <= from)
            continue;
        add_to_all(j, jt, from, to, (enum pt_jobs_share)kind);
        jt->pending[i].to = from;
    }
}

/* ---- before the first context switch ---- */

/* All of it was on a processor, or is not known. */
static void settle_sum(struct pt_jobs_sum *s, bool ran)
{
    int64_t in_calls = s->ns[PT_JOBS_WAKEUP] + s->ns[PT_JOBS_SYSTEM],
            outside = s->ns[PT_JOBS_UNSURE] + s->ns[PT_JOBS_UNKNOWN] + s->ns[PT_JOBS_RUN];

    for (unsigned i = 0; i < POSIXTRACE_WAIT_KINDS; i++)
        in_calls += s->ns[i];
    memset(s->ns, 0, sizeof s->ns);
    s->ns[ran ? PT_JOBS_SYSTEM : PT_JOBS_UNKNOWN] = in_calls;
    s->ns[ran ? PT_JOBS_RUN : PT_JOBS_UNKNOWN] += outside;
}

static void job_to_sum(const struct posixtrace_job *job, struct pt_jobs_sum *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s->ns, job->wait_ns, sizeof job->wait_ns);
    s->ns[PT_JOBS_WAKEUP] = job->wakeup_ns;
    s->ns[PT_JOBS_UNKNOWN] = job->unknown_ns;
    s->switches = job->switches;
    s->preemptions = job->preemptions;
}

/* Time in no share is unknown: they add up to the job. */
static void sum_to_job(const struct pt_jobs_sum *s, struct posixtrace_job *job)
{
    int64_t known = job->late_ns + s->ns[PT_JOBS_RUN] + s->ns[PT_JOBS_SYSTEM] +
                    s->ns[PT_JOBS_RUNNABLE] + s->ns[PT_JOBS_WAKEUP] + s->ns[PT_JOBS_UNNAMED];

    memcpy(job->wait_ns, s->ns, sizeof job->wait_ns);
    for (unsigned i = 0; i < POSIXTRACE_WAIT_KINDS; i++)
        known += s->ns[i];
    job->run_ns = s->ns[PT_JOBS_RUN];
    job->system_ns = s->ns[PT_JOBS_SYSTEM];
    job->runnable_ns = s->ns[PT_JOBS_RUNNABLE];
    job->wakeup_ns = s->ns[PT_JOBS_WAKEUP];
    job->unnamed_ns = s->ns[PT_JOBS_UNNAMED];
    job->unknown_ns = job->end_ns - job->begin_ns - known;
    job->switches = s->switches;
    job->preemptions = s->preemptions;
}

/* ---- results ---- */

static void deliver(posixtrace_jobs_t *j, const struct posixtrace_job *job)
{
    struct posixtrace_jobs_count *count = &j->counts[job->rule];
    const struct posixtrace_jobs_options *options = &j->options;

    if (job->end_ns < options->from_ns || job->begin_ns > options->to_ns)
        return;
    if (job->begin_ns < options->from_ns || job->end_ns > options->to_ns) {
        count->crossing++;
        return;
    }
    count->jobs++;
    if (options->job && j->error == 0)
        j->error = options->job(options->context, job);
}

static void hold(posixtrace_jobs_t *j, struct pt_jobs_thread *jt, const struct posixtrace_job *job)
{
    if (jt->held_count == jt->held_room) {
        size_t room = jt->held_room ? 2 * jt->held_room : 16;
        struct posixtrace_job *held = realloc(jt->held, room * sizeof *held);

        if (!held) {
            j->error = ENOMEM;
            return;
        }
        jt->held = held;
        jt->held_room = room;
    }
    jt->held[jt->held_count++] = *job;
}

enum pt_jobs_early { EARLY_CALLS, EARLY_RAN, EARLY_UNKNOWN };

static void release_held(posixtrace_jobs_t *j, struct pt_jobs_thread *jt, enum pt_jobs_early how)
{
    for (size_t i = 0; i < jt->held_count; i++) {
        struct posixtrace_job *job = &jt->held[i];
        struct pt_jobs_sum s;

        if (how != EARLY_CALLS) {
            job_to_sum(job, &s);
            settle_sum(&s, how == EARLY_RAN);
            sum_to_job(&s, job);
            job->by_switches = true;
        }
        deliver(j, job);
    }
    jt->held_count = 0;
}

void pt_jobs_first_switch(posixtrace_jobs_t *j, struct pt_report_thread *th, bool ran)
{
    struct pt_jobs_thread *jt = pt_jobs_of(j, th);

    for (size_t i = 0; i < j->slot_count; i++) {
        settle_sum(&jt->open[i].sum, ran);
        settle_sum(&jt->open[i].at_read, ran);
    }
    release_held(j, jt, ran ? EARLY_RAN : EARLY_UNKNOWN);
}

static void finish(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot,
                   const struct pt_jobs_sum *sum, int64_t ns)
{
    struct pt_jobs_thread *jt = pt_jobs_of(j, th);
    struct pt_jobs_open *o = &jt->open[slot];
    struct posixtrace_job job = { .rule = j->rule_of[slot],
                                  .pid = th->row.pid,
                                  .tid = th->row.tid,
                                  .thread_id = th->row.thread_id,
                                  .begin_ns = o->begin,
                                  .woken_ns = o->woken,
                                  .end_ns = ns,
                                  .period_ns = o->period,
                                  .due = o->due,
                                  .by_switches = !is_early(th) };

    o->is_open = o->reads = false;
    if (!o->wanted || !th->wanted)
        return;
    if (o->lost) {
        j->counts[j->rule_of[slot]].unknown++;
        return;
    }
    if (o->armed > o->begin)
        job.late_ns = o->armed - o->begin;
    sum_to_job(sum, &job);
    if (is_early(th) && !j->without_switches && jt->held_count < PT_JOBS_HELD)
        hold(j, jt, &job);
    else
        deliver(j, &job);
}

void pt_jobs_complete(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot, int64_t ns)
{
    const struct pt_jobs_open *o = &pt_jobs_of(j, th)->open[slot];

    if (o->is_open)
        finish(j, th, slot, &o->sum, ns);
}

void pt_jobs_complete_at_read(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot)
{
    const struct pt_jobs_open *o = &pt_jobs_of(j, th)->open[slot];

    if (o->is_open && o->reads)
        finish(j, th, slot, &o->at_read, o->read_ns);
}

/* ---- begin and end ---- */

void pt_jobs_arm(struct pt_jobs_open *o, const struct pt_report_thread *th, int64_t due, int64_t ns)
{
    memset(&o->sum, 0, sizeof o->sum);
    o->is_armed = true;
    o->call = th->depth > 0 ? th->open[th->depth - 1].call : NULL;
    o->armed = ns;
    o->from = due > 0 ? larger(due, ns) : INT64_MAX;
    o->gap = th->gap;
}

void pt_jobs_begin(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot, int64_t due,
                   const struct posixtrace_event *e)
{
    struct pt_jobs_open *o = &pt_jobs_of(j, th)->open[slot];

    if (o->is_open)
        return;
    o->due = due > 0 && due <= e->ns;
    if (!o->due || !o->is_armed) {
        memset(&o->sum, 0, sizeof o->sum);
        o->from = e->ns;
        o->armed = INT64_MIN;
    }
    o->lost = o->unsure;
    o->begin = o->due ? due : e->ns;
    o->woken = e->ns;
    o->period = o->has_before ? o->begin - o->before_ns : -1;
    o->has_before = true;
    o->before_ns = o->begin;
    o->is_armed = o->reads = false;
    o->is_open = true;
    o->gap = th->gap;
    o->wanted = pt_report_wants_begin(j->report, e);
    j->counts[j->rule_of[slot]].releases++;
}

void pt_jobs_drop(posixtrace_jobs_t *j, struct pt_jobs_thread *jt, size_t slot, uint64_t *count)
{
    struct pt_jobs_open *o = &jt->open[slot];

    (void)j;
    if (o->is_open && count)
        *count += o->wanted && jt->wanted;
    o->is_open = o->is_armed = o->reads = false;
}

void pt_jobs_forget(posixtrace_jobs_t *j, struct pt_report_thread *th)
{
    struct pt_jobs_thread *jt = pt_jobs_of(j, th);

    for (size_t i = 0; i < j->slot_count; i++) {
        pt_jobs_drop(j, jt, i, &j->counts[j->rule_of[i]].unknown);
        jt->open[i].last_due = (struct pt_due){ .ns = 0 };
        jt->open[i].has_before = false;
        jt->open[i].unsure = j->rules[j->rule_of[i]].source == POSIXTRACE_JOB_EVENTS;
    }
    jt->pending_count = 0;
    release_held(j, jt, EARLY_UNKNOWN);
}

void pt_jobs_close(posixtrace_jobs_t *j, struct pt_report_thread *th)
{
    struct pt_jobs_thread *jt = pt_jobs_of(j, th);

    if (!jt)
        return;
    if (th->gap != j->report->gap)
        pt_jobs_forget(j, th);
    for (size_t i = 0; i < j->slot_count; i++) {
        pt_jobs_complete_at_read(j, th, i);
        pt_jobs_drop(j, jt, i, &j->counts[j->rule_of[i]].unfinished);
    }
    release_held(j, jt,
                 j->report->summary.gaps > 0 && !j->without_switches ? EARLY_UNKNOWN : EARLY_CALLS);
}
