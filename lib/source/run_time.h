/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The CPU time of a thread since its start, as the kernel reports it to other threads.
 *
 * For a thread of this process it is read from its clock, which is exact.  For others it is read
 * from /proc/PID/task/TID/schedstat, or sched if the kernel has no schedstat: for a running thread
 * those are as old as the kernel's last update, a tick, or a second on processors without ticks.
 */
#ifndef PT_SOURCE_RUN_TIME_H
#define PT_SOURCE_RUN_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include "base/atomics.h"

struct pt_run_time {
    uint64_t ts;     /* of the clock that was asked for */
    uint64_t run_ns; /* until then, or up to so much more: */
    uint64_t more_ns;
};

/* Also stores the present time of that clock (enum pt_clock_kind).  0; -ESRCH: the thread has
 * ended; -ENOTSUP: the kernel does not have it. */
int pt_run_time_get(int clock, int32_t pid, int32_t tid, struct pt_run_time *t) PT_HIDDEN;

/* Extends the interval so that it holds for an earlier time of the same clock. */
void pt_run_time_date_back(int clock, struct pt_run_time *t, uint64_t ts) PT_HIDDEN;

/* How much older than the moment it is asked can it be, of another process? */
uint64_t pt_run_time_lag(void) PT_HIDDEN;

/* The number in the text of one of those files, in ns; false: it is not there. */
bool pt_run_time_parse_schedstat(const char *text, uint64_t *ns) PT_HIDDEN;
bool pt_run_time_parse_sched(const char *text, uint64_t *ns) PT_HIDDEN;

#endif
