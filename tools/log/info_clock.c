/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See info_clock.h. */
#include "log/info_clock.h"

#include <inttypes.h>
#include <posixtrace/clock.h>
#include <stdio.h>

#include "common/json_out.h"
#include "common/time_parse.h"

static bool get(const struct log_file *log, struct posixtrace_clock_quality *q)
{
    return posixtrace_clock_quality(log->trid, q, sizeof *q) == 0 && q->readings > 0;
}

const char *info_clock_text(const struct log_file *log)
{
    static char text[160];
    struct posixtrace_clock_quality q;
    uint64_t doubtful;

    if (!get(log, &q))
        return NULL;
    doubtful = q.unknown + q.unsynchronised;
    if (q.unknown == q.readings)
        return "not known: the kernel did not say how good it was";
    if (doubtful == q.readings)
        return "not synchronised: its error is not known";
    snprintf(text, sizeof text, "within %s of UTC, synchronised", when_span(q.most_error_ns));
    if (doubtful > 0)
        snprintf(text, sizeof text,
                 "within %s of UTC, but not known to be synchronised %" PRIu64 " of %" PRIu64
                 " times",
                 when_span(q.most_error_ns), doubtful, q.readings);
    return text;
}

const char *info_clock_left(const struct log_file *log)
{
    static char text[200];
    struct posixtrace_clock_quality q;
    int64_t off;

    if (!get(log, &q) || q.left == 0)
        return NULL;
    off = q.off_ns < 0 ? -q.off_ns : q.off_ns;
    snprintf(text, sizeof text,
             "too full for a correction: times may be wrong. At last they were %s %s than "
             "CLOCK_REALTIME",
             when_span(off), q.off_ns < 0 ? "earlier" : "later");
    return text;
}

static void put_error(const char *key, int64_t ns)
{
    if (ns < 0)
        json_none(key);
    else
        json_integer(key, ns);
}

void info_clock_json(const struct log_file *log)
{
    struct posixtrace_clock_quality q;

    if (!get(log, &q))
        return;
    json_open("host_clock", '{');
    json_count("readings", q.readings);
    json_count("unknown", q.unknown);
    json_count("unsynchronised", q.unsynchronised);
    json_count("steps", q.steps);
    put_error("most_error", q.most_error_ns);
    put_error("error", q.error_ns);
    json_truth("corrected", q.left == 0);
    json_integer("off", q.off_ns);
    json_close();
}
