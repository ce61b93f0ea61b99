/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where the time of a trace's threads went: on a processor, runnable, waiting, and for what.
 * One pass over a pre-recorded stream; memory grows with threads, objects and pairs, not with
 * the length of the log.  'posixtrace report' prints it; docs/report.md is the guide.
 *
 * Link with -lposixtrace-analysis.  A report belongs to one thread at a time: thread-safe for
 * different reports.  Nothing here is async-signal-safe.  Functions of type int return 0 or an
 * error number.  Rows and texts belong to the report; they are complete after
 * posixtrace_report_end().  All times are nanoseconds, those of events since 1970.
 */
#ifndef POSIXTRACE_REPORT_H
#define POSIXTRACE_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/event.h>
#include <posixtrace/metrics.h>

#ifdef __cplusplus
extern "C" {
/* A function may have the name of a struct, whose constructor it hides. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

typedef struct posixtrace_report posixtrace_report_t;

/* What a thread waits for. */
enum posixtrace_wait {
    POSIXTRACE_WAIT_LOCK, /* mutex or read-write lock */
    POSIXTRACE_WAIT_CONDITION,
    POSIXTRACE_WAIT_SEMAPHORE,
    POSIXTRACE_WAIT_BARRIER,
    POSIXTRACE_WAIT_SLEEP,
    POSIXTRACE_WAIT_IO,
    POSIXTRACE_WAIT_WORK, /* poll, select, epoll: a server that has nothing to do */
    POSIXTRACE_WAIT_FILE_LOCK,
    POSIXTRACE_WAIT_FUTEX,
    POSIXTRACE_WAIT_THREAD, /* the end of one */
    POSIXTRACE_WAIT_CHILD,  /* a process */
    POSIXTRACE_WAIT_SIGNAL,
    POSIXTRACE_WAIT_KINDS = 16 /* room of the arrays by kind */
};

/* A word for a kind ("lock"); NULL for one that does not exist.  Constant text. */
const char *posixtrace_wait_text(unsigned kind);

/*
 * A selection.  Time is counted from from_ns to to_ns.  A wait or pair counts if it begins and
 * ends within.  wants_thread: is the thread selected; wants_begin: is the wait or pair that begins
 * with this event selected.  NULL: all are.
 */
struct posixtrace_report_options {
    int64_t from_ns, to_ns;
    bool (*wants_thread)(void *context, pid_t pid, pid_t tid);
    bool (*wants_begin)(void *context, const struct posixtrace_event *begin);
    void *context;
};

/*
 * Makes a report of a pre-recorded stream, from its first event.  options may be NULL: everything.
 * take() reads at most so many events, 0: all; *unavailable is not 0 at the end of the stream.
 * end() is called once, after the last event.  The report is the caller's, who frees it.
 *
 * EINVAL  trid is not a pre-recorded stream, report or unavailable is NULL, or size is 0
 * ENOMEM; others as posixtrace_next_whole_events()
 */
int posixtrace_report_create(trace_id_t trid, const struct posixtrace_report_options *options,
                             size_t size, posixtrace_report_t **report);
int posixtrace_report_take(posixtrace_report_t *report, uint64_t events, int *unavailable);
int posixtrace_report_end(posixtrace_report_t *report);
void posixtrace_report_free(posixtrace_report_t *report); /* or NULL */
uint64_t posixtrace_report_events(const posixtrace_report_t *report);

struct posixtrace_report_summary {
    int64_t first_ns, last_ns; /* of the events that were read */
    uint64_t events;
    uint64_t switches, cpu_times, calls, pairs; /* events of these kinds */
    uint64_t gaps;                              /* places where events were lost or not recorded */
    int64_t gap_ns;                             /* the time between their ends */
    uint64_t crossing; /* waits and pairs that cross an edge of the selected time */
    bool unmarked;     /* the stream has lost events, and nothing says where */
    /* Time for which threads were ready to run, and no thread of the log ran instead. */
    uint64_t preempted_by_others;
    int64_t preempted_by_others_ns, preempted_by_others_longest_ns;
    bool long_calls_only; /* 'record --longer-than': shorter calls are not in the log */
};
const struct posixtrace_report_summary *posixtrace_report_summary(const posixtrace_report_t *r);

/*
 * The time of a thread, from its first event to its last; one that is in a wait then, to the last
 * event of its process.  run + runnable + unnamed + unknown + all waits = total, exactly.
 *
 * With by_switches waits are time off the processor.  Without, they are time in the call, and run
 * is what the thread had run at least outside of calls, by its CPU times.
 */
struct posixtrace_report_thread {
    pid_t pid, tid;
    uint64_t thread_id; /* and name: after execve(2) of the last program */
    char name[16];
    int64_t begin_ns, end_ns, total_ns;
    int64_t run_ns;
    int64_t runnable_ns; /* preempted */
    int64_t unnamed_ns;  /* off the processor, in no recorded call */
    int64_t unknown_ns;  /* events were lost, or do not say */
    int64_t wait_ns[POSIXTRACE_WAIT_KINDS];
    uint64_t calls[POSIXTRACE_WAIT_KINDS];
    bool selected;
    uint64_t events; /* that the thread recorded itself */
    uint64_t switches, preemptions;
    bool by_switches, by_cpu_times;
    int waits_for; /* at its end: enum posixtrace_wait, or -1 */
    int64_t waits_since;
    /* As the thread that ran instead of another one, which was preempted. */
    uint64_t preempted;
    int64_t preempted_ns, preempted_longest_ns, preempted_longest_at_ns;
    pid_t preempted_longest_tid;
};

/*
 * What was waited for: a lock, a condition, a descriptor, ...  calls are all that were made.
 * waits: of locks, calls that found the lock held by another thread, other than as readers
 * together, or in which the thread left the processor; of others, calls.  The numbers after it are
 * about waits.
 */
struct posixtrace_report_object {
    unsigned kind; /* enum posixtrace_wait */
    bool is_descriptor;
    pid_t pid;
    uint64_t object;  /* address, number of a descriptor or process; 0: none, or by its name */
    const char *name; /* path or peer of descriptors; "": not known */
    uint64_t calls, waits, failed;
    uint64_t unknown; /* waits in which events were lost */
    int64_t total_ns, longest_ns, longest_at_ns;
    pid_t longest_tid; /* which waited */
    uint64_t caller;   /* of the longest: address in the program; 0: not known */
    pid_t holder_tid;  /* which held the lock then, of readers the last; 0: not known */
    uint64_t holder_caller;
    uint32_t call;                             /* enum posixtrace_call, of descriptors */
    const posixtrace_statistics_t *statistics; /* NULL: no waits */
    uint64_t open; /* waits that had not ended when the log did; not in waits */
};

/* A place in a program: the waits of calls of one kind that were made there.  Calls that did not
 * wait are left out, as are those in logs that do not say where they were made. */
struct posixtrace_report_site {
    unsigned kind;      /* enum posixtrace_wait */
    bool is_descriptor; /* the call is known: */
    uint32_t call;      /* enum posixtrace_call */
    pid_t pid;
    uint64_t caller; /* address to which the call returned */
    uint64_t waits;
    int64_t total_ns, longest_ns, longest_at_ns;
    pid_t longest_tid;
    const posixtrace_statistics_t *statistics;
};

/* Waits of a thread for a lock that another thread had; a process has such rows for at most 65,536
 * pairs of threads, the others are rows with the lock alone. */
struct posixtrace_report_contention {
    pid_t pid;
    uint64_t object;       /* the lock */
    pid_t tid, holder_tid; /* which waited, which had it; 0: others, not known */
    uint64_t waits;
    int64_t total_ns, longest_ns, longest_at_ns;
};

/* The time from an event x:begin of a thread to its next x:end. */
struct posixtrace_report_pair {
    const char *name;
    uint64_t count;
    uint64_t unknown; /* begun, and events were lost before the end */
    uint64_t open;    /* begun, and not ended */
    int64_t total_ns, longest_ns, longest_at_ns;
    pid_t longest_pid, longest_tid;
    const posixtrace_statistics_t *statistics; /* NULL: none */
};

/* i from 0, in the order of their first events; NULL after the last. */
const struct posixtrace_report_thread *posixtrace_report_thread(const posixtrace_report_t *r,
                                                                size_t i);
const struct posixtrace_report_object *posixtrace_report_object(const posixtrace_report_t *r,
                                                                size_t i);
const struct posixtrace_report_site *posixtrace_report_site(const posixtrace_report_t *r, size_t i);
const struct posixtrace_report_contention *posixtrace_report_contend(const posixtrace_report_t *r,
                                                                     size_t i);
const struct posixtrace_report_pair *posixtrace_report_pair(const posixtrace_report_t *r, size_t i);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif
#endif
