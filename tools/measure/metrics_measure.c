/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_measure.h.
 */
#include "measure/metrics_measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/stdout_buffer.h"
#include "common/progress.h"
#include "common/tool.h"

enum { BATCH = 16384 };

bool metrics_hears_any(const posixtrace_metric_run_t *run, const posixtrace_metric_t *metric)
{
    const char *event;

    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, NULL)) != NULL; i++) {
        if (posixtrace_metric_run_saw(run, event))
            return true;
    }
    return false;
}

bool metrics_hears(const posixtrace_metric_run_t *run, const posixtrace_metric_t *metric)
{
    bool needed = false;
    const char *event;

    for (size_t i = 0; (event = posixtrace_metric_event(metric, i, &needed)) != NULL; i++) {
        if (needed && !posixtrace_metric_run_saw(run, event))
            return false;
    }
    return metrics_hears_any(run, metric);
}

static int read_error(const struct log_file *log, int error)
{
    out_flush();
    return tool_error("cannot read on in %s: %s", log->shown, failure_reason(error));
}

/* Measurements that are only settled at the end can fail there. */
static int end(posixtrace_metric_run_t *run, const struct log_file *log)
{
    int error = posixtrace_metric_run_end(run);

    if (error == 0 || out_failed())
        return EXIT_DONE;
    out_flush();
    return tool_error("cannot measure %s to its end: %s", log->shown, failure_reason(error));
}

int metrics_take_some(posixtrace_metric_run_t *run, const struct log_file *log, uint64_t events,
                      bool *ended)
{
    int unavailable = 0, error = posixtrace_metric_run_take(run, events, &unavailable);

    *ended = unavailable != 0;
    if (error != 0 && !out_failed())
        return read_error(log, error);
    return *ended ? end(run, log) : EXIT_DONE;
}

int metrics_take_log(posixtrace_metric_run_t *run, const struct log_file *log)
{
    int error = 0, unavailable = 0;

    while (!unavailable && error == 0 && !out_failed()) {
        error = posixtrace_metric_run_take(run, BATCH, &unavailable);
        progress_at(posixtrace_metric_run_events(run));
    }
    if (error != 0 && !out_failed())
        return read_error(log, error);
    return end(run, log);
}

/* ---- while they are made ---- */

int metrics_take_live(posixtrace_metric_run_t *run, struct follow *f)
{
    enum follow_next next = FOLLOW_EVENT;
    int error = 0, unavailable = 0;
    bool gap = false;

    while (error == 0 && next != FOLLOW_END && !follow_is_over() && !out_failed()) {
        error = posixtrace_metric_run_take(run, BATCH, &unavailable);
        if (error != 0 || !unavailable)
            continue;
        out_flush();
        next = follow_wait(f, &gap);
        if (next == FOLLOW_FAILED)
            return EXIT_FAILED;
        if (gap)
            posixtrace_metric_run_gap(run);
    }
    if (error != 0 && !(error == ENXIO && f->is_stream) && !out_failed())
        return read_error(&f->log, error);
    return end(run, &f->log);
}
