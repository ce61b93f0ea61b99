/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Programs whose context switches are recorded, and what a log says of them.  The kernel's own
 * counters of a thread say when it has switched: nothing here waits for time to pass.
 */
#ifndef TEST_PERF_TARGET_H
#define TEST_PERF_TARGET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace.h>
#include <check.h>

enum { BLOCKS = 200, SKIPPED = 77 };

extern trace_event_id_t own_id;

/* Of a stream with log; switches 0 or 1; opens own_id. */
trace_attr_t *attributes(int switches, int inherited);
/* A stream that has been started and records switches, with rings of so many bytes, 0: default. */
trace_id_t make_with(int fd, pid_t pid, int inherited, size_t ring_bytes);
trace_id_t make(int fd, pid_t pid, int inherited);

/* A line of /proc/PID/task/TID/status. */
uint64_t counter(pid_t pid, pid_t tid, const char *name);

/* What a log says of one thread. */
struct seen {
    pid_t pid, tid;
    uint64_t in, out, preempted, own;
    uint64_t outs_since; /* the last event of its own */
    uint64_t least;      /* of those, between two events of its own */
    uint64_t wrong;      /* own events while it was out, or out twice, or in twice */
    bool is_out, known;
};

struct seen *seen_of(pid_t pid, pid_t tid);
/* Goes through a log; closes it.  The system's own events that were found. */
uint64_t look(int fd);

/* A thread that blocks in read() as often as requested, and its progress. */
struct progress {
    pid_t tid;
    uint32_t turn;     /* how often it has begun to read */
    uint64_t switched; /* how often it had blocked by then */
};

struct sleeper {
    pthread_t thread;
    pid_t pid;
    int pipe[2];
    struct progress *progress;
};

/* A thread that runs between the calls begin() and end(). */
void begin(struct sleeper *s);
void end(struct sleeper *s);
void await_turn(const struct sleeper *s, uint32_t turn);
/* Until it has blocked in its read() number turn. */
void await_block(const struct sleeper *s, uint32_t turn);
/* It has blocked once more before each of its BLOCKS events, and at the end. */
void wake_often(struct sleeper *s);
/* A child of the traced process, until end_child(). */
void fork_child(struct sleeper *s);
void end_child(struct sleeper *s);
void wake_child(struct sleeper *s);
/* The log has all of wake_often(). */
void check_sleeper(pid_t pid, pid_t tid);

/* main() of a program with such tests: skipped where the system refuses switches. */
int run_perf_tests(const char *name, void (*add)(TCase *t));

#endif
