/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Other programs as contestants, measured by what the kernel says they used;
 * and logs recorded by the program "record", which lies beside this one.
 */
#ifndef TEST_BENCH_PROGRAMS_H
#define TEST_BENCH_PROGRAMS_H

#include "bench/bench.h"

struct spawned {
    bool done;  /* it ran and ended with 0 */
    double cpu; /* seconds, user and system */
    double wall;
    uint64_t rss; /* most memory it ever had, bytes */
};

/* Runs a program found on PATH, or by path, with its output to /dev/null, or to
 * the file output if that is not NULL; its messages are not shown. */
struct spawned spawn(char *const argv[], const char *output);

/* A log to read, unlinked by log_forget(). */
struct recorded {
    char path[256];
    unsigned long long events, lost;
    long long moment; /* see record.c */
    uint64_t bytes;
};

/* Records by "record PATH args..."; false, with a message, if that failed. */
bool record(struct recorded *log, const char *const args[]);
void record_forget(struct recorded *log);
/* True if the two logs' worth of disk are free. */
bool record_has_room(uint64_t bytes);
/* Empties the page cache of the file. */
void record_make_cold(const struct recorded *log);

/* Stops LTTng's current session; how many events it says it discarded, -1 if it
 * does not say. */
double lttng_discarded(void);

#endif
