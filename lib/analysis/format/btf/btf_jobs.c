/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See btf_jobs.h. */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf_jobs.h"

enum { JOBS_MAX = 64, CPUS = 8 * 128 };

void pt_btf_jobs_free(struct pt_btf_jobs *j)
{
    for (uint32_t i = 0; i < j->names.count && i < j->room; i++)
        free(j->entities[i].jobs);
    free(j->entities);
    pt_btf_names_free(&j->names);
}

struct pt_btf_entity *pt_btf_jobs_entity(struct pt_btf_jobs *j, const char *name)
{
    uint32_t number = pt_btf_names_put(&j->names, name);
    struct pt_btf_entity *more;

    if (number == PT_BTF_NO_NAME)
        return NULL;
    if (number < j->room)
        return &j->entities[number];
    more = realloc(j->entities, j->names.room * sizeof *more);
    if (!more)
        return NULL;
    j->entities = more;
    for (; j->room < j->names.room; j->room++)
        more[j->room] = (struct pt_btf_entity){ .type = PT_BTF_TYPES };
    return &more[number];
}

/* The thread for a new instance: one whose instance has ended, or a new one, or, if far too many
 * are alive, that of the oldest. */
static struct pt_btf_job *place_for(struct pt_btf_jobs *j, struct pt_btf_entity *e)
{
    struct pt_btf_job *oldest = e->jobs, *more;

    for (uint32_t i = 0; i < e->job_count; i++) {
        if (!e->jobs[i].alive)
            return &e->jobs[i];
        if (e->jobs[i].instance < oldest->instance)
            oldest = &e->jobs[i];
    }
    if (e->job_count == JOBS_MAX)
        return oldest;
    more = realloc(e->jobs, (e->job_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    e->jobs = more;
    more[e->job_count] = (struct pt_btf_job){ .tid = ++j->next_tid };
    return &more[e->job_count++];
}

/* The thread of a living instance of that number, or else of one that has ended. */
static struct pt_btf_job *known_job(const struct pt_btf_entity *e, int64_t instance)
{
    struct pt_btf_job *ended = NULL;

    for (uint32_t i = 0; i < e->job_count; i++)
        if (e->jobs[i].instance == instance && e->jobs[i].alive)
            return &e->jobs[i];
        else if (e->jobs[i].instance == instance && !ended)
            ended = &e->jobs[i];
    return ended;
}

struct pt_btf_job *pt_btf_jobs_job(struct pt_btf_jobs *j, struct pt_btf_entity *e, int64_t instance,
                                   enum pt_btf_mention how)
{
    struct pt_btf_job *job = known_job(e, instance);
    bool ended = e->has_ended && instance <= e->last_ended;
    bool alive = how == PT_BTF_CHANGES || (how == PT_BTF_ACTS && !ended && !job);

    if (job && (job->alive || !alive))
        return job;
    if (!job)
        job = place_for(j, e);
    if (!job || (job->alive && job->instance != instance && !alive))
        return job;
    *job = (struct pt_btf_job){
        .instance = instance, .activated = PT_BTF_NO_INSTANCE, .tid = job->tid, .alive = alive
    };
    return job;
}

void pt_btf_jobs_end(struct pt_btf_entity *e, struct pt_btf_job *job)
{
    job->alive = false;
    if (!e->has_ended || job->instance > e->last_ended)
        e->last_ended = job->instance;
    e->has_ended = true;
}

static bool take_cpu(struct pt_btf_jobs *j, unsigned long cpu)
{
    if (cpu >= CPUS || (j->cpu_used[cpu / 8] & 1u << cpu % 8))
        return false;
    j->cpu_used[cpu / 8] |= (uint8_t)(1u << cpu % 8);
    return true;
}

/* The number at the end of a core's name if no other core has it, else the next one. */
static uint32_t new_cpu(struct pt_btf_jobs *j, const char *name)
{
    const char *digits = name + strlen(name);
    unsigned long cpu;

    while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    cpu = *digits && strlen(digits) < 5 ? strtoul(digits, NULL, 10) : CPUS;
    if (take_cpu(j, cpu))
        return (uint32_t)cpu;
    while (j->next_cpu < CPUS && !take_cpu(j, j->next_cpu))
        j->next_cpu++;
    return j->next_cpu;
}

/* Tracers of FreeRTOS have the task that ran before as source, by "[core/number]name". */
static bool cpu_in_brackets(const char *name, uint32_t *cpu)
{
    char *end;
    unsigned long n;

    if (name[0] != '[' || name[1] < '0' || name[1] > '9')
        return false;
    n = strtoul(name + 1, &end, 10);
    *cpu = (uint32_t)n;
    return *end == '/' && n < CPUS;
}

uint32_t pt_btf_jobs_cpu(struct pt_btf_jobs *j, struct pt_btf_entity *source, const char *name)
{
    uint32_t cpu;

    if (!source->has_cpu && cpu_in_brackets(name, &cpu))
        return cpu;
    if (!source->has_cpu && (source->type == PT_BTF_TYPES || source->type == PT_BTF_C)) {
        source->type = PT_BTF_C;
        source->cpu = new_cpu(j, name);
        source->has_cpu = true;
    }
    return source->has_cpu ? source->cpu : 0;
}
