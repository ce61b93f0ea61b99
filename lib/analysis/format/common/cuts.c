/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See cuts.h. */
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>

#include "analysis/format/common/cuts.h"

static int by_numbers(const void *a, const void *b)
{
    const struct pt_cuts_thread *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static bool add_lossy(struct pt_cuts *c, const struct posixtrace_thread_info *thread)
{
    size_t count = c->lossy_count;
    struct pt_cuts_thread *more = c->lossy;

    if ((count & (count - 1)) == 0)
        more = realloc(more, (count ? 2 * count : 1) * sizeof *more);
    if (!more)
        return false;
    c->lossy = more;
    c->lossy[c->lossy_count++] = (struct pt_cuts_thread){ thread->pid, thread->tid };
    return true;
}

static uint64_t sum_of(const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += lost[i];
    return sum;
}

void pt_cuts_init(struct pt_cuts *c, const struct pt_job *job)
{
    struct posixtrace_thread_info thread;
    uint64_t total = pt_job_lost(job), sum = 0;
    int unavailable = 0;

    *c = (struct pt_cuts){ .knows_lossy = false };
    if (total == 0)
        return;
    posixtrace_threadlist_rewind(job->trid);
    while (posixtrace_threadlist_getnext(job->trid, &thread, sizeof thread, &unavailable) == 0 &&
           !unavailable) {
        uint64_t lost = thread.pid && thread.tid ? sum_of(thread.lost) : 0;

        sum += lost;
        if (lost > 0 && !add_lossy(c, &thread))
            return;
    }
    if (c->lossy_count > 0)
        qsort(c->lossy, c->lossy_count, sizeof *c->lossy, by_numbers);
    c->knows_lossy = sum == total;
}

void pt_cuts_deinit(struct pt_cuts *c)
{
    free(c->lossy);
}

/* A stream that has stopped itself counts what it loses. */
static bool is_automatic(const struct posixtrace_event *e)
{
    int number = 0;

    if (e->data_len >= sizeof number)
        memcpy(&number, e->data, sizeof number);
    return number != 0;
}

const char *pt_cuts_before(struct pt_cuts *c, const struct posixtrace_event *e, int64_t *ns)
{
    static const char lost[] = "events were lost";

    if (e->id == POSIX_TRACE_STOP && !c->stopped) {
        c->stopped = true;
        c->stop_ns = e->ns;
        c->full = is_automatic(e);
    } else if (c->stopped && (e->id > POSIX_TRACE_ERROR || e->id == POSIX_TRACE_START)) {
        c->stopped = false;
        c->all = !c->full;
        *ns = c->stop_ns;
        return c->full ? lost : "recording was stopped";
    }
    if (e->id != POSIX_TRACE_OVERFLOW && e->id != POSIX_TRACE_RESUME)
        return NULL;
    c->all = false;
    *ns = e->ns;
    return lost;
}

bool pt_cuts_apply(const struct pt_cuts *c, int32_t pid, int32_t tid)
{
    const struct pt_cuts_thread key = { pid, tid };

    return c->all || !c->knows_lossy ||
           (c->lossy_count > 0 &&
            bsearch(&key, c->lossy, c->lossy_count, sizeof key, by_numbers) != NULL);
}
