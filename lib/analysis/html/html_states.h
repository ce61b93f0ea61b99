/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the observer of the report engine keeps.
 *
 * States: the engine says a part of a thread's time when it is over, and some parts twice: time off
 * the processor in no call that is known is UNSURE until the thread's next own event says in which
 * call it was.  Such parts wait in the queue of the thread, with those after them.  Time before the
 * first switch of a thread is known at that switch.
 */
#ifndef PT_HTML_STATES_H
#define PT_HTML_STATES_H

#include "analysis/html/html_state.h"
#include "analysis/report/report_state.h"

struct pt_html_part {
    int64_t from, to;
    unsigned share; /* PT_REPORT_* */
};

struct pt_html_runner {
    struct pt_html_lane *lane;
    struct pt_html_part *parts; /* the last one may still grow */
    size_t count, room;
    bool early; /* time before the first switch, since that gap: */
    uint64_t early_gap;
    int64_t early_from, early_to;
    bool noted; /* the call that it is in was made known by an event of its own */
};

struct pt_html_hold {
    struct pt_report_thread *thread;
    int64_t from;
    uint64_t gap;
};

struct pt_html_object {
    uint32_t row;
    struct pt_html_hold *holds;
    size_t count, room;
    struct pt_report_thread *waker; /* the last one that ended waits for it, or NULL */
    int64_t wake_ns;
};

struct pt_html_transfer { /* a call that reads or writes */
    struct pt_report_thread *thread;
    int64_t ns;
};

/* By side, 0 reads and 1 writes: the last call, and the first after the last one of the other
 * side. */
struct pt_html_channel {
    struct pt_html_transfer last[2], first[2];
    bool several[2]; /* threads have made calls on that side since the first */
};

struct pt_html_watch {
    struct pt_html *h;
    posixtrace_report_t *report;
    uint32_t lock_rows;
    struct pt_report_map channels;
};

/* The one of a thread; NULL: no memory. */
struct pt_html_runner *pt_html_runner_of(struct pt_html_watch *w, struct pt_report_thread *th);

/* ---- html_locks.c ---- */

void pt_html_lock_held(struct pt_html_watch *w, struct pt_report_object *o,
                       struct pt_report_thread *th);
void pt_html_lock_released(struct pt_html_watch *w, struct pt_report_object *o,
                           struct pt_report_thread *th, int64_t ns);
/* The thread ends waits of others for it. */
void pt_html_wakes(struct pt_html_watch *w, struct pt_report_object *o, struct pt_report_thread *th,
                   int64_t ns);
/* A call of the thread has ended: the flow to it. */
void pt_html_call_ended(struct pt_html_watch *w, struct pt_report_thread *th,
                        const struct pt_report_open *open, int64_t result);
/* Locks that are still held, and all that locks have. */
void pt_html_locks_end(struct pt_html_watch *w);

/* ---- html_pipes.c ---- */

/* The thread has begun a call on a descriptor at ns. */
void pt_html_transfers(struct pt_html_watch *w, struct pt_report_thread *th, int64_t ns);
/* The thread whose call on the other side let that one continue, and when; NULL: none. */
struct pt_report_thread *pt_html_transfer_of(const struct pt_html_watch *w,
                                             const struct pt_report_thread *th,
                                             const struct pt_report_open *open, int64_t *ns,
                                             bool *is_socket);

#endif
