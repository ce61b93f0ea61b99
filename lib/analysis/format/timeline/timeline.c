/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See timeline.h: one event after the other, to the back end. */
#include <errno.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/timeline/timeline_state.h"
#include "text/hash.h"

struct pt_timeline *pt_timeline_new(struct pt_job *job, const struct pt_tl_ops *ops, void *self)
{
    struct pt_timeline *tl = calloc(1, sizeof *tl);

    if (!tl) {
        pt_job_fail(job, ENOMEM, "no memory for the tracks");
        return NULL;
    }
    tl->job = job;
    tl->ops = ops;
    tl->self = self;
    pt_tl_gaps_init(tl);
    if (pt_tl_options_read(tl))
        return tl;
    pt_timeline_free(tl);
    return NULL;
}

void pt_timeline_free(struct pt_timeline *tl)
{
    if (!tl)
        return;
    pt_tl_options_free(tl);
    pt_tl_types_free(tl);
    free(tl->cpus);
    pt_cuts_deinit(&tl->cuts);
    free(tl);
}

/* A value that identifies: of text and bytes a hash, which may collide. */
static uint64_t identity(const struct pt_tl_event *ev, size_t field)
{
    const struct posixtrace_field *f = posixtrace_layout_field(ev->layout, field);
    const struct posixtrace_value *v = &ev->values[field];

    if (!f->array && f->kind < POSIXTRACE_FIELD_STRING)
        return posixtrace_value_integer(ev->layout, field, v, 0);
    return pt_hash_bytes(PT_HASH_START, v->at, v->count);
}

static void find_flows(struct pt_timeline *tl, const struct pt_tl_type *t)
{
    struct pt_tl_event *ev = &tl->ev;

    for (unsigned i = 0; i < tl->option_count && ev->flow_count < PT_TL_FLOWS; i++) {
        int what = tl->options[i].what;

        if ((t->good >> i & 1) && what != PT_TL_COUNTER)
            ev->flows[ev->flow_count++] = (struct pt_tl_flow){ identity(ev, t->fields[i]),
                                                               what == PT_TL_FLOW_END };
    }
}

static void count(struct pt_timeline *tl, const struct pt_tl_track *t)
{
    const struct pt_tl_type *type = tl->ev.type;
    struct pt_tl_track *process = NULL;

    for (unsigned i = 0; i < tl->option_count; i++) {
        if (!(type->good >> i & 1) || tl->options[i].what != PT_TL_COUNTER)
            continue;
        if (!process)
            process = pt_tl_track_of(tl, t->pid, 0, "");
        tl->ops->counter(tl->self, process, &tl->ev, i, type->fields[i]);
    }
}

/* Fields of the event in tl->ev. */
static void see(struct pt_timeline *tl, struct pt_tl_type *type, const struct posixtrace_event *e)
{
    struct pt_tl_event *ev = &tl->ev;
    const posixtrace_layout_t *layout = posixtrace_fields_layout(tl->job->fields, e->id);

    ev->e = e;
    ev->type = type;
    ev->misfit = layout && posixtrace_layout_split(layout, e->data, e->data_len, ev->values,
                                                   &ev->fields) != 0;
    ev->layout = ev->misfit ? NULL : layout;
    ev->ignores = layout || e->id >= POSIX_TRACE_UNNAMED_USEREVENT ? NULL : pt_tl_ignores(tl, e);
    ev->flow_count = 0;
    if (type->options && ev->layout) {
        if (type->resolved != layout)
            pt_tl_type_resolve(tl, type, layout);
        find_flows(tl, type);
    }
}

static void begin(struct pt_timeline *tl, struct pt_tl_track *t, uint32_t label)
{
    if (t->depth == PT_TL_OPEN) {
        t->beyond++;
        if (!tl->told_deep)
            pt_job_note(tl->job, PT_TL_NOTE_DEEP,
                        "thread %ld has more than %d slices open at "
                        "once; those within are shown as instants, also of other threads",
                        (long)t->tid, PT_TL_OPEN);
        tl->told_deep = true;
        tl->ops->instant(tl->self, t, &tl->ev);
        return;
    }
    pt_tl_mark_open(tl, t);
    t->since[t->depth] = tl->ev.e->ns;
    t->open[t->depth++] = (uint16_t)label;
    tl->ops->begin(tl->self, t, tl->ev.e->ns, label, &tl->ev);
}

static void set_past(const struct pt_timeline *tl, struct pt_tl_track *t, int64_t since,
                     uint32_t label)
{
    int64_t ns = tl->ev.e->ns;

    t->past = (struct pt_tl_past){ pt_timeline_is_whole(tl, since, ns), label, since, ns };
}

/* Those above the one that ends: ended, and begun again if they continue. */
static void end_at(struct pt_timeline *tl, struct pt_tl_track *t, unsigned place, bool again)
{
    int64_t ns = tl->ev.e->ns;
    uint32_t label = t->open[place];
    unsigned above = t->depth - place - 1u;

    while (t->depth > place + 1u) {
        t->depth--;
        tl->ops->end(tl->self, t, ns, t->open[t->depth], NULL);
    }
    t->depth = (uint16_t)place;
    tl->ops->end(tl->self, t, ns, label, &tl->ev);
    set_past(tl, t, t->since[place], label);
    for (unsigned i = 0; i < above && again; i++) {
        t->since[t->depth] = t->since[place + 1u + i];
        t->open[t->depth++] = t->open[place + 1u + i];
        tl->ops->begin(tl->self, t, ns, t->open[t->depth - 1u], NULL);
    }
    if (above && again && !tl->told_crossed)
        pt_job_note(tl->job, PT_TL_NOTE_CROSSED,
                    "thread %ld ends a slice while one that began "
                    "later is open; such slices are cut in two",
                    (long)t->tid);
    tl->told_crossed |= above && again;
}

/* False: it has not begun. */
static bool end(struct pt_timeline *tl, struct pt_tl_track *t, uint32_t label)
{
    unsigned i = t->depth;
    bool ends_thread = tl->ev.type->role == PT_TL_ENDS_THREAD;

    if (ends_thread) {
        t->beyond = 0;
    } else if (t->beyond > 0) {
        t->beyond--;
        return false;
    }
    while (i > 0 && t->open[i - 1] != label)
        i--;
    if (i == 0)
        return false;
    end_at(tl, t, i - 1, !ends_thread);
    return true;
}

static void end_open(struct pt_timeline *tl, struct pt_tl_track *t)
{
    t->beyond = 0;
    while (t->depth > 0) {
        t->depth--;
        tl->ops->end(tl->self, t, tl->ev.e->ns, t->open[t->depth], NULL);
    }
}

/* The numbers are known, the pthread_t is another: that thread ended unseen, and this is the next
 * one with its number.  What others say of a thread may have the pthread_t of either. */
static void tell_apart(struct pt_timeline *tl, struct pt_tl_track *t)
{
    const struct posixtrace_event *e = tl->ev.e;

    if (e->thread_id == 0 || e->thread_id == t->thread_id || tl->ev.type->role >= PT_TL_IN ||
        strcmp(e->name, "posixtrace_cpu_time") == 0)
        return;
    if (t->thread_id) {
        end_open(tl, t);
        t->ended = false;
    }
    t->thread_id = e->thread_id;
}

/* A call that began before: false, if that cannot be, or if its beginning was an event and made
 * the slice.  u32 type, u32 call, u64 object, then of a long call i64 result; i64 duration. */
static bool show_whole(struct pt_timeline *tl, struct pt_tl_track *t)
{
    const struct posixtrace_event *e = tl->ev.e;
    size_t at = tl->ev.type->role == PT_TL_LONG_CALL ? 24 : 16;
    int64_t duration, since;
    int32_t label;
    uint32_t id;

    if (e->data_len < at + sizeof duration)
        return false;
    memcpy(&id, e->data, sizeof id);
    memcpy(&duration, (const char *)e->data + at, sizeof duration);
    label = pt_tl_call_label(tl, id);
    if (label < 0 || duration < 0 || __builtin_sub_overflow(e->ns, duration, &since))
        return false;
    if (since < tl->first_ns)
        since = tl->first_ns;
    for (unsigned i = 0; i < t->depth; i++)
        if (t->since[i] > since ||
            (tl->ev.type->role == PT_TL_STILL_WAITS && t->open[i] == (uint16_t)label))
            return false;
    tl->ops->whole(tl->self, t, since, (uint32_t)label, &tl->ev);
    set_past(tl, t, since, (uint32_t)label);
    return true;
}

static void show(struct pt_timeline *tl, struct pt_tl_track *t)
{
    const struct pt_tl_type *type = tl->ev.type;
    bool shown;

    if (type->role >= PT_TL_IN && pt_tl_switch(tl, t))
        return;
    tell_apart(tl, t);
    if (tl->ev.e->id != POSIXTRACE_STACK)
        t->past.any = false;
    if (type->role == PT_TL_BEGINS_THREAD)
        t->ended = false;
    if (t->ended)
        pt_tl_ended_acts(tl, t);
    else if (type->role == PT_TL_ENDS_THREAD)
        pt_tl_thread_ends(tl, t);
    if ((type->role == PT_TL_LONG_CALL || type->role == PT_TL_STILL_WAITS) && show_whole(tl, t))
        return;
    if (type->begin < 0 && type->end < 0) {
        tl->ops->instant(tl->self, t, &tl->ev);
        t->past.any = false;
        return;
    }
    shown = type->end >= 0 && end(tl, t, (uint32_t)type->end);
    if (type->role == PT_TL_ENDS_THREAD)
        end_open(tl, t);
    if (type->begin >= 0)
        begin(tl, t, (uint32_t)type->begin);
    else if (!shown)
        tl->ops->instant(tl->self, t, &tl->ev);
}

/* Of several logs no number may be that of another. */
static bool has_number(struct pt_job *job, int32_t number)
{
    if (!job->label || (number >= 0 && number < POSIXTRACE_EXPORT_STEP))
        return true;
    pt_job_fail(job, EOVERFLOW,
                "%s has the process or thread %ld; of several logs in one trace such numbers are "
                "below %d",
                job->label, (long)number, POSIXTRACE_EXPORT_STEP);
    return false;
}

/* Reads the next one, if that is not done. */
static bool look_ahead(struct pt_timeline *tl)
{
    if (!tl->has_next)
        tl->has_next = pt_job_next(tl->job, &tl->next) && has_number(tl->job, tl->next.pid) &&
                       has_number(tl->job, tl->next.tid);
    return tl->has_next;
}

bool pt_timelines_run(struct pt_timeline *const *list, size_t count, const bool *failed)
{
    for (;;) {
        struct pt_timeline *first = NULL;

        for (size_t i = 0; i < count; i++) {
            if (look_ahead(list[i]) && (!first || list[i]->next.ns < first->next.ns))
                first = list[i];
            if (list[i]->job->error)
                return false;
        }
        if (!first)
            return true;
        if (!pt_timeline_next(first) || *failed)
            return false;
    }
}

bool pt_timeline_next(struct pt_timeline *tl)
{
    struct posixtrace_event e;
    struct pt_tl_type *type;
    struct pt_tl_track *t;

    if (!look_ahead(tl))
        return false;
    tl->has_next = false;
    e = tl->next;
    if (tl->clock++ == 0) {
        tl->first_ns = e.ns;
        tl->ops->first(tl->self, e.ns);
    }
    if (tl->clock == 1 || e.ns > tl->last_ns)
        tl->last_ns = e.ns;
    pt_tl_look_for_gap(tl, &e);
    type = pt_tl_type_of(tl, &e);
    if (!type)
        return false;
    see(tl, type, &e);
    t = pt_tl_track_of(tl, e.pid, e.tid, e.thread_name);
    if (tl->ops->event)
        tl->ops->event(tl->self, t, &tl->ev);
    show(tl, t);
    if (type->good && tl->ev.layout && tl->ops->counter)
        count(tl, t);
    return !tl->job->error;
}

static bool is_any(const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        if (lost[i])
            return true;
    return false;
}

static void tell_loss_of_thread(struct pt_timeline *tl, const struct posixtrace_thread_info *t)
{
    if (is_any(t->lost) && (t->pid || t->tid))
        tl->ops->lost(tl->self, pt_tl_track_of(tl, t->pid, t->tid, t->name), tl->last_ns, t->lost);
}

/* Per thread and in all: the sum also has what belongs to no thread. */
static void tell_loss(struct pt_timeline *tl)
{
    struct posixtrace_thread_info thread;
    uint64_t lost[POSIXTRACE_LOSS_CAUSES];
    int unavailable = 0;

    if (!pt_job_losses(tl->job, lost) || !is_any(lost))
        return;
    posixtrace_threadlist_rewind(tl->job->trid);
    while (posixtrace_threadlist_getnext(tl->job->trid, &thread, sizeof thread, &unavailable) ==
               0 &&
           !unavailable)
        tell_loss_of_thread(tl, &thread);
    tl->ops->lost(tl->self, pt_tl_track_of(tl, 0, 0, ""), tl->last_ns, lost);
}

void pt_timeline_end(struct pt_timeline *tl)
{
    if (tl->job->error)
        return;
    if (tl->clock++ == 0)
        tl->ops->first(tl->self, 0);
    tell_loss(tl);
    pt_tl_options_unmet(tl);
}

const char *pt_timeline_label(const struct pt_timeline *tl, uint32_t label)
{
    return tl->labels[label];
}

const struct pt_tl_option *pt_timeline_option(const struct pt_timeline *tl, unsigned option)
{
    return &tl->options[option];
}
