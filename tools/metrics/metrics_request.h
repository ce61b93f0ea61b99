/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Measures metrics and shows the result: of a log, of a stream or log while it is made, or of
 * several logs.
 */
#ifndef METRICS_REQUEST_H
#define METRICS_REQUEST_H

#include "input/logs.h"
#include "metrics/metrics_view.h"

struct metrics_request {
    const char *path; /* of the only log */
    struct metrics_form form;
    struct metrics_cost cost;
    struct sites sites;
    struct selection selection;
    struct metrics_select select; /* by that */
    struct select_given given;
    struct logs_given logs;
    bool strict;
};

/* The exit status, after a message where it is not 0. */
int metrics_request_log(struct metrics_request *r, struct metrics_pick *pick);
int metrics_request_live(struct metrics_request *r, struct metrics_pick *pick);
int metrics_request_logs(struct metrics_request *r, struct metrics_pick *pick);

#endif
