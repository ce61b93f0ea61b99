/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Context switches, which come thread by thread ("I have processor 3", "I leave it"), as
 * viewers want them: processor by processor, the thread that leaves and the one that comes.
 * Where an event is missing, because it was lost or the trace began later, the switch that
 * must have been is put in, at the time of the event that shows it.  Threads that are not
 * traced are not known: a processor that has one of them looks idle.
 *
 * The kernel closes the counter of a thread that exits before it takes the processor away.
 * Our recorder makes a switch_out of that; in older logs, and of other sources, no switch
 * says that the thread leaves for ever.  A thread therefore leaves its
 * processor with its event of the end.  It may run on after that event, in destructors: a
 * processor that it has then is held back, and is shown up to the thread's next switch or
 * event, which proves that the thread ran.  A piece held back at the end of the trace, or at
 * the event of a thread's start by the same numbers, is not shown: the thread exits there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/timeline/timeline_state.h"

static bool cpu_of(struct pt_timeline *tl, uint32_t *cpu)
{
    const struct pt_tl_event *ev = &tl->ev;
    const struct posixtrace_field *f = ev->layout ? posixtrace_layout_field(ev->layout, 0) : NULL;
    uint64_t n;

    if (!f || f->kind != POSIXTRACE_FIELD_UNSIGNED || f->array)
        return false;
    n = posixtrace_value_integer(ev->layout, 0, &ev->values[0], 0);
    *cpu = (uint32_t)n;
    return n < PT_TL_CPUS;
}

static void hand_over(struct pt_timeline *tl, int64_t ns, uint32_t n,
                      const struct pt_tl_runner *next, enum pt_tl_leave why)
{
    struct pt_tl_cpu *cpu = &tl->cpus[n];

    if (tl->ops->run)
        tl->ops->run(tl->self, ns, n, &cpu->runner, why, next);
    cpu->runner = *next;
    cpu->known = true;
}

static struct pt_tl_runner runner_of(const struct pt_tl_track *t, int64_t ns)
{
    struct pt_tl_runner r = { .pid = t->pid, .tid = t->tid, .since = ns };

    memcpy(r.name, t->name, sizeof r.name);
    return r;
}

static bool runs_there(const struct pt_timeline *tl, const struct pt_tl_track *t, uint32_t n)
{
    const struct pt_tl_runner *r = &tl->cpus[n].runner;

    return r->tid == t->tid && r->pid == t->pid;
}

/* What this thread was on before, it has left. */
static void leave(struct pt_timeline *tl, struct pt_tl_track *t, int64_t ns, enum pt_tl_leave why)
{
    struct pt_tl_runner nobody = { .since = ns };

    if (t->cpu >= 0 && runs_there(tl, t, (uint32_t)t->cpu))
        hand_over(tl, ns, (uint32_t)t->cpu, &nobody, why);
    t->cpu = -1;
}

static void enter(struct pt_timeline *tl, struct pt_tl_track *t, int64_t ns, uint32_t n)
{
    struct pt_tl_runner self = runner_of(t, ns);

    leave(tl, t, ns, PT_TL_WAITS);
    hand_over(tl, ns, n, &self, PT_TL_IS_PREEMPTED);
    t->cpu = (int32_t)n;
}

/* ---- threads that have ended ---- */

static void hold(struct pt_tl_track *t, int64_t ns, int32_t n)
{
    t->held = n;
    t->held_ns = ns;
}

/* The thread had the processor that is held back until now.  If another got it since, an
 * event is missing, and it is not known until when. */
static void show_held(struct pt_timeline *tl, struct pt_tl_track *t, int64_t ns,
                      enum pt_tl_leave why)
{
    struct pt_tl_runner self = runner_of(t, t->held_ns), nobody = { .since = ns };
    uint32_t n = (uint32_t)t->held;

    if (t->held < 0)
        return;
    t->held = -1;
    if (tl->cpus[n].known && (tl->cpus[n].runner.tid || tl->cpus[n].runner.since > self.since))
        return;
    hand_over(tl, self.since, n, &self, PT_TL_WAITS);
    hand_over(tl, ns, n, &nobody, why);
}

void pt_tl_ended_acts(struct pt_timeline *tl, struct pt_tl_track *t)
{
    int32_t n = t->held;
    int64_t ns = tl->ev.e->ns;

    if (n < 0 || ns <= t->held_ns)
        return;
    show_held(tl, t, ns, PT_TL_ENDS);
    hold(t, ns, n);
}

/* False: it leaves a processor that it was not known to have. */
static bool switch_ended(struct pt_timeline *tl, struct pt_tl_track *t, int32_t n)
{
    int64_t ns = tl->ev.e->ns;
    bool enters = tl->ev.type->role == PT_TL_IN, known = enters || t->held == n;

    show_held(tl, t, ns, tl->ev.type->role == PT_TL_PREEMPTED ? PT_TL_IS_PREEMPTED : PT_TL_ENDS);
    if (enters)
        hold(t, ns, n);
    return known;
}

/* ---- events ---- */

bool pt_tl_switch(struct pt_timeline *tl, struct pt_tl_track *t)
{
    int64_t ns = tl->ev.e->ns;
    uint32_t n;

    if (t->tid <= 0 || !cpu_of(tl, &n))
        return false;
    if (!tl->cpus)
        tl->cpus = calloc(PT_TL_CPUS, sizeof *tl->cpus);
    if (!tl->cpus) {
        pt_job_fail(tl->job, ENOMEM, "no memory for %d processors", PT_TL_CPUS);
        return true;
    }
    if (t->ended && switch_ended(tl, t, (int32_t)n))
        return true;
    if (t->cpu < 0 && runs_there(tl, t, n))
        t->cpu = (int32_t)n;
    if (tl->ev.type->role == PT_TL_IN) {
        enter(tl, t, ns, n);
        return true;
    }
    if (t->cpu != (int32_t)n || !runs_there(tl, t, n)) {
        if (tl->cpus[n].known)
            enter(tl, t, ns, n);
        else
            tl->cpus[n].runner = runner_of(t, ns);
        t->cpu = (int32_t)n;
    }
    leave(tl, t, ns, tl->ev.type->role == PT_TL_OUT ? PT_TL_WAITS : PT_TL_IS_PREEMPTED);
    return true;
}

void pt_tl_thread_ends(struct pt_timeline *tl, struct pt_tl_track *t)
{
    int32_t n = t->cpu;
    bool runs = n >= 0 && runs_there(tl, t, (uint32_t)n);

    t->ended = true;
    leave(tl, t, tl->ev.e->ns, PT_TL_ENDS);
    hold(t, tl->ev.e->ns, runs ? n : -1);
}

const struct pt_tl_runner *pt_timeline_runner(const struct pt_timeline *tl, uint32_t cpu)
{
    static const struct pt_tl_runner nobody;

    return tl->cpus ? &tl->cpus[cpu].runner : &nobody;
}
