/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The common part of posixtrace selftest.
 *
 * Each part uses the library as a program would, through its public calls
 * only, with streams in a directory and logs in a folder that are the
 * selftest's own and are gone afterwards.  A part adds rows to the report:
 *
 *   checks   passed or failed; they decide the exit status, and none of them
 *            depends on how fast the machine is or how busy
 *   figures  measured; they never fail, but may be missing
 *
 * An interrupt sets a flag that every loop of a part checks.
 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace.h>
#include <posixtrace/event.h>

#include "common/format_option.h"
#include "system/temp_stream_dir.h"

#define SELFTEST_NS 1000000000ll /* in a second */

struct selftest {
    double seconds;      /* for all parts together, roughly */
    const char *log_dir; /* as given */
    char *folder;        /* for logs, in log_dir; ours */
    struct temp_stream_dir streams;
    bool streams_named; /* they outlive a process that is killed */
};

/* The parts. */
void selftest_facts(const struct selftest *t);
void selftest_kill(const struct selftest *t);
void selftest_signals(const struct selftest *t);
void selftest_clock(const struct selftest *t);
void selftest_cost(const struct selftest *t);
void selftest_rate(const struct selftest *t);
/* Called by the rate with the log it kept, of so many numbered events. */
void selftest_read(const struct selftest *t, uint64_t generated, uint64_t lost);

#define SELFTEST_KEPT_LOG  "kept.ptl"
#define SELFTEST_RATE_TYPE "rate"

/* selftest_place.c: makes folder and streams; EXIT_DONE, or another status after an error
 * message. */
int selftest_enter(struct selftest *t);
/* Removes both with their contents. */
void selftest_leave(struct selftest *t);
/* The signal that asked to stop, or 0. */
int selftest_interrupted(void);
/* A new log in the folder, for reading and writing; -1 and errno.  path, if not
 * NULL, is filled with its name (PATH_MAX bytes). */
int selftest_new_log(const struct selftest *t, const char *name, char *path);

/* selftest_report.c */
__attribute__((format(printf, 2, 3))) void report_fact(const char *what, const char *format, ...);
__attribute__((format(printf, 3, 4))) void report_check(bool passed, const char *what,
                                                        const char *format, ...);
void report_figure(const char *key, const char *what, double value, int decimals, const char *unit);
__attribute__((format(printf, 3, 4))) void report_missing(const char *key, const char *what,
                                                          const char *format, ...);
/* Prints all; EXIT_DONE if every check passed. */
int report_print(enum output_format format, double seconds);

/* selftest_tools.c */
int64_t selftest_now(void); /* CLOCK_MONOTONIC, ns */
void selftest_sleep(int64_t ns);
uint64_t selftest_random(void);
/* A stream that is started: with log if log >= 0.  0 or an error number. */
int selftest_stream(size_t size, int policy, int log, size_t log_size, trace_id_t *trid);
/* The id of a user event type by its name in a log; 0: there is none. */
trace_event_id_t selftest_find_type(trace_id_t trid, const char *name);
/* The data of an event that carries one number; UINT64_MAX if it is another. */
uint64_t selftest_number(const struct posixtrace_event *e);
/* Lost events, by all causes but those that a policy asked for. */
uint64_t selftest_lost(const uint64_t *lost);

#endif
