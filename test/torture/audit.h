/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the torture tests demand of the events that they read, in order:
 *
 *   whole      payload, length and truncation status are right
 *   in order   the numbers of a lane rise strictly; a number that is left out
 *              is a gap, for the caller to account for
 *   in time    timestamps do not decrease, unless the stream says that it
 *              delivered so many events late
 *
 * A demand that fails prints what was found and ends the process.
 */
#ifndef TORTURE_AUDIT_H
#define TORTURE_AUDIT_H

#include <stdint.h>
#include <stdlib.h>
#include <trace.h>
#include "torture/demand.h"
#include "torture/payload.h"

struct audit {
    trace_event_id_t id; /* of the events with a payload */
    uint32_t lanes;
    uint64_t *next;    /* a lane: lowest number that may come now */
    uint64_t *read;    /* a lane: events that came */
    uint64_t events;   /* with a payload, of all lanes */
    uint64_t gaps;     /* numbers left out before an event that came */
    uint64_t backward; /* times that were less than the one before */
    int64_t last_ns;
    unsigned starts, stops;
};

void audit_init(struct audit *a, trace_event_id_t id, uint32_t lanes);
void audit_deinit(struct audit *a);

/* Takes one event as a reading call stored it. */
void audit_take(struct audit *a, const struct posix_trace_event_info *info, const void *data,
                size_t len);

/* Reads a live stream (a log) until nothing is left. */
void audit_drain(struct audit *a, trace_id_t trid);
void audit_read_log(struct audit *a, trace_id_t trid);

/* The id of a type in a stream, by its name. */
trace_event_id_t audit_type(trace_id_t trid, const char *name);

/* How many events the stream says it has lost, for whatever cause; how many of them by
 * that thread, and by any that it names. */
uint64_t audit_lost(trace_id_t trid);
uint64_t audit_lost_by(trace_id_t trid, pid_t tid);
uint64_t audit_lost_by_threads(trace_id_t trid);

/* Time went back at most as often as the stream says that it was late. */
void audit_check_time(const struct audit *a, trace_id_t trid);

/* An unlinked file in the folder for temporary files, open for both ways. */
int audit_temporary_file(void);

/* A stream of 256 KiB that runs; log_fd: of its log, which has no limit, or -1. */
trace_id_t audit_create(trace_attr_t *attr, int log_fd);

/* Begins random(), with a number that is given or the time, and prints it. */
void audit_seed(const char *argument);
/* A random moment up to longest, squared: early ones more often. */
unsigned audit_early_us(unsigned longest_us);
/* Zeroed memory that forked children share. */
void *audit_shared(size_t bytes);
/* Runs check in a child of its own; its status as of waitpid. */
int audit_in_child(void (*check)(void *context), void *context);

/* A multiplier as given on a command line; 1 without one, and less than that
 * when POSIXTRACE_TEST_SHORT is set. */
double audit_multiplier(const char *argument);

#endif
