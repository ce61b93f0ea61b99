/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The common part of the benchmarks: interleaved rounds, ratios of medians, the table.
 *
 * The figure of a row is a ratio between contestants ("sides") that ran in
 * turns, in many short rounds of one process on one processor, so that a busy
 * or throttled machine slows all of them alike.  A round is a few thousand calls; a batch is a few
 * dozen rounds of each side, in an order that rotates.  Batches are repeated until the ratios of
 * their medians agree, or the time is up.  The report has the ratio of the medians over all rounds,
 * the medians themselves, and how far the batches still disagreed.
 *
 * No benchmark fails for being slow: a row is "ok" or "MISSED", and the program ends with 0 in both
 * cases.  It ends with 1 for an error, for example in a count that must be exact.
 *
 * Environment
 *   POSIXTRACE_BENCH_CSV      file that each row and median is appended to (report.py)
 *   POSIXTRACE_BENCH_SECONDS  longest time for one comparison, default 12
 *   POSIXTRACE_BENCH_DIR      where logs are written, default /var/tmp
 */
#ifndef TEST_BENCH_BENCH_H
#define TEST_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- comparing ---- */

struct bench_side {
    const char *name;
    void (*work)(void *arg, long calls); /* the timed part: calls repetitions */
    void (*before)(void *arg);           /* not timed, before each round; may be NULL */
    void (*after)(void *arg);            /* the same, after it */
    void *arg;
    long calls; /* in one round; 0: 4096 */
    /* results */
    double median;    /* ns a call */
    double low, high; /* ns a call, 10th and 90th percentile */
    long rounds;
    double spread; /* of the ratio to side 0 between batches, 1 = 100 % */
};

/* Runs the sides in turns and fills in their results. */
void bench_compare(const char *group, struct bench_side *sides, size_t count);

/* ---- one table, a line a row ---- */

enum bench_sense { BENCH_REPORT, BENCH_AT_MOST, BENCH_AT_LEAST };

struct bench_row {
    const char *id;   /* never changes: what report.py knows the row by */
    const char *work; /* in words */
    double value;
    const char *unit;
    enum bench_sense sense;
    double limit;
    const char *note; /* the medians of the ratio and the like; NULL: none */
};

void bench_row(const struct bench_row *row);
/* The row could not be measured here, and why. */
void bench_skip(const char *id, const char *work, const char *why);
/* What was wrong; the program will end with 1. */
void bench_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The value for main(). */
int bench_end(void);

/* printf into one of a few buffers that are used in turns, for notes. */
const char *bench_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True if the group is among the program's arguments, or there are none. */
bool bench_chosen(int argc, char **argv, const char *group);

/* ---- the machine ---- */

/* Processors that the program may use. */
int bench_processors(void);
/* Pins the calling thread to the k-th of them; k < 0: to all of them.  Threads
 * inherit it, so streams with a log are created while unpinned. */
void bench_pin(int k);
int64_t bench_now(void);        /* ns of CLOCK_MONOTONIC */
double bench_cpu_seconds(void); /* of this process */
void bench_sleep(int64_t ns);
/* Sorts; the q-th quantile (0 to 1). */
double bench_quantile(double *values, size_t count, double q);
/* Bytes that the folder's disk has free. */
uint64_t bench_disk_free(const char *folder);
const char *bench_folder(void);
/* "name: value kB" of /proc/self/status or smaps_rollup, in bytes; 0: no such line. */
uint64_t bench_proc_bytes(const char *file, const char *name);

#endif
