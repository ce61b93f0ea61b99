/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Export to BTF.  Threads are tasks (btf_tasks.c), locks semaphores (btf_locks.c).  Of
 * the program's events a pair whose names end in begin and end, or the like, is a
 * runnable; another one with data writes a signal, one without triggers a stimulus.
 *
 * A log that came from BTF is written back unchanged: its "btf:" events are the lines, and the
 * system events that the import added are not written.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/system.h>
#include "analysis/format/btf/btf_vocabulary.h"
#include "analysis/format/btf/btf_write.h"

/* ---- events of the program ---- */

static const char *hex_note(struct pt_btf_export *x, const struct posixtrace_event *e)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *data = e->data;
    size_t n = e->data_len < PT_BTF_NOTE / 2 - 2 ? e->data_len : PT_BTF_NOTE / 2 - 2;
    char *to = x->note;

    if (n < e->data_len)
        pt_job_note(x->w.job, PT_BTF_NOTE_LONG, "data of '%s' is cut off at %zu bytes", e->name, n);
    *to++ = '0';
    *to++ = 'x';
    for (size_t i = 0; i < n; i++) {
        *to++ = digits[data[i] >> 4];
        *to++ = digits[data[i] & 15];
    }
    *to = '\0';
    return x->note;
}

/* Data as a note: of a single field its value, of several "a=1 b=2", else hex. */
static const char *note_of(struct pt_btf_export *x, const struct posixtrace_event *e)
{
    const posixtrace_layout_t *l = posixtrace_fields_layout(x->w.job->fields, e->id);
    size_t n;

    if (e->data_len == 0)
        return NULL;
    n = l ? posixtrace_layout_text(l, e->data, e->data_len, x->note, sizeof x->note) : 0;
    if (n == 0)
        return hex_note(x, e);
    if (n >= sizeof x->note)
        pt_job_note(x->w.job, PT_BTF_NOTE_LONG, "data of '%s' is cut off at %d bytes of text",
                    e->name, PT_BTF_NOTE - 1);
    if (posixtrace_layout_count(l) == 1 && strchr(x->note, '='))
        return strchr(x->note, '=') + 1;
    return x->note;
}

/* Events of the stream itself; their data, sets of types, means nothing elsewhere. */
static bool is_control(const struct posixtrace_event *e)
{
    return e->id < POSIXTRACE_SWITCH_IN;
}

static bool claim_once(struct pt_btf_export *x, uint32_t *name, const char *wanted)
{
    if (!*name)
        *name = pt_btf_claim(&x->w, wanted) + 1;
    return *name != 0;
}

/* An event that is neither part of a pair nor a change of state: a value that is written, or a
 * trigger.  Without a thread a stimulus writes the value. */
static bool write_plain(struct pt_btf_export *x, struct pt_btf_task *t,
                        struct pt_btf_type_use *type, const struct posixtrace_event *e)
{
    const char *note = is_control(e) ? NULL : note_of(x, e);
    char name[TRACE_EVENT_NAME_MAX + 8];
    int64_t instance;

    snprintf(name, sizeof name, t || !note ? "%s" : "%s.data", e->name);
    if (note && !claim_once(x, &type->signal, name))
        return false;
    if ((!t || !note) && !claim_once(x, &type->stimulus, e->name))
        return false;
    if (t && note) {
        pt_btf_line(&x->w, t->name, t->instance, PT_BTF_SIG, type->signal - 1, 0, "write", note);
    } else if (t) {
        instance = x->w.next_instance[type->stimulus - 1]++;
        pt_btf_line(&x->w, t->name, t->instance, PT_BTF_STI, type->stimulus - 1, instance,
                    "trigger", NULL);
    } else {
        instance = pt_btf_trigger(&x->w, type->stimulus - 1);
        if (note)
            pt_btf_line(&x->w, type->stimulus - 1, instance, PT_BTF_SIG, type->signal - 1, 0,
                        "write", note);
    }
    return true;
}

static uint32_t u32_of(const struct posixtrace_event *e)
{
    uint32_t v = 0;

    if (e->data_len == sizeof v)
        memcpy(&v, e->data, sizeof v);
    return v;
}

static int32_t cpu_of(const struct posixtrace_event *e)
{
    uint32_t cpu = u32_of(e);

    return e->data_len == sizeof cpu && cpu < PT_BTF_CPUS ? (int32_t)cpu : -1;
}

/* A call that waits, or a handler, as a runnable of that name. */
static bool write_call(struct pt_btf_export *x, struct pt_btf_task *t, const char *name,
                       bool starts)
{
    uint32_t number = pt_btf_names_put(&x->stems, name);

    if (number == PT_BTF_NO_NAME || !claim_once(x, &x->runnables[number], name))
        return false;
    if (!starts)
        return pt_btf_runnable_ends(&x->w, t, x->runnables[number] - 1);
    pt_btf_runnable_starts(&x->w, t, x->runnables[number] - 1);
    return true;
}

/* The calls that wait and are no semaphore or event of BTF; false: it is another event. */
static bool write_wait(struct pt_btf_export *x, struct pt_btf_task *t,
                       const struct posixtrace_event *e)
{
    static const struct {
        trace_event_id_t begin; /* the next one is the end */
        const char *name;
    } waits[] = { { POSIXTRACE_SLEEP, "sleep" },
                  { POSIXTRACE_IO, "io" },
                  { POSIXTRACE_POLL, "poll" },
                  { POSIXTRACE_BARRIER_WAIT, "barrier" },
                  { POSIXTRACE_FILE_LOCK, "file_lock" },
                  { POSIXTRACE_FUTEX_WAIT, "futex" },
                  { POSIXTRACE_THREAD_JOIN, "thread_join" },
                  { POSIXTRACE_CHILD_WAIT, "child_wait" },
                  { POSIXTRACE_SIGNAL_WAIT, "signal_wait" } };

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (e->id == waits[i].begin || e->id == waits[i].begin + 1)
            return write_call(x, t, waits[i].name, e->id == waits[i].begin);
    return false;
}

/* The system events that have a meaning in BTF; false: carry it like any other. */
static bool write_system(struct pt_btf_export *x, struct pt_btf_task *t,
                         const struct posixtrace_event *e)
{
    char name[32];

    switch (e->id) {
    case POSIXTRACE_SWITCH_IN: pt_btf_task_in(&x->w, t, cpu_of(e)); return true;
    case POSIXTRACE_SWITCH_OUT:
    case POSIXTRACE_SWITCH_PREEMPTED:
        pt_btf_task_out(&x->w, t, cpu_of(e), e->id == POSIXTRACE_SWITCH_PREEMPTED);
        return true;
    case POSIXTRACE_THREAD_BEGIN: pt_btf_task_runs(&x->w, t); return true;
    case POSIXTRACE_THREAD_END: pt_btf_task_ends(&x->w, t); return true;
    default: break;
    }
    pt_btf_task_runs(&x->w, t);
    switch (e->id) {
    case POSIXTRACE_SLEEP:
        if (!x->told_due)
            pt_job_note(x->w.job, PT_BTF_NOTE_DUE, "due times of sleeps are not carried over");
        x->told_due = true;
        return write_call(x, t, "sleep", true);
    case POSIXTRACE_SIGNAL_BEGIN:
    case POSIXTRACE_SIGNAL_END:
        snprintf(name, sizeof name, "signal_%" PRIu32, u32_of(e));
        return write_call(x, t, name, e->id == POSIXTRACE_SIGNAL_BEGIN);
    default: return write_wait(x, t, e) || pt_btf_lock_event(&x->w, t, e);
    }
}

/* START and STOP have a line of their own up to 2.1.5. */
static bool write_control(struct pt_btf_export *x, const struct posixtrace_event *e)
{
    uint32_t sim, system;

    if (x->w.rules != PT_BTF_21 || (e->id != POSIX_TRACE_START && e->id != POSIX_TRACE_STOP))
        return false;
    sim = pt_btf_names_put(&x->w.names, "SIM");
    system = pt_btf_names_put(&x->w.names, "SYSTEM");
    if (sim == PT_BTF_NO_NAME || system == PT_BTF_NO_NAME)
        return false;
    pt_btf_line(&x->w, sim, -1, PT_BTF_SYS, system, 0,
                e->id == POSIX_TRACE_START ? "start" : "stop", NULL);
    return true;
}

static bool write_thread_event(struct pt_btf_export *x, struct pt_btf_task *t,
                               struct pt_btf_type_use *type, const struct posixtrace_event *e)
{
    if (e->id >= POSIXTRACE_SWITCH_IN && e->id < POSIX_TRACE_UNNAMED_USEREVENT &&
        write_system(x, t, e))
        return true;
    pt_btf_task_runs(&x->w, t);
    if (type->use == PT_BTF_ENDS && pt_btf_runnable_ends(&x->w, t, type->runnable))
        return e->data_len == 0 || write_plain(x, t, type, e);
    if (type->use != PT_BTF_BEGINS)
        return write_plain(x, t, type, e);
    pt_btf_runnable_starts(&x->w, t, type->runnable);
    return e->data_len == 0 || write_plain(x, t, type, e);
}

/* Runnables that may have ended unseen end: before the time of the event, where recording was
 * stopped, else at it. */
static void cut(struct pt_btf_export *x)
{
    for (uint32_t i = 0; i < x->w.task_table.count; i++) {
        struct pt_btf_task *t = &x->w.tasks[i];

        if (t->depth > 0 && pt_cuts_apply(&x->w.cuts, (int32_t)t->pid, (int32_t)t->tid))
            pt_btf_runnables_cut(&x->w, t);
    }
}

static void set_time(struct pt_btf_export *x, const struct posixtrace_event *e)
{
    int64_t cut_ns = 0;
    bool cuts = pt_cuts_before(&x->w.cuts, e, &cut_ns) != NULL, before = cuts && cut_ns < e->ns;

    if (before)
        cut(x);
    if (e->ns - x->w.base < x->w.time)
        pt_job_note(x->w.job, PT_BTF_NOTE_TIME,
                    "an event that was delivered late stands at the "
                    "time of the one before it");
    else
        x->w.time = e->ns - x->w.base;
    if (cuts && !before)
        cut(x);
}

/* False: it could not be carried over. */
static bool write_event(struct pt_btf_export *x, const struct posixtrace_event *e)
{
    struct pt_btf_type_use *type = pt_btf_type_of(x, e);
    struct pt_btf_task *t;
    bool of_thread = !is_control(e) && (e->tid != 0 || e->thread_id != 0);

    if (type->use == PT_BTF_A_PARAMETER) {
        pt_btf_passthrough_parameter(x, e);
        return true;
    }
    if (!x->began)
        pt_btf_begin(x, e->ns);
    set_time(x, e);
    if (type->use == PT_BTF_A_LINE || type->use == PT_BTF_LINE_OTHER)
        return pt_btf_passthrough_line(x, e, type->use == PT_BTF_LINE_OTHER);
    if (x->from_btf && e->id >= POSIXTRACE_SWITCH_IN && e->id < POSIX_TRACE_UNNAMED_USEREVENT)
        return true;
    if (!of_thread)
        return write_control(x, e) || write_plain(x, NULL, type, e);
    t = pt_btf_task_of(&x->w, e);
    return t && write_thread_event(x, t, type, e);
}

static int take_options(struct pt_btf_export *x)
{
    static const struct {
        const char *name;
        unsigned rules;
    } versions[] = { { "2.1.5", PT_BTF_21 }, { "2.2.1", PT_BTF_22 }, { "2.3.0", PT_BTF_23 } };
    const char *version = pt_job_option(x->w.job, "version", 0), *type;

    x->version_given = version != NULL;
    x->w.rules = version ? 0 : PT_BTF_22;
    for (size_t i = 0; version && i < sizeof versions / sizeof *versions; i++)
        if (strcmp(version, versions[i].name) == 0)
            x->w.rules = versions[i].rules;
    if (!x->w.rules)
        return pt_job_fail(x->w.job, EINVAL,
                           "version '%.40s': BTF can be written in version "
                           "2.1.5, 2.2.1 or 2.3.0",
                           version);
    for (size_t i = 0; (type = pt_job_option(x->w.job, "exclude", i)); i++) {
        unsigned known = pt_btf_type_find(type);

        if (known == PT_BTF_TYPES)
            return pt_job_fail(x->w.job, EINVAL,
                               "exclude '%.40s': not an entity type of BTF; "
                               "T, I, R, STI, SIG, SEM, EVENT and so on are",
                               type);
        x->w.excluded |= PT_BTF_BIT(known);
    }
    return 0;
}

static int make_tables(struct pt_btf_export *x)
{
    x->w.out = malloc(PT_BTF_OUT_BUFFER);
    x->w.tasks = calloc(PT_BTF_TABLE_MAX, sizeof *x->w.tasks);
    x->w.objects = calloc(PT_BTF_TABLE_MAX, sizeof *x->w.objects);
    x->w.next_instance = calloc(PT_BTF_NAMES_MAX, sizeof *x->w.next_instance);
    x->runnables = calloc(PT_BTF_NAMES_MAX, sizeof *x->runnables);
    return x->w.out && x->w.tasks && x->w.objects && x->w.next_instance && x->runnables
               ? 0
               : pt_job_fail(x->w.job, ENOMEM, "no memory");
}

static void free_tables(struct pt_btf_export *x)
{
    for (uint32_t i = 0; x->w.tasks && i < x->w.task_table.count; i++)
        free(x->w.tasks[i].frames);
    free(x->w.out);
    free(x->w.tasks);
    free(x->w.objects);
    free(x->w.next_instance);
    free(x->runnables);
    pt_btf_names_free(&x->w.names);
    pt_btf_names_free(&x->stems);
}

static void write_events(struct pt_btf_export *x)
{
    struct posixtrace_event event;

    while (pt_job_next(x->w.job, &event)) {
        if (!write_event(x, &event))
            pt_job_left_out(x->w.job, PT_BTF_NOTE_WORDS,
                            "an event '%.60s' could not be carried "
                            "over",
                            event.name);
    }
    if (!x->began && !x->w.job->error)
        pt_btf_begin(x, x->w.base);
    pt_btf_flush(&x->w);
}

int pt_btf_write(struct pt_job *job)
{
    struct pt_btf_export *x = calloc(1, sizeof *x);

    if (!x)
        return pt_job_fail(job, ENOMEM, "no memory");
    x->w.job = job;
    pt_cuts_init(&x->w.cuts, job);
    if (take_options(x) == 0 && make_tables(x) == 0)
        write_events(x);
    pt_cuts_deinit(&x->w.cuts);
    free_tables(x);
    free(x);
    return job->error;
}
