/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Jobs gathered by rule and thread; see jobs.h. */
#include "jobs/jobs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>

#include "common/tool.h"

enum { BEFORE = 5, AFTER = 2 }; /* shares before and after the kinds of waits */

/* ---- shares ---- */

static unsigned wait_kinds(void)
{
    unsigned kinds = 0;

    while (posixtrace_wait_text(kinds))
        kinds++;
    return kinds;
}

const char *jobs_share_name(unsigned i)
{
    static const char *const before[BEFORE] = { "late", "wake-up", "run", "system", "preempted" };
    static const char *const after[AFTER] = { "other waits", "unknown" };
    unsigned kinds = wait_kinds();

    if (i < BEFORE)
        return before[i];
    if (i < BEFORE + kinds)
        return posixtrace_wait_text(i - BEFORE);
    return i < BEFORE + kinds + AFTER ? after[i - BEFORE - kinds] : NULL;
}

const char *jobs_share_key(unsigned i)
{
    static const char *const before[BEFORE] = { "late_ns", "wakeup_ns", "run_ns", "system_ns",
                                                "runnable_ns" };
    static char text[32];
    const char *name = jobs_share_name(i);
    size_t used = 0;

    if (i < BEFORE)
        return before[i];
    if (i == BEFORE + wait_kinds())
        name = "other_waits";
    for (; *name && used < sizeof text - 4; name++)
        if (*name != '/')
            text[used++] = (char)(*name == ' ' ? '_' : tolower((unsigned char)*name));
    strcpy(text + used, "_ns");
    return text;
}

int64_t jobs_share(const struct posixtrace_job *job, unsigned i)
{
    const int64_t before[BEFORE] = { job->late_ns, job->wakeup_ns, job->run_ns, job->system_ns,
                                     job->runnable_ns };
    unsigned kinds = wait_kinds();

    if (i < BEFORE)
        return before[i];
    if (i < BEFORE + kinds)
        return job->wait_ns[i - BEFORE];
    return i == BEFORE + kinds ? job->unnamed_ns : job->unknown_ns;
}

/* ---- rows ---- */

static struct jobs_row *row_of(struct jobs_view *v, const struct posixtrace_job *job)
{
    for (size_t i = v->count; i > 0; i--) {
        struct jobs_row *row = &v->rows[i - 1];

        if (row->rule == job->rule && row->pid == job->pid && row->tid == job->tid &&
            row->thread_id == job->thread_id)
            return row;
    }
    if (v->count == v->room) {
        v->room = v->room ? 2 * v->room : 64;
        v->rows = tool_grow(v->rows, v->room, sizeof *v->rows);
    }
    v->rows[v->count] = (struct jobs_row){
        .rule = job->rule, .pid = job->pid, .tid = job->tid, .thread_id = job->thread_id
    };
    return &v->rows[v->count++];
}

static int add_to(posixtrace_statistics_t **statistics, int64_t ns)
{
    if (!*statistics && posixtrace_statistics_create(statistics) != 0)
        return ENOMEM;
    return posixtrace_statistics_add(*statistics, ns);
}

static int64_t length_of(const struct posixtrace_job *job)
{
    return job->end_ns - job->begin_ns;
}

static void keep_worst(struct jobs_row *row, size_t most, const struct posixtrace_job *job)
{
    size_t place = row->worst_count;

    while (place > 0 && length_of(&row->worst[place - 1]) < length_of(job))
        place--;
    if (place == most)
        return;
    if (row->worst_count < most) {
        row->worst = tool_grow(row->worst, row->worst_count + 1, sizeof *row->worst);
        row->worst_count++;
    }
    memmove(row->worst + place + 1, row->worst + place,
            (row->worst_count - place - 1) * sizeof *row->worst);
    row->worst[place] = *job;
}

int jobs_rows_add(struct jobs_view *v, const struct posixtrace_job *job)
{
    struct jobs_row *row = row_of(v, job);
    int error = 0;

    if (!row->response || length_of(job) > length_of(&row->longest))
        row->longest = *job;
    error = add_to(&row->response, length_of(job));
    if (error == 0 && job->period_ns >= 0)
        error = add_to(&row->period, job->period_ns);
    if (error == 0 && job->due)
        error = add_to(&row->wakeup, job->woken_ns - job->begin_ns);
    for (unsigned i = 0; jobs_share_name(i); i++)
        row->shares[i] += (double)jobs_share(job, i);
    row->switches += job->switches;
    row->preemptions += job->preemptions;
    if (job->switches > row->most_switches)
        row->most_switches = job->switches;
    if (job->preemptions > row->most_preemptions)
        row->most_preemptions = job->preemptions;
    row->without_switches |= !job->by_switches;
    keep_worst(row, v->request->form.worst, job);
    return error;
}

static int by_thread(const void *a, const void *b)
{
    const struct jobs_row *x = a, *y = b;

    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->thread_id < y->thread_id ? -1 : x->thread_id > y->thread_id;
}

static void take_name(struct jobs_view *v, const struct posixtrace_thread_info *t)
{
    for (size_t i = 0; i < v->count; i++) {
        struct jobs_row *row = &v->rows[i];

        if (row->pid == t->pid && row->tid == t->tid &&
            (row->thread_id == t->thread_id || !row->name[0]))
            memcpy(row->name, t->name, sizeof row->name);
    }
}

void jobs_rows_end(struct jobs_view *v)
{
    struct posixtrace_thread_info t;
    int unavailable = 0;

    posixtrace_threadlist_rewind(v->log->trid);
    while (posixtrace_threadlist_getnext(v->log->trid, &t, sizeof t, &unavailable) == 0 &&
           !unavailable) {
        t.name[sizeof t.name - 1] = '\0';
        take_name(v, &t);
    }
    if (v->count > 0)
        qsort(v->rows, v->count, sizeof *v->rows, by_thread);
}

static void deinit(struct jobs_row *row)
{
    posixtrace_statistics_free(row->response);
    posixtrace_statistics_free(row->period);
    posixtrace_statistics_free(row->wakeup);
    free(row->worst);
}

void jobs_rows_free(struct jobs_view *v)
{
    for (size_t i = 0; i < v->count; i++)
        deinit(&v->rows[i]);
    free(v->rows);
}

void jobs_row_free(struct jobs_row *row)
{
    if (row)
        deinit(row);
    free(row);
}

/* ---- over threads ---- */

static void merge_statistics(posixtrace_statistics_t **to, const posixtrace_statistics_t *from)
{
    if (from && (*to || posixtrace_statistics_create(to) == 0))
        posixtrace_statistics_merge(*to, from);
}

static void merge(struct jobs_row *to, const struct jobs_row *from)
{
    if (!to->response || length_of(&from->longest) > length_of(&to->longest))
        to->longest = from->longest;
    merge_statistics(&to->response, from->response);
    merge_statistics(&to->period, from->period);
    merge_statistics(&to->wakeup, from->wakeup);
    for (unsigned i = 0; i < JOBS_SHARES; i++)
        to->shares[i] += from->shares[i];
    to->switches += from->switches;
    to->preemptions += from->preemptions;
    if (from->most_switches > to->most_switches)
        to->most_switches = from->most_switches;
    if (from->most_preemptions > to->most_preemptions)
        to->most_preemptions = from->most_preemptions;
    to->without_switches |= from->without_switches;
}

struct jobs_row *jobs_rows_all(const struct jobs_view *v, size_t rule)
{
    struct jobs_row *all = tool_grow(NULL, 1, sizeof *all);
    size_t count = 0;

    *all = (struct jobs_row){ .rule = rule };
    for (size_t i = 0; i < v->count; i++)
        count += v->rows[i].rule == rule;
    for (size_t i = 0; count > 1 && i < v->count; i++)
        if (v->rows[i].rule == rule)
            merge(all, &v->rows[i]);
    if (count > 1)
        return all;
    free(all);
    return NULL;
}

static int longest_first(const void *a, const void *b)
{
    const struct posixtrace_job *x = a, *y = b;

    if (length_of(x) != length_of(y))
        return length_of(x) > length_of(y) ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

size_t jobs_rows_worst(const struct jobs_view *v, size_t rule, struct posixtrace_job **list)
{
    size_t count = 0;

    *list = NULL;
    for (size_t i = 0; i < v->count; i++) {
        const struct jobs_row *row = &v->rows[i];

        if (row->rule != rule)
            continue;
        *list = tool_grow(*list, count + row->worst_count + 1, sizeof **list);
        if (row->worst_count > 0)
            memcpy(*list + count, row->worst, row->worst_count * sizeof **list);
        count += row->worst_count;
    }
    if (count > 0)
        qsort(*list, count, sizeof **list, longest_first);
    return count < v->request->form.worst ? count : v->request->form.worst;
}

const char *jobs_thread_name(const struct jobs_view *v, const struct posixtrace_job *job)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct jobs_row *row = &v->rows[i];

        if (row->pid == job->pid && row->tid == job->tid && row->thread_id == job->thread_id)
            return row->name;
    }
    return "";
}

int64_t jobs_jitter(const struct jobs_row *row)
{
    struct posixtrace_summary s;

    posixtrace_statistics_summary(row->wakeup, &s, sizeof s);
    return s.max_ns - s.min_ns;
}
