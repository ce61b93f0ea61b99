/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * State of one stream, from its events and from its counters.
 *
 * Gaps.  Events that were lost, skipped (sampling), or not recorded because the stream was stopped
 * or filtered may have changed anything: which thread holds a lock, which pair is open.  s->gap
 * counts gaps; t->good is the last gap over which thread t is known.  A gap makes a thread unknown,
 * until
 *   - an event of it is read: all begins with that event, and its life is another one
 *   - it shows that the gap has no event of it.
 *
 * The latter needs no event.  A refresh k lists the threads with their counts of events, L(k),
 * skips events if it has to, reads to the present, R(k), and lists the threads again, M(k).  If
 * R(k - 1) has come to the time of L(k - 1), all that is skipped or lost after R(k - 1), until the
 * end of R(k), lies between L(k - 1) and M(k).  So a thread with the same count in both is known
 * over it: one that waits in a deadlock keeps its locks, however many events of others are skipped.
 *
 * Memory is bounded: TOP_THREADS threads and so on; those beyond are left out, and counted.
 */
#ifndef TOP_STATE_H
#define TOP_STATE_H

#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>

#include "common/sites.h"
#include "top/top_map.h"
#include "top/top_recent.h"

enum {
    TOP_THREADS = 32768,
    TOP_LOCKS = 4096,
    TOP_SITES = 4096,
    TOP_PAIRS = 128,
    TOP_DEPTH = 4, /* of calls in handlers of signals */
    TOP_BEGUN = 8, /* pairs that a thread has open */
    TOP_TYPES = 65536
};

struct top_thread;

struct top_holder {
    struct top_thread *thread;
    uint64_t life; /* of the thread, when it locked */
    unsigned depth;
};

struct top_lock {
    struct top_node node; /* pid, object */
    pid_t pid;
    uint64_t object;
    struct top_holder *holders;
    size_t count, room;
    struct top_recent recent;
    unsigned waiters; /* in this refresh */
    char text[SITES_TEXT];
    unsigned tries; /* to find a name */
};

struct top_site {
    struct top_node node; /* pid and type, caller */
    pid_t pid;
    uint64_t caller;
    uint32_t type, call; /* of the event that begins it; enum posixtrace_call or UINT32_MAX */
    struct top_recent recent;
    char text[SITES_TEXT];
    unsigned tries; /* to find a name */
};

struct top_pair {
    char *name;
    size_t stem;
    struct top_recent recent;
};

/* What a call waits for, as in the first bytes of its events. */
enum top_subject { TOP_NOTHING, TOP_OBJECT, TOP_DESCRIPTOR, TOP_PROCESS };

struct top_call {
    uint32_t begin, end, unlock; /* event types; unlock 0: is no lock */
    enum top_subject subject;
    unsigned caller; /* its place in the data of begin */
    bool idle;       /* waits for time or work, which says nothing of a slow program */
};

struct top_open {
    const struct top_call *call;
    int64_t ns;
    uint64_t id, caller;
    uint32_t number; /* enum posixtrace_call */
    bool wanted;
};

struct top_begun {
    struct top_pair *pair;
    int64_t ns;
    bool wanted;
};

struct top_thread {
    struct top_node node; /* pid, tid */
    pid_t pid, tid;
    char name[16];
    uint64_t thread_id;
    /* As of the last list of threads. */
    struct posixtrace_thread_info now;
    uint64_t count, before; /* events recorded and lost, in L(k) and in L(k - 1) */
    uint64_t after;         /* the same in M(k) */
    uint64_t listed, again; /* the refreshes of L and M that had it last */
    bool was_listed;        /* L(k - 1) had it */
    bool same_wait;         /* in M(k) as in L(k) */
    double rate;            /* events a second */
    /* From events. */
    uint64_t good, life;
    struct top_open open[TOP_DEPTH];
    unsigned depth, deeper;
    struct top_begun begun[TOP_BEGUN];
    unsigned begun_count;
    int64_t matched_ns; /* the last event that the filter of the screen means */
    /* From /proc (top_proc.h). */
    char state; /* 'R', 'S', 'D', ...; 0: not known */
    bool ended;
    uint64_t looked;               /* the refresh in which it was read */
    int64_t run_ns, ready_ns;      /* since its start */
    int64_t proc_ns;               /* when that was, CLOCK_MONOTONIC; 0: never */
    double run_share, ready_share; /* between the last two times; < 0: not known */
    /* The wait-for graph (top_graph.h). */
    struct top_thread *waits_for;
    size_t walk, deadlock; /* from 1: the number of the cycle that it is in */
    size_t next_place;     /* of the thread in that cycle, from 0 */
};

struct top_type {
    bool known;
    char role; /* 'b', 'e' of a pair; 0: none */
    struct top_pair *pair;
};

struct top_stream {
    struct posixtrace_stream info;
    trace_id_t trid;
    struct sites sites;
    bool ended;       /* the picture is the last one */
    int64_t ended_ns; /* when that was found, CLOCK_MONOTONIC */
    bool running;
    double event_ns; /* what recording one costs; 0: not known */
    /* Of the attributes. */
    uint64_t size;
    int policy;
    /* Counters. */
    struct posixtrace_info now, before;
    uint64_t lost_before[POSIXTRACE_LOSS_CAUSES]; /* when it was attached to */
    uint64_t events, missed, missed_before;       /* sums over the last lists of threads */
    bool listed;                                  /* there was one */
    double rate, lost_rate[POSIXTRACE_LOSS_CAUSES];
    unsigned processes;
    pid_t pid; /* one of these, or 0 */
    /* Reading. */
    uint64_t refresh;      /* k */
    uint64_t taken;        /* events since the share was computed */
    int64_t watched_ns;    /* since when it is watched, CLOCK_REALTIME */
    int64_t first_ns;      /* time of the first event of a thread; 0: there was none */
    uint64_t due;          /* events that were recorded between L(k - 1) and L(k) */
    double share;          /* of these that were read; 1: all */
    double cost_ns;        /* of reading an event, as measured */
    double used_ns;        /* processor time for reading events since the last refresh */
    bool cut;              /* the last reading ended before the present, to keep to its time */
    double holds;          /* how many events the stream has room for, about; 0: not known */
    bool skips;            /* the last reading has skipped events */
    bool skipped;          /* one has since the share was computed */
    int64_t partial_ns;    /* when events were last not read, or lost: CLOCK_REALTIME; 0: never */
    int64_t stretch_ns;    /* the time of the events that it has read then; 0: it has not */
    int64_t read_ns;       /* when that was, CLOCK_MONOTONIC */
    int64_t apart_ns;      /* CLOCK_REALTIME was so much later then; 0: not known */
    int64_t set_until_ns;  /* it was set, which may come into the stream until then */
    bool locks_unfiltered; /* the stream records all events of locks */
    /* Engine. */
    uint64_t gap, hard_gap;             /* hard: nothing is known over it */
    uint64_t read_gap, read_gap_before; /* at the end of the last two readings */
    bool caught_up, caught_up_before;   /* these came to the time of the list before them */
    struct top_type *types;
    size_t type_count;
    struct top_map threads, locks, sites_of;
    struct top_pair *pairs[TOP_PAIRS];
    size_t pair_count;
    struct top_thread *last;              /* of the event before */
    uint64_t left_out;                    /* events of threads, locks, sites beyond the limits */
    const posixtrace_expression_t *wants; /* the filter of the screen, or NULL */
};

/* ---- top_events.c ---- */

void top_take(struct top_stream *s, const struct posixtrace_event *e);
/* Events are missing between the one before and the next. */
void top_gap(struct top_stream *s);
/* After M(k): finds threads that are known over the gaps since R(k - 1).  complete: R(k) has come
 * to the time of L(k). */
void top_idle_threads(struct top_stream *s, bool complete);
/* NULL: there are too many. */
struct top_thread *top_thread_of(struct top_stream *s, pid_t pid, pid_t tid);
/* Removes threads that have ended. */
void top_forget_ended(struct top_stream *s);
void top_engine_free(struct top_stream *s);

/* ---- top_calls.c ---- */

/* The call that this event type begins, or NULL. */
const struct top_call *top_call_of(uint32_t type);
/* Takes an event of a type of the system.  False: its type means nothing here. */
bool top_take_system(struct top_stream *s, struct top_thread *t, const struct posixtrace_event *e);
/* Does the filter of the screen mean the event? */
bool top_wants(struct top_stream *s, struct top_thread *t, const struct posixtrace_event *e);

/* ---- top_locks.c ---- */

struct top_lock *top_lock_of(struct top_stream *s, pid_t pid, uint64_t object);
void top_lock_taken(struct top_stream *s, struct top_lock *lock, struct top_thread *t);
void top_lock_released(struct top_stream *s, struct top_lock *lock, struct top_thread *t);
/* Removes holders that are known no longer. */
void top_lock_forget(struct top_lock *lock);
/* A thread other than t that is known to hold it, or NULL. */
struct top_thread *top_lock_holder(const struct top_stream *s, struct top_lock *lock,
                                   const struct top_thread *t);

#endif
