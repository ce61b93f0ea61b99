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
 * Beyond the paper: release jitter J, deadlines after the period and the cost S of a context
 * switch, as K. Tindell, A. Burns and A. Wellings, "An extendible approach for analyzing fixed
 * priority hard real-time tasks" (Real-Time Systems 6, 1994), after J. Lehoczky, "Fixed priority
 * scheduling of periodic task sets with arbitrary deadlines" (RTSS 1990).  For the jobs q = 0, 1,
 * ... of a busy period that begins with the release of all tasks:
 *
 *   w(q) = (q + 1) C + (2 q + 1) S + B + sum of ceil((w(q) + Jj) / Tj) * (Cj + 2 S)
 *   R = the largest of w(q) + J - q T, until w(q) + S <= (q + 1) T - J: the busy period ends
 *
 * and R of (5) is w(q) + Jk.  A switch counts at the priority of its task.  With J = 0, S = 0 and R
 * within the period this is (1).
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
    int64_t jitter; /* a job is released that much after the start of its period at most */
    int64_t value[RTA_VALUES]; /* -1: not known (yet), 0 for the analysis */

    /* Results of the analysis. */
    int64_t c;            /* (2) */
    int64_t b_critical;   /* (4) */
    int64_t b_activation; /* (5), at r */
    int64_t b;            /* (3) */
    int64_t r;            /* (1) */
    int64_t jobs;         /* of the busy period; more than 1: r may be of a later one */
    bool exact;           /* r is the solution, not a value below it */
    int64_t activations;  /* sum of DUWk: all of lower priority activated once */
    enum rta_verdict verdict;
};

/* Fills in the analysis of all tasks; switch_ns: S. */
void rta_analyse(struct rta_task *tasks, size_t count, int64_t switch_ns);

/* A sensitivity analysis, by bisection: schedulability gets no worse with a smaller C. */
enum { RTA_FACTOR_UNIT = 1000, RTA_FACTOR_MAX = 1000000 };
struct rta_growth {
    /* Of the i-th task: what C + JST may be at most if all else stays, to 1 ns; -1: whatever it is,
     * some task is not schedulable. */
    int64_t c_max[RTA_TASKS_MAX];
    /* The largest factor for C + JST of all, in thousandths, rounded down; -1 as above.
     * RTA_FACTOR_MAX * RTA_FACTOR_UNIT: that and more. */
    int64_t factor;
};
void rta_grow(const struct rta_task *tasks, size_t count, int64_t switch_ns, struct rta_growth *g);
/* Is each task schedulable?  Leaves results in tasks, of those up to the first that is not. */
bool rta_is_schedulable(struct rta_task *tasks, size_t count, int64_t switch_ns);

/* Corrects the verdict by the longest response that a log has of the task. */
void rta_compare(struct rta_task *task, int64_t seen);

/* Share of the processor, sum of C / T, of values as in the analysis. */
double rta_utilization(const struct rta_task *tasks, size_t count);

/* A time as in a task file ("12.5us"); false: it is none. */
bool rta_time(const char *text, int64_t *ns);

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
