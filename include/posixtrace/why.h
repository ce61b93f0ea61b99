/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Why something took long: the time from one event to another as segments, each with what the
 * thread did or waited for, which thread held the lock or signalled, and what that one did
 * meanwhile.  Two passes over a pre-recorded stream.  Memory grows with threads, objects and
 * measurements that are open at once, not with the length of the log.  'posixtrace why' prints it;
 * docs/why.md is the guide.
 *
 * Link with -lposixtrace-analysis.  An object belongs to one thread at a time: thread-safe for
 * different ones.  Nothing here is async-signal-safe.  Functions of type int return 0 or an error
 * number.  Rows and texts belong to the object; they are complete after posixtrace_why_end().  All
 * times are nanoseconds, those of events since 1970.
 */
#ifndef POSIXTRACE_WHY_H
#define POSIXTRACE_WHY_H

#include <posixtrace/report.h>

#ifdef __cplusplus
extern "C" {
/* A function may have the name of a struct, whose constructor it hides. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

typedef struct posixtrace_why posixtrace_why_t;

/*
 * It explains one of
 *
 *   begin, end  the time from an event with the one name to the next with the other, of one thread;
 *               with by of all events whose field of that name has the same value, of any thread
 *   metric      the measurements of a metric of threads, from their begin to their end
 *   at_tid      what that thread of at_pid (0: any process) did at at_ns: one time, as long as that
 *               lasted
 *   pairs       for each NAME of these the same as begin "NAME:begin" and end "NAME:end", all in
 *               the same two passes; posixtrace_why_select() chooses the one that results are of
 *   nothing     only what threads wait for where the log ends
 *
 * Instances count that begin and end from from_ns to to_ns; wants_thread, wants_begin: as of
 * struct posixtrace_report_options.  worst: how many are explained one by one.  room: parts of
 * threads' time that are kept at once, 0: about a million; where that is not enough, the oldest
 * are left out, and segments say so.
 */
struct posixtrace_why_options {
    const char *begin, *end, *by;
    const posixtrace_metric_t *metric;
    int64_t at_ns;
    pid_t at_pid, at_tid;
    int64_t from_ns, to_ns;
    bool (*wants_thread)(void *context, pid_t pid, pid_t tid);
    bool (*wants_begin)(void *context, const struct posixtrace_event *begin);
    void *context;
    size_t worst;
    size_t room;
    const char *const *pairs;
    size_t pair_count;
};

/*
 * Makes one for a pre-recorded stream, which has to be one that can be read twice, unless nothing
 * is to be explained.  take() reads at most so many events, 0: all; *unavailable is not 0 at the
 * end of the second pass.  end() is called once after it.  It is the caller's, who frees it.
 *
 * EINVAL   trid is not a pre-recorded stream, why or unavailable is NULL, size is 0, or the options
 *          name none or more than one of the above
 * ESPIPE   the stream cannot be read twice
 * ENOTSUP  the metric is one by item, whose measurements are of no thread
 * ENOMEM; others as posixtrace_next_whole_events()
 */
int posixtrace_why_create(trace_id_t trid, const struct posixtrace_why_options *options,
                          size_t size, posixtrace_why_t **why);
int posixtrace_why_take(posixtrace_why_t *why, uint64_t events, int *unavailable);
int posixtrace_why_end(posixtrace_why_t *why);
void posixtrace_why_free(posixtrace_why_t *why); /* or NULL */
/* From now on summary, instances, segments and causes are those of that pair, by its index in
 * pairs; the first one at first.  After posixtrace_why_end() only.  EINVAL: there is none. */
int posixtrace_why_select(posixtrace_why_t *why, size_t pair);
/* That were read, in both passes. */
uint64_t posixtrace_why_events(const posixtrace_why_t *why);

struct posixtrace_why_summary {
    uint64_t count;                            /* instances */
    uint64_t open;                             /* begun, and not ended where the log ends */
    uint64_t unknown;                          /* begun, and events were lost before the end */
    uint64_t unkeyed;                          /* events without the field of by */
    int64_t median_ns, slow_ns;                /* of the lengths, and that of the 1 % slowest */
    uint64_t slow;                             /* how many are as slow: what the causes are about */
    int64_t beyond_ns;                         /* their time beyond the median */
    const posixtrace_statistics_t *statistics; /* of the lengths; NULL: no instances */
    uint64_t events, switches, calls;          /* events of these kinds, in one pass */
    uint64_t begins, ends;                     /* events of the names */
    uint64_t gaps;                             /* places where events were lost */
    bool unmarked, long_calls_only;            /* as of a report */
    int64_t first_ns, last_ns;
};
const struct posixtrace_why_summary *posixtrace_why_summary(const posixtrace_why_t *why);

enum posixtrace_why_state {
    POSIXTRACE_WHY_RUN,      /* on a processor */
    POSIXTRACE_WHY_RUNNABLE, /* preempted; the other thread ran instead */
    POSIXTRACE_WHY_WAIT,     /* in a call that is recorded */
    POSIXTRACE_WHY_OFF,      /* off the processor, in no recorded call */
    POSIXTRACE_WHY_ENDED,    /* the thread had ended */
    POSIXTRACE_WHY_UNKNOWN
};

enum posixtrace_why_reason {
    POSIXTRACE_WHY_NO_REASON,
    POSIXTRACE_WHY_LOST,       /* events were lost, or the log has none of the thread until then */
    POSIXTRACE_WHY_NO_SWITCH,  /* in no recorded call, and the log has no context switches */
    POSIXTRACE_WHY_LEFT_OUT,   /* not kept, see room */
    POSIXTRACE_WHY_NO_HANDOVER /* nothing says when the thread that ended it began with it */
};

enum posixtrace_why_relation {
    POSIXTRACE_WHY_NO_OTHER,
    POSIXTRACE_WHY_HOLDS,     /* the lock; caller: that locked it */
    POSIXTRACE_WHY_UNLOCKED,  /* the lock, which no thread is known to have had since */
    POSIXTRACE_WHY_RAN,       /* on that processor */
    POSIXTRACE_WHY_SIGNALS,   /* the condition, posts the semaphore, comes to the barrier, writes to
                               * the pipe or reads from it, later */
    POSIXTRACE_WHY_SIGNALLED, /* did so before this part of the wait */
    POSIXTRACE_WHY_IS_AWAITED,  /* its end */
    POSIXTRACE_WHY_ELSEWHERE,   /* signalled what has the same address in another process, and no
                                * thread signalled the object in its own: they are one if the
                                * processes share that memory; other_tid 0: several threads did */
    POSIXTRACE_WHY_NOT_RECORDED /* there is none: the wait for the condition or semaphore ended
                                 * without an error, and no signal at its address was recorded in
                                 * it, in any process */
};

/*
 * A part of an instance, or of the part before it with a depth one less: what the other thread of
 * that did meanwhile.  Those of depth 0 add up to the instance, those below one to it, exactly.
 */
struct posixtrace_why_segment {
    unsigned depth;
    enum posixtrace_why_state state;
    enum posixtrace_why_reason reason; /* of UNKNOWN */
    enum posixtrace_wait kind;         /* of WAIT */
    int64_t begin_ns, end_ns;
    pid_t pid, tid; /* whose time it is */
    bool is_descriptor, has_object;
    uint64_t object; /* as of struct posixtrace_report_object */
    const char *name;
    uint32_t call;   /* enum posixtrace_call, of descriptors */
    uint64_t caller; /* of the call; 0: not known */
    enum posixtrace_why_relation relation;
    pid_t other_pid, other_tid;
    uint64_t other_caller;
    int64_t other_ns;      /* since when the lock is held, or when it was unlocked, signalled */
    unsigned signals;      /* how many ended such waits meanwhile; other: if it is one thread */
    bool deadlock;         /* the other thread waits for one that waits for it */
    bool details_left_out; /* what the other thread did is not among the segments */
};

struct posixtrace_why_instance {
    int64_t begin_ns, end_ns;
    pid_t pid, tid;         /* that began it */
    pid_t end_pid, end_tid; /* that ended it */
    uint64_t key;           /* the value of by, of a metric by object; of texts: a hash */
    bool has_key;
    bool open; /* it has not ended where the log does */
    size_t segments;
};

/* i from 0, the longest first, those that are open last; NULL after the last. */
const struct posixtrace_why_instance *posixtrace_why_instance(const posixtrace_why_t *why,
                                                              size_t i);
/* The segments of an instance; NULL after the last. */
const struct posixtrace_why_segment *posixtrace_why_segment(const posixtrace_why_t *why,
                                                            size_t instance, size_t i);

/*
 * A cause of the time of the slowest instances: a segment of depth 0, and the root of it, which is
 * what the last thread did that waited for no other.  ns: its time in the slowest; beyond_ns: less
 * what instances about the median have of it.  begin_ns, other_ns, signals and threads in segment
 * and root are those of the first one, tid 0 where others had it, too; end_ns is 0.
 */
struct posixtrace_why_cause {
    struct posixtrace_why_segment segment, root;
    int64_t ns, beyond_ns;
    uint64_t instances;
};
/* i from 0, the greatest beyond_ns first. */
const struct posixtrace_why_cause *posixtrace_why_cause(const posixtrace_why_t *why, size_t i);

/* A thread that is in a wait where the log ends. */
struct posixtrace_why_blocked {
    struct posixtrace_why_segment wait; /* begin_ns: since when; depth 0 */
    size_t deadlock; /* from 1: the number of the circle of waits that it is in; 0: in none */
    /* When and from where the condition or semaphore was signalled last, before the wait or in it;
     * 0: never. */
    int64_t signalled_ns;
    pid_t signalled_tid;
    uint64_t signalled_caller;
};
/* i from 0; those of a deadlock one after the other, each waits for the next, the last for the
 * first. */
const struct posixtrace_why_blocked *posixtrace_why_blocked(const posixtrace_why_t *why, size_t i);

/* The name of a thread, "" for one that is not in the log. */
const char *posixtrace_why_thread_name(const posixtrace_why_t *why, pid_t pid, pid_t tid);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif
#endif
