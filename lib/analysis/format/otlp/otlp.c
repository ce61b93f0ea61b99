/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * OpenTelemetry's OTLP in its JSON encoding (docs/formats/otlp.md): a line is an object TracesData,
 * which the collector's receiver otlpjsonfile reads, and which an OTLP/HTTP endpoint takes as the
 * body of a request.
 *
 * Slices of the timeline are spans, written when they end.  Instants are events of the innermost
 * span of their thread.
 */
#include <errno.h>
#include <posixtrace/environment.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/format/otlp/otlp.h"

static void take_first(void *self, int64_t ns)
{
    struct pt_otlp *o = self;

    o->first_ns = o->last_ns = ns;
}

static void take_track(void *self, const struct pt_tl_track *t)
{
    struct pt_otlp_thread *th = pt_otlp_thread(self, t);

    if (th)
        th->track = *t;
}

static void take_event(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev)
{
    struct pt_otlp *o = self;

    if (ev->e->ns > o->last_ns)
        o->last_ns = ev->e->ns;
    if (pt_otlp_is_context(ev))
        pt_otlp_take_context(o, t, ev);
    else if (ev->type->role >= PT_TL_IN)
        pt_job_left_out(o->job, PT_OTLP_NOTE_SWITCH,
                        "context switches are left out: no span is about a processor");
}

/* Begun again for another's sake: it is there. */
static void take_begin(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                       const struct pt_tl_event *ev)
{
    struct pt_otlp *o = self;
    struct pt_otlp_thread *th = pt_otlp_thread(o, t);

    (void)ns;
    if (ev) {
        pt_otlp_open(o, t, pt_timeline_label(o->timeline, label), ev);
    } else if (th && th->suspended > 0) {
        th->suspended--;
        if (th->suspended == 0)
            o->suspender = NULL;
    }
}

static void take_end(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                     const struct pt_tl_event *ev)
{
    const struct pt_otlp_end end = { .ns = ns, .ev = ev };
    struct pt_otlp_thread *th = pt_otlp_thread(self, t);
    struct pt_otlp *o = self;

    (void)label;
    if (!th)
        return;
    if (ev) {
        pt_otlp_close(o, th, &end);
    } else if (th->suspended < th->count) {
        th->suspended++;
        o->suspender = th;
        o->suspended_ns = ns;
    }
}

static void take_cut(void *self, const struct pt_tl_track *t, int64_t ns, uint32_t label,
                     const char *because)
{
    const struct pt_otlp_end end = { .ns = ns, .cut = because };
    struct pt_otlp_thread *th = pt_otlp_thread(self, t);

    (void)label;
    if (th)
        pt_otlp_close(self, th, &end);
}

/* A span for itself. */
static void put_single(struct pt_otlp *o, const struct pt_tl_track *t, const char *name,
                       int64_t since, const struct pt_tl_event *ev)
{
    const struct pt_otlp_end end = { .ns = ev->e->ns, .ev = ev };
    struct pt_otlp_open span = { .name = name, .since = since };

    pt_otlp_parent(pt_otlp_thread(o, t), &span.ids);
    pt_otlp_complete(o, t, since, name, since == ev->e->ns ? ev : NULL, &span.ids);
    pt_otlp_write(o, t, &span, &end);
}

static struct pt_otlp_open *innermost(struct pt_otlp *o, const struct pt_tl_track *t)
{
    struct pt_otlp_thread *th = pt_otlp_thread(o, t);
    size_t open = th ? th->count - th->suspended : 0;

    return open > 0 && !th->open[open - 1].is_thread ? &th->open[open - 1] : NULL;
}

static void take_instant(void *self, const struct pt_tl_track *t, const struct pt_tl_event *ev)
{
    struct pt_otlp *o = self;
    struct pt_otlp_open *span = innermost(o, t);

    if (pt_otlp_is_context(ev) || ev->type->role >= PT_TL_IN || pt_otlp_mark(o, ev))
        return;
    if (span)
        pt_otlp_add_event(o, span, ev);
    else if (o->instants)
        put_single(o, t, ev->type->name, ev->e->ns, ev);
    else
        pt_job_left_out(o->job, PT_OTLP_NOTE_INSTANT,
                        "events outside of all spans are left out, as '%s'; --instants=spans makes "
                        "spans of no length of them",
                        ev->type->name);
}

static void take_whole(void *self, const struct pt_tl_track *t, int64_t since, uint32_t label,
                       const struct pt_tl_event *ev)
{
    struct pt_otlp *o = self;

    put_single(o, t, pt_timeline_label(o->timeline, label), since, ev);
}

static void take_lost(void *self, const struct pt_tl_track *t, int64_t ns,
                      const uint64_t lost[POSIXTRACE_LOSS_CAUSES])
{
    (void)ns;
    pt_otlp_lost(self, t, lost);
}

/* Of a thread that has no open span, too: its context may have ended unseen. */
static void take_gap(void *self, const struct pt_tl_track *t)
{
    struct pt_otlp_thread *th = pt_otlp_thread(self, t);

    if (th)
        th->context.any = false;
}

static void end_thread(struct pt_otlp *o, struct pt_otlp_thread *th, const struct pt_otlp_end *end)
{
    pt_otlp_end_suspended(o);
    while (th->count > 0)
        pt_otlp_close(o, th, end);
}

static void take_forget(void *self, const struct pt_tl_track *t)
{
    struct pt_otlp *o = self;
    struct pt_otlp_thread **th = &o->threads[pt_timeline_index(o->timeline, t)];
    const struct pt_otlp_end end = { .ns = o->last_ns, .cut = "too many threads" };

    if (*th)
        end_thread(o, *th, &end);
    pt_otlp_thread_free(o, *th);
    *th = NULL;
}

static const struct pt_tl_ops ops = { take_first, take_track, take_begin, take_end,  take_instant,
                                      take_whole, NULL,       NULL,       take_lost, take_event,
                                      take_cut,   take_gap,   take_forget };

static int take_options(struct pt_otlp *o)
{
    const char *instants = pt_job_option(o->job, "instants", 0);
    const char *command = pt_job_option(o->job, "command", 0);

    o->service = pt_job_option(o->job, "service", 0);
    o->log_file = pt_job_option(o->job, "log", 0);
    o->instants = instants && strcmp(instants, "spans") == 0;
    o->command = command && strcmp(command, "no") != 0;
    if (instants && !o->instants && strcmp(instants, "events") != 0)
        return pt_job_fail(o->job, EINVAL, "option instants=%s: say events or spans", instants);
    if (o->command && strcmp(command, "yes") != 0 && *command)
        return pt_job_fail(o->job, EINVAL, "option command=%s: say yes or no", command);
    return 0;
}

static void read_facts(struct pt_otlp *o)
{
    struct posixtrace_environment e;

    if (posixtrace_get_environment(&e, sizeof e) == 0)
        memcpy(o->version, e.version,
               sizeof o->version < sizeof e.version ? sizeof o->version : sizeof e.version);
    o->version[sizeof o->version - 1] = '\0';
    if (posixtrace_get_info(o->job->trid, &o->info, sizeof o->info) != 0)
        memset(&o->info, 0, sizeof o->info);
}

/* Spans that are still open have not ended where the log does. */
static void finish(struct pt_otlp *o)
{
    const struct pt_otlp_end end = { .ns = o->last_ns, .open = true };

    pt_otlp_end_suspended(o);
    for (size_t i = 0; i < PT_TL_TRACKS; i++)
        if (o->threads[i])
            end_thread(o, o->threads[i], &end);
    pt_otlp_end_gaps(o);
    pt_timeline_end(o->timeline);
    pt_otlp_lines_end(o);
}

static int work(struct pt_otlp *o)
{
    if (take_options(o) != 0)
        return o->job->error;
    o->timeline = pt_timeline_new(o->job, &ops, o);
    while (o->timeline && pt_timeline_next(o->timeline) && !o->out.failed)
        pt_otlp_end_suspended(o);
    if (!o->job->error && !o->out.failed)
        finish(o);
    if (!o->job->error && o->out.failed)
        return pt_job_fail_file(o->job);
    return o->job->error;
}

static int write_otlp(struct pt_job *job)
{
    struct pt_otlp *o = calloc(1, sizeof *o);
    int error;

    if (!o)
        return pt_job_fail(job, ENOMEM, "no memory for the output");
    o->job = job;
    o->out.file = job->file;
    o->gap_ns = o->stop_ns = INT64_MIN;
    read_facts(o);
    error = pt_sites_open(&o->sites, job) ? work(o) : job->error;
    for (size_t i = 0; i < PT_TL_TRACKS; i++)
        pt_otlp_thread_free(o, o->threads[i]);
    pt_sites_close(&o->sites);
    pt_timeline_free(o->timeline);
    pt_otlp_lines_free(o);
    free(o);
    return error;
}

static const struct posixtrace_format_option options[] = {
    { "pair", "BEGIN,END or BEGIN,END,LABEL: these two events are a span; may be repeated" },
    { "pairs", "no: names as x:begin and x:end are no spans, only the pairs given are" },
    { "instants", "events: only within a span, as its events (default); spans: else as spans" },
    { "service", "NAME: service.name (the name of the process)" },
    { "log", "PATH: of the log, for posixtrace.log.file (export gives it)" },
    { "command", "yes: each span has the command that prints its events; no (default)" },
    PT_SITES_OPTIONS,
    { NULL, NULL }
};

const struct pt_format pt_format_otlp = {
    .about = { .name = "otlp",
               .about = "OpenTelemetry spans (OTLP, lines of JSON)",
               .exports = true,
               .options = options },
    .write = write_otlp,
};
