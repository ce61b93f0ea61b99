/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * rta --job: C and the response of tasks that are not released by a sleep, from the jobs of their
 * threads (posixtrace/jobs.h).
 *
 * C is the longest that a job had a processor, in calls or not; so JST is in it.  A part of a job
 * that is unknown may have been execution.
 */
#ifndef RTA_JOBS_H
#define RTA_JOBS_H

#include "input/log_file.h"
#include "jobs/jobs.h"
#include "rta/rta_log.h"

/* Replaces the values of the tasks whose threads have jobs.  EXIT_DONE, or another status after a
 * message. */
int rta_jobs_measure(struct rta_source *source, struct log_file *log, const struct rta_task *tasks,
                     size_t count, struct rta_seen *seen);

#endif
