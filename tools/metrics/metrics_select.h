/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A selection of measurements, for metrics and rta.
 *
 * The automata take all events of the log, so that a length does not depend on the selection;
 * a selection chooses among the results:
 *
 *   --from, --to      those that begin and end within the selected time.  One that crosses an
 *                     edge is not cut: it is left out, and counted.
 *   --pid, --tid      those of the thread
 *   --event, --where  those that begin with such an event
 *
 * A place where events were lost is part of the result if it overlaps the selected time,
 * whatever events are selected: a measurement of any of them may lie there.
 */
#ifndef METRICS_SELECT_H
#define METRICS_SELECT_H

#include <posixtrace/metrics.h>

#include "input/select.h"

struct metrics_select {
    struct selection *s;
    trace_id_t trid;
    uint64_t left_out; /* measurements outside of the selected time */
    uint64_t crossing; /* that cross an edge of it */
    int64_t longest_crossing_ns;
    bool crossing_bound; /* of one of them only bounds are known */
};

/* The window of time is fixed.  The run asks for the log's events. */
void metrics_select_ask(struct metrics_select *m, posixtrace_metric_run_t *run,
                        const struct log_file *log);
/* The log is open, the run begun, nothing was read; live: the time of the first event is not
 * known, whatever the log says.  EXIT_DONE, or another status after a message. */
int metrics_select_begin(struct metrics_select *m, posixtrace_metric_run_t *run,
                         const struct log_file *log, bool live);

/* Is this one of those that were selected?  Counts it, if not. */
bool metrics_selects(struct metrics_select *m, const struct posixtrace_measurement *measurement);

/* The same by the selected time alone. */
bool metrics_selects_time(struct metrics_select *m,
                          const struct posixtrace_measurement *measurement);

/* Of the measurements that cross an edge, a sentence, in a static buffer; NULL: there is none. */
const char *metrics_select_crossing(const struct metrics_select *m);

#endif
