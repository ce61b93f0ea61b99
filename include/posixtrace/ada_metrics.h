/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The Ada package Metrics of Espinosa, Lorente, Garcia-Fornes and Crespo ("Getting System
 * Metrics Using POSIX Tracing Services", Ada-Europe 2003, LNCS 2655, section 2) in C, function
 * by function and with its names; and what this library knows beside it of the same results.
 * posixtrace/metrics.h measures several metrics in one pass.
 *
 * Link with -lposixtrace-analysis.  Results belong to one thread at a time; a metric may be
 * shared.  Nothing here is async-signal-safe.
 */
#ifndef POSIXTRACE_ADA_METRICS_H
#define POSIXTRACE_ADA_METRICS_H

#include <pthread.h>
#include <posixtrace/metrics.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct posixtrace_metric_result posixtrace_metric_result_t;
typedef struct posixtrace_metric_result_element posixtrace_metric_result_element_t;

/*
 * System_Metric: a metric of the set "linux", by its name; upper and lower case, blanks
 * and "_" or "-" between words are all the same.  To be freed.
 *
 * EINVAL  a NULL argument
 * ENOENT  there is no such metric; posixtrace_metric_set_near() finds similar names
 * ENOMEM
 */
int posixtrace_system_metric(const char *metric_name, posixtrace_metric_t **metric);

/*
 * New_User_Metric: the time that a thread executes between two events of its own, by
 * their names.  Time in which the thread does not run is left out where the stream
 * has context switches, and bounded where these are refused; with include_system false
 * also the time in calls that the stream has events of (posixtrace/system.h).  A stream
 * that has none of these events leaves nothing out: then it is the elapsed time, which
 * posixtrace_metric_set_user() measures in every stream.  To be freed.
 *
 * EINVAL  a NULL argument, or a name that is empty or longer than TRACE_EVENT_NAME_MAX
 * ENOMEM
 */
int posixtrace_new_user_metric(const char *metric_name, const char *initial_event,
                               const char *final_event, bool include_system,
                               posixtrace_metric_t **metric);

/*
 * Events_Required_By: the event types that the metric looks at and trid knows, with
 * posixtrace_cpu_time where it looks at context switches that may be refused, and with
 * the types that mark where events are missing (POSIX_TRACE_START, STOP, FILTER, OVERFLOW
 * and RESUME) and where a thread ends (posixtrace_thread_end).  For a
 * stream that this process traces itself, types of the program's own that are not
 * open yet are opened.
 *
 * EINVAL  a NULL argument, or trid names no stream; others as posix_trace_trid_eventid_open()
 */
int posixtrace_events_required_by(const posixtrace_metric_t *metric, trace_id_t trid,
                                  trace_event_set_t *set);

/*
 * Get_Metric_Result: reads the rest of the stream and keeps every measurement, in
 * the order of their end times.  A pre-recorded stream is rewound first.  To be freed.
 *
 * EINVAL  a NULL argument, or trid names no stream that can be read
 * ENOMEM; others as posix_trace_trygetnext_event()
 */
int posixtrace_get_metric_result(const posixtrace_metric_t *metric, trace_id_t trid,
                                 posixtrace_metric_result_t **result);

size_t posixtrace_metric_result_element_count(const posixtrace_metric_result_t *result);

/* i from 1.  *element belongs to the result.  EINVAL: a NULL argument, or there is none. */
int posixtrace_get_metric_result_element(const posixtrace_metric_result_t *result, size_t i,
                                         const posixtrace_metric_result_element_t **element);

struct timespec posixtrace_begin_time(const posixtrace_metric_result_element_t *element);
struct timespec posixtrace_end_time(const posixtrace_metric_result_element_t *element);
/* The sum of the measurement's segments: not more than end less begin.  Of a metric that
 * reports changes: how much that differs from the measurement before. */
struct timespec posixtrace_length(const posixtrace_metric_result_element_t *element);
pthread_t posixtrace_task_id(const posixtrace_metric_result_element_t *element);
/* Events that were stored within the segments, at the measured thread's expense. */
size_t posixtrace_intermediate_events(const posixtrace_metric_result_element_t *element);

/* ---- not in the package ---- */

/*
 * The i-th measurement of a result, from 0: first its elements, then the places where events
 * were lost (unknown), each in the order of end times.
 *
 * EINVAL  a NULL argument, or size is 0 (posixtrace/event.h)
 * ENOENT  there is none: i counts from 0
 */
int posixtrace_metric_result_measurement(const posixtrace_metric_result_t *result, size_t i,
                                         struct posixtrace_measurement *measurement, size_t size);
/* What could not be measured; zeros of a null result. */
void posixtrace_metric_result_doubt(const posixtrace_metric_result_t *result,
                                    struct posixtrace_doubt *doubt, size_t size);
void posixtrace_metric_result_free(posixtrace_metric_result_t *result); /* or NULL */

#ifdef __cplusplus
}
#endif
#endif
