/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What releases jobs and completes them; see jobs_state.h.
 */
#include <errno.h>
#include <posixtrace/system.h>

#include "analysis/jobs/jobs_state.h"
#include "analysis/metrics/language/machine.h"

/* Of a type's watched: after two bits for each rule, of the types that begin and end its jobs. */
enum {
    SWITCH = 1 << 2 * PT_JOBS_RULES,
    CALL = SWITCH << 1,
    LIFE = SWITCH << 2,
    NAMES = SWITCH << 3
};

static unsigned begins(size_t rule)
{
    return 1u << 2 * rule;
}

static unsigned ends(size_t rule)
{
    return begins(rule) << 1;
}

static void typed(void *context, const char *name, struct pt_report_type *t)
{
    posixtrace_jobs_t *j = context;
    bool of_descriptor = t->role == PT_REPORT_NAMES_DESCRIPTOR;

    if (t->role >= PT_REPORT_SWITCH_IN && t->role <= PT_REPORT_PREEMPTED)
        t->watched = SWITCH;
    else if (t->role == PT_REPORT_BEGIN || t->role == PT_REPORT_END)
        t->watched = CALL;
    else if (t->role == PT_REPORT_THREAD_BEGIN || t->role == PT_REPORT_THREAD_END)
        t->watched = LIFE;
    else
        t->watched = of_descriptor ? NAMES : 0;
    for (size_t i = 0; name && i < j->options.rule_count; i++) {
        const struct posixtrace_job_rule *rule = &j->rules[i];

        if (rule->source == POSIXTRACE_JOB_EVENTS && pt_is_type_of(rule->begin, name))
            t->watched |= begins(i);
        if (rule->source == POSIXTRACE_JOB_EVENTS && pt_is_type_of(rule->end, name))
            t->watched |= ends(i);
    }
}

/* ---- time ---- */

static void tell_ran(posixtrace_jobs_t *j, const struct pt_report_thread *th, int64_t from,
                     int64_t to, bool known)
{
    if (j->options.ran && j->error == 0 && th->wanted && to > from)
        j->error = j->options.ran(j->options.context, th->row.pid, th->row.tid, from, to, known);
}

static void spent(void *context, struct pt_report_thread *th, int64_t from, int64_t to,
                  unsigned share)
{
    posixtrace_jobs_t *j = context;
    struct pt_jobs_thread *jt = pt_jobs_of(j, th);

    if (!jt)
        return;
    if (th->place == PT_REPORT_NO_SWITCH && jt->early == INT64_MIN)
        jt->early = from;
    else if (th->place != PT_REPORT_NO_SWITCH &&
             (share == PT_REPORT_RUN || share == PT_REPORT_UNKNOWN))
        tell_ran(j, th, from, to, share == PT_REPORT_RUN);
    pt_jobs_add(j, th, from, to, share);
}

static void settled(void *context, struct pt_report_thread *th, bool known)
{
    struct pt_jobs_thread *jt = pt_jobs_of(context, th);

    if (jt)
        pt_jobs_settle(context, jt, known);
}

static void long_call(void *context, struct pt_report_thread *th, const struct pt_report_open *open,
                      int64_t begin, int64_t ns)
{
    struct pt_jobs_thread *jt = pt_jobs_of(context, th);

    if (jt && th->place != PT_REPORT_NO_SWITCH)
        pt_jobs_name(context, jt, open->call->kind, begin, ns);
}

static void nothing_ended(void *context, struct pt_report_thread *th,
                          const struct pt_report_open *open, int64_t result)
{
    (void)context;
    (void)th;
    (void)open;
    (void)result;
}

static void nothing_held(void *context, struct pt_report_object *o, struct pt_report_thread *th,
                         uint64_t caller)
{
    (void)context;
    (void)o;
    (void)th;
    (void)caller;
}

static void nothing_released(void *context, struct pt_report_object *o, struct pt_report_thread *th,
                             int64_t ns, uint64_t caller)
{
    (void)ns;
    nothing_held(context, o, th, caller);
}

static void unread(void *context)
{
    (void)context; /* the report has made a gap of it */
}

/* ---- calls ---- */

static int64_t i64(const struct posixtrace_event *e, size_t at)
{
    return (int64_t)pt_report_u64(e, at);
}

static void note_due(struct pt_jobs_open *o, bool begins, int64_t due, int64_t ns)
{
    struct pt_due *d = &o->last_due;

    if (due <= 0)
        return;
    if (d->ns != due) {
        o->unsure_from = !begins;
        d->from = ns;
    }
    d->ns = due;
    d->seen = ns;
}

enum { OTHER, REST, UNSURE };

/* Is this sleep the rest of the one before? */
static int is_rest(const struct pt_jobs_open *o, int64_t due, int64_t ns)
{
    struct pt_due longest = o->last_due;
    bool rest = pt_step_continues(&o->last_due, due, ns);

    longest.from = INT64_MIN;
    if (o->unsure_from && pt_step_continues(&longest, due, ns) != rest)
        return UNSURE;
    return rest ? REST : OTHER;
}

static void take_sleep(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot, bool begins,
                       const struct posixtrace_event *e)
{
    struct pt_jobs_thread *jt = pt_jobs_of(j, th);
    struct pt_jobs_open *o = &jt->open[slot];
    int64_t due = i64(e, 8);

    if (!begins) {
        pt_jobs_begin(j, th, slot, due, e);
    } else {
        int rest = is_rest(o, due, e->ns);

        if (rest == OTHER)
            pt_jobs_complete(j, th, slot, e->ns);
        else
            pt_jobs_drop(j, jt, slot, rest == UNSURE ? &j->counts[j->rule_of[slot]].unknown : NULL);
        pt_jobs_arm(o, th, due, e->ns);
    }
    note_due(o, begins, due, e->ns);
}

static void take_poll(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot, bool begins,
                      const struct posixtrace_event *e)
{
    struct pt_jobs_open *o = &pt_jobs_of(j, th)->open[slot];
    int64_t result = i64(e, 8), due = 0;

    if (begins && i64(e, 16) != 0) {
        pt_jobs_complete(j, th, slot, e->ns);
        o->timeout = i64(e, 16);
        if (o->timeout > 0 && !__builtin_add_overflow(e->ns, o->timeout, &due))
            pt_jobs_arm(o, th, due, e->ns);
        else
            pt_jobs_arm(o, th, 0, e->ns);
    } else if (!begins && o->is_armed && result == 0 && o->timeout > 0) {
        pt_jobs_begin(j, th, slot, o->armed + o->timeout, e);
    } else if (!begins && o->is_armed && result >= 0) {
        pt_jobs_begin(j, th, slot, 0, e);
    } else if (!begins) {
        o->is_armed = false; /* a signal has ended it */
    }
}

static bool is_of(const struct pt_jobs_open *o, const struct pt_report_call *call, uint64_t id)
{
    return o->used && o->call == call && o->id == id;
}

/* Begins the job of that object in its slot, else in one that no object has, else in a free one.
 * Nothing where it is open, or no slot is free. */
static void begin_for(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t first,
                      const struct pt_report_call *call, uint64_t id,
                      const struct posixtrace_event *e)
{
    struct pt_jobs_open *open = pt_jobs_of(j, th)->open;
    size_t best = SIZE_MAX;

    for (size_t i = first; i < first + PT_JOBS_OBJECTS; i++) {
        if (is_of(&open[i], call, id)) {
            best = open[i].is_open ? SIZE_MAX : i;
            break;
        }
        if (!open[i].is_open && (best == SIZE_MAX || (open[best].used && !open[i].used)))
            best = i;
    }
    if (best == SIZE_MAX)
        return;
    if (!is_of(&open[best], call, id))
        open[best].has_before = false;
    pt_jobs_begin(j, th, best, 0, e);
    open[best].used = true;
    open[best].call = call;
    open[best].id = id;
}

/* Is it the first slot of its rule? */
static bool is_first(const posixtrace_jobs_t *j, size_t slot)
{
    return slot == 0 || j->rule_of[slot - 1] != j->rule_of[slot];
}

static bool is_timerfd(const posixtrace_jobs_t *j, const struct posixtrace_event *e)
{
    struct pt_report_key key = { .a = (uint32_t)e->pid, .b = pt_report_u32(e, 4) };
    const uint32_t *kind = pt_report_map_find(&j->kinds, key);

    return kind && *kind == POSIXTRACE_KIND_TIMERFD;
}

/* Reads of a descriptor: begins or, of the slot's, completes. */
static void take_read(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot, bool begins,
                      const struct posixtrace_event *e)
{
    struct pt_jobs_open *o = &pt_jobs_of(j, th)->open[slot];
    uint32_t number = pt_report_u32(e, 0);

    if ((number != POSIXTRACE_CALL_READ && number != POSIXTRACE_CALL_READV) || !is_timerfd(j, e) ||
        !o->is_open || o->id != pt_report_u32(e, 4))
        return;
    if (!begins && o->reads && i64(e, 8) != -EAGAIN)
        pt_jobs_complete_at_read(j, th, slot);
    o->reads = begins;
    if (begins) {
        o->read_ns = e->ns;
        o->at_read = o->sum;
    }
}

/* A read, or a wait for work, which ends the job. */
static void take_timerfd(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot,
                         const struct pt_report_type *t, const struct posixtrace_event *e)
{
    bool begins = t->role == PT_REPORT_BEGIN;

    if (t->call->id == POSIXTRACE_IO)
        take_read(j, th, slot, begins, e);
    else if (t->call->id == POSIXTRACE_POLL && begins && i64(e, 16) != 0)
        pt_jobs_complete(j, th, slot, e->ns);
}

static bool has_timed_out(const struct pt_report_call *call, const struct posixtrace_event *e)
{
    int64_t result = i64(e, 8);

    if (call->id == POSIXTRACE_SLEEP)
        return false;
    if (call->id == POSIXTRACE_SIGNAL_WAIT)
        return result == -EAGAIN && pt_report_u32(e, 0) == POSIXTRACE_CALL_SIGTIMEDWAIT;
    return result == (call->subject == PT_REPORT_OBJECT ? ETIMEDOUT : -ETIMEDOUT);
}

static void take_timed(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot,
                       const struct pt_report_type *t, const struct posixtrace_event *e)
{
    const struct pt_jobs_open *o = &pt_jobs_of(j, th)->open[slot];

    if (t->role == PT_REPORT_BEGIN && is_of(o, t->call, pt_report_u64(e, 0)))
        pt_jobs_complete(j, th, slot, e->ns);
}

/* After jobs that the event completes: those of objects that it releases. */
static void release(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot,
                    const struct pt_report_type *t, const struct posixtrace_event *e)
{
    unsigned source = j->rules[j->rule_of[slot]].source;
    uint32_t number = pt_report_u32(e, 0);

    if (t->role != PT_REPORT_END || !is_first(j, slot))
        return;
    if (source == POSIXTRACE_JOB_TIMED && has_timed_out(t->call, e))
        begin_for(j, th, slot, t->call, pt_report_u64(e, 0), e);
    if (source == POSIXTRACE_JOB_TIMERFD && t->call->id == POSIXTRACE_IO && i64(e, 8) > 0 &&
        (number == POSIXTRACE_CALL_READ || number == POSIXTRACE_CALL_READV) && is_timerfd(j, e))
        begin_for(j, th, slot, NULL, pt_report_u32(e, 4), e);
}

static void take_call(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot,
                      const struct pt_report_type *t, const struct posixtrace_event *e)
{
    switch (j->rules[j->rule_of[slot]].source) {
    case POSIXTRACE_JOB_SLEEP:
        if (t->call->id == POSIXTRACE_SLEEP)
            take_sleep(j, th, slot, t->role == PT_REPORT_BEGIN, e);
        break;
    case POSIXTRACE_JOB_POLL:
        if (t->call->id == POSIXTRACE_POLL)
            take_poll(j, th, slot, t->role == PT_REPORT_BEGIN, e);
        break;
    case POSIXTRACE_JOB_TIMERFD: take_timerfd(j, th, slot, t, e); break;
    case POSIXTRACE_JOB_TIMED: take_timed(j, th, slot, t, e); break;
    default: break;
    }
}

/* ---- events ---- */

static void take_switch(posixtrace_jobs_t *j, struct pt_report_thread *th,
                        const struct pt_report_type *t, int64_t ns)
{
    struct pt_jobs_thread *jt = pt_jobs_of(j, th);
    bool leaves = t->role != PT_REPORT_SWITCH_IN;

    if (jt->early != INT64_MAX) {
        if (jt->early != INT64_MIN)
            tell_ran(j, th, jt->early, ns, leaves);
        jt->early = INT64_MAX; /* no time will be */
        pt_jobs_first_switch(j, th, leaves);
    }
    if (leaves)
        pt_jobs_left(j, jt, ns, t->role == PT_REPORT_PREEMPTED);
}

static void take_descriptor(posixtrace_jobs_t *j, const struct posixtrace_event *e)
{
    struct pt_report_key key = { .a = (uint32_t)e->pid, .b = pt_report_u32(e, 0) };
    uint32_t *kind = pt_report_map_make(&j->kinds, key, sizeof *kind);

    if (kind)
        *kind = pt_report_u32(e, 4);
    else
        j->error = ENOMEM;
}

/* Events were lost since the last one. */
static void see_gap(posixtrace_jobs_t *j, struct pt_report_thread *th, struct pt_jobs_thread *jt)
{
    if (jt->gap == th->gap)
        return;
    jt->gap = th->gap;
    if (jt->early != INT64_MIN && jt->early != INT64_MAX)
        tell_ran(j, th, jt->early, th->at, false);
    if (jt->early != INT64_MAX)
        jt->early = th->at;
    pt_jobs_forget(j, th);
}

static void take_pair(posixtrace_jobs_t *j, struct pt_report_thread *th, unsigned watched,
                      const struct posixtrace_event *e)
{
    for (size_t i = 0; i < j->slot_count; i++) {
        if (j->rules[j->rule_of[i]].source != POSIXTRACE_JOB_EVENTS)
            continue;
        if (watched & ends(j->rule_of[i])) {
            pt_jobs_complete(j, th, i, e->ns);
            pt_jobs_of(j, th)->open[i].unsure = false;
        }
        if (watched & begins(j->rule_of[i]))
            pt_jobs_begin(j, th, i, 0, e);
    }
}

static void taken(void *context, struct pt_report_thread *th, const struct pt_report_type *t,
                  const struct posixtrace_event *e)
{
    posixtrace_jobs_t *j = context;
    struct pt_jobs_thread *jt = th ? pt_jobs_of(j, th) : NULL;

    if (t->watched & NAMES)
        take_descriptor(j, e);
    if (!jt)
        return;
    see_gap(j, th, jt);
    if (t->watched & SWITCH)
        take_switch(j, th, t, e->ns);
    for (size_t i = 0; (t->watched & LIFE) && i < j->slot_count; i++) {
        pt_jobs_complete_at_read(j, th, i);
        pt_jobs_drop(j, jt, i, &j->counts[j->rule_of[i]].unfinished);
    }
    for (size_t i = 0; (t->watched & CALL) && i < j->slot_count; i++)
        take_call(j, th, i, t, e);
    for (size_t i = 0; (t->watched & CALL) && i < j->slot_count; i++)
        release(j, th, i, t, e);
    if (t->watched & (SWITCH - 1))
        take_pair(j, th, t->watched, e);
}

const struct pt_report_watch pt_jobs_watch = { .typed = typed,
                                               .unread = unread,
                                               .taken = taken,
                                               .spent = spent,
                                               .settled = settled,
                                               .long_call = long_call,
                                               .ended = nothing_ended,
                                               .holds = nothing_held,
                                               .released = nothing_released };
