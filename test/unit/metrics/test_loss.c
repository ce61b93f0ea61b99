/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Random traces that have lost parts, with OVERFLOW and RESUME around the missing events, or with
 * other events between them.  Every known measurement is also one of the whole trace; and the
 * longest one of the whole trace lies within the reported worst case.
 */
#include <string.h>
#include <posixtrace/ada_metrics.h>
#include "scene.h"
#include "support/run_suite.h"

enum { THREADS = 4, EVENTS = 400, LARGEST = 4 * EVENTS };

struct event {
    int64_t ns;
    int tid;
    const char *name;
};

struct found {
    struct posixtrace_measurement m[LARGEST];
    size_t count;
    int64_t longest;
    struct posixtrace_doubt doubt;
};

static struct event events[LARGEST];
static size_t count;
static struct found truth, part;

/* What a thread does: begins, is taken off and on again, finishes. */
static void make_trace(void)
{
    static const char *const names[] = { "begin", "finish", "posixtrace_switch_out",
                                         "posixtrace_switch_in" };
    struct {
        bool begun, off;
    } threads[THREADS + 1] = { 0 };
    int64_t ns = 10;

    count = 0;
    while (count < EVENTS) {
        int tid = 1 + (int)(random() % THREADS), what = (int)(random() % 4);

        /* On the processor first; and nothing is begun twice. */
        if (threads[tid].off)
            what = 3;
        else if (what == 3 || (what == 0 && threads[tid].begun) ||
                 (what == 1 && !threads[tid].begun))
            continue;
        threads[tid].off = what == 2;
        threads[tid].begun = what == 0 || (what != 1 && threads[tid].begun);
        ns += 1 + random() % 50;
        events[count++] = (struct event){ ns, tid, names[what] };
    }
}

/* Which measurements are reported, by the event that begins them; NULL: all. */
static bool (*wants)(void *context, const struct posixtrace_event *begin);

static int note(void *context, const struct posixtrace_measurement *m)
{
    struct found *f = context;

    if (m->unknown)
        return 0;
    ck_assert_uint_lt(f->count, LARGEST);
    f->m[f->count++] = *m;
    ck_assert(!wants || m->begin_ns % 2 == 0);
    f->longest = m->length_ns > f->longest ? m->length_ns : f->longest;
    return 0;
}

static void measure(const posixtrace_metric_t *metric, struct scene_trace *t, struct found *f)
{
    trace_id_t trid = scene_trace_open(t);
    posixtrace_metric_run_t *run;
    int none;

    memset(f, 0, sizeof *f);
    ck_assert_int_eq(posixtrace_metric_run_create(&metric, 1, trid, note, f, &run), 0);
    posixtrace_metric_run_select(run, wants, f);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    posixtrace_metric_run_end(run);
    posixtrace_metric_run_doubt(run, 0, &f->doubt, sizeof f->doubt);
    posixtrace_metric_run_free(run);
    scene_trace_close(trid);
}

static struct scene_trace *whole_trace(void)
{
    struct scene_trace *t = scene_trace_begin();

    for (size_t i = 0; i < count; i++)
        scene_trace_add(t, events[i].ns, events[i].tid, events[i].name, 0, 0, false);
    return t;
}

/* some: one in so many of the events in a gap is not lost; 0: none. */
static struct scene_trace *lossy_trace(unsigned some)
{
    struct scene_trace *t = scene_trace_begin();

    for (size_t i = 0; i < count; i++) {
        size_t lost = random() % 40 == 0 ? 1 + (size_t)random() % 30 : 0;

        if (lost == 0) {
            scene_trace_add(t, events[i].ns, events[i].tid, events[i].name, 0, 0, false);
            continue;
        }
        lost = i + lost > count ? count - i : lost;
        scene_trace_add(t, events[i].ns, 0, "posix_trace_overflow", 0, 0, false);
        for (size_t k = i; some && k < i + lost; k++)
            if (random() % some == 0)
                scene_trace_add(t, events[k].ns, events[k].tid, events[k].name, 0, 0, false);
        i += lost - 1;
        scene_trace_add(t, events[i].ns, 0, "posix_trace_resume", 0, 0, false);
    }
    return t;
}

static bool is_true(const struct posixtrace_measurement *m)
{
    for (size_t i = 0; i < truth.count; i++)
        if (truth.m[i].tid == m->tid && truth.m[i].begin_ns == m->begin_ns)
            return truth.m[i].end_ns == m->end_ns && truth.m[i].length_ns == m->length_ns &&
                   truth.m[i].intermediate_events == m->intermediate_events;
    return false;
}

START_TEST(what_is_known_is_true)
{
    unsigned trials = getenv("POSIXTRACE_TEST_SHORT") ? 5 : 200, known = 0, unknown = 0;
    posixtrace_metric_t *metric;

    srandom((unsigned)_i + 1);
    ck_assert_int_eq(posixtrace_new_user_metric("m", "begin", "finish", true, &metric), 0);
    for (unsigned n = 0; n < trials; n++) {
        make_trace();
        measure(metric, whole_trace(), &truth);
        measure(metric, lossy_trace(n % 3), &part);
        for (size_t i = 0; i < part.count; i++)
            ck_assert(is_true(&part.m[i]));
        ck_assert_int_le(truth.longest, part.longest > part.doubt.at_most_ns
                                            ? part.longest
                                            : part.doubt.at_most_ns);
        known += (unsigned)part.count;
        unknown += (unsigned)part.doubt.unknown;
    }
    ck_assert_uint_gt(known, 20 * trials);
    ck_assert_uint_gt(unknown, trials);
    posixtrace_metric_free(metric);
}
END_TEST

/* ---- a selection ---- */

static bool is_even(void *context, const struct posixtrace_event *begin)
{
    ck_assert_ptr_eq(context, &part);
    ck_assert_str_eq(begin->name, "begin");
    return begin->ns % 2 == 0;
}

/* The measurements of a selection are those of the run without it, with the same numbers, and
 * as many places are unknown. */
START_TEST(selected_by_their_begin)
{
    posixtrace_metric_t *metric;
    size_t chosen = 0, left_out = 0, at = 0;
    unsigned seed = (unsigned)_i + 1;

    srandom(seed);
    ck_assert_int_eq(posixtrace_new_user_metric("m", "begin", "finish", true, &metric), 0);
    make_trace();
    srandom(seed);
    measure(metric, lossy_trace(2), &truth);
    srandom(seed);
    wants = is_even;
    measure(metric, lossy_trace(2), &part);
    wants = NULL;
    for (size_t i = 0; i < truth.count; i++) {
        if (truth.m[i].begin_ns % 2 != 0) {
            left_out++;
            continue;
        }
        ck_assert_uint_lt(at, part.count);
        ck_assert(is_true(&part.m[at++]));
        chosen++;
    }
    ck_assert_uint_eq(part.count, chosen);
    ck_assert_uint_gt(chosen, 10);
    ck_assert_uint_gt(left_out, 10);
    ck_assert_uint_gt(part.doubt.unknown, 0);
    ck_assert_uint_eq(part.doubt.unknown, truth.doubt.unknown);
    ck_assert_int_eq(part.doubt.at_most_ns, truth.doubt.at_most_ns);
    posixtrace_metric_free(metric);
}
END_TEST

/* ---- many gaps ---- */

/* So many gaps that only thread 8 has events between; or one with so many events inside. */
static int64_t add_gaps(struct scene_trace *t, int64_t ns, unsigned gaps, bool inside)
{
    for (unsigned i = 0; i < gaps; i++) {
        if (!inside || i == 0)
            scene_trace_add(t, ns += 10, 0, "posix_trace_overflow", 0, 0, false);
        if (!inside)
            scene_trace_add(t, ns += 10, 0, "posix_trace_resume", 0, 0, false);
        scene_trace_add(t, ns += 10, 8, "other", 0, 0, false);
    }
    if (inside)
        scene_trace_add(t, ns += 10, 0, "posix_trace_resume", 0, 0, false);
    return ns;
}

/* Of a trace of many gaps, as it is written. */
static int64_t bound_of(struct scene_trace *t)
{
    posixtrace_metric_t *metric;

    ck_assert_int_eq(posixtrace_new_user_metric("m", "begin", "finish", true, &metric), 0);
    measure(metric, t, &part);
    posixtrace_metric_free(metric);
    return part.doubt.at_most_ns;
}

static const unsigned gap_counts[] = { 1, 1000, 1024, 1025, 1030, 5000, 20000 };

/* Thread 9 has lost its start event, in the first gap at the earliest. */
START_TEST(begun_in_the_first_gap)
{
    struct scene_trace *t = scene_trace_begin();
    int64_t ns;

    scene_trace_add(t, 1000, 7, "begin", 0, 0, false);
    scene_trace_add(t, 1100, 7, "finish", 0, 0, false);
    ns = add_gaps(t, 1990, gap_counts[_i / 2], _i % 2 != 0) + 1000000;
    scene_trace_add(t, ns, 8, "other", 0, 0, false);
    scene_trace_add(t, ns += 5, 9, "finish", 0, 0, false);
    ck_assert_int_eq(bound_of(t), ns - 2000);
}
END_TEST

/* Thread 7 was seen whole between the first half of the gaps and the second. */
START_TEST(begun_in_a_later_gap)
{
    struct scene_trace *t = scene_trace_begin();
    int64_t ns, middle;

    scene_trace_add(t, 1000, 7, "begin", 0, 0, false);
    scene_trace_add(t, 1100, 7, "finish", 0, 0, false);
    middle = add_gaps(t, 1990, gap_counts[_i / 2], _i % 2 != 0);
    scene_trace_add(t, middle += 10, 7, "begin", 0, 0, false);
    scene_trace_add(t, middle += 10, 7, "finish", 0, 0, false);
    ns = add_gaps(t, middle, gap_counts[_i / 2], _i % 2 != 0) + 1000000000;
    scene_trace_add(t, ns, 7, "finish", 0, 0, false);
    ck_assert_int_ge(bound_of(t), ns - (middle + 10));
}
END_TEST

static void add(TCase *tc)
{
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, what_is_known_is_true, 0, 5);
    tcase_add_loop_test(tc, selected_by_their_begin, 0, 5);
    tcase_add_loop_test(tc, begun_in_the_first_gap, 0, 14);
    tcase_add_loop_test(tc, begun_in_a_later_gap, 0, 14);
}

int main(void)
{
    return run_suite("metrics", "loss", NULL, add);
}
