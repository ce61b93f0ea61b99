/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads of a QNX trace: their names, which one runs on each processor, and the system
 * events that the metrics of Linux use.  A job, to them, lasts from where a thread that
 * waited for the outside (RECEIVE, NANOSLEEP, SIGWAITINFO, INTR) is ready, to where it
 * waits so again: its wait is a sleep, due when the thread becomes ready.
 */
#include <string.h>
#include "analysis/format/qnx/kev_import.h"

enum kind { OTHER, RUNS, READY, WAITS, BLOCKED, LIFE };

static enum kind kind_of(const char *event)
{
    static const char *const outside[] = { "RECEIVE", "NANOSLEEP", "SIGWAITINFO", "INTR" };

    if (strcmp(event, "RUNNING") == 0)
        return RUNS;
    if (strcmp(event, "READY") == 0)
        return READY;
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        if (strcmp(event, outside[i]) == 0)
            return WAITS;
    if (strcmp(event, "CREATE") == 0)
        return LIFE;
    return event[0] >= '0' && event[0] <= '9' ? OTHER : BLOCKED;
}

void pt_kev_threads_init(struct pt_kev_import *im)
{
    struct pt_kev_about a;

    for (unsigned n = 0; n < PT_KEV_PROCESS; n++) {
        pt_kev_about(&im->rules, PT_KEV_PR_TH << 10 | n, &a);
        im->kind[n] = strcmp(a.label, "THREAD") == 0 ? (uint8_t)kind_of(a.event) : OTHER;
    }
}

struct pt_kev_thread *pt_kev_thread(struct pt_kev_import *im, uint32_t pid, uint32_t tid)
{
    uint64_t hash = ((uint64_t)pid << 32 | tid) * 0x9e3779b97f4a7c15u;
    uint32_t i = (uint32_t)(hash >> 40) % PT_KEV_THREADS;
    struct pt_kev_thread *t;

    for (; (t = &im->thread[i])->used; i = (i + 1) % PT_KEV_THREADS)
        if (t->pid == pid && t->tid == tid)
            return t;
    if (im->thread_count == PT_KEV_THREADS / 2) {
        pt_job_note(im->job, PT_KEV_NOTE_MANY,
                    "more than %u threads and processes: further ones "
                    "have no names, and get and lose no processor",
                    PT_KEV_THREADS / 2);
        return NULL;
    }
    im->thread_count++;
    *t = (struct pt_kev_thread){ .pid = pid, .tid = tid, .cpu = -1, .used = true };
    return t;
}

void pt_kev_threads_name(struct pt_kev_import *im, uint32_t pid, uint32_t tid, const char *name)
{
    struct pt_kev_thread *t = pt_kev_thread(im, pid, tid);
    const char *slash = tid ? NULL : strrchr(name, '/');

    if (!t)
        return;
    name = slash && slash[1] ? slash + 1 : name;
    memset(t->name, 0, sizeof t->name);
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
}

const char *pt_kev_threads_name_of(struct pt_kev_import *im, const struct pt_kev_thread *t)
{
    const struct pt_kev_thread *process;

    if (t->name[0])
        return t->name;
    process = pt_kev_thread(im, t->pid, 0);
    return process ? process->name : "";
}

void pt_kev_threads_forget(struct pt_kev_import *im)
{
    for (unsigned i = 0; i < PT_KEV_CPUS; i++) {
        if (im->running[i])
            im->running[i]->cpu = -1;
        im->running[i] = NULL;
    }
}

/* ---- system events ---- */

static bool add(struct pt_kev_import *im, const char *name, const struct pt_kev_event *e,
                const struct pt_kev_thread *t, const uint8_t *data, size_t length)
{
    struct posixtrace_event event = { .ns = e->ns,
                                      .name = name,
                                      .thread_name = pt_kev_threads_name_of(im, t),
                                      .data = data,
                                      .data_len = length,
                                      .pid = (pid_t)t->pid,
                                      .tid = (pid_t)t->tid,
                                      .thread_id = t->tid };

    return pt_job_add(im->job, &event);
}

static bool add_sleep(struct pt_kev_import *im, const char *name, const struct pt_kev_event *e,
                      const struct pt_kev_thread *t, int64_t due)
{
    uint8_t data[16] = { 0 };

    pt_kev_store(data + 8, (uint32_t)due);
    pt_kev_store(data + 12, (uint32_t)((uint64_t)due >> 32));
    return add(im, name, e, t, data, sizeof data);
}

static bool add_switch(struct pt_kev_import *im, const char *name, const struct pt_kev_event *e,
                       const struct pt_kev_thread *t, unsigned cpu)
{
    uint8_t data[4];

    pt_kev_store(data, cpu);
    return add(im, name, e, t, data, sizeof data);
}

static bool leave(struct pt_kev_import *im, const struct pt_kev_event *e, struct pt_kev_thread *t,
                  bool preempted)
{
    unsigned cpu = (unsigned)t->cpu;

    im->running[cpu] = NULL;
    t->cpu = -1;
    return add_switch(im, preempted ? "posixtrace_switch_preempted" : "posixtrace_switch_out", e, t,
                      cpu);
}

static bool come(struct pt_kev_import *im, const struct pt_kev_event *e, struct pt_kev_thread *t)
{
    unsigned cpu = pt_kev_cpu(e->header);
    int64_t due = t->ready ? t->ready_ns : e->ns;
    bool woken = t->ready || t->waits;

    if (im->running[cpu] == t)
        return true;
    if (im->running[cpu] && !leave(im, e, im->running[cpu], false))
        return false;
    if (t->cpu >= 0 && !leave(im, e, t, true))
        return false;
    im->running[cpu] = t;
    t->cpu = (int8_t)cpu;
    t->ready = t->waits = false;
    return add_switch(im, "posixtrace_switch_in", e, t, cpu) &&
           (!woken || add_sleep(im, "posixtrace_sleep_done", e, t, due));
}

static enum kind state_of(const struct pt_kev_import *im, const struct pt_kev_event *e)
{
    unsigned number = pt_kev_number(e->header);

    return !e->text && pt_kev_class(e->header) == PT_KEV_PR_TH && number < PT_KEV_PROCESS
               ? (enum kind)im->kind[number]
               : OTHER;
}

bool pt_kev_threads_before(struct pt_kev_import *im, const struct pt_kev_event *e,
                           struct pt_kev_thread *t)
{
    return state_of(im, e) != RUNS || come(im, e, t);
}

bool pt_kev_threads_after(struct pt_kev_import *im, const struct pt_kev_event *e,
                          struct pt_kev_thread *t)
{
    enum kind kind = state_of(im, e);

    if (kind == READY && t->cpu < 0 && t->waits) {
        t->waits = false;
        t->ready = true;
        t->ready_ns = e->ns;
    }
    if (kind == WAITS) {
        if (t->cpu >= 0 && !add_sleep(im, "posixtrace_sleep", e, t, 0))
            return false;
        t->waits = true;
        t->ready = false;
    } else if (kind == BLOCKED) {
        t->waits = t->ready = false;
    }
    if (t->cpu < 0 || kind == OTHER || kind == RUNS || kind == LIFE)
        return true;
    return leave(im, e, t, kind == READY);
}
