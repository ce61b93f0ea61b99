/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Jobs: what a thread does from a release to its completion, and where the time of each job went.
 * One pass over a pre-recorded stream; memory grows with threads, not with the length of the log.
 * 'posixtrace metrics --job' prints them; docs/metrics.md is the guide.
 *
 * Link with -lposixtrace-analysis.  An object belongs to one thread at a time: thread-safe for
 * different ones.  Nothing here is async-signal-safe.  Functions of type int return 0 or an error
 * number.  All times are nanoseconds, those of events since 1970.
 */
#ifndef POSIXTRACE_JOBS_H
#define POSIXTRACE_JOBS_H

#include <posixtrace/report.h>

#ifdef __cplusplus
extern "C" {
/* A function may have the name of a struct, whose constructor it hides. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

typedef struct posixtrace_jobs posixtrace_jobs_t;

/*
 * What releases a job, and what completes it:
 *
 *   SLEEP    a sleep is due, or ends before that (a signal); the next sleep that is not the rest of
 *            the same one
 *   TIMERFD  a read of a timerfd returns; the next read of it, or wait for work (poll, select,
 *            epoll) of the thread
 *   POLL     a wait for work with a time-out is due, or returns before; the next one
 *   TIMED    a timed wait (of a condition, semaphore, lock, message queue or signal) has timed out;
 *            the next wait of the thread for the same
 *   EVENTS   an event of the name begin of a thread; its next one of the name end
 */
enum posixtrace_job_source {
    POSIXTRACE_JOB_SLEEP,
    POSIXTRACE_JOB_TIMERFD,
    POSIXTRACE_JOB_POLL,
    POSIXTRACE_JOB_TIMED,
    POSIXTRACE_JOB_EVENTS
};

struct posixtrace_job_rule {
    unsigned source;         /* enum posixtrace_job_source */
    const char *begin, *end; /* of EVENTS, else NULL */
};

/*
 * A job without a loss of events.  late + wakeup + run + system + runnable + unnamed + unknown +
 * all waits = end - begin, exactly.
 *
 * With by_switches waits are time off the processor.  Without, the log has no context switches of
 * the thread: waits are time in the call, and the time outside of calls is unknown.
 */
struct posixtrace_job {
    size_t rule; /* its place among the rules */
    pid_t pid, tid;
    uint64_t thread_id;
    int64_t begin_ns; /* the release */
    int64_t woken_ns; /* when the call returned that it was released in, or begin_ns */
    int64_t end_ns;
    int64_t period_ns; /* since the release before; -1: there is none, or events were lost since */
    int64_t late_ns;   /* the thread was not done with the job before */
    int64_t wakeup_ns; /* from then or the release until it had a processor */
    int64_t run_ns;    /* on a processor, in no recorded call */
    int64_t system_ns; /* on a processor in a recorded call, also the one that releases it */
    int64_t runnable_ns; /* preempted */
    int64_t unnamed_ns;  /* off the processor, in no recorded call */
    int64_t unknown_ns;
    int64_t wait_ns[POSIXTRACE_WAIT_KINDS];
    uint64_t switches;    /* how often it left the processor, */
    uint64_t preemptions; /* and of these, how often it was preempted */
    bool due;             /* the release is the time when the wait was due */
    bool by_switches;
};

/*
 * rules: at most 8.  job is called for each job that begins and ends from from_ns to to_ns, of the
 * threads and with the event of the release (the return of the call, or begin) that are wanted;
 * NULL: all are.  It is called in the order of ends; jobs before the first context switch of a
 * thread come later.  ran, or NULL, is called for times in which a thread had a processor, with
 * known false for those in which that is not known; times of one thread do not overlap.  What they
 * return ends the pass if it is not 0.
 */
struct posixtrace_jobs_options {
    const struct posixtrace_job_rule *rules;
    size_t rule_count;
    int64_t from_ns, to_ns;
    bool (*wants_thread)(void *context, pid_t pid, pid_t tid);
    bool (*wants_begin)(void *context, const struct posixtrace_event *begin);
    int (*job)(void *context, const struct posixtrace_job *job);
    int (*ran)(void *context, pid_t pid, pid_t tid, int64_t from_ns, int64_t to_ns, bool known);
    void *context;
};

/*
 * Makes one for a pre-recorded stream, from its first event.  take() reads at most so many events,
 * 0: all; *unavailable is not 0 at the end of the stream.  end() is called once, after the last
 * event.  It is the caller's, who frees it.
 *
 * EINVAL  trid is not a pre-recorded stream, jobs, options or unavailable is NULL, size is 0, or a
 *         rule is none of the above
 * ENOMEM; others as posixtrace_next_whole_events(); what job or ran returned
 */
int posixtrace_jobs_create(trace_id_t trid, const struct posixtrace_jobs_options *options,
                           size_t size, posixtrace_jobs_t **jobs);
int posixtrace_jobs_take(posixtrace_jobs_t *jobs, uint64_t events, int *unavailable);
int posixtrace_jobs_end(posixtrace_jobs_t *jobs);
void posixtrace_jobs_free(posixtrace_jobs_t *jobs); /* or NULL */
uint64_t posixtrace_jobs_events(const posixtrace_jobs_t *jobs);

struct posixtrace_jobs_summary {
    int64_t first_ns, last_ns;        /* of the events that were read */
    uint64_t events, switches, calls; /* of these kinds */
    uint64_t gaps;                    /* places where events were lost or not recorded */
    bool unmarked;                    /* the stream has lost events, and nothing says where */
    bool long_calls_only;             /* calls do not release jobs: 'record --longer-than' */
};
/* Of the rule with that place: what was not counted, of the threads that are wanted. */
struct posixtrace_jobs_count {
    uint64_t jobs;
    uint64_t releases;   /* of these or others */
    uint64_t unknown;    /* begun, and events were lost before the end */
    uint64_t unfinished; /* begun, and the log or the thread ended */
    uint64_t crossing;   /* that cross an edge of the selected time */
};
/* NULL: jobs is NULL; the numbers grow while events are taken. */
const struct posixtrace_jobs_summary *posixtrace_jobs_summary(posixtrace_jobs_t *jobs);
const struct posixtrace_jobs_count *posixtrace_jobs_count(const posixtrace_jobs_t *jobs,
                                                          size_t rule);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif
#endif
