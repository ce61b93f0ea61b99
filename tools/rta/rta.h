/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Response-time analysis of periodic tasks with fixed priorities on one processor:
 * the equations of Espinosa et al., "Getting System Metrics Using POSIX Tracing
 * Services" (Ada-Europe 2003), section 4, in integers of nanoseconds:
 *
 *   (1) R = C + B + sum of ceil(R / Tj) * Cj over the tasks j of higher priority
 *   (2) C = Cuser + JST
 *   (3) B = Bactivation + Bcritical
 *   (4) Bcritical = the largest of Buser and of SBk over the tasks k of lower priority
 *   (5) Bactivation = sum of ceil(R / Tk) * DUWk over the tasks k of lower priority
 *
 * A task of the same priority counts as one of higher priority: SCHED_FIFO serves in
 * the order of arrival, and that order is not known beforehand.
 *
 * rta_analyse.c and rta_tasks.c print nothing and open nothing; unit tests call them.
 */
#ifndef RTA_H
#define RTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    RTA_TASKS_MAX = 256,
    RTA_NAME_MAX = 63,
    RTA_STEPS_MAX = 1000000 /* terms that are added up for one task at most */
};

#define RTA_TIME_MAX INT64_C(1000000000000000000) /* ns, of a time in a task file */

/* Values from a task file or a log. */
enum rta_value { RTA_C, RTA_JST, RTA_SB, RTA_DUW, RTA_B, RTA_VALUES };

enum rta_verdict {
    RTA_SCHEDULABLE,
    RTA_LATE,        /* r or a response in the log is longer than the deadline */
    RTA_UNDECIDED,   /* no end within RTA_STEPS_MAX, r is where it was left; or a response
                        * in the log that is not known may be longer than r */
    RTA_CONTRADICTED /* a response in the log is longer than r: r is no bound */
};

struct rta_task {
    char name[RTA_NAME_MAX + 1];
    char thread[RTA_NAME_MAX + 1]; /* in the log */
    pid_t tid;                     /* in the log, instead of the name; 0: by name */
    unsigned line;                 /* of the task file */
    int priority;                  /* a larger number is a higher priority */
    int64_t period, deadline;
    int64_t value[RTA_VALUES]; /* -1: not known (yet), 0 for the analysis */

    /* Results of the analysis. */
    int64_t c;            /* (2) */
    int64_t b_critical;   /* (4) */
    int64_t b_activation; /* (5), at r */
    int64_t b;            /* (3) */
    int64_t r;            /* (1) */
    bool exact;           /* r is the solution, not a value below it */
    int64_t activations;  /* sum of DUWk: all of lower priority activated once */
    enum rta_verdict verdict;
};

/* Fills in the analysis of all tasks. */
void rta_analyse(struct rta_task *tasks, size_t count);

/* Corrects the verdict by the longest response that a log has of the task. */
void rta_compare(struct rta_task *task, int64_t seen);

/* Share of the processor, sum of C / T, of values as in the analysis. */
double rta_utilization(const struct rta_task *tasks, size_t count);

struct rta_fault {
    unsigned line, column; /* from 1 */
    char text[160];
};

/*
 * A task file (posixtrace-rta(1)): tasks has room for RTA_TASKS_MAX.  False: *fault has the place
 * and the reason.  fault->text contains text of the file unescaped: not for a terminal.
 */
bool rta_parse(const char *text, size_t length, struct rta_task *tasks, size_t *count,
               struct rta_fault *fault);

/* "name" of a value as a task file writes it, and the metric that measures it in a log; that
 * of B is measured of other tasks (rta_locks.h). */
const char *rta_value_name(enum rta_value value);
const char *rta_value_metric(enum rta_value value);

#endif
