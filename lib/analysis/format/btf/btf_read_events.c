/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The events of lines and parameters of a BTF file: one with the contents of the line, and those
 * for metrics (btf_read.c).
 */
#include <inttypes.h>
#include <string.h>
#include "analysis/format/btf/btf_read.h"
#include "analysis/format/common/format.h"

static void put_text(struct pt_btf_reader *r, const char *text)
{
    size_t n = strlen(text) + 1;

    if (r->length + n <= PT_BTF_DATA_MAX) {
        memcpy(r->data + r->length, text, n);
        r->length += n;
    }
}

static void put_number(uint8_t *to, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, v >>= 8)
        to[i] = (uint8_t)v;
}

static void put_instance(struct pt_btf_reader *r, int64_t v)
{
    if (r->length + 8 <= PT_BTF_DATA_MAX) {
        put_number(r->data + r->length, (uint64_t)v, 8);
        r->length += 8;
    }
}

const char *pt_btf_shown(const char *text, char to[48])
{
    size_t n = 0;

    for (; text[n] && n < 47; n++)
        to[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
    to[n] = '\0';
    return to;
}

static bool add(struct pt_btf_reader *r, const char *name, int64_t ns, const struct pt_btf_job *job,
                const char *thread, const void *data, size_t length)
{
    struct posixtrace_event event = { .ns = ns,
                                      .name = name,
                                      .thread_name = job ? thread : "",
                                      .data = data,
                                      .data_len = length,
                                      .pid = 1,
                                      .tid = job ? (pid_t)job->tid : 0,
                                      .thread_id = job ? job->tid : 0 };

    return pt_job_add(r->job, &event);
}

static bool add_cpu(struct pt_btf_reader *r, const char *name, int64_t ns,
                    const struct pt_btf_job *job, const char *thread, uint32_t cpu)
{
    uint8_t data[4];

    put_number(data, cpu, 4);
    return add(r, name, ns, job, thread, data, sizeof data);
}

static bool add_pair(struct pt_btf_reader *r, const char *name, int64_t ns,
                     const struct pt_btf_job *job, const char *thread, uint64_t first,
                     int64_t second, size_t length)
{
    uint8_t data[16];

    put_number(data, first, 8);
    put_number(data + 8, (uint64_t)second, 8);
    return add(r, name, ns, job, thread, data, length);
}

/* Adds the system events that metrics need for an event of a process. */
static bool add_process(struct pt_btf_reader *r, const struct pt_btf_event *e, unsigned act,
                        int64_t ns, struct pt_btf_entity *process, struct pt_btf_job *job,
                        uint32_t cpu)
{
    bool good = true;

    switch (act) {
    case PT_BTF_ACTIVATE: job->activated = ns; return true;
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
        pt_btf_jobs_end(process, job);
        return good && add_cpu(r, "posixtrace_switch_out", ns, job, e->target, cpu);
    case PT_BTF_WAIT: return add_cpu(r, "posixtrace_switch_out", ns, job, e->target, cpu);
    default: return true;
    }
}

/* A process that asks for a semaphore, has it, gives it back. */
static bool add_semaphore(struct pt_btf_reader *r, const struct pt_btf_event *e, unsigned act,
                          int64_t ns, const struct pt_btf_job *job)
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
static bool add_known(struct pt_btf_reader *r, const struct pt_btf_event *e,
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

static bool add_other(struct pt_btf_reader *r, const struct pt_btf_event *e, int64_t ns,
                      const struct pt_btf_job *job, const char *thread)
{
    char word[48];

    pt_job_note(r->job, PT_BTF_READ_WORD, "line %" PRIu64 ": %s '%s' is not known to BTF", r->line,
                e->type == PT_BTF_TYPES ? "type" : "event",
                pt_btf_shown(e->type == PT_BTF_TYPES ? e->type_name : e->action, word));
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
static struct pt_btf_job *job_of(struct pt_btf_reader *r, const struct pt_btf_event *e,
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
        return pt_btf_jobs_job(&r->jobs, target, e->target_instance,
                               a && a->act <= PT_BTF_RELEASE_PARKING ? PT_BTF_CHANGES
                                                                     : PT_BTF_NAMES);
    if (source->type == PT_BTF_T || source->type == PT_BTF_I)
        return pt_btf_jobs_job(&r->jobs, source, e->source_instance, PT_BTF_ACTS);
    return NULL;
}

bool pt_btf_reader_event(struct pt_btf_reader *r, const struct pt_btf_event *e, int64_t ns)
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
        pt_job_note(r->job, PT_BTF_READ_MANY,
                    "line %" PRIu64 ": more than %d entities: '%s' is of "
                    "no thread",
                    r->line, PT_BTF_NAMES_MAX, pt_btf_shown(e->target, word));
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

bool pt_btf_reader_parameter(struct pt_btf_reader *r, const char *name, const char *value,
                             int64_t ns)
{
    if (!r->described_parameter &&
        !pt_job_describe(r->job, PT_BTF_PARAMETER_EVENT, PT_BTF_PARAMETER_FIELDS))
        return false;
    r->described_parameter = true;
    r->length = 0;
    put_text(r, name);
    put_text(r, value);
    return add(r, PT_BTF_PARAMETER_EVENT, ns, NULL, "", r->data, r->length);
}
