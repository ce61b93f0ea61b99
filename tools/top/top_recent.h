/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lengths of the last minute, second by second: sums, and of pairs a histogram, whose bars are 1/16
 * of a power of two wide, so that a percentile is exact to 3 %.  Memory does not grow with the
 * number of lengths.
 */
#ifndef TOP_RECENT_H
#define TOP_RECENT_H

#include <stdint.h>

enum { TOP_SECONDS = 60, TOP_BARS = 976 };

struct top_total {
    uint64_t count;           /* of those that ended in that time */
    int64_t total_ns, max_ns; /* of their whole lengths */
    int64_t busy_ns;          /* of all lengths, what lies in that time */
};

struct top_recent {
    struct top_second {
        int64_t second; /* since 1970 */
        uint32_t count;
        int64_t total_ns, max_ns, busy_ns; /* as of struct top_total */
    } of[TOP_SECONDS];
    struct top_total since;     /* the stream is watched */
    uint32_t (*bars)[TOP_BARS]; /* of each second; NULL: sums only */
};

/* A length that ended at ns, of a stream that is watched since then.  with_bars: for percentiles;
 * the same in all calls. */
void top_recent_add(struct top_recent *r, int64_t ns, int64_t length, int64_t watched_ns,
                    int with_bars);
/* The sums of so many seconds before the second 'now'. */
struct top_total top_recent_total(const struct top_recent *r, int64_t now, int seconds);
/* The lengths that 50 and 99 percent of these do not exceed. */
void top_recent_percentiles(const struct top_recent *r, int64_t now, int seconds, int64_t *p50,
                            int64_t *p99);
void top_recent_free(struct top_recent *r);

#endif
