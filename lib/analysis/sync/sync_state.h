/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clocks of hosts (posixtrace/sync.h).
 *
 *   sync.c           a clock's map and interval: finding, applying, differences
 *   sync_file.c      the file: reading;  sync_write.c: writing
 *   sync_hull.c      which messages can matter: the convex hull of each direction
 *   sync_solve.c     a linear program, by the dual simplex method
 *   sync_program.c   the program of a group of hosts: constraints, objectives
 *   sync_group.c     the clocks and intervals of a group, from the program's solutions
 *   sync_messages.c  ids of messages: sends and receives that belong together
 *   sync_logs.c      the logs: which clocks they have, steady times, readings of the kernel
 *   sync_create.c    all of it
 */
#ifndef PT_SYNC_STATE_H
#define PT_SYNC_STATE_H

#include <posixtrace/clock.h>
#include <posixtrace/sync.h>

enum {
    PT_SYNC_HOSTS = 64,        /* clocks found; */
    PT_SYNC_FILE_HOSTS = 1024, /* and read from a file */
    PT_SYNC_KNOTS = 4096,      /* of a clock, and as many bounds */
};
#define PT_SYNC_MOST_PPB INT64_C(1000000000)

/* At the time ns of the common clock, true times are from ns + least to ns + most. */
struct pt_sync_bound {
    int64_t ns, least, most; /* INT64_MIN, INT64_MAX: none */
};

struct pt_sync_host {
    char host[64];
    uint8_t boot_id[16], log_id[16]; /* log_id: zeros, unless neither host nor boot_id is known */
    int clock;
    unsigned source;
    int64_t first_ns, last_ns, offset_ns, drift_ppb;
    struct posixtrace_clock_knot *knots; /* from ticks to the common clock; at least two */
    size_t knot_count;
    struct pt_sync_bound *bounds; /* at least one; between two of them on the line */
    size_t bound_count;
    int64_t least_ppb, most_ppb; /* beyond them: by so much more each second; <= 0, >= 0 */
};

/* Bounds of the difference of the errors of two clocks beyond their own intervals. */
struct pt_sync_between {
    size_t from, to; /* from < to */
    struct pt_sync_bound *bounds;
    size_t bound_count;
};

struct posixtrace_sync {
    struct pt_sync_host *hosts;
    size_t host_count;
    struct pt_sync_between *between;
    size_t between_count;
    /* of posixtrace_sync_create() */
    bool made;
    struct posixtrace_sync_summary summary;
    struct posixtrace_sync_link *links;
    size_t link_count;
    struct posixtrace_sync_conflict *conflicts;
    size_t conflict_count;
};

/* sync.c */
/* Is the clock that of a log with this information? */
struct posixtrace_info;
bool pt_sync_is_of(const struct pt_sync_host *h, const struct posixtrace_info *info);
void pt_sync_identify(struct pt_sync_host *h, const struct posixtrace_info *info);
/* a + b, INT64_MIN and INT64_MAX being infinite. */
int64_t pt_sync_sum(int64_t a, int64_t b);

#endif
