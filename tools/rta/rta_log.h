/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The values of a log for the tasks of an analysis: the largest measurements of their threads, and
 * their uncertainty.
 */
#ifndef RTA_LOG_H
#define RTA_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "jobs/jobs.h"
#include "measure/metrics_cost.h"
#include "metrics/metrics_select.h"
#include "rta/rta.h"

/* One more than the values: the response, which is compared and not put in. */
enum { RTA_RESPONSE = RTA_VALUES, RTA_MEASURED };

struct rta_measure {
    bool there;      /* at least one measurement, known or not */
    bool known;      /* at least one that is known */
    int64_t largest; /* of those that are known */
    int64_t at_most; /* the longest time that an unknown one may have lasted */
    int64_t hidden;  /* without any measurement: the longest time that one may have lasted in
                      * gaps */
    uint64_t unknown;
};

struct rta_seen {
    struct rta_measure of[RTA_MEASURED];
    bool from_log[RTA_VALUES]; /* the task has its value from here */
};

struct rta_source {
    const char *log;          /* its path */
    const char *set;          /* of metrics */
    struct metrics_cost cost; /* taken off for each intermediate event; is found */
    int protocol;             /* enum rta_protocol */
    bool strict;
    struct selection selection;
    struct metrics_select select; /* by that */
    struct sites sites;
    struct jobs_rules jobs; /* of --job; count 0: jobs are those of sleeps, by metrics */
};

/* Measures and fills in seen, an entry for each task.  EXIT_DONE, or another status after an error
 * message; EXIT_LOST only for strict, with all entries filled in. */
int rta_log_measure(struct rta_source *source, const struct rta_task *tasks, size_t count,
                    struct rta_seen *seen);

#endif
