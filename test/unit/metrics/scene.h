/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Scenes: small traces written by hand with what metrics have to find in them.
 *
 *   scene NAME
 *   set linux|marte                the metrics; or user NAME INITIAL FINAL [nosystem];
 *   metric NAME                    of the set this one alone
 *   little-endian                  before text: the data of the trace, on every machine
 *   text                           or an automaton: all lines up to "trace"
 *   trace
 *   TIME THREAD EVENT [OBJECT VALUE]   VALUE: @TIME is a time
 *   expect
 *   METRIC: THREAD BEGIN END LENGTH EVENTS [unknown | bound LEAST]      in order
 *   METRIC: unknown U unfinished F restarted R discarded D at_most N    where one is not 0
 *
 * In posixtrace_cpu_time OBJECT is how long the thread ran, VALUE how much longer it may be.
 * "#" begins a comment; times are ns after an instant of the scene.
 */
#ifndef TEST_METRICS_SCENE_H
#define TEST_METRICS_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <posixtrace/event.h>
#include <posixtrace/metrics.h>

/* Not check's: the scenes are played outside of its tests, too. */
#define SCENE_NEED(condition)                                               \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

#define SCENE_BASE INT64_C(1000000000000000000)

struct scene_trace;

/* A log made of events, to be read from its start. */
struct scene_trace *scene_trace_begin(void);
/* With a pthread_t of its own. */
void scene_trace_add_as(struct scene_trace *t, int64_t ns, int tid, uint64_t thread_id,
                        const char *event);
void scene_trace_add(struct scene_trace *t, int64_t ns, int tid, const char *event, uint64_t object,
                     int64_t value, bool with_data);
/* The trid of it; closed by scene_trace_close. */
trace_id_t scene_trace_open(struct scene_trace *t);
void scene_trace_close(trace_id_t trid);

/* What the metrics find in it, as a scene expects it. To be freed. */
char *scene_results(const posixtrace_metric_t *const *metrics, size_t count, trace_id_t trid);

#endif
