/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The events that report the switches of a process's threads: one for each thread that exists
 * and each processor.  Threads that these create inherit them.
 */
#ifndef PT_SOURCE_PERF_WATCH_H
#define PT_SOURCE_PERF_WATCH_H

#include "source/perf_rings.h"

struct pt_perf_watch;

struct pt_perf_watches {
    struct pt_perf_watch *of; /* in the end by id */
    size_t count, room;
    int32_t *tids; /* the threads that have events, by origin */
    size_t tid_count, tid_room;
};

/* Watches the threads of a process, but for the caller, and with children those of the processes
 * that they make.  0; -ESRCH: there is none; or why the system refuses it. */
int pt_perf_watches_open(struct pt_perf_watches *w, const struct pt_perf_rings *rings,
                         const struct pt_perf_clock *clock, int32_t pid, bool children) PT_HIDDEN;
void pt_perf_watches_close(struct pt_perf_watches *w) PT_HIDDEN;
/* The number of the thread for which the event with that id was opened. */
uint32_t pt_perf_watches_origin(const struct pt_perf_watches *w, uint64_t id) PT_HIDDEN;
/* As pt_perf_settle(), of all events: lost[i] is how many records ring i had no room for. */
void pt_perf_watches_settle(const struct pt_perf_watches *w, uint64_t *lost, size_t rings)
    PT_HIDDEN;

#endif
