/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A log that has given an OVERFLOW or a STOP up, and not what was before it, or that never had it,
 * because of a filter: RESUME or START alone is a gap, for metrics, pairs and reports.  Where the
 * log began inside the gap is wrapped: the builder's logs never give anything up.  The reader goes
 * through the test, too.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/ada_metrics.h>
#include <posixtrace/log.h>
#include <posixtrace/pair.h>
#include <posixtrace/report.h>
#include "analysis/metrics/run/reader.h"
#include "support/run_suite.h"

enum { BASE = 1000, BEGIN = 10, INSIDE = 30, GOES_ON = 50, END = 60 };

bool __wrap_pt_reader_begins_in_gap(trace_id_t trid);

static bool begins_in_gap;
static bool is_unread;                             /* events before goes_on */
static bool is_first;                              /* goes_on is before begin */
static const char *goes_on = "posix_trace_resume"; /* or "posix_trace_start" */

bool __wrap_pt_reader_begins_in_gap(trace_id_t trid)
{
    (void)trid;
    return begins_in_gap;
}

int __real_pt_reader_next(trace_id_t trid, struct posixtrace_event *events, size_t most,
                          size_t *count, bool *gap);
int __wrap_pt_reader_next(trace_id_t trid, struct posixtrace_event *events, size_t most,
                          size_t *count, bool *gap);

int __wrap_pt_reader_next(trace_id_t trid, struct posixtrace_event *events, size_t most,
                          size_t *count, bool *gap)
{
    int error = __real_pt_reader_next(trid, events, most > 0, count, gap);

    if (error == 0 && is_unread && *count > 0)
        *gap |= events->id == POSIX_TRACE_START || events->id == POSIX_TRACE_RESUME;
    return error;
}

static void be(bool in_gap)
{
    is_unread = is_first = false;
    begins_in_gap = in_gap;
    goes_on = "posix_trace_resume";
}

static void add(posixtrace_log_builder_t *b, int64_t ns, const char *name)
{
    static const uint32_t key = 7;
    bool mark = strncmp(name, "posix_trace_", 12) == 0;
    const struct posixtrace_event e = { .ns = BASE + ns,
                                        .pid = 1,
                                        .tid = mark ? 0 : 1,
                                        .thread_id = 4096,
                                        .name = name,
                                        .thread_name = "",
                                        .data = &key,
                                        .data_len = mark ? 0 : sizeof key };

    ck_assert_int_eq(posixtrace_log_builder_add(b, &e, sizeof e), 0);
}

/* begin, RESUME or START, and end; or with inside an event in between. */
static trace_id_t open_trace(const char *inside)
{
    FILE *file = tmpfile();
    posixtrace_log_builder_t *b;
    trace_id_t trid;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(posixtrace_log_builder_create(fileno(file), NULL, &b), 0);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "begin", "u32 id"), 0);
    ck_assert_int_eq(posixtrace_log_builder_describe(b, "end", "u32 id"), 0);
    if (is_first)
        add(b, 0, goes_on);
    add(b, BEGIN, "begin");
    if (inside)
        add(b, INSIDE, inside);
    if (!is_first)
        add(b, GOES_ON, goes_on);
    add(b, END, "end");
    ck_assert_int_eq(posixtrace_log_builder_finish(b), 0);
    ck_assert_int_eq(lseek(fileno(file), 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fileno(file), &trid), 0);
    fclose(file);
    return trid;
}

struct found {
    unsigned known, unknown;
    int64_t length_ns; /* of the first one */
};

static void note(struct found *f, int64_t length_ns, bool unknown)
{
    f->known += !unknown;
    f->unknown += unknown;
    if (f->known + f->unknown == 1)
        f->length_ns = length_ns;
}

static int note_metric(void *context, const struct posixtrace_measurement *m)
{
    note(context, m->length_ns, m->unknown);
    return 0;
}

static int note_pair(void *context, const struct posixtrace_pair_measurement *m)
{
    note(context, m->length_ns, m->unknown);
    return 0;
}

static struct found measure(const char *inside)
{
    trace_id_t trid = open_trace(inside);
    struct found f = { 0 };
    posixtrace_metric_run_t *run;
    posixtrace_metric_t *metric;
    int none;

    ck_assert_int_eq(posixtrace_new_user_metric("m", "begin", "end", true, &metric), 0);
    ck_assert_int_eq(posixtrace_metric_run_create((const posixtrace_metric_t *const *)&metric, 1,
                                                  trid, note_metric, &f, &run),
                     0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    ck_assert_int_eq(posixtrace_metric_run_end(run), 0);
    posixtrace_metric_run_free(run);
    posixtrace_metric_free(metric);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return f;
}

static struct found pair(const char *inside)
{
    trace_id_t trid = open_trace(inside);
    struct found f = { 0 };
    posixtrace_pair_run_t *run;
    posixtrace_pair_t *p;
    int none;

    ck_assert_int_eq(posixtrace_pair_parse("begin by id..end by id", &p, NULL), 0);
    ck_assert_int_eq(posixtrace_pair_run_create((const posixtrace_pair_t *const *)&p, 1, &trid, 1,
                                                note_pair, &f, &run, NULL),
                     0);
    ck_assert_int_eq(posixtrace_pair_run_take(run, 0, &none), 0);
    ck_assert_int_eq(posixtrace_pair_run_end(run), 0);
    posixtrace_pair_run_free(run);
    posixtrace_pair_free(p);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return f;
}

static struct posixtrace_report_summary report(const char *inside)
{
    trace_id_t trid = open_trace(inside);
    struct posixtrace_report_summary summary;
    posixtrace_report_t *r;
    int none;

    ck_assert_int_eq(posixtrace_report_create(trid, NULL, 0, &r), 0);
    ck_assert_int_eq(posixtrace_report_take(r, 0, &none), 0);
    ck_assert_int_eq(posixtrace_report_end(r), 0);
    summary = *posixtrace_report_summary(r);
    posixtrace_report_free(r);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return summary;
}

static void check_unknown(struct found f, int64_t most_ns)
{
    ck_assert_uint_eq(f.known, 0);
    ck_assert_uint_eq(f.unknown, 1);
    ck_assert_int_eq(f.length_ns, most_ns);
}

static void check_known(struct found f, int64_t length_ns)
{
    ck_assert_uint_eq(f.known, 1);
    ck_assert_uint_eq(f.unknown, 0);
    ck_assert_int_eq(f.length_ns, length_ns);
}

/* From the event before; another end and begin may have been there. */
START_TEST(end_alone_is_a_gap)
{
    const char *inside = _i % 2 == 0 ? NULL : "other";

    be(false);
    if (_i >= 2)
        goes_on = "posix_trace_start";
    check_unknown(measure(inside), END - BEGIN);
    check_unknown(pair(inside), END - BEGIN);
    ck_assert_uint_eq(report(inside).gaps, 1);
    ck_assert_int_eq(report(inside).gap_ns, GOES_ON - (inside ? INSIDE : BEGIN));
}
END_TEST

/* Nothing is missing before that event; after it another begin and end may be. */
START_TEST(what_ends_before_is_known)
{
    struct found found[2];

    be(false);
    found[0] = measure("end");
    found[1] = pair("end");
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(found[i].known, 1);
        ck_assert_int_eq(found[i].length_ns, INSIDE - BEGIN);
        ck_assert_uint_eq(found[i].unknown, 1);
    }
}
END_TEST

static void check_with_begin(const char *mark)
{
    check_unknown(measure(mark), END - BEGIN);
    check_unknown(pair(mark), END - BEGIN);
    ck_assert_uint_eq(report(mark).gaps, 1);
    ck_assert_int_eq(report(mark).gap_ns, GOES_ON - INSIDE);
}

/* The reader knows of the gap already: it is one, and not two. */
START_TEST(unread_before)
{
    be(false);
    is_unread = true;
    if (_i > 0)
        goes_on = "posix_trace_start";
    check_unknown(measure(NULL), END - BEGIN);
    check_unknown(pair(NULL), END - BEGIN);
    ck_assert_uint_eq(report(NULL).gaps, 1);
    ck_assert_int_eq(report(NULL).gap_ns, GOES_ON - BEGIN);
}
END_TEST

START_TEST(after_overflow)
{
    be(false);
    check_with_begin("posix_trace_overflow");
}
END_TEST

START_TEST(after_stop)
{
    be(false);
    goes_on = "posix_trace_start";
    check_with_begin("posix_trace_stop");
}
END_TEST

/* What was before the first event is no gap. */
START_TEST(log_begins_with_the_end)
{
    be(false);
    is_first = true;
    if (_i > 0)
        goes_on = "posix_trace_start";
    check_known(measure(NULL), END - BEGIN);
    check_known(pair(NULL), END - BEGIN);
    ck_assert_uint_eq(report(NULL).gaps, 0);
}
END_TEST

START_TEST(log_begins_in_the_gap)
{
    be(true);
    ck_assert_uint_eq(measure("end").known, 0);
    ck_assert_uint_eq(pair("end").known, 0);
    ck_assert_uint_eq(report("end").gaps, 1);
    ck_assert_int_eq(report("end").gap_ns, GOES_ON - BEGIN);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, end_alone_is_a_gap, 0, 4);
    tcase_add_test(t, what_ends_before_is_known);
    tcase_add_loop_test(t, unread_before, 0, 2);
    tcase_add_test(t, after_overflow);
    tcase_add_test(t, after_stop);
    tcase_add_loop_test(t, log_begins_with_the_end, 0, 2);
    tcase_add_test(t, log_begins_in_the_gap);
}

int main(void)
{
    return run_suite("given up", "an OVERFLOW or STOP that a log has given up", NULL, add_tests);
}
