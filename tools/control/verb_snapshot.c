/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace snapshot: the events that a stream holds now, as a log, while it keeps recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/typed.h>

#include "apart/apart.h"
#include "input/log_file.h"
#include "system/atomic_file.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "control/steer.h"
#include "input/stream_find.h"
#include "common/tool.h"

enum { OUTPUT = 1, FORCE };
enum { LOSS_STEP = 4096 }; /* events */

static const struct option_spec options[] = {
    { "output", true, OUTPUT }, { "o", true, OUTPUT }, { "force", false, FORCE }, { NULL, false, 0 }
};

static const char help[] =
    "usage: posixtrace snapshot PID|STREAM -o LOG [--force]\n"
    "\n"
    "Makes a log of the events that a stream of a running process holds at this\n"
    "moment. The stream runs on, and nothing is taken out of it: with the policy LOOP\n"
    "that is a flight recorder, whose last events are looked at when they matter.\n"
    "What the stream has lost before counts as lost in the log, too.\n"
    "\n"
    "  -o, --output=LOG  the log to be made\n"
    "  --force           replace LOG if it exists\n"
    "  --help            print this\n"
    "\n" STEER_WHICH "Example: posixtrace snapshot 1234 -o now.ptl && posixtrace print now.ptl\n";

struct snapshot {
    const char *word, *path;
    bool force;
    struct posixtrace_stream stream;
    trace_id_t trid;
    uint64_t events;
    uint64_t recorded, due; /* of them by threads; and how many the stream has to give */
    uint64_t ask;           /* with so many, what was lost since is looked up again */
    struct posixtrace_info during;
    uint64_t before[POSIXTRACE_LOSS_CAUSES];
    int64_t created; /* the stream, ns */
    bool in_gap;     /* the last mark in the log is OVERFLOW */
};

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * What the stream had overwritten lies before the first event of it that is left, since when it
 * was created at the earliest: OVERFLOW and RESUME around it tell metrics that a measurement
 * there is not known, as in the log of a LOOP stream.
 */
static int put_mark(struct snapshot *s, posixtrace_log_builder_t *builder, int64_t ns)
{
    struct posixtrace_event mark = { .ns = ns,
                                     .thread_name = "",
                                     .name = s->in_gap ? "posix_trace_resume"
                                                       : "posix_trace_overflow" };
    int error = posixtrace_log_builder_add(builder, &mark, sizeof mark);

    s->in_gap = !s->in_gap;
    return error;
}

static int open_gap(struct snapshot *s, posixtrace_log_builder_t *builder, int64_t ns)
{
    if (s->before[POSIXTRACE_LOST_OVERWRITTEN] == 0)
        return 0;
    return put_mark(s, builder, s->created < ns ? s->created : ns);
}

/* One event; OVERFLOW or RESUME of the reader's own, in the gap before the first one, adds
 * nothing to it. */
static int copy_event(struct snapshot *s, posixtrace_log_builder_t *builder,
                      const struct posixtrace_event *e)
{
    int error = 0;

    if (s->in_gap && (e->id == POSIX_TRACE_OVERFLOW || e->id == POSIX_TRACE_RESUME))
        return 0;
    if (s->in_gap)
        error = put_mark(s, builder, e->ns);
    if (error == 0)
        error = posixtrace_log_builder_add(builder, e, sizeof *e);
    s->events++;
    s->recorded += e->id > POSIX_TRACE_ERROR;
    return error;
}

/* Has the stream given what it held when the snapshot began, or lost it since?  The time of an
 * event alone does not say: the clock may have been set back. */
static bool is_all(struct snapshot *s)
{
    if (s->recorded >= s->due)
        return true;
    if (s->recorded < s->ask)
        return false;
    s->ask = s->recorded + LOSS_STEP;
    return posixtrace_get_info(s->trid, &s->during, sizeof s->during) != 0 ||
           s->recorded + s->during.lost[POSIXTRACE_LOST_OVERWRITTEN] >= s->due;
}

/* Up to this moment: a stream that is written all the time has no other end. */
static int copy_events(struct snapshot *s, posixtrace_log_builder_t *builder)
{
    const int64_t until = now();
    struct posixtrace_event e;
    int64_t last = INT64_MIN;
    int none = 0, error = posixtrace_get_info(s->trid, &s->during, sizeof s->during);

    if (error != 0)
        return error;
    s->due = s->during.events;
    for (;;) {
        error = posixtrace_next_event(s->trid, &e, sizeof e, &none);
        if (error == ENXIO)
            none = 1; /* it has ended, and we have all of it */
        else if (error != 0)
            return error;
        if (none || (e.ns > until && is_all(s)))
            break;
        /* One that came late stands where it came. */
        if (e.ns < last)
            e.ns = last;
        error = last == INT64_MIN ? open_gap(s, builder, e.ns) : 0;
        if (error == 0)
            error = copy_event(s, builder, &e);
        if (error != 0)
            return error;
        last = e.ns;
    }
    error = last == INT64_MIN ? open_gap(s, builder, until) : 0;
    return error == 0 && s->in_gap ? put_mark(s, builder, until) : error;
}

/* What describes the stream's types so far. */
static int copy_descriptions(struct snapshot *s, posixtrace_log_builder_t *builder)
{
    char name[TRACE_EVENT_NAME_MAX + 1], text[POSIXTRACE_DESCRIPTION_MAX + 1];
    int end = 0, error = posix_trace_eventtypelist_rewind(s->trid);
    trace_event_id_t id;

    while (!error) {
        error = posix_trace_eventtypelist_getnext_id(s->trid, &id, &end);
        if (error || end)
            break;
        if (id > POSIX_TRACE_UNNAMED_USEREVENT &&
            posix_trace_eventid_get_name(s->trid, id, name) == 0 && name[0] &&
            posixtrace_event_description(s->trid, id, text, sizeof text) == 0)
            error = posixtrace_log_builder_describe(builder, name, text);
    }
    return error;
}

/* What the stream had lost before, and what was lost while its events were read. */
static int copy_losses(struct snapshot *s, posixtrace_log_builder_t *builder)
{
    int error = posixtrace_get_info(s->trid, &s->during, sizeof s->during);

    if (error == 0)
        error = posixtrace_log_builder_lost(builder, s->during.lost);
    return error ? error : posixtrace_log_builder_lost(builder, s->before);
}

static int build(struct snapshot *s, int fd)
{
    posixtrace_log_builder_t *builder;
    trace_attr_t attr;
    struct timespec created = { 0, 0 };
    int error = posix_trace_get_attr(s->trid, &attr), end;

    if (error == 0)
        error = posix_trace_attr_getcreatetime(&attr, &created);
    s->created = (int64_t)created.tv_sec * 1000000000 + created.tv_nsec;
    if (error == 0)
        error = posixtrace_attach_lost(s->trid, s->before);
    if (error == 0)
        error = posixtrace_log_builder_open(fd, &attr, &builder);
    if (error != 0)
        return error;
    error = copy_events(s, builder);
    if (error == 0)
        error = copy_losses(s, builder);
    if (error == 0)
        error = copy_descriptions(s, builder);
    end = posixtrace_log_builder_finish(builder);
    return error ? error : end;
}

static void report(const struct snapshot *s)
{
    uint64_t before = log_file_lost(s->before), during = log_file_lost(s->during.lost);
    struct posixtrace_info past = { .flush_error = 0 };

    out_format("%s: %" PRIu64 " event%s of stream %s\n", quote(s->path), s->events,
               s->events == 1 ? "" : "s", stream_call(&s->stream));
    memcpy(past.lost, s->before, sizeof past.lost);
    if (before > 0)
        tool_note("%" PRIu64 " earlier events lost (%s)", before, log_file_causes(&past));
    if (during > 0)
        tool_note("%" PRIu64 " events lost while it was made (%s)", during,
                  log_file_causes(&s->during));
}

/* A process of another user: a worker sends the log, and says what it is. */
static int work(struct snapshot *s)
{
    int status = stream_attach(s->word, &s->stream, &s->trid), error;

    if (status != EXIT_DONE)
        return status;
    error = build(s, apart_log_pipe());
    if (error != 0)
        status = tool_error("cannot make %s: %s; nothing was written", quote(s->path),
                            strerror(error));
    else
        report(s);
    posixtrace_detach(s->trid);
    return status;
}

static int make_apart(struct snapshot *s, pid_t target)
{
    struct atomic_file file;
    struct apart a;
    bool worker;
    int status = apart_fork(&a, target, -1, &worker), opened;

    if (worker)
        return status == EXIT_DONE ? work(s) : status;
    if (status != EXIT_DONE)
        return status;
    opened = atomic_file_open(&file, s->path, s->force);
    a.log = file.fd;
    while (opened == EXIT_DONE && apart_listen(&a))
        ;
    if (opened == EXIT_DONE && a.error)
        tool_error("cannot make %s: %s; nothing was written", quote(s->path), strerror(a.error));
    status = opened == EXIT_DONE ? apart_end(&a) : opened;
    if (status == EXIT_DONE)
        status = atomic_file_keep(&file);
    atomic_file_drop(&file);
    return status;
}

static int make(struct snapshot *s)
{
    pid_t target = stream_process(s->word);
    struct atomic_file file;
    int status, error;

    if (apart_needed(target))
        return make_apart(s, target);
    status = atomic_file_open(&file, s->path, s->force);
    if (status != EXIT_DONE)
        return status;
    status = stream_attach(s->word, &s->stream, &s->trid);
    if (status != EXIT_DONE) {
        atomic_file_drop(&file);
        return status;
    }
    error = build(s, file.fd);
    if (error != 0)
        status = tool_error("cannot make %s: %s; nothing was written", quote(s->path),
                            strerror(error));
    else
        status = atomic_file_keep(&file);
    if (status == EXIT_DONE)
        report(s);
    atomic_file_drop(&file);
    posixtrace_detach(s->trid);
    return status;
}

static int run(struct options *o)
{
    struct snapshot s = { .word = NULL };
    int code;

    while ((code = options_next(o)) != OPTION_END) {
        switch (code) {
        case OPTION_STOP: return o->status;
        case OUTPUT: s.path = o->value; break;
        case FORCE: s.force = true; break;
        default:
            if (s.word)
                return tool_usage("one stream at a time: %s and %s", quote(s.word),
                                  quote(o->value));
            s.word = o->value;
        }
    }
    if (!s.word)
        return tool_usage("no process or stream named");
    if (!s.path)
        return tool_usage("no log named: -o LOG");
    return make(&s);
}

const struct verb verb_snapshot = { "snapshot", help, options, run };
