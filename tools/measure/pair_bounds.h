/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Pairs of events of two hosts: their lengths lie between bounds, because the clocks have errors
 * (clocks/host_clocks.h).  None is shorter than 0: the last event comes after the first one.
 */
#ifndef PAIR_BOUNDS_H
#define PAIR_BOUNDS_H

#include <posixtrace/metrics.h>
#include <posixtrace/pair.h>

#include "clocks/host_clocks.h"

/* Two hosts with pairs between them, known by the places of logs. */
struct pair_hosts {
    size_t a, b;
    uint64_t bounded, unknown; /* pairs whose error is known, and not known */
    int64_t error_ns;          /* the greatest of the known ones */
};

enum { PAIR_HOSTS_KEPT = 64 };

struct pair_bounds {
    struct host_clocks *clocks; /* NULL: all logs have one clock */
    size_t logs;
    uint64_t *unknown; /* by place of the metric: pairs that only an unknown error makes unknown */
    struct pair_hosts hosts[PAIR_HOSTS_KEPT]; /* the first ones, */
    size_t host_count;
    bool more_hosts; /* and there are more */
};

void pair_bounds_make(struct pair_bounds *b, const trace_id_t *trids, const char *const *names,
                      size_t count, size_t metrics);
void pair_bounds_free(struct pair_bounds *b);

/*
 * Gives m, which is the pair by the times of the logs, its bounds: least_ns, length_ns and bound;
 * or unknown.  has: may the log at that place have events of the metric; of lost events, whose
 * stream is not known.  False: the last event is before the first one, whatever the error.
 */
bool pair_bounds_apply(struct pair_bounds *b, size_t metric,
                       const struct posixtrace_pair_measurement *pair,
                       bool (*has)(const void *context, size_t log, size_t metric),
                       const void *context, struct posixtrace_measurement *m);

/* By so much the time between two events of any such logs may be longer than their times say,
 * between these times; POSIXTRACE_NO_BOUND: not known. */
int64_t pair_bounds_widest(const struct pair_bounds *b, size_t metric,
                           bool (*has)(const void *context, size_t log, size_t metric),
                           const void *context, int64_t first_ns, int64_t last_ns);

#endif
