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
#include <posixtrace/symbols.h>
#include <posixtrace/system.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/common/format.h"
#include "analysis/format/folded/folded_lines.h"

enum { TYPES = 4096, DEPTH = 32, NAME = 64, FRAME = 240 };
enum of { WAITS, OFFCPU, PAIRS };
enum { NOTE_DEEP };

/* What events of a type mean; their names are those of posixtrace/system.h. */
enum role {
    NEW,
    NOTHING,
    BEGINS, /* a call that may wait */
    ENDS,   /* the one whose type is before it */
    WHOLE,  /* long_call */
    STILL,  /* waiting */
    STACK,
    GETS,
    WAITS_OUT,
    PREEMPTED,
    PAIR_BEGINS,
    PAIR_ENDS,
    GAP
};

struct open {
    trace_event_id_t id;
    int64_t since, off, inner; /* off the processor; in pairs inside of it */
    uint64_t caller;
    const char *label;
};

struct thread {
    pid_t pid, tid;
    char name[16];
    unsigned depth, deeper;
    struct open open[DEPTH];
    int64_t out; /* since then off the processor; INT64_MIN: on it, or not known */
    bool preempted, waits_for_stack;
    int64_t value, at; /* of the call that has ended */
    struct open ended;
};

struct folded {
    struct pt_job *job;
    enum of of;
    posixtrace_symbols_t *symbols;
    uint8_t role[TYPES];
    char *label[TYPES];
    struct thread *threads;
    size_t count, room;
    struct thread **hash; /* by pid and tid */
    size_t hash_room;
    struct pt_folded_lines lines;
    struct pt_folded_stack stack;
    bool failed;
};

/* ---- threads ---- */

static size_t cell_of(const struct folded *f, pid_t pid, pid_t tid)
{
    size_t i = ((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid) * 0x9e3779b97f4a7c15ull >> 32;

    i &= f->hash_room - 1;
    while (f->hash[i] && (f->hash[i]->tid != tid || f->hash[i]->pid != pid))
        i = (i + 1) & (f->hash_room - 1);
    return i;
}

static bool grow(struct folded *f)
{
    size_t room = f->hash_room ? f->hash_room * 2 : 64;
    struct thread **hash = calloc(room, sizeof *hash), **old = f->hash;
    size_t had = f->hash_room;

    if (!hash)
        return false;
    f->hash = hash;
    f->hash_room = room;
    for (size_t i = 0; i < had; i++)
        if (old[i])
            f->hash[cell_of(f, old[i]->pid, old[i]->tid)] = old[i];
    free(old);
    return true;
}

static struct thread *thread_of(struct folded *f, const struct posixtrace_event *e)
{
    struct thread *t;
    size_t i;

    if (f->count * 2 >= f->hash_room && !grow(f))
        return NULL;
    i = cell_of(f, e->pid, e->tid);
    if (!f->hash[i]) {
        f->hash[i] = calloc(1, sizeof *t);
        f->count += f->hash[i] != NULL;
        if (f->hash[i])
            *f->hash[i] = (struct thread){ .pid = e->pid, .tid = e->tid, .out = INT64_MIN };
    }
    t = f->hash[i];
    if (t && e->thread_name[0])
        snprintf(t->name, sizeof t->name, "%s", e->thread_name);
    return t;
}

/* ---- stacks ---- */

/* Process and thread; the process has the name of its first thread. */
static void begin_stack(struct folded *f, const struct thread *t)
{
    const struct thread *first = f->hash[cell_of(f, t->pid, t->pid)];
    char number[32];

    f->stack.length = 0;
    snprintf(number, sizeof number, "%d", (int)t->pid);
    pt_folded_push(&f->stack, first && first->name[0] ? first->name : number);
    snprintf(number, sizeof number, "%d", (int)t->tid);
    pt_folded_push(&f->stack, t->name[0] ? t->name : number);
}

static void push_address(struct folded *f, const struct thread *t, uint64_t address)
{
    struct posixtrace_symbol s;
    const char *slash;
    char text[FRAME];

    if (!posixtrace_symbols_find(f->symbols, t->pid, t->at, address, POSIXTRACE_ADDRESS_RETURN, &s,
                                 sizeof s)) {
        snprintf(text, sizeof text, "0x%" PRIx64, address);
    } else if (s.name) {
        snprintf(text, sizeof text, "%.*s", (int)strcspn(s.name, "@"), s.name);
    } else {
        slash = strrchr(s.path, '/');
        snprintf(text, sizeof text, "%s+0x%" PRIx64, slash ? slash + 1 : s.path, s.in_path);
    }
    pt_folded_push(&f->stack, text);
}

static void add(struct folded *f, int64_t ns)
{
    if (!f->failed && ns > 0 && !pt_folded_add(&f->lines, &f->stack, (uint64_t)ns)) {
        f->failed = true;
        pt_job_fail(f->job, ENOMEM, "no memory for the stacks");
    }
}

/* The call that has ended, with the stack in that event, or NULL. */
static void settle(struct folded *f, struct thread *t, const struct posixtrace_event *e)
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
    if (f->symbols)
        posixtrace_symbols_update(f->symbols, f->job->trid);
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

/* ---- types ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), rest = strlen(end);

    return length > rest && strcmp(name + length - rest, end) == 0;
}

/* Which types begin calls that wait, by their names: the next one ends them. */
static bool begins(const char *name)
{
    static const char *const names[] = { "mutex_lock",   "rwlock_lock", "cond_wait",   "sem_wait",
                                         "barrier_wait", "sleep",       "io",          "poll",
                                         "file_lock",    "futex_wait",  "thread_join", "child_wait",
                                         "signal_wait" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static enum role system_role(struct folded *f, const struct posixtrace_event *e, const char *name)
{
    static const struct {
        const char *name;
        enum role role;
    } others[] = { { "long_call", WHOLE },      { "waiting", STILL },
                   { "stack", STACK },          { "switch_in", GETS },
                   { "switch_out", WAITS_OUT }, { "switch_preempted", PREEMPTED } };

    if (begins(name))
        return BEGINS;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i].name) == 0)
            return others[i].role;
    return e->id > 0 && f->role[e->id - 1] == BEGINS ? ENDS : NOTHING;
}

static enum role role_of(struct folded *f, const struct posixtrace_event *e)
{
    const char *name = e->name;
    enum role role = NOTHING;

    if (e->id >= TYPES)
        return NOTHING;
    if (f->role[e->id] != NEW)
        return f->role[e->id];
    if (e->id == POSIX_TRACE_OVERFLOW || e->id == POSIX_TRACE_STOP)
        role = GAP;
    else if (strncmp(name, "posixtrace_", 11) == 0)
        role = system_role(f, e, name + 11);
    else if (ends_with(name, ":begin"))
        role = PAIR_BEGINS;
    else if (ends_with(name, ":end"))
        role = PAIR_ENDS;
    f->label[e->id] = strdup(strncmp(name, "posixtrace_", 11) == 0 ? name + 11 : name);
    for (char *p = f->label[e->id]; p && *p && role == BEGINS; p++)
        *p = *p == '_' ? ' ' : *p;
    if (f->label[e->id] && (role == PAIR_BEGINS || role == PAIR_ENDS))
        *strrchr(f->label[e->id], ':') = '\0';
    f->role[e->id] = role;
    return role;
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
static const char *call_label(const struct folded *f, trace_event_id_t id, uint32_t call)
{
    bool has_call = id == POSIXTRACE_IO || id == POSIXTRACE_POLL || id == POSIXTRACE_FILE_LOCK ||
                    id == POSIXTRACE_CHILD_WAIT || id == POSIXTRACE_SIGNAL_WAIT;
    const char *name = has_call ? posixtrace_call_text(call) : NULL;

    if (!name)
        name = f->label[id];
    return name ? name : "wait";
}

static struct open *open_one(struct folded *f, struct thread *t, const struct posixtrace_event *e)
{
    struct open *o;

    if (t->depth == DEPTH) {
        if (t->deeper++ == 0)
            pt_job_left_out(f->job, NOTE_DEEP, "more than %d calls or pairs inside each other",
                            DEPTH);
        return NULL;
    }
    o = &t->open[t->depth++];
    *o = (struct open){ .id = e->id, .since = e->ns };
    return o;
}

/* Removes the innermost one of that type, and those inside of it, which have no end. */
static bool close_one(struct thread *t, trace_event_id_t id, struct open *o)
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

static void call_begins(struct folded *f, struct thread *t, const struct posixtrace_event *e)
{
    struct open *o = open_one(f, t, e);

    if (!o)
        return;
    o->caller = e->data_len >= 16 ? u64_at(e, e->data_len - 8) : 0;
    o->label = call_label(f, e->id, u32_at(e, 0));
}

static void call_ended(struct folded *f, struct thread *t, const struct open *o, int64_t duration,
                       int64_t at)
{
    t->ended = *o;
    t->value = f->of == OFFCPU ? o->off : duration;
    t->at = at;
    t->waits_for_stack = true;
}

/* A call whole, by the type that would begin it; duration and caller are at these places. */
static void take_whole(struct folded *f, struct thread *t, const struct posixtrace_event *e,
                       size_t duration, size_t caller)
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
    struct open o = { .caller = u64_at(e, caller) };

    o.label = posixtrace_call_text(u32_at(e, 4));
    for (size_t i = 0; !o.label && i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == u32_at(e, 0))
            o.label = types[i].label;
    if (!o.label)
        o.label = "long call";
    call_ended(f, t, &o, (int64_t)u64_at(e, duration), e->ns);
}

static void take_in(struct folded *f, struct thread *t, const struct posixtrace_event *e)
{
    int64_t ns = t->out == INT64_MIN ? 0 : e->ns - t->out;

    t->out = INT64_MIN;
    if (f->of != OFFCPU || ns <= 0)
        return;
    if (t->depth > 0 && !t->preempted) {
        t->open[t->depth - 1].off += ns;
        return;
    }
    begin_stack(f, t);
    pt_folded_push_state(&f->stack, t->preempted ? "preempted" : "no call");
    add(f, ns);
}

static void pair_begins(struct folded *f, struct thread *t, const struct posixtrace_event *e)
{
    struct open *o = open_one(f, t, e);

    if (o)
        o->label = f->label[e->id];
}

/* The pair whose name the end has, and the pairs around it. */
static void pair_ends(struct folded *f, struct thread *t, const struct posixtrace_event *e)
{
    unsigned i = t->depth;
    struct open *o;
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
static void forget_all(struct folded *f)
{
    for (size_t i = 0; i < f->hash_room; i++)
        if (f->hash[i]) {
            settle(f, f->hash[i], NULL);
            f->hash[i]->depth = 0;
            f->hash[i]->out = INT64_MIN;
        }
}

static void take_call(struct folded *f, struct thread *t, const struct posixtrace_event *e,
                      enum role role)
{
    struct open o;

    if (role == BEGINS)
        call_begins(f, t, e);
    else if (role == WHOLE)
        take_whole(f, t, e, 24, 32);
    else if (role == STILL)
        take_whole(f, t, e, 16, 24);
    else if (role == ENDS && t->deeper > 0)
        t->deeper--;
    else if (role == ENDS && close_one(t, e->id - 1, &o))
        call_ended(f, t, &o, e->ns - o.since, e->ns);
}

static void take(struct folded *f, struct thread *t, const struct posixtrace_event *e)
{
    enum role role = role_of(f, e);

    if (role == GAP) {
        forget_all(f);
        return;
    }
    if (role == WAITS_OUT || role == PREEMPTED) {
        t->out = e->ns;
        t->preempted = role == PREEMPTED;
        return;
    }
    if (role == GETS) {
        take_in(f, t, e);
        return;
    }
    settle(f, t, role == STACK ? e : NULL);
    if (f->of != PAIRS)
        take_call(f, t, e, role);
    else if (role == PAIR_BEGINS)
        pair_begins(f, t, e);
    else if (role == PAIR_ENDS)
        pair_ends(f, t, e);
}

/* ---- the job ---- */

static int take_options(struct folded *f)
{
    static const char *const kinds[] = { "waits", "offcpu", "pairs" };
    const char *of = pt_job_option(f->job, "of", 0), *dir = pt_job_option(f->job, "debug-dir", 0);
    unsigned i = 0;

    while (of && i < 3 && strcmp(of, kinds[i]) != 0)
        i++;
    if (i == 3)
        return pt_job_fail(f->job, EINVAL, "option of=%s: say waits, offcpu or pairs", of);
    f->of = (enum of)i;
    if (!pt_job_option(f->job, "no-symbols", 0) && posixtrace_symbols_create(dir, &f->symbols) != 0)
        return pt_job_fail(f->job, ENOMEM, "no memory for symbols");
    return 0;
}

static int work(struct folded *f)
{
    struct posixtrace_event e;
    struct thread *t;
    int error = take_options(f);

    while (!error && !f->failed && pt_job_next(f->job, &e)) {
        t = thread_of(f, &e);
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
    struct folded *f = calloc(1, sizeof *f);
    int error;

    if (!f)
        return pt_job_fail(job, ENOMEM, "no memory for the output");
    f->job = job;
    error = work(f);
    posixtrace_symbols_free(f->symbols);
    for (size_t i = 0; i < f->hash_room; i++)
        free(f->hash[i]);
    for (size_t i = 0; i < TYPES; i++)
        free(f->label[i]);
    free(f->hash);
    pt_folded_free(&f->lines);
    free(f);
    return error;
}

static const struct posixtrace_format_option options[] = {
    { "of", "waits: time in calls that wait (default); offcpu: off the processor; pairs" },
    { "debug-dir", "DIR: also look there for programs and their debug files" },
    { "no-symbols", "addresses, not functions" },
    { NULL, NULL }
};

const struct pt_format pt_format_folded = {
    .about = { .name = "folded",
               .about = "Folded stacks, for flame graphs",
               .exports = true,
               .options = options },
    .write = write_folded,
};
