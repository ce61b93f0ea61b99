/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See btf_jobs.h. */
#include <stdlib.h>
#include <string.h>
#include "format/btf_jobs.h"

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

/* Where a new instance goes: a thread whose instance has ended, or a new one, or, where
 * far too many are alive, that of the oldest. */
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
    more[e->job_count].tid = ++j->next_tid;
    return &more[e->job_count++];
}

struct pt_btf_job *pt_btf_jobs_job(struct pt_btf_jobs *j, struct pt_btf_entity *e,
                                   int64_t instance)
{
    struct pt_btf_job *job;

    for (uint32_t i = 0; i < e->job_count; i++)
        if (e->jobs[i].alive && e->jobs[i].instance == instance)
            return &e->jobs[i];
    job = place_for(j, e);
    if (job)
        *job = (struct pt_btf_job){ .instance = instance, .activated = PT_BTF_NO_INSTANCE,
                                    .tid = job->tid, .alive = true };
    return job;
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
