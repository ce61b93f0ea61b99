/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of posixtrace_why_t.
 *
 * Pass 1 (pass 1 of the report's reader, without threads) finds the instances and keeps their
 * statistics, the lengths of the worst, and with which switch each thread begins.  Pass 2 runs the
 * state machine of lib/analysis/report with an observer, which keeps what happened as spans: the
 * parts of each thread's time, who had each lock and processor, who signalled what.  When an
 * instance ends that is slow enough, its time is resolved from these spans.  Spans older than the
 * longest instance are dropped.
 *
 * Several subjects share the passes and the spans; w->subject is the one of the present event.
 *
 * why_run.c: passes, options.  why_subject.c: subjects.  why_pairs.c: instances.  why_select.c:
 * which are explained.  why_spans.c: lists of spans, threads, objects.  why_observe.c: the
 * observer.  why_ended.c: ends of calls.  why_resolve.c: segments of a time.  why_wait.c: segments
 * of a wait.  why_causes.c: sums by cause.  why_blocked.c: the end of the log.
 */
#ifndef PT_WHY_STATE_H
#define PT_WHY_STATE_H

#include <uthash.h>
#include <posixtrace/typed.h>
#include <posixtrace/why.h>

#include "analysis/metrics/run/reader.h"
#include "analysis/report/report_state.h"

/* What type->watched of an event type says; bits. */
enum pt_why_mark {
    PT_WHY_BEGINS = 1,
    PT_WHY_ENDS = 2,
    PT_WHY_SWITCH = 4,
    PT_WHY_WAKES = 8, /* and what comes to a barrier */
    PT_WHY_UNLOCKS = 16,
    PT_WHY_LIFE = 32,  /* thread_begin, thread_end */
    PT_WHY_ALL = 64,   /* a metric may look at it */
    PT_WHY_IO = 128,   /* begins a call that transfers data */
    PT_WHY_SUBJECT = 8 /* shift: the number of the subject that it begins or ends */
};

/* ---- spans ---- */

/* The head of each kind. */
struct pt_why_span {
    int64_t from, to;
};

/* A part of the time of a thread. */
struct pt_why_part {
    struct pt_why_span at;
    const struct pt_report_call *call; /* NULL: in none */
    struct pt_report_object *object, *mutex;
    int64_t call_ns;
    int64_t result;               /* of the call, if it has returned: the process that has ended */
    int64_t whole_from, whole_to; /* of a copy, before it was cut */
    uint64_t caller, gap;
    struct pt_report_channel channel;
    uint32_t number, cpu;
    uint8_t share;
    bool early;  /* before the first switch of the thread */
    bool failed; /* the call did */
    bool taken;  /* it returned without an error; of conditions and semaphores only */
};

/* The time in which a thread has a lock or processor; to is INT64_MAX while it has it. */
struct pt_why_hold {
    struct pt_why_span at;
    struct pt_report_thread *thread;
    uint64_t caller, unlock_caller;
    uint64_t gap;
    bool unlocked; /* by an event, not by a gap */
};

/* A signal of a condition and the like; at.from is at.to. */
struct pt_why_wake {
    struct pt_why_span at;
    struct pt_report_thread *thread;
    uint64_t caller;
};

struct pt_why_list {
    void *items;
    size_t count, room;
    int64_t lost_to; /* what was before is not kept; 0: nothing was dropped */
};

/* ---- threads, objects ---- */

struct pt_why_begun { /* an instance */
    int64_t ns;
    uint64_t gap;
    unsigned life;
    bool open, wanted;
    pid_t pid, tid;
};

/* A thread, in both passes. */
struct pt_why_runner {
    pid_t pid, tid;
    unsigned life;
    bool ended;
    int64_t ended_ns;
    bool switches;   /* it has a switch */
    bool begins_off; /* with that it gets a processor */
    uint64_t switch_gap;
    struct pt_report_thread *thread; /* of pass 2 */
    struct pt_why_list parts;
    unsigned unsure; /* parts at the end of the list that are not settled */
    uint32_t cpu;
    struct pt_report_object *mutex; /* that a wait for a condition has unlocked */
    struct pt_why_part channel;     /* its last wait for a condition or semaphore */
    size_t walk;                    /* why_blocked.c */
    bool listed;
    struct pt_why_begun begun[]; /* by subject */
};

/* Spans of an object of a report. */
struct pt_why_object {
    struct pt_why_list holds, wakes;
    struct pt_report_thread *awaited; /* of thread_join */
};

struct pt_why_cpu {
    struct pt_why_list holds;
};

/* A pipe, event counter or direction of a connection: calls that read from it and that write to
 * it, of all processes. */
struct pt_why_pipe {
    struct pt_why_list calls[2];
};

struct pt_why_keyed { /* an instance of by that has begun */
    struct {
        uint64_t low, high;
    } key;
    struct pt_why_begun begun;
    UT_hash_handle hh;
};

enum { PT_WHY_DEPTH = 16 }; /* of segments, from 0 */

/* ---- results ---- */

struct pt_why_rows {
    struct posixtrace_why_segment *rows;
    size_t count, room;
};

struct pt_why_kept {
    struct posixtrace_why_instance row;
    struct pt_why_rows segments;
};

struct pt_why_cause {
    struct posixtrace_why_cause row;
    int64_t typical_ns; /* in instances about the median */
    uint64_t last;      /* number of the instance that it was last counted for */
};

/* One pair or metric with its instances. */
struct pt_why_subject {
    char *begin, *end;
    struct posixtrace_why_summary summary;
    posixtrace_statistics_t *statistics;
    /* Of pass 1: lengths of the worst, a heap with the least first. */
    int64_t *worst;
    size_t worst_count;
    int64_t least_ns;        /* of the worst */
    int64_t low_ns, high_ns; /* lengths about the median */
    uint64_t typical, step, seen_typical;
    /* Of pass 2: the worst, then those that are open. */
    struct pt_why_kept *kept;
    size_t kept_count, open_count;
    struct pt_report_map causes;
    struct pt_why_cause **sorted;
};

struct posixtrace_why {
    trace_id_t trid;
    struct posixtrace_why_options options;
    char *by;
    struct pt_why_subject *subjects, *subject; /* the present one */
    size_t subject_count;
    posixtrace_report_t *report;
    posixtrace_fields_t *fields;
    posixtrace_metric_run_t *run;
    unsigned pass;
    bool ended;
    int error; /* of an observer */
    uint64_t events;
    uint64_t gap_count, switches; /* of pass 1 */
    struct pt_report_map runners, cpus, pipes;
    struct pt_why_runner *recent[PT_REPORT_RECENT]; /* by a part of the number */
    struct pt_why_keyed *keyed;
    size_t keyed_count;
    int64_t reach; /* of pass 1: spans are kept that long */
    /* Of pass 2. */
    size_t spans, span_room;
    struct pt_why_rows rows; /* of the present instance */
    uint64_t resolved;
    struct posixtrace_why_blocked *blocked;
    size_t blocked_count;
    /* With at_tid: the part of the thread that is asked for, once it has begun; older spans than
     * at_from are not needed. */
    bool at_found, at_done;
    pid_t at_pid;
    struct pt_why_part at_part;
    int64_t at_from;
};

static inline int64_t pt_why_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t pt_why_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- why_spans.c ---- */

/* A new item at the end, whose members are not set; NULL: no memory, which w->error has then. */
void *pt_why_list_add(posixtrace_why_t *w, struct pt_why_list *l, size_t size);
void pt_why_list_free(struct pt_why_list *l);
/* The index of the first span that ends after ns, of a list in order. */
size_t pt_why_list_find(const struct pt_why_list *l, size_t size, int64_t ns);
/* When the hold ended, as far as is known. */
int64_t pt_why_hold_end(const posixtrace_why_t *w, const struct pt_why_hold *h);

/* Made where there is none; NULL: no memory. */
struct pt_why_runner *pt_why_runner(posixtrace_why_t *w, pid_t pid, pid_t tid);
struct pt_why_runner *pt_why_of(posixtrace_why_t *w, struct pt_report_thread *th);
struct pt_why_object *pt_why_object(posixtrace_why_t *w, struct pt_report_object *o);

/* ---- why_pairs.c ---- */

/* The events of a type that is PT_WHY_BEGINS or PT_WHY_ENDS, at the report's gap number. */
void pt_why_pair_event(posixtrace_why_t *w, unsigned mark, const struct posixtrace_event *e);
void pt_why_pairs_end(posixtrace_why_t *w);
void pt_why_pairs_free(posixtrace_why_t *w);

/* ---- why_subject.c ---- */

/* Makes those of the options, with room for the worst.  0, EINVAL or ENOMEM. */
int pt_why_subjects_init(posixtrace_why_t *w);
void pt_why_subjects_deinit(posixtrace_why_t *w);
/* The number of the subject that events of the name begin or end, with the marks; 0: of none. */
unsigned pt_why_subject_marks(const posixtrace_why_t *w, const char *name);
/* Completes the rows of all. */
void pt_why_subjects_end(posixtrace_why_t *w);

/* ---- why_select.c ---- */

/* An instance that has ended, in any pass. */
void pt_why_instance(posixtrace_why_t *w, const struct posixtrace_why_instance *i);
void pt_why_open(posixtrace_why_t *w, const struct posixtrace_why_instance *i);
/* Keeps w->rows with an instance. */
void pt_why_keep_segments(posixtrace_why_t *w, struct pt_why_kept *k);
/* With at_tid: the thread's time that is asked for, as long as it did the same. */
void pt_why_resolve_at(posixtrace_why_t *w);
/* Between the passes. */
void pt_why_choose(posixtrace_why_t *w);

/* ---- why_observe.c ---- */

extern const struct pt_report_watch pt_why_first_watch, pt_why_second_watch;

/* ---- why_ended.c ---- */

/* The observer's: the call returns with that result. */
void pt_why_ended(void *context, struct pt_report_thread *th, const struct pt_report_open *open,
                  int64_t result);
/* Is the thread the one of at_tid? */
static inline bool pt_why_is_asked(const posixtrace_why_t *w, const struct pt_report_thread *th)
{
    return th->row.tid == w->options.at_tid &&
           (!w->options.at_pid || th->row.pid == w->options.at_pid);
}

/* ---- why_resolve.c ---- */

/* Appends the segments of an instance to w->rows. */
void pt_why_resolve(posixtrace_why_t *w, const struct posixtrace_why_instance *i);

/* To be resolved: a thread's time at a depth, and the threads that wait for it. */
struct pt_why_frame {
    const struct pt_why_frame *above;
    struct pt_report_thread *thread;
    int64_t from, to;
    unsigned depth;
    bool kept; /* the one above waits for what this one has */
};

struct posixtrace_why_segment *pt_why_add_row(posixtrace_why_t *w, const struct pt_why_frame *f,
                                              int64_t from, int64_t to);
/* What the other thread of the last row did meanwhile.  kept: the frame's thread waits for what the
 * other one has. */
void pt_why_descend(posixtrace_why_t *w, const struct pt_why_frame *f,
                    struct pt_report_thread *other, bool kept);

/* ---- why_wait.c ---- */

/* A part of a thread's time that is a wait, from its from to its to. */
void pt_why_wait(posixtrace_why_t *w, const struct pt_why_frame *f, const struct pt_why_part *p);
/* What ends waits as this one; NULL: nothing that is recorded. */
const struct pt_why_list *pt_why_wakes(const posixtrace_why_t *w, const struct pt_why_part *p);
/* The only thread but th that did so in that time; or NULL.  count: how often. */
const struct pt_why_wake *pt_why_waker(const struct pt_why_list *wakes,
                                       const struct pt_report_thread *th, int64_t from, int64_t to,
                                       unsigned *count);

/* ---- why_causes.c ---- */

/* Adds the segments in w->rows, of one of the slowest, or of one about the median. */
void pt_why_causes_add(posixtrace_why_t *w, bool slow);
void pt_why_causes_end(posixtrace_why_t *w);

/* ---- why_blocked.c ---- */

void pt_why_find_blocked(posixtrace_why_t *w);

#endif
