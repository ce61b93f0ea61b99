/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_cost.h.
 */
#include "measure/metrics_cost.h"

#include <stdlib.h>
#include <string.h>
#include <posixtrace/attr.h>
#include <posixtrace/metrics.h>

#include "common/tool.h"

enum { COST_MAX_NS = 1000000 };

bool metrics_cost_number(const char *text, double *ns)
{
    char *end;

    *ns = strtod(text, &end);
    return text[strspn(text, "0123456789.")] == '\0' && end != text && *end == '\0' &&
           *ns <= COST_MAX_NS;
}

int metrics_cost_parse(struct metrics_cost *cost, const char *value)
{
    cost->ns = 0;
    cost->origin = METRICS_COST_NONE;
    if (strcmp(value, "none") == 0)
        return EXIT_DONE;
    cost->origin = METRICS_COST_MEASURED;
    if (strcmp(value, "measure") == 0)
        return EXIT_DONE;
    cost->origin = METRICS_COST_KEPT;
    if (strcmp(value, "log") == 0)
        return EXIT_DONE;
    cost->origin = METRICS_COST_GIVEN;
    if (!metrics_cost_number(value, &cost->ns))
        return tool_usage("option '--cost' needs 'log', 'measure', 'none' or nanoseconds from 0 "
                          "to %d, found %s",
                          COST_MAX_NS, quote(value));
    return EXIT_DONE;
}

int metrics_cost_find(struct metrics_cost *cost, const struct log_file *log)
{
    trace_attr_t attr;
    int error = 0;

    if (cost->origin == METRICS_COST_MEASURED) {
        error = posix_trace_get_attr(log->trid, &attr);
        if (error == 0) { /* as the stream of the log, which the kept cost is of */
            error = posixtrace_event_cost_like(&attr, &cost->ns);
            posix_trace_attr_destroy(&attr);
        }
        return error ? tool_error("cannot measure what an event costs: %s", strerror(error))
                     : EXIT_DONE;
    }
    if (cost->origin != METRICS_COST_KEPT)
        return EXIT_DONE;
    cost->of_stream = log->fd < 0;
    error = posix_trace_get_attr(log->trid, &attr);
    if (error == 0) {
        error = posixtrace_attr_geteventcost(&attr, &cost->ns);
        posix_trace_attr_destroy(&attr);
    }
    if (error != 0)
        return tool_error("cannot ask %s what an event costs: %s", log->shown, strerror(error));
    if (cost->ns > 0)
        return EXIT_DONE;
    return tool_error("%s does not say what an event costs; '--cost=measure' measures it on this "
                      "machine, '--cost=NS' gives it",
                      log->shown);
}

const char *metrics_cost_text(const struct metrics_cost *cost)
{
    switch (cost->origin) {
    case METRICS_COST_GIVEN: return "as given";
    case METRICS_COST_MEASURED: return "measured now, on this machine";
    case METRICS_COST_KEPT: return cost->of_stream ? "kept with the stream" : "kept in the log";
    default: return "none";
    }
}
