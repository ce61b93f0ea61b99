/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Metrics: temporal properties of a system, measured in a trace stream by automata: several
 * metrics in one pass, statistics, loss taken into account.  posixtrace/ada_metrics.h has the
 * Ada package that it comes from, for one metric at a time.  posixtrace-metrics(5) describes
 * the automata and their language; docs/metrics.md is the guide.
 *
 * Link with -lposixtrace-analysis.  A metric is not changed by using it: threads may
 * share one.  Statistics and runs belong to one thread at a time.  Nothing
 * here is async-signal-safe.  Functions of type int return 0 or an error number; objects that
 * they store are the caller's, to be freed; texts and metrics that others return belong to
 * their set or metric.  All times are nanoseconds, those of events since 1970.
 */
#ifndef POSIXTRACE_METRICS_H
#define POSIXTRACE_METRICS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct posixtrace_metric posixtrace_metric_t;
typedef struct posixtrace_metric_set posixtrace_metric_set_t;
typedef struct posixtrace_metric_run posixtrace_metric_run_t;
typedef struct posixtrace_statistics posixtrace_statistics_t;

/* ---- sets of metrics ---- */

void posixtrace_metric_free(posixtrace_metric_t *metric); /* or NULL */

/*
 * The metrics of a set, "linux" or "marte" (the figures of the paper), or of a text in the language
 * of posixtrace-metrics(5); messages then call it name.  To be freed; its metrics live as long as
 * it does.
 *
 * EINVAL  the text is wrong: *fault, if not NULL, has the place and the reason
 * ENOENT  no such set; ENOMEM
 */
struct posixtrace_metric_fault {
    unsigned line, column; /* from 1; 0: of the whole */
    char text[200];
};
int posixtrace_metric_set_open(const char *name, posixtrace_metric_set_t **set);
int posixtrace_metric_set_parse(const char *text, size_t len, posixtrace_metric_set_t **set,
                                struct posixtrace_metric_fault *fault);
void posixtrace_metric_set_free(posixtrace_metric_set_t *set); /* or NULL */
size_t posixtrace_metric_set_count(const posixtrace_metric_set_t *set);
/* i from 0; NULL after the last. */
const posixtrace_metric_t *posixtrace_metric_set_get(const posixtrace_metric_set_t *set, size_t i);
/* By its name, written in any way; NULL: there is none. */
const posixtrace_metric_t *posixtrace_metric_set_find(const posixtrace_metric_set_t *set,
                                                      const char *name);
/* The metric with the most similar name, or NULL. */
const posixtrace_metric_t *posixtrace_metric_set_near(const posixtrace_metric_set_t *set,
                                                      const char *name);
/* The text that a built-in set is made of; NULL: there is none of that name. */
const char *posixtrace_metric_set_text(const char *name);
/*
 * A metric of two events of the user's, by their names, as the set measures it.
 *
 * OF_SET    by the metric $NAME of the set's text (posixtrace-metrics(5)), as "marte"
 *           has one, figure 2 of the paper; elapsed time where the set has none
 * ELAPSED   all the time from one event to the other
 * CPU       less the time off the processor: posixtrace_new_user_metric() with the
 *           system included
 * NOSYSTEM  less the time in system calls, too: the same without the system
 *
 * To be freed; it does not need the set any more.
 *
 * EINVAL   a NULL argument, a name that is empty or longer than TRACE_EVENT_NAME_MAX, or
 *          another time than these
 * ENOTSUP  the set has a metric $NAME, and both events are the same
 * ENOMEM
 */
enum posixtrace_user_time {
    POSIXTRACE_USER_OF_SET,
    POSIXTRACE_USER_ELAPSED,
    POSIXTRACE_USER_CPU,
    POSIXTRACE_USER_NOSYSTEM
};
int posixtrace_metric_set_user(const posixtrace_metric_set_t *set, const char *metric_name,
                               const char *initial_event, const char *final_event,
                               enum posixtrace_user_time time, posixtrace_metric_t **metric);
/* Calls each for what a reader of the set would like to know: states that cannot be reached, two
 * ways for one event, no end.  A result that is not 0 ends the check and is returned. */
int posixtrace_metric_set_check(const posixtrace_metric_set_t *set,
                                int (*each)(void *context,
                                            const struct posixtrace_metric_fault *fault),
                                void *context);
const char *posixtrace_metric_name(const posixtrace_metric_t *metric);
/* One line about the metric; "" if it has none. */
const char *posixtrace_metric_about(const posixtrace_metric_t *metric);
/* Does it measure for each object of a thread, or for each item of a process?  Then each
 * measurement has the object's number as its key, which may be 0.  False for NULL. */
bool posixtrace_metric_by_object(const posixtrace_metric_t *metric);
/* The names of the event types that it looks at; i from 0, NULL after the last.  Further
 * descriptions of a name (order#2 of order) are the same to it.
 * needed: without it there is no measurement; else it makes them better. */
const char *posixtrace_metric_event(const posixtrace_metric_t *metric, size_t i, bool *needed);
/* The automaton in the language of Graphviz.  As snprintf(): at most size bytes, with NUL, and what
 * it returns is the length that the whole has; 0: no memory, or metric is NULL. */
size_t posixtrace_metric_dot(const posixtrace_metric_t *metric, char *to, size_t size);
/* The same as a flowchart of Mermaid, which web pages draw. */
size_t posixtrace_metric_mermaid(const posixtrace_metric_t *metric, char *to, size_t size);

/* ---- several metrics in one pass ---- */

/*
 * A measurement; or, with unknown set, a place where events were lost: all measurements of the
 * thread there that are not reported separately are between begin_ns and end_ns, and none is longer
 * than length_ns.  For a metric by object, key 0 means all objects of the thread without an event
 * since the first gap.
 *
 * With bound set the length is between least_ns and length_ns: the metric leaves out the time in
 * which the thread had no processor, and the stream has CPU times of threads (POSIXTRACE_CPU_TIME)
 * instead of context switches.  Else least_ns is length_ns, and 0 with unknown.
 */
struct posixtrace_measurement {
    const posixtrace_metric_t *metric;
    int64_t begin_ns, end_ns, length_ns;
    uint64_t thread_id, key; /* key: for metrics with "by object" */
    uint64_t intermediate_events;
    pid_t pid, tid;
    bool unknown;
    bool bound;
    int64_t least_ns;
};

/* As a length that is not exceeded: nothing tells how long it was. */
#define POSIXTRACE_NO_BOUND (INT64_MAX / 4)

/* Counts of what could not be measured, for one metric. */
struct posixtrace_doubt {
    uint64_t unknown;    /* places where events were lost, as above */
    uint64_t unfinished; /* begun, and the stream or the thread ended */
    uint64_t restarted;  /* a second begin inside: not measured by itself */
    uint64_t discarded;  /* by a cancel state */
    int64_t at_most_ns;  /* nothing unknown lasted longer than that, of threads that
                                    * have lost all of their events neither; or
                                    * POSIXTRACE_NO_BOUND */
};

/*
 * A run over the events of a stream.  measured, if not NULL, is called for each measurement, in the
 * order of end times, and must not read trid; a result other than 0 ends the run; some events after
 * that may have been read from trid.  A bound is known at the stream's next CPU time of the thread:
 * until then, for a second of the stream's time at most, it and all later measurements wait.
 *
 * EINVAL  a NULL argument, no metrics, or trid names no stream; ENOMEM
 */
int posixtrace_metric_run_create(const posixtrace_metric_t *const *metrics, size_t count,
                                 trace_id_t trid,
                                 int (*measured)(void *context,
                                                 const struct posixtrace_measurement *m),
                                 void *context, posixtrace_metric_run_t **run);
/*
 * Measurements are reported only if wants says so of the event that begins them; NULL: all
 * are, as before the call.  The automata take every event all the same, so that the lengths
 * are those of a run without a selection; places where events were lost are reported whatever
 * it says.  Before the first call of posixtrace_metric_run_take(); wants must not read trid.
 */
struct posixtrace_event;
void posixtrace_metric_run_select(posixtrace_metric_run_t *run,
                                  bool (*wants)(void *context,
                                                const struct posixtrace_event *begin),
                                  void *context);
/*
 * Takes the available events, at most that many (0: all).  *unavailable is not 0 if none is left
 * now, which in a pre-recorded stream is its end.  With a live stream the call can be repeated.
 * Returns as posix_trace_trygetnext_event(), or the result of measured.
 *
 * EINVAL  run or unavailable is NULL
 */
int posixtrace_metric_run_take(posixtrace_metric_run_t *run, uint64_t events, int *unavailable);
/* The caller knows that events are missing between those that were taken and the next
 * one, as posixtrace_follow() reports it: open measurements become unknown.  The run itself
 * finds events that are missing in a damaged log (posixtrace_next_whole_events()). */
void posixtrace_metric_run_gap(posixtrace_metric_run_t *run);
/* Ends the run: open measurements become unfinished.  0, EINVAL (run is NULL), ENOMEM, or the
 * result of measured, now or before. */
int posixtrace_metric_run_end(posixtrace_metric_run_t *run);
uint64_t posixtrace_metric_run_events(const posixtrace_metric_run_t *run);
/* For the index-th metric. */
void posixtrace_metric_run_doubt(const posixtrace_metric_run_t *run, size_t index,
                                 struct posixtrace_doubt *doubt, size_t size);
/* Has the run seen an event of that name? */
bool posixtrace_metric_run_saw(const posixtrace_metric_run_t *run, const char *event);
void posixtrace_metric_run_free(posixtrace_metric_run_t *run); /* or NULL */

/* ---- statistics ---- */

/*
 * Count, extremes, mean, deviation and a histogram of lengths.  Memory does not grow
 * with the number of values.  A percentile of up to 1024 values is exact; of more values its error
 * is at most 1/512 of it; extremes and mean are exact.  The sum of two equals one over all values.
 */
/* EINVAL: a NULL pointer; ENOMEM */
int posixtrace_statistics_create(posixtrace_statistics_t **statistics);
void posixtrace_statistics_free(posixtrace_statistics_t *statistics);           /* or NULL */
int posixtrace_statistics_add(posixtrace_statistics_t *statistics, int64_t ns); /* ENOMEM */
int posixtrace_statistics_merge(posixtrace_statistics_t *to,
                                const posixtrace_statistics_t *from); /* ENOMEM */

struct posixtrace_summary {
    uint64_t count;
    int64_t min_ns, max_ns;       /* 0 without values, as all below */
    double mean_ns, deviation_ns; /* of the values themselves, not of a sample */
};
void posixtrace_statistics_summary(const posixtrace_statistics_t *statistics,
                                   struct posixtrace_summary *summary, size_t size);
/* The least value that percent of 100 of all values do not exceed; percent 0: the least
 * of all.  0 without values. */
int64_t posixtrace_statistics_percentile(const posixtrace_statistics_t *statistics, double percent);
/* The bar of the histogram with that index, from 0, lowest first: how many values were from
 * *from_ns to *to_ns; many have none.
 *
 * ENOENT  there is no such bar: it is the one after the last
 * EINVAL  a NULL argument
 */
int posixtrace_statistics_bar(const posixtrace_statistics_t *statistics, size_t index,
                              int64_t *from_ns, int64_t *to_ns, uint64_t *count);

/* ---- the tracer's own cost ---- */

/* What storing one event costs a thread of this machine, in ns: measured now, in
 * about a millisecond, with a stream of this process.  EINVAL: ns is NULL; others as
 * posix_trace_create(). */
int posixtrace_event_cost(double *ns);
/*
 * The same in a stream with such attributes: with context switches the measuring takes some
 * milliseconds.  NULL: the default ones.
 * posixtrace_attr_seteventcost() keeps it with a stream and its log.
 *
 * EINVAL  ns is NULL, or attr is no attributes object; as posix_trace_create_withlog()
 */
int posixtrace_event_cost_like(const trace_attr_t *attr, double *ns);

#ifdef __cplusplus
}
#endif
#endif
