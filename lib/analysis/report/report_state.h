/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of a report while it reads.
 *
 * Gaps.  What events were lost is not known, so after a gap nothing is known of any thread, lock
 * or pair until an event says it.  A gap changes no row when it comes: report->gap counts gaps,
 * and one more for each event inside of a gap; each thread, lock and processor has the number
 * that it has seen, and older state is forgotten when it is next used (pt_report_thread_at()).
 *
 * An observer (struct pt_report_watch) learns what the sums do not keep: posixtrace_why_create() of
 * lib/analysis/why has one.
 *
 * report_time.c: the time of threads.  report_waits.c: calls, locks, descriptors.
 * report_contention.c: locks by threads.  report_sites.c: their callers.  report_channels.c:
 * pipes and connections.  report_pairs.c: pairs.
 * report_cpu.c: which thread ran instead.  report_run.c: events.
 */
#ifndef PT_REPORT_STATE_H
#define PT_REPORT_STATE_H

#include <posixtrace/report.h>

#include "analysis/metrics/engine/gaps.h"
#include "analysis/metrics/run/gap_marks.h"
#include "analysis/report/report_channels.h"
#include "analysis/report/report_map.h"
#include "analysis/report/report_types.h"

enum {
    PT_REPORT_RUN = POSIXTRACE_WAIT_KINDS, /* after the kinds of waits */
    PT_REPORT_RUNNABLE,
    PT_REPORT_UNNAMED,
    PT_REPORT_UNKNOWN,
    PT_REPORT_UNSURE, /* off the processor, in no call that is known until now */
    PT_REPORT_SHARES
};

enum { PT_REPORT_RECENT = 64 };

enum { PT_REPORT_PENDING = 16 }; /* times off the processor that are kept */

enum { PT_REPORT_DEPTH = 8 }; /* calls that signal handlers nest; deeper ones are only counted */

enum pt_report_place {
    PT_REPORT_NO_SWITCH, /* of this thread so far */
    PT_REPORT_LOST,      /* it has switches, and where it is was lost */
    PT_REPORT_ON,        /* a processor */
    PT_REPORT_READY,     /* preempted */
    PT_REPORT_OFF        /* it waits */
};

struct pt_report_thread;
struct pt_report_object;
struct pt_report_open;

/* The functions of an observer of the report while it reads; each gets it as w. */
struct pt_report_watch {
    /* A type is met for the first time.  What this sets in its member watched decides if taken is
     * called for its events. */
    void (*typed)(void *w, const char *name, struct pt_report_type *t);
    /* The reader left events out before the next one. */
    void (*unread)(void *w);
    /* An event of a watched type, after all other functions. */
    void (*taken)(void *w, struct pt_report_thread *th, const struct pt_report_type *t,
                  const struct posixtrace_event *e);
    /* The thread was in that share of PT_REPORT_*, or, before its first switch, in its call. */
    void (*spent)(void *w, struct pt_report_thread *th, int64_t from, int64_t to, unsigned share);
    /* Its time that was UNSURE is UNNAMED; or UNKNOWN, where known is false. */
    void (*settled)(void *w, struct pt_report_thread *th, bool known);
    /* Its time that was UNSURE, between these, was in that call. */
    void (*long_call)(void *w, struct pt_report_thread *th, const struct pt_report_open *open,
                      int64_t begin, int64_t ns);
    /* The call returns with that result. */
    void (*ended)(void *w, struct pt_report_thread *th, const struct pt_report_open *open,
                  int64_t result);
    /* The thread takes the object, and does not have it any more. */
    void (*holds)(void *w, struct pt_report_object *o, struct pt_report_thread *th,
                  uint64_t caller);
    void (*released)(void *w, struct pt_report_object *o, struct pt_report_thread *th, int64_t ns,
                     uint64_t caller);
    bool marks_only; /* threads are left out: types, gaps and taken, whose th is NULL */
};

struct pt_report_holder;

/* Gets what the rows of a report sum up, one by one: lib/analysis/tables.  Functions may be NULL;
 * they return 0 or an error number, which ends the report. */
struct pt_report_each {
    /* A wait that has counted, until ns.  holder->thread may be NULL. */
    int (*waited)(void *context, const struct pt_report_thread *th,
                  const struct pt_report_open *open, const struct pt_report_holder *holder,
                  int64_t ns);
    /* A call in which events were lost. */
    int (*wait_lost)(void *context, const struct pt_report_thread *th,
                     const struct pt_report_open *open);
    /* A gap that has counted; why: the enum pt_report_gap that it began with. */
    int (*gap)(void *context, unsigned why, int64_t from, int64_t to);
    void *context;
};

struct pt_report_holder {
    struct pt_report_thread *thread;
    uint64_t depth; /* of recursive locks */
    uint64_t caller;
};

struct pt_report_object {
    struct posixtrace_report_object row;
    const struct pt_report_call *call;
    posixtrace_statistics_t *statistics;
    char *name;
    uint64_t gap;
    struct pt_report_holder *holders;
    size_t count, room;
    /* The last one that unlocked it. */
    struct pt_report_holder last;
    int64_t last_ns;
    void *watched; /* the observer's, as below */
};

struct pt_report_open { /* a call that has begun */
    const struct pt_report_call *call;
    struct pt_report_object *object;
    int64_t ns;
    uint64_t caller, id; /* id: what tells it from another one of the call */
    struct pt_report_holder holder;
    bool several;    /* had the lock, as readers */
    uint32_t number; /* enum posixtrace_call */
    unsigned handlers;
    bool wanted, off; /* off: the thread left the processor in it */
    bool noted;       /* by an event that the thread still was in it */
    struct pt_report_channel channel;
};

struct pt_report_thread {
    struct posixtrace_report_thread row;
    bool any;    /* an event has come */
    bool sure;   /* the calls that it is in are known */
    bool ended;  /* by thread_end */
    bool wanted; /* selected */
    int64_t at;  /* its time is accounted until then */
    uint64_t gap;
    enum pt_report_place place;
    unsigned life;     /* how many threads had its number before */
    unsigned handlers; /* of signals that it is in */
    struct pt_report_open open[PT_REPORT_DEPTH];
    unsigned depth, deeper;
    struct pt_report_process *process;
    struct pt_report_object *recent; /* its last lock, condition or the like; NULL: none */
    struct pt_report_ready *ready;   /* of its last wait for work; NULL: there was none */
    int64_t share[PT_REPORT_SHARES];
    int64_t own_ns; /* since its last own event, or a gap: */
    struct {
        int64_t from, to;
    } pending[PT_REPORT_PENDING]; /* parts of the share UNSURE, the last ones */
    unsigned pending_count;
    /* Without a switch so far: since the last gap, and before it. */
    int64_t early[PT_REPORT_SHARES], old[PT_REPORT_SHARES];
    /* Since the last CPU time. */
    bool has_cpu_time, broken; /* broken: a part of it is not known */
    uint64_t run, more;
    int64_t cpu_ns, in_calls, outside;
    /* Since it was preempted. */
    int64_t preempted_ns;
    struct pt_report_thread *preemptor;
    void *watched;
};

struct pt_report_process {
    pid_t pid;
    int64_t last_ns;
    bool handlers; /* of signals were seen */
};

struct pt_report_pair {
    struct posixtrace_report_pair row;
    posixtrace_statistics_t *statistics;
    char *name;
};

struct posixtrace_report {
    trace_id_t trid;
    struct posixtrace_report_options options;
    struct posixtrace_report_summary summary;
    struct pt_report_map threads;    /* pid, tid */
    struct pt_report_map processes;  /* pid */
    struct pt_report_map objects;    /* pid, call and sort, object */
    struct pt_report_map names;      /* pid, descriptor: of objects */
    struct pt_report_map sites;      /* pid, kind and call, caller */
    struct pt_report_map contention; /* lock, thread, holder */
    struct pt_report_map cpus;
    struct pt_report_channels channels; /* if there is an observer */
    struct pt_report_map pairs;         /* number */
    struct pt_report_map begun;         /* thread, pair */
    struct pt_report_type *types;       /* by id */
    struct pt_report_pair **pair_of;
    size_t type_count;
    struct pt_report_thread *last, *recent[PT_REPORT_RECENT]; /* by a part of the number */
    struct pt_gaps gaps;
    uint64_t gap;
    unsigned in_gap; /* enum pt_report_gap */
    struct pt_gap_marks marks;
    int64_t gap_ns, now;
    bool long_only; /* calls are in the log if they were long, each as one event */
    bool unread;    /* the reader left events out before the next one */
    const struct pt_report_watch *watch; /* or NULL */
    void *watcher;
    struct pt_report_each each;
    int each_error; /* of a function of each */
    unsigned gap_why;
};

/* Reasons of a gap; each is a bit. */
enum pt_report_gap {
    PT_REPORT_GAP_OVERFLOW = 1,
    PT_REPORT_GAP_STOPPED = 2,
    PT_REPORT_GAP_UNREAD = 4,
    PT_REPORT_GAP_UNMARKED = 8,
    PT_REPORT_GAP_FILTER = 16
};

/* ---- report_run.c ---- */

/* In place of posixtrace_report_take(), for a caller that needs the events for something else, too:
 * takes the next event of posixtrace_next_whole_events().  0 or an error number. */
int pt_report_event(posixtrace_report_t *r, const struct posixtrace_event *e);
/* The reader left events out before the next one. */
void pt_report_unread(posixtrace_report_t *r);

/* ---- report_time.c ---- */

/* Accounts the time of the thread until ns. */
void pt_report_thread_at(posixtrace_report_t *r, struct pt_report_thread *th, int64_t ns);
/* A thread that is in a wait stays there until its process ends, or its log. */
bool pt_report_still_waits(const posixtrace_report_t *r, const struct pt_report_thread *th);
/* At the time of an event that the thread records itself. */
void pt_report_thread_runs(struct pt_report_thread *th);
/* Since its last own event the thread was off the processor in no call; or that is not known. */
void pt_report_thread_was_outside(const posixtrace_report_t *r, struct pt_report_thread *th,
                                  bool known);
/* A call of that kind started at begin and ended at ns; the thread has recorded nothing in it. */
void pt_report_thread_long_call(posixtrace_report_t *r, struct pt_report_thread *th, unsigned kind,
                                int64_t begin, int64_t ns);
void pt_report_thread_switches(posixtrace_report_t *r, struct pt_report_thread *th,
                               enum pt_report_role role);
void pt_report_thread_cpu_time(struct pt_report_thread *th, const struct posixtrace_event *e);
void pt_report_thread_close(posixtrace_report_t *r, struct pt_report_thread *th);
/* How much of the time between is selected. */
int64_t pt_report_selected(const posixtrace_report_t *r, int64_t from, int64_t to);
/* Is a wait or pair of the thread with these ends selected?  Counts it where it crosses an edge. */
bool pt_report_counts(posixtrace_report_t *r, const struct pt_report_thread *th, bool wanted,
                      int64_t from, int64_t to);

/* ---- report_waits.c: 0 or ENOMEM ---- */

int pt_report_call_begins(posixtrace_report_t *r, struct pt_report_thread *th,
                          const struct pt_report_call *call, const struct posixtrace_event *e);
int pt_report_call_ends(posixtrace_report_t *r, struct pt_report_thread *th,
                        const struct pt_report_call *call, const struct posixtrace_event *e);
int pt_report_unlocks(posixtrace_report_t *r, struct pt_report_thread *th,
                      const struct pt_report_call *call, const struct posixtrace_event *e);
int pt_report_long_call(posixtrace_report_t *r, struct pt_report_thread *th,
                        const struct posixtrace_event *e);
int pt_report_notes_wait(posixtrace_report_t *r, struct pt_report_thread *th,
                         const struct posixtrace_event *e);
/* Which descriptors end the wait for work that the thread is in. */
int pt_report_notes_ready(posixtrace_report_t *r, struct pt_report_thread *th,
                          const struct posixtrace_event *e);
int pt_report_names_descriptor(posixtrace_report_t *r, const struct posixtrace_event *e);
/* The calls of a thread are not known any more. */
void pt_report_calls_lost(posixtrace_report_t *r, struct pt_report_thread *th);
void pt_report_objects_free(posixtrace_report_t *r);
/* What an event of the call is about; NULL: no memory. */
struct pt_report_object *pt_report_object_of(posixtrace_report_t *r,
                                             const struct pt_report_call *call,
                                             const struct posixtrace_event *e);
/* What the call of a process was about, at an address; NULL: it has made no such call. */
struct pt_report_object *pt_report_object_at(const posixtrace_report_t *r,
                                             const struct pt_report_call *call, pid_t pid,
                                             uint64_t address);
/* Is the wait or pair selected that this event begins? */
bool pt_report_wants_begin(posixtrace_report_t *r, const struct posixtrace_event *e);

/* ---- report_contention.c ---- */

/* A wait for a lock, until ns, which the holder had, or NULL.  0 or ENOMEM. */
int pt_report_contends(posixtrace_report_t *r, const struct pt_report_thread *th,
                       const struct pt_report_open *open, const struct pt_report_thread *holder,
                       int64_t ns);

/* ---- report_sites.c ---- */

/* A wait of that call, until ns.  0 or ENOMEM. */
int pt_report_site_waits(posixtrace_report_t *r, const struct pt_report_thread *th,
                         const struct pt_report_open *open, int64_t ns);
void pt_report_sites_free(posixtrace_report_t *r);

/* ---- report_locks.c ---- */

/* A thread other than th that holds it; its thread is NULL: none is known. */
struct pt_report_holder pt_report_held(posixtrace_report_t *r, struct pt_report_object *o,
                                       const struct pt_report_thread *th);
/* Another one than th that has unlocked it since. */
struct pt_report_holder pt_report_held_since(const posixtrace_report_t *r,
                                             const struct pt_report_object *o,
                                             const struct pt_report_thread *th, int64_t since);
bool pt_report_holds(const posixtrace_report_t *r, struct pt_report_object *o,
                     const struct pt_report_thread *th);
int pt_report_takes(posixtrace_report_t *r, struct pt_report_object *o, struct pt_report_thread *th,
                    uint64_t caller);
void pt_report_releases(posixtrace_report_t *r, struct pt_report_object *o,
                        struct pt_report_thread *th, int64_t ns, uint64_t caller);

/* ---- report_pairs.c ---- */

/* The pair of a type's name; NULL: no memory. */
struct pt_report_pair *pt_report_pair_of(posixtrace_report_t *r, const char *name, size_t stem);
int pt_report_pair_begins(posixtrace_report_t *r, struct pt_report_thread *th,
                          struct pt_report_pair *p, const struct posixtrace_event *e);
int pt_report_pair_ends(posixtrace_report_t *r, struct pt_report_thread *th,
                        struct pt_report_pair *p, const struct posixtrace_event *e);
void pt_report_pairs_close(posixtrace_report_t *r);
void pt_report_pairs_free(posixtrace_report_t *r);

/* ---- report_cpu.c ---- */

/* A switch of the thread, before its place changes.  0 or ENOMEM. */
int pt_report_cpu_switch(posixtrace_report_t *r, struct pt_report_thread *th,
                         enum pt_report_role role, const struct posixtrace_event *e);

#endif
