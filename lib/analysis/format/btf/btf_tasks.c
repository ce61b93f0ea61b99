/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads as tasks: one instance from a thread's first event to its end, with states from its
 * context switches.  A core has one task at a time: a thread whose switch out was lost leaves when
 * another one comes.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/format/btf/btf_tasks.h"

/* ---- finding ---- */

static uint32_t hash_of(const struct posixtrace_event *e)
{
    uint64_t h = ((uint64_t)(uint32_t)e->pid << 32 | (uint32_t)e->tid) * 0x9e3779b97f4a7c15ull;

    h = (h ^ e->thread_id) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(h >> 40);
}

static bool is_of(const struct pt_btf_task *t, const struct posixtrace_event *e)
{
    return t->tid == (uint32_t)e->tid && t->thread_id == e->thread_id && t->pid == (uint32_t)e->pid;
}

static struct pt_btf_task *new_task(struct pt_btf_writer *w, const struct posixtrace_event *e)
{
    struct pt_btf_task *t = &w->tasks[w->task_table.count];
    char name[64], other[80];

    if (w->task_table.count == PT_BTF_TABLE_MAX) {
        pt_job_note(w->job, PT_BTF_NOTE_MANY, "more than %d threads", PT_BTF_TABLE_MAX);
        return NULL;
    }
    snprintf(name, sizeof name, "%.40s.%u", *e->thread_name ? e->thread_name : "thread",
             (unsigned)e->tid);
    *t = (struct pt_btf_task){ .thread_id = e->thread_id,
                               .pid = (uint32_t)e->pid,
                               .tid = (uint32_t)e->tid,
                               .cpu = -1,
                               .instance = -1,
                               .state = PT_BTF_S_TERMINATED,
                               .own_core = PT_BTF_NO_NAME,
                               .asked = PT_BTF_NO_NAME };
    t->name = pt_btf_claim(w, name);
    snprintf(other, sizeof other, "STI_%.64s", name);
    t->stimulus = pt_btf_claim(w, other);
    if (t->name == PT_BTF_NO_NAME || t->stimulus == PT_BTF_NO_NAME)
        return NULL;
    return t;
}

struct pt_btf_task *pt_btf_task_of(struct pt_btf_writer *w, const struct posixtrace_event *e)
{
    uint32_t cells = 2 * PT_BTF_TABLE_MAX, i = hash_of(e) % cells, k;
    struct pt_btf_task *t;

    if (w->last_task && is_of(w->last_task, e))
        return w->last_task;
    while ((k = w->task_table.cells[i]) && !is_of(&w->tasks[k - 1], e))
        i = (i + 1) % cells;
    t = k ? &w->tasks[k - 1] : new_task(w, e);
    if (t && !k)
        w->task_table.cells[i] = ++w->task_table.count;
    return w->last_task = t;
}

/* ---- cores ---- */

/* The name of the core where the task is, or was. */
static uint32_t core_of(struct pt_btf_writer *w, struct pt_btf_task *t)
{
    char name[100];

    if (t->cpu >= 0 && w->cores[t->cpu].name)
        return w->cores[t->cpu].name - 1;
    if (t->own_core == PT_BTF_NO_NAME) {
        snprintf(name, sizeof name, "Core_of_%.80s", w->names.texts[t->name]);
        t->own_core = pt_btf_claim(w, name);
    }
    return t->own_core == PT_BTF_NO_NAME ? t->name : t->own_core;
}

static void name_core(struct pt_btf_writer *w, int32_t cpu)
{
    char name[24];

    if (cpu < 0 || w->cores[cpu].name)
        return;
    snprintf(name, sizeof name, "Core_%d", (int)cpu);
    w->cores[cpu].name = pt_btf_claim(w, name) + 1; /* 0: none could be had */
}

static void step(struct pt_btf_writer *w, struct pt_btf_task *t, const char *action, unsigned state)
{
    pt_btf_line(w, core_of(w, t), 0, PT_BTF_T, t->name, t->instance, action, NULL);
    t->state = (uint8_t)state;
}

static void all_runnables(struct pt_btf_writer *w, struct pt_btf_task *t, const char *action,
                          bool from_the_top)
{
    for (unsigned i = 0; i < t->depth; i++) {
        const struct pt_btf_frame *f = &t->frames[from_the_top ? t->depth - 1 - i : i];

        pt_btf_line(w, t->name, t->instance, PT_BTF_R, f->name, f->instance, action, NULL);
    }
}

static void leave(struct pt_btf_writer *w, struct pt_btf_task *t, bool preempted)
{
    all_runnables(w, t, "suspend", true);
    step(w, t, preempted ? "preempt" : "wait", preempted ? PT_BTF_S_READY : PT_BTF_S_WAITING);
    if (t->cpu >= 0 && w->cores[t->cpu].task == t)
        w->cores[t->cpu].task = NULL;
}

/* ---- life ---- */

int64_t pt_btf_trigger(struct pt_btf_writer *w, uint32_t stimulus)
{
    int64_t instance = w->next_instance[stimulus]++;
    uint32_t source = stimulus;

    if (w->rules == PT_BTF_21) {
        source = pt_btf_names_put(&w->names, "SIM");
        if (source == PT_BTF_NO_NAME)
            return instance;
    }
    pt_btf_line(w, source, w->rules == PT_BTF_21 ? -1 : instance, PT_BTF_STI, stimulus, instance,
                "trigger", NULL);
    return instance;
}

static void come(struct pt_btf_writer *w, struct pt_btf_task *t, int32_t cpu)
{
    if (t->state == PT_BTF_S_WAITING)
        step(w, t, "release", PT_BTF_S_READY);
    if (cpu >= 0 && w->cores[cpu].task && w->cores[cpu].task != t)
        leave(w, w->cores[cpu].task, true);
    name_core(w, cpu);
    t->cpu = cpu >= 0 && w->cores[cpu].name ? cpu : -1;
    if (t->cpu >= 0)
        w->cores[t->cpu].task = t;
    if (t->state == PT_BTF_S_TERMINATED) {
        t->instance++;
        pt_btf_line(w, t->stimulus, pt_btf_trigger(w, t->stimulus), PT_BTF_T, t->name, t->instance,
                    "activate", NULL);
        step(w, t, "start", PT_BTF_S_RUNNING);
    } else {
        step(w, t, "resume", PT_BTF_S_RUNNING);
        all_runnables(w, t, "resume", false);
        if (t->cut)
            pt_btf_runnables_cut(w, t);
    }
}

void pt_btf_task_runs(struct pt_btf_writer *w, struct pt_btf_task *t)
{
    if (t->state != PT_BTF_S_RUNNING)
        come(w, t, t->cpu >= 0 && !w->cores[t->cpu].task ? t->cpu : -1);
}

void pt_btf_task_in(struct pt_btf_writer *w, struct pt_btf_task *t, int32_t cpu)
{
    if (t->state == PT_BTF_S_RUNNING && t->cpu == cpu)
        return;
    if (t->state == PT_BTF_S_RUNNING)
        leave(w, t, true);
    come(w, t, cpu);
}

void pt_btf_task_out(struct pt_btf_writer *w, struct pt_btf_task *t, int32_t cpu, bool preempted)
{
    if (t->state == PT_BTF_S_TERMINATED && t->instance >= 0)
        return; /* its last switch, after its end */
    if (t->state == PT_BTF_S_TERMINATED)
        come(w, t, w->cores[cpu < 0 ? 0 : cpu].task ? -1 : cpu);
    if (t->state == PT_BTF_S_RUNNING)
        leave(w, t, preempted);
}

void pt_btf_task_ends(struct pt_btf_writer *w, struct pt_btf_task *t)
{
    pt_btf_task_runs(w, t);
    all_runnables(w, t, "terminate", true);
    t->depth = 0;
    step(w, t, "terminate", PT_BTF_S_TERMINATED);
    if (t->cpu >= 0 && w->cores[t->cpu].task == t)
        w->cores[t->cpu].task = NULL;
}

/* ---- runnables ---- */

void pt_btf_runnable_starts(struct pt_btf_writer *w, struct pt_btf_task *t, uint32_t name)
{
    struct pt_btf_frame *f;

    pt_btf_task_runs(w, t);
    if (!t->frames)
        t->frames = malloc(PT_BTF_DEPTH * sizeof *t->frames);
    if (!t->frames || t->depth == PT_BTF_DEPTH) {
        pt_job_left_out(w->job, PT_BTF_NOTE_DEPTH, "more than %d begins without their ends in %s",
                        PT_BTF_DEPTH, w->names.texts[t->name]);
        return;
    }
    f = &t->frames[t->depth++];
    f->name = name;
    f->instance = w->next_instance[name]++;
    pt_btf_line(w, t->name, t->instance, PT_BTF_R, name, f->instance, "start", NULL);
}

/* A runnable that is suspended cannot terminate. */
void pt_btf_runnables_cut(struct pt_btf_writer *w, struct pt_btf_task *t)
{
    t->cut = t->depth > 0 && t->state != PT_BTF_S_RUNNING;
    if (t->cut || t->depth == 0)
        return;
    all_runnables(w, t, "terminate", true);
    t->depth = 0;
}

bool pt_btf_runnable_ends(struct pt_btf_writer *w, struct pt_btf_task *t, uint32_t name)
{
    unsigned at = t->depth;

    while (at > 0 && t->frames[at - 1].name != name)
        at--;
    if (at == 0)
        return false;
    pt_btf_task_runs(w, t);
    /* Runnables that began inside of it end with it. */
    while (t->depth >= at) {
        const struct pt_btf_frame *f = &t->frames[--t->depth];

        pt_btf_line(w, t->name, t->instance, PT_BTF_R, f->name, f->instance, "terminate", NULL);
    }
    return true;
}
