/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace snapshot: the events that a stream holds now, as a log, while it keeps recording.
 */
#include <inttypes.h>
#include <string.h>
#include <posixtrace/attach.h>
#include <posixtrace/log.h>

#include "apart/apart.h"
#include "input/log_file.h"
#include "system/atomic_file.h"
#include "common/options.h"
#include "common/stdout_buffer.h"
#include "control/steer.h"
#include "input/stream_find.h"
#include "common/tool.h"

enum { OUTPUT = 1, FORCE, STRICT };

static const struct option_spec options[] = { { "output", true, OUTPUT },
                                              { "o", true, OUTPUT },
                                              { "force", false, FORCE },
                                              { "strict", false, STRICT },
                                              { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace snapshot PID|STREAM -o LOG [--force] [--strict]\n"
    "\n"
    "Makes a log of the events that a stream of a running process holds at this\n"
    "moment. The stream runs on, and nothing is taken out of it: with the policy LOOP\n"
    "that is a flight recorder, whose last events are looked at when they matter.\n"
    "What the stream has lost before counts as lost in the log, too.\n"
    "\n"
    "  -o, --output=LOG  the log to be made\n"
    "  --force           replace LOG if it exists\n"
    "  --strict          exit with 3 if LOG counts lost events\n"
    "  --help            print this\n"
    "\n" STEER_WHICH "Example: posixtrace snapshot 1234 -o now.ptl && posixtrace print now.ptl\n";

struct snapshot {
    const char *word, *path;
    bool force, strict;
    struct posixtrace_stream stream;
    trace_id_t trid;
    struct posixtrace_snapshot_report made;
};

/* The exit status: the log is made. */
static int report(const struct snapshot *s)
{
    const struct posixtrace_snapshot_report *made = &s->made;
    uint64_t before = log_file_lost(made->lost_before), during = log_file_lost(made->lost_during);
    struct posixtrace_info lost = { .flush_error = 0 };

    out_format("%s: %" PRIu64 " event%s of stream %s\n", quote(s->path), made->events,
               made->events == 1 ? "" : "s", stream_call(&s->stream));
    memcpy(lost.lost, made->lost_before, sizeof lost.lost);
    if (before > 0)
        tool_note("%" PRIu64 " earlier events lost (%s)", before, log_file_causes(&lost));
    memcpy(lost.lost, made->lost_during, sizeof lost.lost);
    if (during > 0)
        tool_note("%" PRIu64 " events lost while it was made (%s)", during, log_file_causes(&lost));
    return s->strict && before + during > 0 ? EXIT_LOST : EXIT_DONE;
}

/* For a process of another user a worker sends the log, and its description. */
static int work(struct snapshot *s)
{
    int status = stream_attach(s->word, &s->stream, &s->trid), error;

    if (status != EXIT_DONE)
        return status;
    error = posixtrace_snapshot(s->trid, apart_log_pipe(), &s->made, sizeof s->made);
    if (error != 0)
        status = tool_error("cannot make %s: %s; nothing was written", quote(s->path),
                            posixtrace_error_text(error));
    else
        status = report(s);
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
    /* A worker that its user has stopped would keep our standard output open. */
    if (opened != EXIT_DONE)
        apart_kill(&a);
    while (apart_listen(&a))
        ;
    if (opened == EXIT_DONE && a.error)
        tool_error("cannot make %s: %s; nothing was written", quote(s->path), strerror(a.error));
    status = opened == EXIT_DONE ? apart_end(&a) : opened;
    if ((status == EXIT_DONE || status == EXIT_LOST) && atomic_file_keep(&file) != EXIT_DONE)
        status = EXIT_FAILED;
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
    error = posixtrace_snapshot(s->trid, file.fd, &s->made, sizeof s->made);
    if (error != 0)
        status = tool_error("cannot make %s: %s; nothing was written", quote(s->path),
                            posixtrace_error_text(error));
    else
        status = atomic_file_keep(&file);
    if (status == EXIT_DONE)
        status = report(s);
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
        case STRICT: s.strict = true; break;
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
