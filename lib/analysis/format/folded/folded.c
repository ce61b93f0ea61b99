/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export of folded stacks for flame graphs (docs/formats/folded.md): a line for each different
 * stack, and a sum of nanoseconds.
 *
 * A call that waits ends with an event, and the event after it may have its stack.  So the value of
 * a call that has ended waits for the next event of its thread; if that is no stack, the caller in
 * the event that began the call is the only frame.
 */
#include <errno.h>
#include <inttypes.h>
#include <posixtrace/report.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/folded/folded.h"

enum { FRAME = 240 };
enum { NOTE_DEEP };

/* ---- stacks ---- */

/* Process and thread; the process has the name of its first thread. */
static void begin_stack(struct pt_folded_writer *f, const struct pt_folded_thread *t)
{
    const struct pt_folded_thread *first = pt_folded_find(f, t->pid, t->pid);
    char number[32];

    f->stack.length = 0;
    snprintf(number, sizeof number, "%d", (int)t->pid);
    pt_folded_push(&f->stack, first && first->name[0] ? first->name : number);
    snprintf(number, sizeof number, "%d", (int)t->tid);
    pt_folded_push(&f->stack, t->name[0] ? t->name : number);
}

static void push_address(struct pt_folded_writer *f, const struct pt_folded_thread *t,
                         uint64_t address)
{
    struct posixtrace_symbol s;
    const char *slash;
    char text[FRAME];

    if (!posixtrace_symbols_find(f->sites.symbols, t->pid, t->at, address,
                                 POSIXTRACE_ADDRESS_RETURN, &s, sizeof s)) {
        snprintf(text, sizeof text, "0x%" PRIx64, address);
    } else if (s.name) {
        snprintf(text, sizeof text, "%.*s", (int)strcspn(s.name, "@"), s.name);
    } else {
        slash = strrchr(s.path, '/');
        snprintf(text, sizeof text, "%s+0x%" PRIx64, slash ? slash + 1 : s.path, s.in_path);
    }
    pt_folded_push(&f->stack, text);
}

static void add(struct pt_folded_writer *f, int64_t ns)
{
    if (!f->failed && ns > 0 && !pt_folded_add(&f->lines, &f->stack, (uint64_t)ns)) {
        f->failed = true;
        pt_job_fail(f->job, ENOMEM, "no memory for the stacks");
    }
}

/* The call that has ended, with the stack in that event, or NULL. */
static void settle(struct pt_folded_writer *f, struct pt_folded_thread *t,
                   const struct posixtrace_event *e)
{
    uint16_t count = 0;
    uint64_t address;

    if (!t->waits_for_stack)
        return;
    t->waits_for_stack = false;
    if (e && e->data_len >= sizeof count)
        memcpy(&count, e->data, sizeof count);
    if (e && e->data_len != sizeof count + count * sizeof address)
        count = 0;
    if (f->sites.symbols)
        posixtrace_symbols_update(f->sites.symbols, f->job->trid);
    begin_stack(f, t);
    for (unsigned i = count; i > 0; i--) {
        memcpy(&address, (const char *)e->data + sizeof count + (i - 1) * sizeof address,
               sizeof address);
        push_address(f, t, address);
    }
    if (count == 0 && t->ended.caller)
        push_address(f, t, t->ended.caller);
    pt_folded_push_state(&f->stack, t->ended.label);
    add(f, t->value);
}

/* ---- events ---- */

static uint32_t u32_at(const struct posixtrace_event *e, size_t at)
{
    uint32_t v = 0;

    if (e->data_len >= at + sizeof v)
        memcpy(&v, (const char *)e->data + at, sizeof v);
    return v;
}

static uint64_t u64_at(const struct posixtrace_event *e, size_t at)
{
    uint64_t v = 0;

    if (e->data_len >= at + sizeof v)
        memcpy(&v, (const char *)e->data + at, sizeof v);
    return v;
}

/* The name of the call, where its type has several. */
static const char *call_label(const struct pt_folded_writer *f, trace_event_id_t id, uint32_t call)
{
    bool has_call = id == POSIXTRACE_IO || id == POSIXTRACE_POLL || id == POSIXTRACE_FILE_LOCK ||
                    id == POSIXTRACE_CHILD_WAIT || id == POSIXTRACE_SIGNAL_WAIT;
    const char *name = has_call ? posixtrace_call_text(call) : NULL;

    if (!name)
        name = f->label[id];
    return name ? name : "wait";
}

static struct pt_folded_open *open_one(struct pt_folded_writer *f, struct pt_folded_thread *t,
                                       const struct posixtrace_event *e)
{
    struct pt_folded_open *o;

    if (t->depth == PT_FOLDED_DEPTH) {
        if (t->deeper++ == 0)
            pt_job_left_out(f->job, NOTE_DEEP, "more than %d calls or pairs inside each other",
                            PT_FOLDED_DEPTH);
        return NULL;
    }
    o = &t->open[t->depth++];
    *o = (struct pt_folded_open){ .id = e->id, .since = e->ns };
    return o;
}

/* Removes the innermost one of that type, and those inside of it, which have no end. */
static bool close_one(struct pt_folded_thread *t, trace_event_id_t id, struct pt_folded_open *o)
{
    unsigned i = t->depth;

    while (i > 0 && t->open[i - 1].id != id)
        i--;
    if (i == 0)
        return false;
    *o = t->open[i - 1];
    t->depth = i - 1;
    return true;
}

static void call_begins(struct pt_folded_writer *f, struct pt_folded_thread *t,
                        const struct posixtrace_event *e)
{
    struct pt_folded_open *o = open_one(f, t, e);

    if (!o)
        return;
    o->caller = e->data_len >= 16 ? u64_at(e, e->data_len - 8) : 0;
    o->label = call_label(f, e->id, u32_at(e, 0));
}

static void call_ended(struct pt_folded_writer *f, struct pt_folded_thread *t,
                       const struct pt_folded_open *o, int64_t duration, int64_t at)
{
    t->ended = *o;
    t->value = f->of == PT_FOLDED_OFFCPU ? o->off : duration;
    t->at = at;
    t->waits_for_stack = true;
}

/* A call whole, by the type that would begin it; duration and caller are at these places. */
static void take_whole(struct pt_folded_writer *f, struct pt_folded_thread *t,
                       const struct posixtrace_event *e, size_t duration, size_t caller)
{
    static const struct {
        uint32_t type;
        const char *label;
    } types[] = {
        { POSIXTRACE_MUTEX_LOCK, "mutex lock" },     { POSIXTRACE_RWLOCK_LOCK, "rwlock lock" },
        { POSIXTRACE_COND_WAIT, "cond wait" },       { POSIXTRACE_SEM_WAIT, "sem wait" },
        { POSIXTRACE_BARRIER_WAIT, "barrier wait" }, { POSIXTRACE_SLEEP, "sleep" },
        { POSIXTRACE_FUTEX_WAIT, "futex wait" },     { POSIXTRACE_THREAD_JOIN, "thread join" }
    };
    struct pt_folded_open o = { .caller = u64_at(e, caller) };

    o.label = posixtrace_call_text(u32_at(e, 4));
    for (size_t i = 0; !o.label && i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == u32_at(e, 0))
            o.label = types[i].label;
    if (!o.label)
        o.label = "long call";
    call_ended(f, t, &o, (int64_t)u64_at(e, duration), e->ns);
}

static void take_in(struct pt_folded_writer *f, struct pt_folded_thread *t,
                    const struct posixtrace_event *e)
{
    int64_t ns = t->out == INT64_MIN ? 0 : e->ns - t->out;

    t->out = INT64_MIN;
    if (f->of != PT_FOLDED_OFFCPU || ns <= 0)
        return;
    if (t->depth > 0 && !t->preempted) {
        t->open[t->depth - 1].off += ns;
        return;
    }
    begin_stack(f, t);
    pt_folded_push_state(&f->stack, t->preempted ? "preempted" : "no call");
    add(f, ns);
}

static void pair_begins(struct pt_folded_writer *f, struct pt_folded_thread *t,
                        const struct posixtrace_event *e)
{
    struct pt_folded_open *o = open_one(f, t, e);

    if (o)
        o->label = f->label[e->id];
}

/* The pair whose name the end has, and the pairs around it. */
static void pair_ends(struct pt_folded_writer *f, struct pt_folded_thread *t,
                      const struct posixtrace_event *e)
{
    unsigned i = t->depth;
    struct pt_folded_open *o;
    int64_t ns;

    while (i > 0 && (!t->open[i - 1].label || !f->label[e->id] ||
                     strcmp(t->open[i - 1].label, f->label[e->id]) != 0))
        i--;
    if (i == 0)
        return;
    begin_stack(f, t);
    for (unsigned k = 0; k < i; k++)
        pt_folded_push(&f->stack, t->open[k].label);
    o = &t->open[i - 1];
    ns = e->ns - o->since;
    add(f, ns - o->inner);
    t->depth = i - 1;
    if (t->depth > 0)
        t->open[t->depth - 1].inner += ns;
}

/* Where events are missing nothing that is open is known to end. */
static void forget_all(struct pt_folded_writer *f)
{
    for (size_t i = 0; i < f->hash_room; i++)
        if (f->hash[i]) {
            settle(f, f->hash[i], NULL);
            f->hash[i]->depth = 0;
            f->hash[i]->out = INT64_MIN;
        }
}

static void take_call(struct pt_folded_writer *f, struct pt_folded_thread *t,
                      const struct posixtrace_event *e, enum pt_folded_role role)
{
    struct pt_folded_open o;

    if (role == PT_FOLDED_BEGINS)
        call_begins(f, t, e);
    else if (role == PT_FOLDED_WHOLE)
        take_whole(f, t, e, 24, 32);
    else if (role == PT_FOLDED_STILL)
        take_whole(f, t, e, 16, 24);
    else if (role == PT_FOLDED_ENDS && t->deeper > 0)
        t->deeper--;
    else if (role == PT_FOLDED_ENDS && close_one(t, e->id - 1, &o))
        call_ended(f, t, &o, e->ns - o.since, e->ns);
}

static void take(struct pt_folded_writer *f, struct pt_folded_thread *t,
                 const struct posixtrace_event *e)
{
    enum pt_folded_role role = pt_folded_role_of(f, e);

    if (role == PT_FOLDED_GAP) {
        forget_all(f);
        return;
    }
    if (role == PT_FOLDED_WAITS_OUT || role == PT_FOLDED_PREEMPTED) {
        t->out = e->ns;
        t->preempted = role == PT_FOLDED_PREEMPTED;
        return;
    }
    if (role == PT_FOLDED_GETS) {
        take_in(f, t, e);
        return;
    }
    settle(f, t, role == PT_FOLDED_STACK ? e : NULL);
    if (f->of != PT_FOLDED_PAIRS)
        take_call(f, t, e, role);
    else if (role == PT_FOLDED_PAIR_BEGINS)
        pair_begins(f, t, e);
    else if (role == PT_FOLDED_PAIR_ENDS)
        pair_ends(f, t, e);
}

/* ---- the job ---- */

static int take_options(struct pt_folded_writer *f)
{
    static const char *const kinds[] = { "waits", "offcpu", "pairs" };
    const char *of = pt_job_option(f->job, "of", 0);
    unsigned i = 0;

    while (of && i < 3 && strcmp(of, kinds[i]) != 0)
        i++;
    if (i == 3)
        return pt_job_fail(f->job, EINVAL, "option of=%s: say waits, offcpu or pairs", of);
    f->of = (enum pt_folded_of)i;
    return pt_sites_open(&f->sites, f->job) ? 0 : f->job->error;
}

static int work(struct pt_folded_writer *f)
{
    struct posixtrace_event e;
    struct pt_folded_thread *t;
    int error = take_options(f);

    while (!error && !f->failed && pt_job_next(f->job, &e)) {
        t = pt_folded_thread_of(f, &e);
        if (!t)
            return pt_job_fail(f->job, ENOMEM, "no memory for the threads");
        take(f, t, &e);
    }
    if (error || f->job->error)
        return error ? error : f->job->error;
    forget_all(f);
    pt_folded_write(&f->lines, f->job->file);
    return ferror(f->job->file) ? pt_job_fail_file(f->job) : f->job->error;
}

static int write_folded(struct pt_job *job)
{
    struct pt_folded_writer *f = calloc(1, sizeof *f);
    int error;

    if (!f)
        return pt_job_fail(job, ENOMEM, "no memory for the output");
    f->job = job;
    error = work(f);
    pt_sites_close(&f->sites);
    for (size_t i = 0; i < f->hash_room; i++)
        free(f->hash[i]);
    for (size_t i = 0; i < PT_FOLDED_TYPES; i++)
        free(f->label[i]);
    free(f->hash);
    pt_folded_free(&f->lines);
    free(f);
    return error;
}

static const struct posixtrace_format_option options[] = {
    { "of", "waits: time in calls that wait (default); offcpu: off the processor; pairs" },
    PT_SITES_OPTIONS,
    { NULL, NULL }
};

const struct pt_format pt_format_folded = {
    .about = { .name = "folded",
               .about = "Folded stacks, for flame graphs",
               .exports = true,
               .options = options },
    .write = write_folded,
};
