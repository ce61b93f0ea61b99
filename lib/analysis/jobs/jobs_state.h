/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The state of a pass over jobs.  It observes a report (struct pt_report_watch), which knows what a
 * thread does at each time: each time that the report accounts is added to the jobs that are open.
 *
 * A job that is released by a due time begins inside of the call that waits for it, and at times
 * before that call: then the thread was late.  So from the start of such a call on, times after the
 * due time are collected ("armed"), and become those of the job if the call returns when it is due.
 *
 * Before the first context switch of a thread nothing says where it was: jobs that end before that
 * are held back.  A first switch away from a processor says that the thread had it all the time.
 */
#ifndef PT_JOBS_STATE_H
#define PT_JOBS_STATE_H

#include <posixtrace/jobs.h>

#include "analysis/metrics/engine/step.h"
#include "analysis/report/report_state.h"

enum {
    PT_JOBS_RULES = 8,
    PT_JOBS_OBJECTS = 8, /* jobs of one rule and thread at once, of several objects */
    PT_JOBS_SLOTS = PT_JOBS_RULES * PT_JOBS_OBJECTS,
    PT_JOBS_PENDING = 16,
    PT_JOBS_HELD = 4096
};

enum pt_jobs_share { /* after the kinds of waits */
                     PT_JOBS_RUN = POSIXTRACE_WAIT_KINDS,
                     PT_JOBS_SYSTEM,
                     PT_JOBS_RUNNABLE,
                     PT_JOBS_WAKEUP,
                     PT_JOBS_UNNAMED,
                     PT_JOBS_UNKNOWN,
                     PT_JOBS_UNSURE, /* off the processor, in no call that is known until now */
                     PT_JOBS_SHARES
};

struct pt_jobs_sum {
    int64_t ns[PT_JOBS_SHARES];
    uint64_t switches, preemptions;
};

struct pt_jobs_open {
    bool is_open, is_armed;
    bool wanted, due;
    bool unsure;  /* of two events: a job may be open whose begin was lost */
    bool lost;    /* this one may be a part of such a job */
    uint64_t gap; /* number of the gap before it; another one: it is lost */
    bool used;    /* call and id are those of its last job */
    uint64_t id;  /* what the call that released it waits for */
    const struct pt_report_call *call;
    int64_t begin, woken, period;
    bool has_before; /* a job before it, which was released at before_ns */
    int64_t before_ns;
    int64_t
        from; /* times are collected from here on; armed: the due time or the start of the call */
    int64_t armed; /* when the call began */
    struct pt_jobs_sum sum;
    /* A read of the timerfd has begun: what the job is if that does not return at once. */
    bool reads;
    int64_t read_ns;
    struct pt_jobs_sum at_read;
    struct pt_due last_due; /* of sleeps */
    bool unsure_from; /* it may have been seen before: its sleep began before the log or a gap */
    int64_t timeout;  /* of polls that are armed */
};

struct pt_jobs_thread {
    struct pt_jobs_open *open; /* an entry for each slot */
    bool wanted;
    int64_t early; /* before the first switch: since then without a loss; INT64_MIN: no time yet */
    uint64_t gap;  /* early is after that gap */
    struct posixtrace_job *held;
    size_t held_count, held_room;
    struct {
        int64_t from, to;
    } pending[PT_JOBS_PENDING]; /* the last times of the share UNSURE */
    unsigned pending_count;
};

struct posixtrace_jobs {
    posixtrace_report_t *report;
    struct posixtrace_jobs_options options;
    struct posixtrace_job_rule *rules; /* copies, their texts too */
    size_t rule_of[PT_JOBS_SLOTS];     /* slots: jobs that may be open at once, of a rule */
    size_t slot_count;
    struct posixtrace_jobs_count counts[PT_JOBS_RULES];
    struct posixtrace_jobs_summary summary;
    struct pt_report_map kinds; /* pid, descriptor: uint32_t */
    bool without_switches;      /* the log has none of any thread */
    int error;
};

/* ---- jobs_observe.c ---- */

extern const struct pt_report_watch pt_jobs_watch;
/* At the end of the log. */
void pt_jobs_close(posixtrace_jobs_t *j, struct pt_report_thread *th);

/* ---- jobs_open.c ---- */

/* Made where it is new; NULL: no memory. */
struct pt_jobs_thread *pt_jobs_of(posixtrace_jobs_t *j, struct pt_report_thread *th);
/* Times of the share, which the report has accounted. */
void pt_jobs_add(posixtrace_jobs_t *j, struct pt_report_thread *th, int64_t from, int64_t to,
                 unsigned share);
/* A context switch away from a processor. */
void pt_jobs_left(const posixtrace_jobs_t *j, struct pt_jobs_thread *jt, int64_t ns,
                  bool preempted);
/* Times that are UNSURE: they are in no call, or that is not known. */
void pt_jobs_settle(const posixtrace_jobs_t *j, struct pt_jobs_thread *jt, bool known);
/* Those between begin and ns are in a call of that kind. */
void pt_jobs_name(const posixtrace_jobs_t *j, struct pt_jobs_thread *jt, unsigned kind,
                  int64_t begin, int64_t ns);
/* The first context switch of the thread: it had a processor until now, or that is not known. */
void pt_jobs_first_switch(posixtrace_jobs_t *j, struct pt_report_thread *th, bool ran);

/* The job of the slot is released or completed.  due: 0, or the time. */
void pt_jobs_arm(struct pt_jobs_open *o, const struct pt_report_thread *th, int64_t due,
                 int64_t ns);
void pt_jobs_begin(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot, int64_t due,
                   const struct posixtrace_event *e);
void pt_jobs_complete(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot, int64_t ns);
/* The same where the read began. */
void pt_jobs_complete_at_read(posixtrace_jobs_t *j, struct pt_report_thread *th, size_t slot);
/* It is not completed: by a loss of events, the end of its thread, or the rest of a sleep. */
void pt_jobs_drop(posixtrace_jobs_t *j, struct pt_jobs_thread *jt, size_t slot, uint64_t *count);
/* Those of before a gap. */
void pt_jobs_forget(posixtrace_jobs_t *j, struct pt_report_thread *th);

#endif
