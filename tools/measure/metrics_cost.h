/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What storing an event costs, to be taken off what was measured: nothing unless it was
 * asked for, since a result must not depend on where it is looked at.
 */
#ifndef METRICS_COST_H
#define METRICS_COST_H

#include "input/log_file.h"

enum metrics_cost_origin {
    METRICS_COST_NONE,
    METRICS_COST_GIVEN,
    METRICS_COST_MEASURED,
    METRICS_COST_KEPT
};

struct metrics_cost {
    enum metrics_cost_origin origin;
    double ns;      /* of an event; known when it was found */
    bool of_stream; /* which is not a log yet */
};

/* Is text a number of nanoseconds, up to a millisecond? */
bool metrics_cost_number(const char *text, double *ns);

/* The words of --cost.  EXIT_DONE, or EXIT_USAGE and it was said. */
int metrics_cost_parse(struct metrics_cost *cost, const char *value);
/* Measures it, or asks the log (or stream) for it.  EXIT_DONE, or it was said. */
int metrics_cost_find(struct metrics_cost *cost, const struct log_file *log);
/* "kept in the log" */
const char *metrics_cost_text(const struct metrics_cost *cost);

#endif
