/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Random schedules of threads, measured twice: with their context switches, and without them but
 * with samples of their CPU time, exact or nearly so.  Each length from the switches lies within
 * the bounds from the samples.  And the bounds are useful: many are much tighter than without any
 * sample.
 */
#include <string.h>
#include <posixtrace/ada_metrics.h>
#include "scene.h"
#include "support/run_suite.h"

enum { THREADS = 3, EVENTS = 600, LARGEST = 4 * EVENTS, METRICS = 4, SEEDS = 60 };
enum { NOTHING, LOCK, SLEEP };

struct thread {
    bool begun, off, left_by_itself;
    int call;
    int64_t ran, on_since;
};

struct found {
    struct posixtrace_measurement m[LARGEST];
    size_t count;
};

static const posixtrace_metric_t *metrics[METRICS];
static posixtrace_metric_t *owned[METRICS];
static struct found truth, bounds;

static int64_t ran_by(const struct thread *t, int64_t ns)
{
    return t->ran + (t->off ? 0 : ns - t->on_since);
}

/* A thread that has the processor does something; its name. */
static const char *act(struct thread *t, int64_t ns)
{
    int what = (int)(random() % 6);

    if (what < 2) {
        t->ran = ran_by(t, ns);
        t->off = true;
        return what ? "posixtrace_switch_out" : "posixtrace_switch_preempted";
    }
    if (t->call == SLEEP) {
        t->call = NOTHING;
        return "posixtrace_sleep_done";
    }
    if (what == 2) {
        t->begun = !t->begun;
        return t->begun ? "begin" : "finish";
    }
    if (t->call == LOCK) {
        t->call = NOTHING;
        return "posixtrace_mutex_locked";
    }
    t->call = what == 3 ? SLEEP : LOCK;
    return what == 3 ? "posixtrace_sleep" : "posixtrace_mutex_lock";
}

/* noise: by how much it may be off, up or down. */
static void tell(struct scene_trace *to, const struct thread *t, int tid, int64_t ns, int noise)
{
    int64_t ran = ran_by(t, ns), less = noise ? random() % noise : 0;

    less = less < ran ? less : ran;
    scene_trace_add(to, ns, tid, "posixtrace_cpu_time", (uint64_t)(ran - less),
                    less + (noise ? random() % noise : 0), true);
}

static void play(struct scene_trace *with, struct scene_trace *without, int noise, int telling)
{
    struct thread threads[THREADS + 1] = { 0 };
    int64_t ns = 0;

    scene_trace_add(without, ns, 0, "posixtrace_cpu_time", 0, 0, false);
    for (int i = 0; i < EVENTS; i++) {
        int tid = 1 + (int)(random() % THREADS);
        struct thread *t = &threads[tid];
        const char *name;

        ns += 1 + random() % (random() % 10 ? 50 : 1000);
        if (random() % telling == 0) {
            tell(without, t, tid, ns, noise);
        } else if (t->off) {
            t->off = false;
            t->on_since = ns;
            scene_trace_add(with, ns, tid, "posixtrace_switch_in", 0, 0, false);
        } else {
            name = act(t, ns);
            scene_trace_add(with, ns, tid, name, 0, 0, false);
            if (!t->off)
                scene_trace_add(without, ns, tid, name, 0, 0, false);
        }
    }
}

static int note(void *context, const struct posixtrace_measurement *m)
{
    struct found *f = context;

    ck_assert(!m->unknown);
    ck_assert_uint_lt(f->count, LARGEST);
    ck_assert(f->count == 0 || m->end_ns >= f->m[f->count - 1].end_ns);
    f->m[f->count++] = *m;
    return 0;
}

static void measure(struct scene_trace *t, struct found *f)
{
    trace_id_t trid = scene_trace_open(t);
    posixtrace_metric_run_t *run;
    int none;

    f->count = 0;
    ck_assert_int_eq(posixtrace_metric_run_create(metrics, METRICS, trid, note, f, &run), 0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    posixtrace_metric_run_end(run);
    posixtrace_metric_run_free(run);
    scene_trace_close(trid);
}

static const struct posixtrace_measurement *same(const struct posixtrace_measurement *m)
{
    for (size_t i = 0; i < truth.count; i++)
        if (truth.m[i].metric == m->metric && truth.m[i].tid == m->tid &&
            truth.m[i].begin_ns == m->begin_ns)
            return &truth.m[i];
    return NULL;
}

/* How many are better than from nothing to all of it. */
static size_t compare(void)
{
    size_t good = 0;

    for (size_t i = 0; i < bounds.count; i++) {
        const struct posixtrace_measurement *m = &bounds.m[i], *t = same(m);

        ck_assert_msg(t != NULL, "%s", posixtrace_metric_name(m->metric));
        ck_assert(!t->bound && t->least_ns == t->length_ns);
        ck_assert_msg(m->least_ns <= t->length_ns && t->length_ns <= m->length_ns,
                      "%s: %lld is not in %lld..%lld", posixtrace_metric_name(m->metric),
                      (long long)t->length_ns, (long long)m->least_ns, (long long)m->length_ns);
        ck_assert(m->bound == (m->least_ns < m->length_ns));
        good += m->least_ns > 0 || m->length_ns < (m->end_ns - m->begin_ns) / 2;
    }
    return good;
}

static void set_up(void)
{
    static const char *const names[] = { "Execution Time", "Job System Time", "System Blocking" };

    ck_assert_int_eq(posixtrace_new_user_metric("M", "begin", "finish", true, &owned[0]), 0);
    for (size_t i = 1; i < METRICS; i++)
        ck_assert_int_eq(posixtrace_system_metric(names[i - 1], &owned[i]), 0);
    for (size_t i = 0; i < METRICS; i++)
        metrics[i] = owned[i];
}

static void tear_down(void)
{
    for (size_t i = 0; i < METRICS; i++)
        posixtrace_metric_free(owned[i]);
}

START_TEST(hold)
{
    static const struct {
        int noise, telling;
    } kinds[] = { { 0, 2 }, { 0, 10 }, { 20, 2 }, { 200, 3 }, { 2000, 2 }, { 0, 100 } };
    size_t measured = 0, good = 0;

    set_up();
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct scene_trace *with = scene_trace_begin(), *without = scene_trace_begin();

        srandom(seed * 97 + (unsigned)_i);
        play(with, without, kinds[_i].noise, kinds[_i].telling);
        measure(with, &truth);
        measure(without, &bounds);
        good += compare();
        measured += bounds.count;
    }
    ck_assert_uint_gt(measured, SEEDS * 10);
    ck_assert_uint_gt(good * 50, measured);
    if (_i == 0)
        ck_assert_uint_gt(good * 4, measured);
    tear_down();
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, hold, 0, 6);
}

static void set_time(TCase *t)
{
    tcase_set_timeout(t, 120);
}

int main(void)
{
    return run_suite("metrics", "bounds", set_time, add_tests);
}
