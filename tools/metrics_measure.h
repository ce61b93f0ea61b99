/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Metrics over all of a log or over a running stream.
 */
#ifndef METRICS_MEASURE_H
#define METRICS_MEASURE_H

#include <posixtrace/metrics.h>

#include "log_file.h"

/* "measure", or ns with decimals; *ns: what storing an event costs.  EXIT_DONE, or it
 * was said. */
int metrics_cost(const char *value, double *ns);

/* Takes the log to its end and shows how far it is.  EXIT_DONE, or it was said. */
int metrics_take_log(posixtrace_metric_run_t *run, const struct log_file *log);

struct metrics_live {
    struct log_file log;     /* trid and a name for messages only */
};

/* A stream as stream_find.h finds it.  SIGINT and SIGTERM end the taking from now on.
 * A log is refused: it is read when it is there.  EXIT_DONE, or it was said. */
int metrics_live_open(struct metrics_live *live, const char *word);
void metrics_live_close(struct metrics_live *live);

/* Takes what comes until the stream or the user ends it; what was printed is
 * shown before each wait.  EXIT_DONE, or it was said. */
int metrics_take_live(posixtrace_metric_run_t *run, struct metrics_live *live);

#endif
