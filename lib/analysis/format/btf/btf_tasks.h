/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of a BTF export: output lines, names, threads as tasks, processors as cores, locks as
 * semaphores.  All tables are bounded.
 */
#ifndef PT_FORMAT_BTF_TASKS_H
#define PT_FORMAT_BTF_TASKS_H

#include "analysis/format/btf/btf.h"
#include "analysis/format/common/cuts.h"
#include "analysis/format/common/format.h"

enum {
    PT_BTF_OUT_BUFFER = 128 << 10,
    PT_BTF_LINE_MAX = 24 << 10,
    PT_BTF_CPUS = 4096,
    PT_BTF_DEPTH = 64,
    PT_BTF_TABLE_MAX = 16384
};

/* Kinds of notes. */
enum {
    PT_BTF_NOTE_MANY,
    PT_BTF_NOTE_DEPTH,
    PT_BTF_NOTE_DUE,
    PT_BTF_NOTE_TIME,
    PT_BTF_NOTE_LONG,
    PT_BTF_NOTE_WORDS
};

struct pt_btf_frame {
    uint32_t name; /* of the runnable */
    int64_t instance;
};

struct pt_btf_task {
    uint64_t thread_id;
    uint32_t pid, tid;
    uint32_t name, stimulus;
    uint32_t own_core; /* name of the core where its processor is not known */
    int32_t cpu;       /* where it is or was; -1: not known */
    uint8_t state;     /* enum pt_btf_state */
    uint8_t depth;
    bool cut; /* its runnables end when it runs again: events were lost meanwhile */
    int64_t instance;
    uint32_t asked;              /* the lock that it waits for, or NO_NAME */
    struct pt_btf_frame *frames; /* PT_BTF_DEPTH of them, once there is one */
};

/* A lock, semaphore or condition of a process. */
struct pt_btf_object {
    uint64_t address;
    uint32_t pid, kind;
    uint32_t name;
    uint32_t count;  /* requests that are held or wait; of counting ones: held */
    uint32_t waiter; /* of a condition: the name of the last task, or NO_NAME */
};

struct pt_btf_table { /* numbers + 1, by a hash of the key */
    uint32_t cells[2 * PT_BTF_TABLE_MAX];
    uint32_t count;
};

struct pt_btf_writer {
    struct pt_job *job;
    unsigned rules;     /* PT_BTF_21, _22 or _23 */
    uint32_t excluded;  /* types, as bits */
    int64_t base, time; /* ns since 1970; of the line, since base */
    struct pt_cuts cuts;
    struct pt_btf_names names;
    int64_t *next_instance; /* by name */
    struct pt_btf_table task_table, object_table;
    struct pt_btf_task *tasks;
    struct pt_btf_object *objects;
    struct pt_btf_task *last_task;
    struct {
        uint32_t name;
        struct pt_btf_task *task;
    } cores[PT_BTF_CPUS];
    char *out;
    size_t used;
};

/* ---- btf_output.c ---- */

void pt_btf_flush(struct pt_btf_writer *w);
/* Writes a line of at most PT_BTF_LINE_MAX bytes with all names; note may be NULL.  Nothing if the
 * type is excluded. */
void pt_btf_line(struct pt_btf_writer *w, uint32_t source, int64_t source_instance, unsigned type,
                 uint32_t target, int64_t target_instance, const char *action, const char *note);
void pt_btf_text_line(struct pt_btf_writer *w, int64_t time, const char *source,
                      int64_t source_instance, const char *type, const char *target,
                      int64_t target_instance, const char *action, const char *note);
/* A name that no other entity has: wanted, or wanted with a number appended.  NO_NAME: the tables
 * are full, which was reported. */
uint32_t pt_btf_claim(struct pt_btf_writer *w, const char *wanted);
/* Bytes that may not be in a field become '_'. */
void pt_btf_clean(char *text);

/* ---- btf_tasks.c ---- */

/* NULL: there are too many threads, which was reported. */
struct pt_btf_task *pt_btf_task_of(struct pt_btf_writer *w, const struct posixtrace_event *event);
/* A stimulus that nothing in the trace has caused. */
int64_t pt_btf_trigger(struct pt_btf_writer *w, uint32_t stimulus);
/* It has done something: so it runs, wherever. */
void pt_btf_task_runs(struct pt_btf_writer *w, struct pt_btf_task *t);
void pt_btf_task_in(struct pt_btf_writer *w, struct pt_btf_task *t, int32_t cpu);
void pt_btf_task_out(struct pt_btf_writer *w, struct pt_btf_task *t, int32_t cpu, bool preempted);
void pt_btf_task_ends(struct pt_btf_writer *w, struct pt_btf_task *t);
void pt_btf_runnable_starts(struct pt_btf_writer *w, struct pt_btf_task *t, uint32_t name);
/* Its runnables may have ended unseen; no note can say so. */
void pt_btf_runnables_cut(struct pt_btf_writer *w, struct pt_btf_task *t);
/* False: it did not run. */
bool pt_btf_runnable_ends(struct pt_btf_writer *w, struct pt_btf_task *t, uint32_t name);

/* ---- btf_locks.c ---- */

/* A system event of a lock or condition; false: it is none, or cannot be carried so. */
bool pt_btf_lock_event(struct pt_btf_writer *w, struct pt_btf_task *t,
                       const struct posixtrace_event *event);

#endif
