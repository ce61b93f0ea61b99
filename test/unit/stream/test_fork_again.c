/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A forked child for which its parent's stream cannot be mapped at first: its events count as lost
 * until it can, and are recorded from then on.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "shm/segment.h"
#include "support/need.h"

enum { EVENTS = 1000, FAILURES = 3, SKIPPED = 77 };

int __real_pt_seg_map_again(struct pt_seg *again, const struct pt_seg *seg);
int __wrap_pt_seg_map_again(struct pt_seg *again, const struct pt_seg *seg);

static unsigned attempts;

int __wrap_pt_seg_map_again(struct pt_seg *again, const struct pt_seg *seg)
{
    return attempts++ < FAILURES ? -ENOMEM : __real_pt_seg_map_again(again, seg);
}

int main(void)
{
    struct posixtrace_info info;
    trace_event_id_t type;
    trace_attr_t attr;
    trace_id_t trid;
    int status;
    pid_t child;

    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_eventid_open("a child's", &type) == 0);
    NEED(posix_trace_start(trid) == 0);
    posix_trace_event(type, NULL, 0);
    child = fork();
    NEED(child >= 0);
    for (uint64_t i = 0; child == 0 && i < EVENTS; i++)
        posix_trace_event(type, &i, sizeof i);
    if (child == 0) {
        NEED(attempts == 0 || attempts == FAILURES + 1);
        _exit(attempts ? 0 : SKIPPED);
    }
    NEED(waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        return SKIPPED; /* children get all mappings, as under valgrind */
    NEED(status == 0);
    NEED(posix_trace_stop(trid) == 0);
    NEED(posixtrace_get_info(trid, &info, sizeof info) == 0);
    NEED(info.lost[POSIXTRACE_LOST_NO_MEMORY] > 0);
    NEED(info.lost[POSIXTRACE_LOST_NO_MEMORY] < EVENTS);
    NEED(posix_trace_shutdown(trid) == 0);
    return 0;
}
