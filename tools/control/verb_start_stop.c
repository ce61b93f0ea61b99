/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace start and stop; and what they share with flush, see steer.h.
 */
#include "control/steer.h"

#include <stddef.h>
#include <trace.h>
#include <posixtrace/attach.h>

#include "common/options.h"
#include "input/stream_find.h"
#include "common/tool.h"

/* The operand alone; EXIT_DONE, or the status to end with. */
static int read_operand(struct options *o, const char **word)
{
    int code;

    *word = NULL;
    while ((code = options_next(o)) != OPTION_END) {
        if (code == OPTION_STOP) {
            *word = NULL;
            return o->status;
        }
        if (*word)
            return tool_usage("one stream at a time: %s and %s", quote(*word), quote(o->value));
        *word = o->value;
    }
    return *word ? EXIT_DONE : tool_usage("no process or stream named");
}

int steer(struct options *o,
          int (*act)(const struct posixtrace_stream *stream, trace_id_t trid, const char *word))
{
    struct posixtrace_stream stream;
    const char *word;
    trace_id_t trid;
    int status = read_operand(o, &word);

    /* no word: --help was printed */
    if (status == EXIT_DONE && word)
        status = stream_attach(word, &stream, &trid);
    if (status != EXIT_DONE || !word)
        return status;
    status = act(&stream, trid, word);
    posixtrace_detach(trid);
    return status;
}

/* ---- start, stop ---- */

static const struct option_spec options[] = { { NULL, false, 0 } };

static const char start_help[] =
    "usage: posixtrace start PID|STREAM\n"
    "\n"
    "Starts a stream of a running process, as posix_trace_start() in it does. One\n"
    "that runs already is left as it is.\n"
    "\n"
    "  --help  print this\n"
    "\n" STEER_WHICH "Example: posixtrace start 1234\n";

static int end_of_call(const struct posixtrace_stream *stream, int error)
{
    return error ? stream_error(stream, tool_verb(), error) : EXIT_DONE;
}

static int start(const struct posixtrace_stream *stream, trace_id_t trid, const char *word)
{
    (void)word;
    return end_of_call(stream, posix_trace_start(trid));
}

static int run_start(struct options *o)
{
    return steer(o, start);
}

const struct verb verb_start = { "start", start_help, options, run_start };

static const char stop_help[] =
    "usage: posixtrace stop PID|STREAM\n"
    "\n"
    "Stops a stream of a running process, as posix_trace_stop() in it does: events\n"
    "are not recorded until it is started again. What it holds stays there.\n"
    "\n"
    "  --help  print this\n"
    "\n" STEER_WHICH "Example: posixtrace stop 1234\n";

static int stop(const struct posixtrace_stream *stream, trace_id_t trid, const char *word)
{
    (void)word;
    return end_of_call(stream, posix_trace_stop(trid));
}

static int run_stop(struct options *o)
{
    return steer(o, stop);
}

const struct verb verb_stop = { "stop", stop_help, options, run_stop };
