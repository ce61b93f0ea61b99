/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Places where events are missing.  What a thread had begun there may have ended unseen: it is cut
 * at the start of the loss, and what began in the loss at its end.  While recording is stopped,
 * this is so for all threads.  Threads that are known to have lost nothing keep what they have
 * begun: where the losses of all threads are the loss of the log, which the end of a pipe tells
 * too late.
 */
#ifndef PT_FORMAT_CUTS_H
#define PT_FORMAT_CUTS_H

#include "analysis/format/common/format.h"

struct pt_cuts_thread { /* that has lost events */
    int32_t pid, tid;
};

struct pt_cuts {
    bool knows_lossy;             /* other threads than these have lost nothing: */
    struct pt_cuts_thread *lossy; /* in order */
    size_t lossy_count;
    bool stopped; /* recording is, since stop_ns */
    int64_t stop_ns;
    bool full; /* the stream was, and has stopped itself */
    bool all;  /* the last cut was of all threads */
};

void pt_cuts_init(struct pt_cuts *c, const struct pt_job *job);
void pt_cuts_deinit(struct pt_cuts *c);
/* Why and when to cut before the event is shown; NULL: that is not to be.  A log that ends with
 * STOP is not cut there. */
const char *pt_cuts_before(struct pt_cuts *c, const struct posixtrace_event *e, int64_t *ns);
/* Is that cut about the thread? */
bool pt_cuts_apply(const struct pt_cuts *c, int32_t pid, int32_t tid);

#endif
