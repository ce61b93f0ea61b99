/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The clocks of a log.  Events are stamped by the trace clock, which is steady; the log has what
 * CLOCK_REALTIME showed at some of its times, and how good the kernel took CLOCK_REALTIME to be
 * then.  Another clock may stand in the place of CLOCK_REALTIME, so that logs of several hosts have
 * times that compare: posixtrace/sync.h finds such clocks.
 *
 * Functions return 0 or an error number.  They are thread-safe, not async-signal-safe.  trid is a
 * pre-recorded stream; of a log in a pipe they know what was read.
 */
#ifndef POSIXTRACE_CLOCK_H
#define POSIXTRACE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
/* A function may have the name of a struct, whose constructor it hides. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/* CLOCK_REALTIME and the kernel's estimate of its error (adjtimex(2)) at one time. */
struct posixtrace_clock_reading {
    uint64_t ticks;        /* of the trace clock */
    int64_t ns;            /* since 1970 */
    int64_t most_error_ns; /* the kernel's bound; -1: unknown */
    int64_t error_ns;      /* its estimate; -1: unknown */
    int status;            /* STA_* of <sys/timex.h>; -1: unknown */
    bool synchronised;     /* known, and STA_UNSYNC is not set */
    bool left;             /* the log's times were off by more than 10 ms by then, and the stream's
                            * clock table had no room to correct that */
};

/*
 * The readings of a log, by index from 0, in the order of time.  The writer stores one when it
 * begins the log, with each new point of the table below, where the table had no room for one, now
 * and then, and when it ends the log.
 *
 * EINVAL  trid is not a pre-recorded stream, reading is NULL, or size is 0
 * ENOENT  there is no such reading: imported logs and those of earlier versions have none
 */
int posixtrace_clock_reading(trace_id_t trid, size_t index,
                             struct posixtrace_clock_reading *reading, size_t size);

/* From these ticks on the log's times are ns + (ticks - these) * slope / 2^32. */
struct posixtrace_clock_point {
    uint64_t ticks;
    int64_t ns;
    uint64_t slope;
    bool step; /* CLOCK_REALTIME was set there, by more than 10 ms */
};

/* The table that makes times of ticks, in the same way.  EINVAL, ENOENT. */
int posixtrace_clock_point(trace_id_t trid, size_t index, struct posixtrace_clock_point *point,
                           size_t size);

/* How good the host's own clock was while the log was written. */
struct posixtrace_clock_quality {
    uint64_t readings;
    uint64_t unknown;        /* of them, where the kernel was not asked, or did not say: see
                              * posixtrace_clock_reading(3) */
    uint64_t unsynchronised; /* of them, and those where nothing had set the clock right */
    uint64_t steps;          /* how often the clock was set by more than 10 ms */
    int64_t most_error_ns;   /* the worst bound of synchronised readings; -1: there is none */
    int64_t error_ns;        /* the worst estimate of these; -1: there is none */
    uint64_t left;           /* readings with left: from the first of them on times may be wrong */
    int64_t off_ns;          /* the log's time less CLOCK_REALTIME at the last reading; 0: none */
};

/* EINVAL  trid is not a pre-recorded stream, quality is NULL, or size is 0 */
int posixtrace_clock_quality(trace_id_t trid, struct posixtrace_clock_quality *quality,
                             size_t size);

/* The other clock shows ns at these ticks of the trace clock.  Of an imported log ticks are the
 * times that it has, ns since 1970. */
struct posixtrace_clock_knot {
    uint64_t ticks;
    int64_t ns;
};

/*
 * From the next event on, all times that are read from trid are those of another clock: events,
 * blocks, posixtrace_get_info(), posixtrace_seek().  Between two knots it runs evenly, before the
 * first and after the last as beside them.  Then CLOCK_REALTIME was never set: its steps leave no
 * gap in the log.  Call it before reading.  count 0: the log's own clock again.
 *
 * EINVAL  trid is not a pre-recorded stream; one knot, or knots is NULL; ticks or ns do not ascend,
 *         or by more than 4096 ns a tick
 * ESPIPE  an imported log in a pipe
 * EFBIG   more than 4 million pieces are needed
 * ENOMEM
 */
int posixtrace_set_clock_map(trace_id_t trid, const struct posixtrace_clock_knot *knots,
                             size_t count);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif
#endif
