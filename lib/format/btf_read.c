/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Import of BTF.  Each line becomes an event "btf:TYPE:action" of the thread that did
 * it or that it was done to.  Beside those of processes and semaphores stand the system
 * events that the metrics of Linux use: a process gets and loses a core as a thread
 * does, its activation is the due time of a sleep that its start ends, its end the next
 * sleep; a semaphore is a mutex.
 *
 * A line that cannot be understood is told with its number and passed over, unless
 * "strict" was asked for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "format/btf_jobs.h"
#include "format/format.h"

enum { NOTE_LINE, NOTE_WORD, NOTE_PARAMETER, NOTE_MANY, NOTE_TIME };
enum { DATA_MAX = 40 << 10, PARAMETERS_MAX = 64 << 10, GARBAGE_LINES = 100 };

struct reader {
    struct pt_job *job;
    struct pt_btf_file file;
    struct pt_btf_jobs jobs;
    bool     strict;
    bool     has_base, has_events;
    int64_t  base, last_ns;
    int64_t  last_time;
    uint64_t last_line;              /* of the event before */
    uint64_t bad_lines, first_bad_line;
    char     first_bad[160];
    uint8_t  described[PT_BTF_TYPES][PT_BTF_ACTIONS_MAX];
    bool     described_other, described_parameter;
    char    *parameters;             /* before the first event: name and value, with NULs */
    size_t   parameter_bytes;
    uint8_t *data;
    size_t   length;
};

/* ---- data ---- */

static void put_text(struct reader *r, const char *text)
{
    size_t n = strlen(text) + 1;

    if (r->length + n <= DATA_MAX) {
        memcpy(r->data + r->length, text, n);
        r->length += n;
    }
}

static void put_number(uint8_t *to, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, v >>= 8)
        to[i] = (uint8_t)v;
}

static void put_instance(struct reader *r, int64_t v)
{
    if (r->length + 8 <= DATA_MAX) {
        put_number(r->data + r->length, (uint64_t)v, 8);
        r->length += 8;
    }
}

/* ---- messages ---- */

/* A line that is passed over. */
static bool bad_line(struct reader *r, uint64_t line, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
static bool bad_line(struct reader *r, uint64_t line, const char *what, ...)
{
    char words[160];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(words, sizeof words, what, arguments);
    va_end(arguments);
    if (r->bad_lines++ == 0) {
        r->first_bad_line = line;
        memcpy(r->first_bad, words, sizeof words);
    }
    if (r->strict || (!r->has_events && r->bad_lines == GARBAGE_LINES)) {
        pt_job_fail(r->job, EILSEQ, "%sline %" PRIu64 ": %s", r->strict ? "" : "not BTF: ",
                    r->strict ? line : r->first_bad_line, r->strict ? words : r->first_bad);
        return false;
    }
    pt_job_left_out(r->job, NOTE_LINE, "line %" PRIu64 ": %s: left out", line, words);
    return true;
}

/* Text of the file for a message: nothing in it steers a terminal. */
static const char *shown(const char *text, char to[48])
{
    size_t n = 0;

    for (; text[n] && n < 47; n++)
        to[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
    to[n] = '\0';
    return to;
}

/* ---- events ---- */

static bool add(struct reader *r, const char *name, int64_t ns, const struct pt_btf_job *job,
                const char *thread, const void *data, size_t length)
{
    struct posixtrace_event event = {
        .ns = ns, .name = name, .thread_name = job ? thread : "", .data = data,
        .data_len = length, .pid = 1,
        .tid = job ? (pid_t)job->tid : 0, .thread_id = job ? job->tid : 0
    };

    return pt_job_add(r->job, &event);
}

static bool add_cpu(struct reader *r, const char *name, int64_t ns, const struct pt_btf_job *job,
                    const char *thread, uint32_t cpu)
{
    uint8_t data[4];

    put_number(data, cpu, 4);
    return add(r, name, ns, job, thread, data, sizeof data);
}

static bool add_pair(struct reader *r, const char *name, int64_t ns, const struct pt_btf_job *job,
                     const char *thread, uint64_t first, int64_t second, size_t length)
{
    uint8_t data[16];

    put_number(data, first, 8);
    put_number(data + 8, (uint64_t)second, 8);
    return add(r, name, ns, job, thread, data, length);
}

/* What the metrics want to know of a process's event. */
static bool add_process(struct reader *r, const struct pt_btf_event *e, unsigned act, int64_t ns,
                        struct pt_btf_entity *process, struct pt_btf_job *job, uint32_t cpu)
{
    bool good = true;

    switch (act) {
    case PT_BTF_ACTIVATE:
        job->activated = ns;
        return true;
    case PT_BTF_START:
    case PT_BTF_RESUME:
    case PT_BTF_POLL_PARKING:
        process->cpu = cpu;
        process->has_cpu = true;
        good = add_cpu(r, "posixtrace_switch_in", ns, job, e->target, cpu);
        if (good && act == PT_BTF_START && job->activated != PT_BTF_NO_INSTANCE)
            good = add_pair(r, "posixtrace_sleep_done", ns, job, e->target, 0, job->activated, 16);
        return good;
    case PT_BTF_PREEMPT:
    case PT_BTF_PARK:
        process->cpu = cpu;
        process->has_cpu = true;
        return add_cpu(r, "posixtrace_switch_preempted", ns, job, e->target, cpu);
    case PT_BTF_TERMINATE:
        if (job->activated != PT_BTF_NO_INSTANCE)
            good = add_pair(r, "posixtrace_sleep", ns, job, e->target, 0, 0, 16);
        job->alive = false;
        return good && add_cpu(r, "posixtrace_switch_out", ns, job, e->target, cpu);
    case PT_BTF_WAIT:
        return add_cpu(r, "posixtrace_switch_out", ns, job, e->target, cpu);
    default:
        return true;
    }
}

/* A process that asks for a semaphore, has it, gives it back. */
static bool add_semaphore(struct reader *r, const struct pt_btf_event *e, unsigned act, int64_t ns,
                          const struct pt_btf_job *job)
{
    uint64_t object = 1 + pt_btf_names_find(&r->jobs.names, e->target);

    if (!job)
        return true;
    if (act == PT_BTF_REQUEST)
        return add_pair(r, "posixtrace_mutex_lock", ns, job, e->source, object, 0, 8);
    if (act == PT_BTF_ASSIGNED)
        return add_pair(r, "posixtrace_mutex_locked", ns, job, e->source, object, 0, 16);
    if (act == PT_BTF_RELEASED)
        return add_pair(r, "posixtrace_mutex_unlock", ns, job, e->source, object, 0, 8);
    return true;
}

/* The event itself: of a known action with a type of its own. */
static bool add_known(struct reader *r, const struct pt_btf_event *e,
                      const struct pt_btf_action *a, int64_t ns, const struct pt_btf_job *job,
                      const char *thread)
{
    char name[64];
    size_t row = (size_t)(a - pt_btf_actions);

    snprintf(name, sizeof name, PT_BTF_PREFIX "%s:%s", pt_btf_type_name(e->type), a->name);
    if (!r->described[e->type][row]) {
        if (!pt_job_describe(r->job, name, PT_BTF_EVENT_FIELDS))
            return false;
        r->described[e->type][row] = true;
    }
    r->length = 0;
    put_text(r, e->source);
    put_instance(r, e->source_instance);
    put_text(r, e->target);
    put_instance(r, e->target_instance);
    put_text(r, e->note);
    return add(r, name, ns, job, thread, r->data, r->length);
}

static bool add_other(struct reader *r, const struct pt_btf_event *e, int64_t ns,
                      const struct pt_btf_job *job, const char *thread)
{
    char word[48];

    pt_job_note(r->job, NOTE_WORD, "line %" PRIu64 ": %s '%s' is not known to BTF", r->file.line,
                e->type == PT_BTF_TYPES ? "type" : "event",
                shown(e->type == PT_BTF_TYPES ? e->type_name : e->action, word));
    if (!r->described_other && !pt_job_describe(r->job, PT_BTF_OTHER_EVENT, PT_BTF_OTHER_FIELDS))
        return false;
    r->described_other = true;
    r->length = 0;
    put_text(r, e->source);
    put_instance(r, e->source_instance);
    put_text(r, e->type_name);
    put_text(r, e->target);
    put_instance(r, e->target_instance);
    put_text(r, e->action);
    put_text(r, e->note);
    return add(r, PT_BTF_OTHER_EVENT, ns, job, thread, r->data, r->length);
}

/* A thread for the event: the target's, of a process, or that of a source which is one. */
static struct pt_btf_job *job_of(struct reader *r, const struct pt_btf_event *e,
                                 const struct pt_btf_action *a, struct pt_btf_entity *source,
                                 struct pt_btf_entity *target, const char **thread)
{
    bool process = e->type == PT_BTF_T || e->type == PT_BTF_I;

    if (process)
        target->type = (uint8_t)e->type;
    else if (target->type == PT_BTF_TYPES && e->type < PT_BTF_TYPES)
        target->type = (uint8_t)e->type;
    if (source->type == PT_BTF_TYPES && a && a->sources && !(a->sources & ~PT_BTF_PROCESS))
        source->type = PT_BTF_T;
    *thread = process ? e->target : e->source;
    if (process)
        return pt_btf_jobs_job(&r->jobs, target, e->target_instance);
    if (source->type == PT_BTF_T || source->type == PT_BTF_I)
        return pt_btf_jobs_job(&r->jobs, source, e->source_instance);
    return NULL;
}

static bool add_line(struct reader *r, const struct pt_btf_event *e, int64_t ns)
{
    const struct pt_btf_action *a = pt_btf_action_find(e->type, e->action, 0);
    struct pt_btf_entity *target = pt_btf_jobs_entity(&r->jobs, e->target), *source;
    struct pt_btf_job *job = NULL;
    const char *thread = "";
    char word[48];
    bool process;

    source = target ? pt_btf_jobs_entity(&r->jobs, e->source) : NULL;
    /* The table may have moved. */
    target = source ? pt_btf_jobs_entity(&r->jobs, e->target) : NULL;
    if (target)
        job = job_of(r, e, a, source, target, &thread);
    else
        pt_job_note(r->job, NOTE_MANY, "line %" PRIu64 ": more than %d entities: '%s' is of no "
                    "thread", r->file.line, PT_BTF_NAMES_MAX, shown(e->target, word));
    process = e->type == PT_BTF_T || e->type == PT_BTF_I;
    if (!(a ? add_known(r, e, a, ns, job, thread) : add_other(r, e, ns, job, thread)))
        return false;
    if (!a || !job)
        return true;
    if (!process)
        return e->type != PT_BTF_SEM || add_semaphore(r, e, a->act, ns, job);
    return add_process(r, e, a->act, ns, target, job,
                       a->act == PT_BTF_ACTIVATE ? 0
                                                 : pt_btf_jobs_cpu(&r->jobs, source, e->source));
}

/* ---- parameters ---- */

static bool add_parameter(struct reader *r, const char *name, const char *value)
{
    if (!r->described_parameter &&
        !pt_job_describe(r->job, PT_BTF_PARAMETER_EVENT, PT_BTF_PARAMETER_FIELDS))
        return false;
    r->described_parameter = true;
    r->length = 0;
    put_text(r, name);
    put_text(r, value);
    return add(r, PT_BTF_PARAMETER_EVENT, r->has_events ? r->last_ns : r->base, NULL, "", r->data,
               r->length);
}

/* Those before the first event wait for it: the date among them is the base of all times. */
static bool flush_parameters(struct reader *r)
{
    const char *at = r->parameters, *end = at + r->parameter_bytes;

    while (at < end) {
        const char *value = at + strlen(at) + 1;

        if (!add_parameter(r, at, value))
            return false;
        at = value + strlen(value) + 1;
    }
    r->parameter_bytes = 0;
    return true;
}

static bool keep_parameter(struct reader *r, const struct pt_btf_header *h)
{
    size_t name = strlen(h->name) + 1, value = strlen(h->value) + 1;

    if (value > DATA_MAX / 2 || name > DATA_MAX / 4)
        return bad_line(r, r->file.line, "a parameter that is too long");
    if (r->has_events)
        return add_parameter(r, h->name, h->value);
    if (r->parameter_bytes + name + value > PARAMETERS_MAX)
        return bad_line(r, r->file.line, "more parameters than are kept (64 KiB)");
    memcpy(r->parameters + r->parameter_bytes, h->name, name);
    memcpy(r->parameters + r->parameter_bytes + name, h->value, value);
    r->parameter_bytes += name + value;
    return true;
}

static bool take_parameter(struct reader *r, char *text)
{
    struct pt_btf_header h;
    struct pt_btf_entity *entity;
    char word[48];

    pt_btf_file_parameter(&r->file, text, &h);
    if (h.fault)
        pt_job_note(r->job, NOTE_PARAMETER, "line %" PRIu64 ": %s", r->file.line, h.fault);
    if (h.kind == PT_BTF_COMMENT || h.kind == PT_BTF_MAPPING) {
        entity = h.entity && h.type < PT_BTF_TYPES ? pt_btf_jobs_entity(&r->jobs, h.entity) : NULL;
        if (entity)
            entity->type = (uint8_t)h.type;
        return true;
    }
    if (h.kind == PT_BTF_CREATION_DATE && !r->has_events && !r->has_base) {
        r->has_base = pt_btf_date(h.value, &r->base);
        if (!r->has_base)
            pt_job_note(r->job, NOTE_PARAMETER, "line %" PRIu64 ": '%s' is no date of ISO 8601: "
                        "times begin in 1970", r->file.line, shown(h.value, word));
    }
    return keep_parameter(r, &h);
}

/* ---- lines ---- */

static bool time_of(struct reader *r, const struct pt_btf_event *e, int64_t *ns, bool *go_on)
{
    uint64_t line = r->file.line;

    *go_on = true;
    if (r->has_events && e->time < r->last_time)
        *go_on = bad_line(r, line, "time %" PRIi64 " is before %" PRIi64 " of line %" PRIu64,
                          e->time, r->last_time, r->last_line);
    else if (e->time < 0)
        *go_on = bad_line(r, line, "time %" PRIi64 " is negative", e->time);
    else if (!pt_btf_file_ns(&r->file, e->time, ns) || __builtin_add_overflow(*ns, r->base, ns))
        *go_on = bad_line(r, line, "time %" PRIi64 " is beyond the year 2262", e->time);
    else if (*ns < r->last_ns)
        *go_on = bad_line(r, line, "the time scale has changed before it");
    else
        return true;
    return false;
}

static bool take_event(struct reader *r, char *text)
{
    struct pt_btf_event e;
    const char *fault = pt_btf_file_event(&r->file, text, &e);
    int64_t ns;
    bool go_on;

    if (!fault && strlen(e.note) + strlen(e.action) + strlen(e.type_name) > DATA_MAX / 2)
        fault = "a note that is too long";
    if (fault)
        return bad_line(r, r->file.line, "%s", fault);
    if (!time_of(r, &e, &ns, &go_on))
        return go_on;
    if (r->file.divide > 1 && e.time % r->file.divide)
        pt_job_note(r->job, NOTE_TIME, "line %" PRIu64 ": picoseconds below a nanosecond are cut "
                    "off", r->file.line);
    if (!r->has_events && !flush_parameters(r))
        return false;
    if (!r->has_events && !r->file.version[0])
        pt_job_note(r->job, NOTE_PARAMETER, "there is no #version before the first event");
    r->has_events = true;
    r->last_ns = ns;
    r->last_time = e.time;
    r->last_line = r->file.line;
    return add_line(r, &e, ns);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t")] == '\0';
}

static bool take_line(struct reader *r, int kind, char *text)
{
    if (kind == PT_BTF_TOO_LONG)
        return bad_line(r, r->file.line, "longer than 128 KiB");
    if (kind == PT_BTF_HAS_NUL)
        return bad_line(r, r->file.line, "has a NUL byte");
    if (is_blank(text))
        return true;
    return text[0] == '#' ? take_parameter(r, text) : take_event(r, text);
}

static void read_lines(struct reader *r)
{
    char *text = NULL;
    int kind;

    while ((kind = pt_btf_file_next(&r->file, &text)) != PT_BTF_END) {
        if (kind < 0) {
            pt_job_fail(r->job, -kind, "cannot read behind line %" PRIu64 ": %s", r->file.line,
                        strerror(-kind));
            return;
        }
        if (!take_line(r, kind, text))
            return;
    }
    if (!r->has_events && r->bad_lines)
        pt_job_fail(r->job, EILSEQ, "not BTF: line %" PRIu64 ": %s", r->first_bad_line,
                    r->first_bad);
    else if (!r->has_events && r->file.line == 0)
        pt_job_fail(r->job, EILSEQ, "not BTF: line 1: the file is empty");
    else
        flush_parameters(r);
}

static void take_options(struct reader *r)
{
    const char *strict = pt_job_option(r->job, "strict", 0);

    r->strict = strict && strcmp(strict, "yes") == 0;
    if (strict && !r->strict && strcmp(strict, "no") != 0)
        pt_job_fail(r->job, EINVAL, "strict '%.40s': yes or no", strict);
}

int pt_btf_read(struct pt_job *job)
{
    struct reader *r = calloc(1, sizeof *r);
    int error = r ? pt_btf_file_init(&r->file, job->file) : ENOMEM;

    if (!error) {
        r->job = job;
        take_options(r);
        r->data = malloc(DATA_MAX);
        r->parameters = malloc(PARAMETERS_MAX);
        if (!r->data || !r->parameters)
            error = ENOMEM;
        else if (!job->error)
            read_lines(r);
    }
    if (r) {
        pt_btf_file_deinit(&r->file);
        pt_btf_jobs_free(&r->jobs);
        free(r->data);
        free(r->parameters);
        free(r);
    }
    return error ? pt_job_fail(job, error, "no memory") : job->error;
}
