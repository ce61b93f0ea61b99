/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Metrics of a log while a stream writes it, in flush rounds that end anywhere: from a log
 * that grows all measurements, as afterwards; from one that overtakes its reader only whole
 * ones, and unknown ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/ada_metrics.h>
#include <posixtrace/stream.h>
#include "support/flush_log.h"
#include "support/run_suite.h"

/* A measurement: a start event, INSIDE events, an end event. */
enum { INSIDE = 3, LARGEST = 20000 };

struct found {
    struct posixtrace_measurement m[LARGEST];
    size_t known, unknown;
};

static struct found now, afterwards;
static trace_event_id_t types[3];
static posixtrace_metric_t *metric;
static trace_id_t stream, log_trid;
static posixtrace_metric_run_t *run;
static unsigned place; /* in a measurement */
static int fd;

static int note(void *context, const struct posixtrace_measurement *m)
{
    struct found *f = context;

    f->unknown += m->unknown;
    if (m->unknown)
        return 0;
    ck_assert_uint_lt(f->known, LARGEST);
    f->m[f->known++] = *m;
    return 0;
}

static void begin(int policy, size_t log_size)
{
    static const char *const names[] = { "begin", "inside", "end" };
    trace_attr_t attr;

    srand(11);
    memset(&now, 0, sizeof now);
    memset(&afterwards, 0, sizeof afterwards);
    place = 0;
    fd = memfd_create("log", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, log_size), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(posix_trace_eventid_open(names[i], &types[i]), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &stream), 0);
    ck_assert_int_eq(posix_trace_start(stream), 0);
    ck_assert_int_eq(posix_trace_open(fd, &log_trid), 0);
    ck_assert_int_eq(posixtrace_new_user_metric("Pair", "begin", "end", true, &metric), 0);
    ck_assert_int_eq(posixtrace_metric_run_create((const posixtrace_metric_t *[]){ metric }, 1,
                                                  log_trid, note, &now, &run),
                     0);
}

static void trace_some(unsigned events)
{
    while (events-- > 0) {
        posix_trace_event(types[place == 0 ? 0 : place <= INSIDE ? 1 : 2], NULL, 0);
        place = (place + 1) % (INSIDE + 2);
    }
    flush_log(stream);
}

/* Is the log still written? */
static bool take(unsigned *gaps)
{
    struct posixtrace_info info;
    int none;
    bool gap;

    ck_assert_int_eq(posixtrace_follow(log_trid, &gap), 0);
    if (gap) {
        posixtrace_metric_run_gap(run);
        ++*gaps;
    }
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    ck_assert_int_eq(posixtrace_get_info(log_trid, &info, sizeof info), 0);
    return info.end == POSIXTRACE_END_ACTIVE;
}

static void end(unsigned *gaps)
{
    trace_id_t trid;
    posixtrace_metric_run_t *again;
    int none;

    ck_assert_int_eq(posix_trace_shutdown(stream), 0);
    ck_assert(!take(gaps));
    ck_assert(!take(gaps));
    posixtrace_metric_run_end(run);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_metric_run_create((const posixtrace_metric_t *[]){ metric }, 1,
                                                  trid, note, &afterwards, &again),
                     0);
    ck_assert_int_eq(posixtrace_metric_run_take(again, 0, &none), 0);
    posixtrace_metric_run_end(again);
    ck_assert_uint_eq(afterwards.unknown, 0);
    posixtrace_metric_run_free(again);
    posixtrace_metric_run_free(run);
    posixtrace_metric_free(metric);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    ck_assert_int_eq(posix_trace_close(log_trid), 0);
    close(fd);
}

START_TEST(all_of_a_log_that_grows)
{
    unsigned gaps = 0;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    for (unsigned i = 0; i < 60; i++) {
        trace_some(1 + (unsigned)rand() % 40);
        ck_assert(take(&gaps));
        ck_assert(take(&gaps));
    }
    ck_assert_uint_gt(now.known, 100);
    end(&gaps);
    ck_assert_uint_eq(gaps, 0);
    ck_assert_uint_eq(now.unknown, 0);
    ck_assert_uint_eq(now.known, afterwards.known);
    for (size_t i = 0; i < now.known; i++) {
        ck_assert_int_eq(now.m[i].begin_ns, afterwards.m[i].begin_ns);
        ck_assert_int_eq(now.m[i].end_ns, afterwards.m[i].end_ns);
        ck_assert_int_eq(now.m[i].length_ns, afterwards.m[i].length_ns);
        ck_assert_uint_eq(now.m[i].intermediate_events, afterwards.m[i].intermediate_events);
    }
}
END_TEST

START_TEST(whole_ones_of_a_log_that_overtakes)
{
    struct posixtrace_doubt doubt;
    unsigned gaps = 0;

    begin(POSIX_TRACE_LOOP, 20000);
    for (unsigned i = 0; i < 400; i++) {
        trace_some(1 + (unsigned)rand() % 80);
        if (rand() % 50 == 0)
            for (unsigned k = 0; k < 100; k++)
                trace_some(1 + (unsigned)rand() % 80);
        ck_assert(take(&gaps));
    }
    posixtrace_metric_run_doubt(run, 0, &doubt, sizeof doubt);
    ck_assert_uint_gt(gaps, 2);
    ck_assert_uint_gt(doubt.unknown, 2);
    ck_assert_int_gt(doubt.at_most_ns, 0);
    end(&gaps);
    ck_assert_uint_gt(now.known, 1000);
    for (size_t i = 0; i < now.known; i++)
        ck_assert_uint_eq(now.m[i].intermediate_events, INSIDE + 1);
}
END_TEST

/* Said before anything was taken, and at the end. */
START_TEST(gaps_at_the_ends)
{
    unsigned gaps = 0;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    posixtrace_metric_run_gap(run);
    trace_some(2 * (INSIDE + 2) + 1);
    /* After START; the events that a flush adds come last. */
    while (posixtrace_metric_run_events(run) < 1 + 2 * (INSIDE + 2) + 1)
        ck_assert(take(&gaps));
    ck_assert_uint_eq(now.known, 2);
    posixtrace_metric_run_gap(run);
    posixtrace_metric_run_gap(run);
    end(&gaps);
    ck_assert_uint_eq(now.unknown, 1);
    ck_assert_uint_eq(now.known, 2);
}
END_TEST

static int own_stream(void *file, const struct posixtrace_stream *s)
{
    memcpy(file, s->file, sizeof s->file);
    return s->owner == getpid();
}

/* A start inside of another measurement does not count, and it is unknown whether there is one. */
START_TEST(overwritten_before_the_attach)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    trace_id_t own, trid;
    trace_attr_t attr;
    int none;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    ck_assert_int_eq(posix_trace_shutdown(stream), 0);
    posixtrace_metric_run_free(run);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 16384), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &own), 0);
    ck_assert_int_eq(posix_trace_start(own), 0);
    for (unsigned i = 0; i < 5000; i++)
        posix_trace_event(types[i == 0 ? 0 : 1], NULL, 0);
    ck_assert_int_eq(posixtrace_stream_list(own_stream, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &trid), 0);
    for (unsigned i = 0; i < 4; i++)
        posix_trace_event(types[i % 2 * 2], NULL, 0);
    ck_assert_int_eq(posixtrace_metric_run_create((const posixtrace_metric_t *[]){ metric }, 1,
                                                  trid, note, &now, &run),
                     0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    posixtrace_metric_run_end(run);
    ck_assert_uint_eq(now.known, 1);
    ck_assert_uint_eq(now.unknown, 1);
    posixtrace_metric_run_free(run);
    posixtrace_metric_free(metric);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
    ck_assert_int_eq(posix_trace_close(log_trid), 0);
    close(fd);
}
END_TEST

static int refuse_unknown(void *context, const struct posixtrace_measurement *m)
{
    *(unsigned *)context += 1;
    return m->unknown ? EDOM : 0;
}

/* What the caller's function returns at the end is not lost, nor called over again. */
START_TEST(refused_at_the_end)
{
    posixtrace_metric_run_t *refused;
    unsigned gaps = 0, calls = 0;
    trace_id_t trid;
    int none;

    begin(POSIX_TRACE_APPEND, 1 << 20);
    trace_some(2 * (INSIDE + 2) + 1);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    ck_assert_int_eq(posixtrace_metric_run_create((const posixtrace_metric_t *[]){ metric, metric },
                                                  2, trid, refuse_unknown, &calls, &refused),
                     0);
    ck_assert_int_eq(posixtrace_metric_run_take(refused, 0, &none), 0);
    ck_assert_uint_eq(calls, 4);
    posixtrace_metric_run_gap(refused);
    ck_assert_int_eq(posixtrace_metric_run_end(refused), EDOM);
    ck_assert_uint_eq(calls, 5);
    posixtrace_metric_run_free(refused);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    end(&gaps);
}
END_TEST

static void add(TCase *tc)
{
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, all_of_a_log_that_grows);
    tcase_add_test(tc, whole_ones_of_a_log_that_overtakes);
    tcase_add_test(tc, gaps_at_the_ends);
    tcase_add_test(tc, refused_at_the_end);
    tcase_add_test(tc, overwritten_before_the_attach);
}

int main(void)
{
    return run_suite("metrics", "follow", NULL, add);
}
