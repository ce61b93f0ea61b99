/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The schedule by which the flush thread samples the CPU time of threads (flush/switches.h), if
 * context switches are refused.
 *
 *   threads record events       every 10 ms
 *   they run, and record none   after twice the previous time, up to a second; the next event wakes
 *                               the flush thread, as after a quiet time (thread.h)
 *   none has run                not before the next event
 *
 * With many threads a sample takes longer: at most a twentieth of the time is used for it.
 */
#ifndef PT_FLUSH_CPUTIME_H
#define PT_FLUSH_CPUTIME_H

#include <stdbool.h>
#include <stdint.h>

struct pt_switches;

struct pt_cputime {
    struct pt_switches *switches; /* NULL: nothing to look at */
    uint64_t at;                  /* CLOCK_MONOTONIC of the next look; 0: when an event comes */
    uint64_t pause;
    bool waits; /* the next event has to wake us */
};

/* Nothing is looked at where the switches need it not. */
void pt_cputime_init(struct pt_cputime *l, struct pt_switches *switches);

/* Looks, if the time has come, with the stream running or not. */
void pt_cputime_turn(struct pt_cputime *l, bool running);
/* From now on the next event wakes us: has one come before that was so? */
void pt_cputime_waits_now(struct pt_cputime *l);
/* The event that was waited for has come. */
void pt_cputime_wake(struct pt_cputime *l);

#endif
