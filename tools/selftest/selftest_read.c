/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads the log that the rate kept, from start to end, as a program does:
 * how fast, and whether the events are the newest of those recorded, without a
 * gap that was not counted as lost.
 */
#include "selftest/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/units.h"
#include "common/progress.h"

struct found {
    uint64_t events, first, end; /* end: after the last number */
    uint64_t back;               /* numbers or times before the one before */
    int64_t took;
};

static int read_all(trace_id_t trid, struct found *f)
{
    trace_event_id_t id = selftest_find_type(trid, SELFTEST_RATE_TYPE);
    int64_t begin = selftest_now(), last_ns = 0;
    struct posixtrace_event e;
    int error, unavailable = 0;

    while ((error = posixtrace_next_event(trid, &e, sizeof e, &unavailable)) == 0 && !unavailable) {
        uint64_t number;

        if (e.id != id)
            continue;
        number = selftest_number(&e);
        if (f->events++ == 0)
            f->first = number;
        else
            f->back += number < f->end || e.ns < last_ns;
        f->end = number + 1;
        last_ns = e.ns;
    }
    f->took = selftest_now() - begin;
    return error;
}

static int open_and_read(const struct selftest *t, struct found *f)
{
    char path[PATH_MAX];
    trace_id_t trid;
    int log, error;

    snprintf(path, sizeof path, "%s/" SELFTEST_KEPT_LOG, t->folder);
    log = open(path, O_RDONLY | O_CLOEXEC);
    error = log < 0 ? errno : posix_trace_open(log, &trid);
    if (!error) {
        error = read_all(trid, f);
        posix_trace_close(trid);
    }
    if (log >= 0)
        close(log);
    return error;
}

void selftest_read(const struct selftest *t, uint64_t generated, uint64_t lost)
{
    struct found f = { 0 };
    uint64_t gaps;
    int error;

    progress_step("reading a log");
    error = open_and_read(t, &f);
    if (error) {
        report_check(false, "reading", "cannot read the log: %s", strerror(error));
        return;
    }
    gaps = f.end - f.first - f.events;
    report_check(f.events > 0 && f.back == 0 && gaps <= lost && f.end + lost >= generated &&
                     f.end <= generated,
                 "reading",
                 "%s events of %s in a log that keeps the "
                 "newest, %s in gaps, %s counted as lost, %s not in order",
                 units_count(f.events), units_count(generated), units_count(gaps),
                 units_count(lost), units_count(f.back));
    if (f.took > 0)
        report_figure("read_rate", "events of one thread read from a log",
                      (double)f.events * 1e3 / (double)f.took, 2, "million/s");
}
