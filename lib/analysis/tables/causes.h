/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What threads did between two times, as sums: on a processor, preempted, in which kind of wait.
 * An observer of a report keeps the last parts of each thread's time.
 */
#ifndef PT_TABLES_CAUSES_H
#define PT_TABLES_CAUSES_H

#include "analysis/report/report_state.h"

enum {
    PT_CAUSE_RUN,
    PT_CAUSE_RUNNABLE,
    PT_CAUSE_WAITS, /* of enum posixtrace_wait, in that order */
    PT_CAUSE_OFF = PT_CAUSE_WAITS + POSIXTRACE_WAIT_SIGNAL + 1,
    PT_CAUSE_UNKNOWN,
    PT_CAUSES
};

struct pt_tables_causes {
    posixtrace_report_t *report;
    bool switches; /* the log has some */
    size_t room;   /* of all lists of parts */
    int error;
};

/* 0 or an error number. */
int pt_tables_causes_begin(struct pt_tables_causes *c, trace_id_t trid);
int pt_tables_causes_event(struct pt_tables_causes *c, const struct posixtrace_event *e);
void pt_tables_causes_unread(struct pt_tables_causes *c);
/* The sums add up to the time between.  False: too long ago for the parts that are kept. */
bool pt_tables_causes_get(const struct pt_tables_causes *c, pid_t pid, pid_t tid, int64_t from,
                          int64_t to, int64_t sums[PT_CAUSES]);
void pt_tables_causes_end(struct pt_tables_causes *c);

#endif
