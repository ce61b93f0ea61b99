/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How many events a second one thread can record into a log in this place
 * without losing any; and that losses are counted exactly at every rate.  The
 * log of one trial is kept for selftest_read.c.
 *
 * A trial records numbered events at a rate for a second, in portions of a
 * millisecond, through a stream of 64 MiB into a log that keeps the newest
 * (LOOP).  The first trials run at full speed.  If one of them loses events, the rate of those it
 * did not lose is a good first guess.  The wanted rate is between the fastest trial without loss
 * and the slowest one with loss; further trials halve that range until it is narrow or the time is
 * over.
 *
 * Events that the log's policy overwrites are not lost in this sense.
 */
#include "selftest/selftest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <posixtrace/info.h>

#include "common/units.h"
#include "common/progress.h"

enum { TRIALS = 12, FULL_SPEED = 3, PORTION_LEAST = 16 };
#define STREAM_SIZE (64u << 20)
#define LOG_SIZE    (256ull << 20)
#define LOG_LEAST   (8ull << 20)
#define TICK        1000000 /* ns of a portion */
#define NARROW      1.08

struct trial {
    double asked; /* events a second; INFINITY: at full speed */
    double rate;  /* events generated */
    double bytes; /* of log, an event */
    uint64_t generated, lost, overwritten, logged;
    bool exact; /* generated = logged + overwritten + lost */
};

struct search {
    const struct selftest *test;
    trace_event_id_t id;
    uint64_t log_size;
    double seconds;             /* of a trial */
    double free_of_loss, lossy; /* rates: the fastest, the slowest */
    struct trial best;          /* of those without loss */
    struct trial kept;          /* whose log was kept: the last one without loss, or the first */
    unsigned trials, inexact;
    char fault[200]; /* of the first inexact trial */
    int error;
};

/* Records at the rate; how many, and in *took for how long. */
static uint64_t generate(struct search *s, double rate, int64_t *took)
{
    int64_t begin = selftest_now(), now = begin, end = begin + (int64_t)(s->seconds * 1e9);
    uint64_t number = 0;

    while (now < end && !selftest_interrupted()) {
        double due = isinf(rate) ? (double)number + 10000 : rate * (double)(now - begin) / 1e9;
        uint64_t until = (uint64_t)due + PORTION_LEAST;

        for (; number < until; number++)
            posix_trace_event(s->id, &number, sizeof number);
        if (!isinf(rate))
            selftest_sleep(now + TICK - selftest_now());
        now = selftest_now();
    }
    *took = now - begin;
    return number;
}

/* The books of threads: those of the log count its own events (START, ...) too. */
static int sum_threads(trace_id_t trid, struct trial *t)
{
    struct posixtrace_thread_info thread;
    int error, unavailable = 0;

    posixtrace_threadlist_rewind(trid);
    while ((error = posixtrace_threadlist_getnext(trid, &thread, sizeof thread, &unavailable)) ==
               0 &&
           !unavailable) {
        t->lost += selftest_lost(thread.lost);
        t->overwritten += thread.lost[POSIXTRACE_LOST_LOG_OVERWRITTEN] +
                          thread.lost[POSIXTRACE_LOST_OVERWRITTEN];
    }
    return error;
}

static int read_books(trace_id_t trid, struct trial *t)
{
    trace_event_id_t id = selftest_find_type(trid, SELFTEST_RATE_TYPE);
    struct posixtrace_info info;
    int error = posixtrace_get_info(trid, &info, sizeof info);

    if (!error && id)
        error = posixtrace_event_count(trid, id, &t->logged);
    if (!error)
        error = sum_threads(trid, t);
    if (error)
        return error;
    t->exact = t->generated == t->logged + t->overwritten + t->lost;
    t->bytes = t->logged ? (double)info.bytes / (double)t->logged : 0;
    return 0;
}

static int audit(int log, struct trial *t)
{
    trace_id_t trid;
    int error = lseek(log, 0, SEEK_SET) < 0 ? errno : posix_trace_open(log, &trid);

    if (!error) {
        error = read_books(trid, t);
        posix_trace_close(trid);
    }
    return error;
}

static int run_trial(struct search *s, int log, struct trial *t)
{
    trace_id_t trid;
    int64_t took = 0;
    int error = selftest_stream(STREAM_SIZE, POSIX_TRACE_FLUSH, log, s->log_size, &trid);

    if (error)
        return error;
    t->generated = generate(s, t->asked, &took);
    t->rate = took > 0 ? (double)t->generated * 1e9 / (double)took : 0;
    error = posix_trace_shutdown(trid);
    return error ? error : audit(log, t);
}

static void note_trial(struct search *s, const struct trial *t)
{
    s->trials++;
    if (!t->exact && s->inexact++ == 0)
        snprintf(s->fault, sizeof s->fault,
                 "; not at %.1f million/s: %s generated, %s in the log, "
                 "%s overwritten there, %s lost",
                 t->rate / 1e6, units_count(t->generated), units_count(t->logged),
                 units_count(t->overwritten), units_count(t->lost));
    if (t->lost > 0) {
        s->lossy = t->rate < s->lossy ? t->rate : s->lossy;
    } else if (t->rate > s->free_of_loss) {
        s->free_of_loss = t->rate;
        s->best = *t;
    }
}

static bool try_rate(struct search *s, double rate, struct trial *t)
{
    char path[PATH_MAX], kept[PATH_MAX], step[64];
    int log = selftest_new_log(s->test, "rate.ptl", path);

    *t = (struct trial){ .asked = rate };
    snprintf(step, sizeof step, "rate without loss, trial %u", s->trials + 1);
    progress_step(step);
    s->error = log < 0 ? errno : run_trial(s, log, t);
    if (log >= 0)
        close(log);
    if (s->error || selftest_interrupted())
        return false;
    note_trial(s, t);
    snprintf(kept, sizeof kept, "%s/" SELFTEST_KEPT_LOG, s->test->folder);
    if ((t->lost == 0 || s->trials == 1) && rename(path, kept) == 0)
        s->kept = *t;
    return true;
}

static void search(struct search *s, int64_t until)
{
    struct trial t;
    double next;

    do {
        if (!try_rate(s, INFINITY, &t) || (t.lost == 0 && s->trials == FULL_SPEED))
            return;
    } while (t.lost == 0);
    next = t.rate * (double)(t.generated - t.lost) / (double)t.generated;
    while (s->trials < TRIALS && selftest_now() < until) {
        if (!try_rate(s, next, &t))
            return;
        if (s->free_of_loss > 0 && s->lossy / s->free_of_loss < NARROW)
            return;
        next = s->free_of_loss > 0 ? sqrt(s->free_of_loss * s->lossy) : next * 0.7;
    }
}

static void report(const struct search *s)
{
    if (s->best.generated > 0) {
        report_figure("rate_free_of_loss",
                      isinf(s->lossy) ? "events of 8 bytes into a log here, as fast as it goes"
                                      : "events of 8 bytes into a log here, without loss",
                      s->free_of_loss / 1e6, 2, "million/s");
        report_figure("log_mib_per_second", "the log that they make",
                      s->free_of_loss * s->best.bytes / (1 << 20), 0, "MiB/s");
        report_figure("log_bytes_per_event", "log for an event of 8 bytes", s->best.bytes, 1,
                      "bytes");
    } else {
        report_missing("rate_free_of_loss", "events into a log here, without loss",
                       "all of %u trials lost some, the slowest at %.2f million/s", s->trials,
                       s->lossy / 1e6);
    }
    if (!isinf(s->lossy))
        report_figure("rate_with_loss", "slowest rate at which some were lost", s->lossy / 1e6, 2,
                      "million/s");
    report_check(s->inexact == 0, "books",
                 "%u logs at different rates: recorded, overwritten and "
                 "lost events add up in %u%s",
                 s->trials, s->trials - s->inexact, s->fault);
}

/* A log of the kept trial and one that is being written must fit, with room to spare. */
static uint64_t log_size_for(const char *folder)
{
    uint64_t space = LOG_SIZE;
    struct statvfs fs;

    if (statvfs(folder, &fs) == 0)
        space = (uint64_t)fs.f_bavail * fs.f_frsize / 4;
    return space < LOG_SIZE ? space : LOG_SIZE;
}

void selftest_rate(const struct selftest *t)
{
    int64_t until = selftest_now() + (int64_t)(t->seconds * 0.4 * (double)SELFTEST_NS);
    struct search s = { .test = t,
                        .log_size = log_size_for(t->folder),
                        .lossy = INFINITY,
                        .seconds = t->seconds < 10 ? t->seconds / 10 : 1 };

    if (s.log_size < LOG_LEAST) {
        report_missing("rate_free_of_loss", "events into a log here, without loss",
                       "only %s are free there; name another place with --log",
                       units_bytes(4 * s.log_size));
        return;
    }
    s.error = posix_trace_eventid_open(SELFTEST_RATE_TYPE, &s.id);
    if (!s.error)
        search(&s, until);
    if (selftest_interrupted())
        return;
    if (s.error)
        report_missing("rate", "trial", "%s", strerror(s.error));
    if (s.trials > 0) {
        report(&s);
        selftest_read(t, s.kept.generated, s.kept.lost);
    }
}
