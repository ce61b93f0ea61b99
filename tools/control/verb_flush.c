/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace flush: has the process that writes a log write the events in memory,
 * and waits until it has.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <posixtrace/attach.h>

#include "common/options.h"
#include "control/steer.h"
#include "input/stream_find.h"
#include "common/tool.h"

enum { PATIENCE_S = 10 };

static const struct option_spec options[] = { { NULL, false, 0 } };

static const char help[] =
    "usage: posixtrace flush PID|STREAM\n"
    "\n"
    "Asks the process that created the stream to write the events in memory to its\n"
    "log, as posix_trace_flush() in it does, and waits until that is done. A stream\n"
    "without log cannot be flushed; 'posixtrace snapshot' makes a log of its events.\n"
    "\n"
    "  --help  print this\n"
    "\n" STEER_WHICH "Example: posixtrace flush 1234\n";

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The status of a stream cannot be waited for; a flush takes milliseconds. */
static int wait_until_flushed(const struct posixtrace_stream *stream, trace_id_t trid)
{
    const struct timespec pause = { 0, 5000000 };
    struct posix_trace_status_info status;
    double until = now() + PATIENCE_S;

    for (;;) {
        int error = posix_trace_get_status(trid, &status);

        if (error != 0)
            return stream_error(stream, "look at", error);
        if (status.posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING)
            break;
        if (now() > until)
            return tool_error("process %d has not flushed %s for %d s; is it stopped?",
                              (int)stream->owner, stream_call(stream), PATIENCE_S);
        nanosleep(&pause, NULL);
    }
    if (status.posix_stream_flush_error)
        return tool_error("process %d could not write %s: %s", (int)stream->owner,
                          quote(stream->log_path), strerror(status.posix_stream_flush_error));
    return EXIT_DONE;
}

static int flush(const struct posixtrace_stream *stream, trace_id_t trid, const char *word)
{
    int error = posix_trace_flush(trid);

    if (error == EINVAL)
        return tool_error("%s has no log; 'posixtrace snapshot %s -o LOG' makes one of what it "
                          "holds",
                          stream_call(stream), word);
    return error ? stream_error(stream, "flush", error) : wait_until_flushed(stream, trid);
}

static int run(struct options *o)
{
    return steer(o, flush);
}

const struct verb verb_flush = { "flush", help, options, run };
