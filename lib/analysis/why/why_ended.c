/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How calls ended, which their parts do not know before: which failed, which process a wait for one
 * was for, and the channel by which a wait for work ended.
 */
#include <posixtrace/system.h>

#include "analysis/why/why_state.h"

/* A wait to write is one only if something was written before. */
static bool may_wait(const posixtrace_why_t *w, const struct pt_report_channel *c)
{
    const struct pt_why_pipe *pipe = c->side == 1 ? pt_report_map_find(&w->pipes, c->key) : NULL;

    return c->side == 0 || (pipe && pipe->calls[1].count > 0);
}

/* The channel whose other side ended a wait for work first, if one thread made all calls there. */
static struct pt_report_channel ready_channel(const posixtrace_why_t *w,
                                              const struct pt_report_thread *th,
                                              const struct pt_report_open *open)
{
    const struct pt_report_channel none = { .side = -1 };
    const struct pt_report_ready *ready = th->ready;
    struct pt_report_channel found = none;
    const struct pt_why_wake *wake, *first = NULL;
    unsigned count;

    for (unsigned i = 0; ready && ready->known && i < ready->count; i++) {
        struct pt_why_part part = { .call = open->call,
                                    .object = open->object,
                                    .channel = ready->at[i] };

        wake = pt_why_waker(pt_why_wakes(w, &part), th, open->ns, th->at, &count);
        part.channel = ready->also[i];
        if (wake && part.channel.side >= 0)
            pt_why_waker(pt_why_wakes(w, &part), th, open->ns, wake->at.from, &count);
        else
            count = 0;
        if (!wake || (count > 0 && may_wait(w, &part.channel)) || !may_wait(w, &ready->at[i]) ||
            (first && first->thread != wake->thread))
            return none;
        if (!first || wake->at.from < first->at.from)
            found = ready->at[i];
        first = !first || wake->at.from < first->at.from ? wake : first;
    }
    return found;
}

static bool is_signalled(const struct pt_report_call *call)
{
    return call->kind == POSIXTRACE_WAIT_CONDITION || call->kind == POSIXTRACE_WAIT_SEMAPHORE;
}

/* Of a part in that call: how it ended. */
static void note_end(struct pt_why_part *p, const struct pt_report_open *open, bool failed,
                     int64_t result, const struct pt_report_channel *channel)
{
    if (p->call != open->call || p->call_ns != open->ns)
        return;
    p->failed = failed;
    p->taken = !failed && is_signalled(open->call);
    p->result = result;
    if (channel->side >= 0)
        p->channel = *channel;
}

/* What its parts say of the call from now on. */
void pt_why_ended(void *context, struct pt_report_thread *th, const struct pt_report_open *open,
                  int64_t result)
{
    posixtrace_why_t *w = context;
    struct pt_why_runner *runner = pt_why_of(w, th);
    struct pt_why_part *parts = runner ? runner->parts.items : NULL;
    bool failed = open->call->subject == PT_REPORT_OBJECT ? result != 0 : result < 0;
    struct pt_report_channel channel = { .side = -1 };

    if (open->call->id == POSIXTRACE_POLL && !failed)
        channel = ready_channel(w, th, open);
    if (!failed && channel.side < 0 && open->call->subject != PT_REPORT_PROCESS &&
        !is_signalled(open->call))
        return;
    for (size_t i = parts ? runner->parts.count : 0; i > 0 && parts[i - 1].at.to > open->ns; i--)
        note_end(&parts[i - 1], open, failed, result, &channel);
    if (w->at_found && !w->at_done && pt_why_is_asked(w, th) && th->row.pid == w->at_pid)
        note_end(&w->at_part, open, failed, result, &channel);
}
