/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Entities of an imported BTF file.  A process becomes a thread with a number of its own.
 * Instances that are alive at the same time become threads of the same name, so that their
 * measurements are not mixed.  The thread of an instance that has ended is reused for the next one.
 *
 * An instance lives from the first event that changes its state, or in which it acts before any end
 * of its process was seen, to its end.  A line may also name an instance after its end (the
 * scheduler's "processterminate"), or one that never starts ("mtalimitexceeded").  Such a line
 * belongs to the instance's thread, or to a free one, and does not bring the instance to life.
 */
#ifndef PT_FORMAT_BTF_JOBS_H
#define PT_FORMAT_BTF_JOBS_H

#include "analysis/format/btf/btf.h"

struct pt_btf_job {
    int64_t instance;
    int64_t activated; /* ns; NO_INSTANCE: not seen */
    uint32_t tid;
    bool alive;
};

/* The effect of a line on the instance that it names. */
enum pt_btf_mention {
    PT_BTF_CHANGES, /* changes its state */
    PT_BTF_ACTS,    /* has it as source */
    PT_BTF_NAMES    /* neither */
};

struct pt_btf_entity {
    struct pt_btf_job *jobs;
    int64_t last_ended; /* the highest instance that has ended, if one has */
    uint32_t job_count;
    uint32_t cpu; /* of a core; of a process the last one */
    uint8_t type; /* PT_BTF_TYPES: not known yet */
    bool has_cpu, has_ended;
};

struct pt_btf_jobs {
    struct pt_btf_names names;
    struct pt_btf_entity *entities; /* by number of the name */
    uint32_t room, next_tid, next_cpu;
    uint8_t cpu_used[128]; /* a bit each */
};

void pt_btf_jobs_free(struct pt_btf_jobs *j);
/* NULL: too many, or no memory. */
struct pt_btf_entity *pt_btf_jobs_entity(struct pt_btf_jobs *j, const char *name);
/* The thread of an instance; NULL: no memory. */
struct pt_btf_job *pt_btf_jobs_job(struct pt_btf_jobs *j, struct pt_btf_entity *e, int64_t instance,
                                   enum pt_btf_mention how);
void pt_btf_jobs_end(struct pt_btf_entity *e, struct pt_btf_job *job);
/* The processor of the source of a process's event. */
uint32_t pt_btf_jobs_cpu(struct pt_btf_jobs *j, struct pt_btf_entity *source, const char *name);

#endif
