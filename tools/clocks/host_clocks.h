/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How far apart the clocks of several logs may be: by the file of --sync, else by the kernel's
 * bounds of the errors of both hosts.  Logs of one boot of a host, and without a boot id those with
 * the same name of a host, have one clock; a log without both has its own.
 */
#ifndef HOST_CLOCKS_H
#define HOST_CLOCKS_H

#include <posixtrace/sync.h>
#include <stdbool.h>
#include <stddef.h>

struct host_clocks;

/* names: what a log is called whose host is not known; they stay the caller's. */
struct host_clocks *host_clocks_make(const trace_id_t *trids, const char *const *names,
                                     size_t count);
void host_clocks_free(struct host_clocks *c); /* or NULL */

/* Logs are known by their places. */
bool host_clocks_same(const struct host_clocks *c, size_t a, size_t b);
/* Is any log of another clock than the first one? */
bool host_clocks_several(const struct host_clocks *c);
/* The name of the host, as a terminal may show it. */
const char *host_clocks_name(const struct host_clocks *c, size_t log);
/*
 * The true time from one event to the other, whose times their logs say, is within it.  INT64_MIN,
 * INT64_MAX: no bound is known.  Exact where they have the same clock.
 */
struct posixtrace_interval host_clocks_between(const struct host_clocks *c, size_t from,
                                               int64_t from_ns, size_t to, int64_t to_ns);

#endif
