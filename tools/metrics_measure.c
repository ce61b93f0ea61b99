/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_measure.h.
 */
#include "metrics_measure.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <posixtrace/attach.h>

#include "out.h"
#include "progress.h"
#include "stream_find.h"
#include "tool.h"

enum { BATCH = 16384, WAIT_MS = 100, COST_MAX_NS = 1000000 };

int metrics_cost(const char *value, double *ns)
{
    char *end;
    int error;

    if (strcmp(value, "measure") == 0) {
        error = posixtrace_event_cost(ns);
        return error ? tool_error("cannot measure what an event costs: %s", strerror(error))
                     : EXIT_DONE;
    }
    *ns = strtod(value, &end);
    if (value[strspn(value, "0123456789.")] != '\0' || end == value || *end != '\0' ||
        *ns > COST_MAX_NS)
        return tool_usage("option '--cost' needs 'measure' or nanoseconds from 0 to %d, found %s",
                          COST_MAX_NS, quote(value));
    return EXIT_DONE;
}

static int read_error(const struct log_file *log, int error)
{
    out_flush();
    return tool_error("cannot read on in %s: %s", log->shown, strerror(error));
}

int metrics_take_log(posixtrace_metric_run_t *run, const struct log_file *log)
{
    bool more = true;
    int error = 0;

    while (more && error == 0 && !out_failed()) {
        error = posixtrace_metric_run_take(run, BATCH, &more);
        progress_at(posixtrace_metric_run_events(run));
    }
    if (error != 0 && !out_failed())
        return read_error(log, error);
    posixtrace_metric_run_end(run);
    return EXIT_DONE;
}

/* ---- running streams ---- */

static volatile sig_atomic_t asked_to_end;

static void ask_to_end(int signal)
{
    (void)signal;
    asked_to_end = 1;
}

int metrics_live_open(struct metrics_live *live, const char *word)
{
    struct sigaction action = { .sa_handler = ask_to_end };
    struct posixtrace_stream stream;
    struct stat st;
    int status;

    memset(live, 0, sizeof *live);
    if (stat(word, &st) == 0)
        return tool_usage("--follow needs a process or a stream, and %s is a file: its metrics "
                          "are measured without --follow", quote(word));
    status = stream_attach(word, &stream, &live->log.trid);
    if (status != EXIT_DONE)
        return status;
    live->log.path = word;
    live->log.fd = -1;
    live->log.shown = quote_copy(stream.name[0] ? stream.name : stream.file);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return EXIT_DONE;
}

void metrics_live_close(struct metrics_live *live)
{
    posixtrace_detach(live->log.trid);
    free(live->log.shown);
}

int metrics_take_live(posixtrace_metric_run_t *run, struct metrics_live *live)
{
    bool more = true;
    int error = 0;

    while (error == 0 && !asked_to_end && !out_failed()) {
        error = posixtrace_metric_run_take(run, BATCH, &more);
        if (error == 0 && !more) {
            out_flush();
            poll(NULL, 0, WAIT_MS);
        }
    }
    if (error != 0 && error != ENXIO && !out_failed())
        return read_error(&live->log, error);
    posixtrace_metric_run_end(run);
    return EXIT_DONE;
}
