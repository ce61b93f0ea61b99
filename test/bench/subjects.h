/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the benchmarks compare, as sides for bench_compare(): loops that differ
 * in nothing but the function that they call, and streams to run them in.
 */
#ifndef TEST_BENCH_SUBJECTS_H
#define TEST_BENCH_SUBJECTS_H

#include <trace.h>
#include "bench/bench.h"

/* All functions under test have this shape. */
typedef void trace_function(trace_event_id_t id, const void *data, size_t len);

/* The event type of all benchmarks; opened by subjects_init(). */
extern trace_event_id_t subject_id;
extern const char subject_name[];
/* Data of up to 64 bytes. */
extern uint64_t subject_data[8];

/* Opens the event type and chooses the floor's clock: that of the library. */
void subjects_init(void);
/* "tsc" or "monotonic" */
const char *subjects_clock(void);

bool subjects_clock_is_tsc(void);

/* Sides' work: calls repetitions.  arg is not used, but by floors. */
void loop_empty(void *arg, long calls);
void loop_floor8(void *arg, long calls);
void loop_floor8_several(void *arg, long calls); /* see bench_floor_use() */
void loop_floor64(void *arg, long calls);
void loop_floor8_inline(void *arg, long calls);
void loop_event8(void *arg, long calls);
void loop_event64(void *arg, long calls);

/* A stream of the given policy and size that is not running. */
trace_id_t subject_stream(int policy, size_t bytes);
/* The same of another process. */
trace_id_t subject_stream_of(pid_t pid, int policy, size_t bytes);
/* A file in the benchmark's folder that has no name. */
int subject_file(void);
/* As subject_stream(), with a LOOP log in such a file. */
trace_id_t subject_stream_log(int policy, size_t bytes, size_t log_bytes, int *fd);
/* The same with context switches. */
trace_id_t subject_stream_switches(int policy, size_t bytes);

/* before and after for a side; arg: trace_id_t *.  The thread's first events in the stream are
 * recorded here, outside the measured time. */
void stream_start(void *arg);
void stream_stop(void *arg);

/* Ends the program with a message if a call of the API failed. */
void subject_must(const char *what, int error);

/*
 * LTTng-UST, if lttng.sh has made a session and named the plugin in POSIXTRACE_BENCH_LTTNG.  False:
 * not available; *why has the missing part.
 */
struct subject_lttng {
    void (*loop8)(void *arg, long calls);
    void (*loop64)(void *arg, long calls);
    void (*event8)(uint64_t value);
};
bool subject_lttng(struct subject_lttng *functions, const char **why);

#endif
