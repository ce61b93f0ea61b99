/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The package of the paper, call by call, over a log and over a running stream. */
#include <errno.h>
#include <posixtrace/attr.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/system.h>
#include <posixtrace/ada_metrics.h>
#include "scene.h"
#include "support/run_suite.h"

static int64_t ns_of(struct timespec t)
{
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static trace_id_t small_log(void)
{
    struct scene_trace *t = scene_trace_begin();

    scene_trace_add(t, 100, 7, "begin", 0, 0, false);
    scene_trace_add(t, 150, 8, "begin", 0, 0, false);
    scene_trace_add(t, 160, 8, "posixtrace_switch_out", 0, 0, false);
    scene_trace_add(t, 180, 8, "posixtrace_switch_in", 0, 0, false);
    scene_trace_add(t, 200, 7, "finish", 0, 0, false);
    scene_trace_add(t, 230, 8, "finish", 0, 0, false);
    return scene_trace_open(t);
}

START_TEST(of_a_log)
{
    trace_id_t trid = small_log();
    posixtrace_metric_result_t *result;
    const posixtrace_metric_result_element_t *element;
    struct posixtrace_measurement m;
    posixtrace_metric_t *metric;

    ck_assert_int_eq(posixtrace_new_user_metric("m", "begin", "finish", true, &metric), 0);
    for (unsigned again = 0; again < 2; again++) {
        ck_assert_int_eq(posixtrace_get_metric_result(metric, trid, &result), 0);
        ck_assert_uint_eq(posixtrace_metric_result_element_count(result), 2);
        ck_assert_int_eq(posixtrace_get_metric_result_element(result, 0, &element), EINVAL);
        ck_assert_int_eq(posixtrace_get_metric_result_element(result, 3, &element), EINVAL);
        ck_assert_int_eq(posixtrace_get_metric_result_element(result, 2, &element), 0);
        ck_assert_int_eq(ns_of(posixtrace_begin_time(element)), SCENE_BASE + 150);
        ck_assert_int_eq(ns_of(posixtrace_end_time(element)), SCENE_BASE + 230);
        ck_assert_int_eq(ns_of(posixtrace_length(element)), 60);
        ck_assert_int_eq(posixtrace_metric_result_measurement(result, 1, &m, sizeof m), 0);
        ck_assert(m.tid == 8 && m.pid == 1 && m.end_ns == SCENE_BASE + 230);
        ck_assert_int_eq(posixtrace_metric_result_measurement(result, 2, &m, sizeof m), ENOENT);
        ck_assert_int_eq(posixtrace_metric_result_measurement(result, 1, NULL, sizeof m), EINVAL);
        ck_assert_int_eq(posixtrace_metric_result_measurement(NULL, 1, &m, sizeof m), EINVAL);
        ck_assert_int_eq(posixtrace_metric_result_measurement(result, 1, &m, 0), EINVAL);
        ck_assert(pthread_equal(posixtrace_task_id(element), (pthread_t)(8 * 4096)));
        ck_assert_uint_eq(posixtrace_intermediate_events(element), 2);
        posixtrace_metric_result_free(result);
    }
    posixtrace_metric_free(metric);
    scene_trace_close(trid);
}
END_TEST

/* Without context switches, but with samples of CPU time: the thread was off for 30 of 100 ns. */
START_TEST(bounds)
{
    struct scene_trace *t = scene_trace_begin();
    posixtrace_metric_result_t *result;
    const posixtrace_metric_result_element_t *element;
    struct posixtrace_measurement m;
    posixtrace_metric_t *metric;
    trace_id_t trid;

    scene_trace_add(t, 100, 7, "posixtrace_cpu_time", 1000, 0, true);
    scene_trace_add(t, 110, 7, "begin", 0, 0, false);
    scene_trace_add(t, 150, 7, "finish", 0, 0, false);
    scene_trace_add(t, 200, 7, "posixtrace_cpu_time", 1070, 0, true);
    scene_trace_add(t, 210, 7, "begin", 0, 0, false);
    scene_trace_add(t, 220, 7, "finish", 0, 0, false);
    scene_trace_add(t, 230, 7, "posixtrace_cpu_time", 1100, 0, true);
    trid = scene_trace_open(t);
    ck_assert_int_eq(posixtrace_new_user_metric("m", "begin", "finish", true, &metric), 0);
    ck_assert_int_eq(posixtrace_get_metric_result(metric, trid, &result), 0);
    ck_assert_uint_eq(posixtrace_metric_result_element_count(result), 2);
    ck_assert_int_eq(posixtrace_get_metric_result_element(result, 1, &element), 0);
    ck_assert_int_eq(ns_of(posixtrace_length(element)), 40);
    ck_assert_int_eq(posixtrace_metric_result_measurement(result, 0, &m, sizeof m), 0);
    ck_assert(m.bound && !m.unknown && m.length_ns == 40 && m.least_ns == 10);
    ck_assert_int_eq(posixtrace_get_metric_result_element(result, 2, &element), 0);
    ck_assert_int_eq(ns_of(posixtrace_length(element)), 10);
    ck_assert_int_eq(posixtrace_metric_result_measurement(result, 1, &m, sizeof m), 0);
    ck_assert(!m.bound && m.least_ns == 10);
    posixtrace_metric_result_free(result);
    posixtrace_metric_free(metric);
    scene_trace_close(trid);
}
END_TEST

/* With lost events: how many measurements are unknown, where, the longest possible one, and its
 * mutex. */
START_TEST(of_a_log_with_a_gap)
{
    struct scene_trace *t = scene_trace_begin();
    posixtrace_metric_result_t *result;
    const posixtrace_metric_result_element_t *element;
    struct posixtrace_measurement m;
    struct posixtrace_doubt doubt;
    posixtrace_metric_t *metric;
    trace_id_t trid;

    scene_trace_add(t, 100, 7, "posixtrace_mutex_locked", 5, 0, true);
    scene_trace_add(t, 110, 7, "posixtrace_mutex_unlock", 5, 0, true);
    scene_trace_add(t, 120, 7, "posixtrace_mutex_locked", 5, 0, true);
    scene_trace_add(t, 200, 0, "posix_trace_overflow", 0, 0, false);
    scene_trace_add(t, 250, 0, "posix_trace_resume", 0, 0, false);
    scene_trace_add(t, 300, 7, "posixtrace_mutex_unlock", 5, 0, true);
    trid = scene_trace_open(t);
    ck_assert_int_eq(posixtrace_system_metric("Mutex Hold", &metric), 0);
    ck_assert_int_eq(posixtrace_get_metric_result(metric, trid, &result), 0);
    ck_assert_uint_eq(posixtrace_metric_result_element_count(result), 1);
    ck_assert_int_eq(posixtrace_get_metric_result_element(result, 1, &element), 0);
    ck_assert_int_eq(posixtrace_metric_result_measurement(result, 0, &m, sizeof m), 0);
    ck_assert(m.key == 5 && !m.bound && !m.unknown);
    ck_assert_int_eq(posixtrace_metric_result_measurement(result, 1, &m, sizeof m), 0);
    ck_assert(m.key == 5 && m.unknown && m.length_ns == 180 && m.least_ns == 0);
    ck_assert(m.begin_ns == SCENE_BASE + 120 && m.end_ns == SCENE_BASE + 300);
    ck_assert_int_eq(posixtrace_metric_result_measurement(result, 2, &m, sizeof m), 0);
    ck_assert(m.key == 0 && m.unknown && m.length_ns == 50); /* of any other mutex */
    ck_assert_int_eq(posixtrace_metric_result_measurement(result, 3, &m, sizeof m), ENOENT);
    posixtrace_metric_result_doubt(result, &doubt, sizeof doubt);
    ck_assert_uint_eq(doubt.unknown, 2);
    ck_assert_int_eq(doubt.at_most_ns, 180);
    posixtrace_metric_result_doubt(NULL, &doubt, sizeof doubt);
    ck_assert_uint_eq(doubt.unknown, 0);
    posixtrace_metric_result_free(result);
    posixtrace_metric_free(metric);
    scene_trace_close(trid);
}
END_TEST

static int needs(const posixtrace_metric_t *metric, trace_id_t trid, trace_event_id_t id)
{
    trace_event_set_t set;
    int is = 0;

    ck_assert_int_eq(posixtrace_events_required_by(metric, trid, &set), 0);
    ck_assert_int_eq(posix_trace_eventset_ismember(id, &set, &is), 0);
    return is;
}

/* What there is in place of switches, where a metric would like those. */
START_TEST(instead_of_switches)
{
    posixtrace_metric_t *metric;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(posixtrace_system_metric("Execution Time", &metric), 0);
    ck_assert_int_ne(needs(metric, trid, POSIXTRACE_SWITCH_OUT), 0);
    ck_assert_int_ne(needs(metric, trid, POSIXTRACE_CPU_TIME), 0);
    posixtrace_metric_free(metric);
    ck_assert_int_eq(posixtrace_system_metric("Mutex Hold", &metric), 0);
    ck_assert_int_ne(needs(metric, trid, POSIXTRACE_MUTEX_LOCKED), 0);
    ck_assert_int_eq(needs(metric, trid, POSIXTRACE_CPU_TIME), 0);
    posixtrace_metric_free(metric);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

START_TEST(of_a_running_stream)
{
    trace_event_set_t set, all;
    trace_event_id_t begin, finish, other;
    posixtrace_metric_result_t *result;
    const posixtrace_metric_result_element_t *element;
    struct posixtrace_measurement m;
    posixtrace_metric_t *metric;
    trace_id_t trid;
    int is = 0;

    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(
        posixtrace_new_user_metric("m", "package begin", "package finish", true, &metric), 0);
    ck_assert_int_eq(posixtrace_events_required_by(metric, trid, &set), 0);
    ck_assert_int_eq(posix_trace_eventid_open("package begin", &begin), 0);
    ck_assert_int_eq(posix_trace_eventid_open("package finish", &finish), 0);
    ck_assert_int_eq(posix_trace_eventid_open("package other", &other), 0);
    ck_assert_int_eq(posix_trace_eventset_ismember(begin, &set, &is), 0);
    ck_assert_int_ne(is, 0);
    ck_assert_int_eq(posix_trace_eventset_ismember(finish, &set, &is), 0);
    ck_assert_int_ne(is, 0);
    ck_assert_int_eq(posix_trace_eventset_ismember(other, &set, &is), 0);
    ck_assert_int_eq(is, 0);
    /* As the paper's example does it: all are filtered but those. */
    ck_assert_int_eq(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &all, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    posix_trace_event(begin, NULL, 0);
    posix_trace_event(other, NULL, 0);
    posix_trace_event(finish, NULL, 0);
    ck_assert_int_eq(posixtrace_get_metric_result(metric, trid, &result), 0);
    ck_assert_uint_eq(posixtrace_metric_result_element_count(result), 1);
    ck_assert_int_eq(posixtrace_get_metric_result_element(result, 1, &element), 0);
    ck_assert(pthread_equal(posixtrace_task_id(element), pthread_self()));
    ck_assert_int_eq(posixtrace_metric_result_measurement(result, 0, &m, sizeof m), 0);
    ck_assert_int_eq(m.pid, getpid());
    ck_assert_int_ge(ns_of(posixtrace_length(element)), 0);
    ck_assert_uint_eq(posixtrace_intermediate_events(element), 1);
    posixtrace_metric_result_free(result);
    posixtrace_metric_free(metric);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void use_null_run(void)
{
    struct posixtrace_doubt doubt;
    int none = 0;

    memset(&doubt, 0xa5, sizeof doubt);
    ck_assert_int_eq(posixtrace_metric_run_take(NULL, 0, &none), EINVAL);
    ck_assert_int_eq(posixtrace_metric_run_end(NULL), EINVAL);
    posixtrace_metric_run_gap(NULL);
    posixtrace_metric_run_select(NULL, NULL, NULL);
    posixtrace_metric_run_doubt(NULL, 0, NULL, sizeof doubt);
    posixtrace_metric_run_doubt(NULL, 0, &doubt, sizeof doubt);
    ck_assert_uint_eq(doubt.unknown, 0);
    ck_assert_uint_eq(posixtrace_metric_run_events(NULL), 0);
    ck_assert(!posixtrace_metric_run_saw(NULL, "x"));
    posixtrace_metric_run_free(NULL);
}

START_TEST(arguments)
{
    char longest[TRACE_EVENT_NAME_MAX + 2];
    posixtrace_metric_result_t *result;
    posixtrace_metric_t *metric;
    trace_event_set_t set;

    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(posixtrace_system_metric(NULL, &metric), EINVAL);
    ck_assert_int_eq(posixtrace_system_metric("Off CPU", NULL), EINVAL);
    ck_assert_int_eq(posixtrace_system_metric("Nothing", &metric), ENOENT);
    ck_assert_int_eq(posixtrace_new_user_metric("m", "a", longest, true, &metric), EINVAL);
    ck_assert_int_eq(posixtrace_new_user_metric("m", "", "b", true, &metric), EINVAL);
    ck_assert_int_eq(posixtrace_new_user_metric(NULL, "a", "b", true, &metric), EINVAL);
    ck_assert_int_eq(posixtrace_new_user_metric("m", "a", "b\n", true, &metric), EINVAL);
    longest[TRACE_EVENT_NAME_MAX] = '\0';
    ck_assert_int_eq(posixtrace_new_user_metric("m", "a", longest, true, &metric), 0);
    ck_assert_str_eq(posixtrace_metric_event(metric, 1, NULL), longest);
    posixtrace_metric_free(metric);
    ck_assert_int_eq(posixtrace_system_metric("delay-until-wakeup", &metric), 0);
    ck_assert_int_eq(posixtrace_get_metric_result(metric, 12345, &result), EINVAL);
    ck_assert_int_eq(posixtrace_get_metric_result(NULL, 0, &result), EINVAL);
    ck_assert_int_eq(posixtrace_events_required_by(metric, 12345, &set), EINVAL);
    use_null_run();
    posixtrace_metric_free(metric);
    posixtrace_metric_free(NULL);
    posixtrace_metric_result_free(NULL);
}
END_TEST

static int stop_at_second(void *context, const struct posixtrace_measurement *m)
{
    unsigned *n = context;

    (void)m;
    return ++*n == 2 ? 4711 : 0;
}

START_TEST(stopped_by_its_caller)
{
    trace_id_t trid = small_log();
    const posixtrace_metric_t *metrics[2];
    posixtrace_metric_t *a, *b;
    posixtrace_metric_run_t *run;
    unsigned n = 0;
    int none;

    ck_assert_int_eq(posixtrace_new_user_metric("a", "begin", "finish", true, &a), 0);
    ck_assert_int_eq(posixtrace_new_user_metric("b", "begin", "finish", false, &b), 0);
    metrics[0] = a;
    metrics[1] = b;
    ck_assert_int_eq(posixtrace_metric_run_create(metrics, 2, trid, stop_at_second, &n, &run), 0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 4711);
    ck_assert_uint_eq(n, 2);
    ck_assert(posixtrace_metric_run_saw(run, "begin"));
    ck_assert(!posixtrace_metric_run_saw(run, "begins"));
    posixtrace_metric_run_free(run);
    posixtrace_metric_free(a);
    posixtrace_metric_free(b);
    scene_trace_close(trid);
}
END_TEST

START_TEST(cost)
{
    double ns = 0;

    ck_assert_int_eq(posixtrace_event_cost(NULL), EINVAL);
    ck_assert_int_eq(posixtrace_event_cost(&ns), 0);
    ck_assert(ns > 0.1 && ns < 1e9);
}
END_TEST

/* With such attributes, also those that need a log; and no event type remains. */
START_TEST(cost_of_a_stream)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t event;
    trace_attr_t attr;
    trace_id_t trid;
    int unavailable = 0;
    double ns = 0;

    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    for (int switches = 0; switches < 2; switches++) {
        ck_assert_int_eq(posixtrace_attr_setswitches(&attr, switches), 0);
        ck_assert_int_eq(posixtrace_event_cost_like(&attr, NULL), EINVAL);
        ck_assert_int_eq(posixtrace_event_cost_like(&attr, &ns), 0);
        ck_assert(ns > 0.1 && ns < 1e9);
    }
    ck_assert_int_eq(posixtrace_attr_setswitches(&attr, 0), 0);
    ck_assert_int_eq(posixtrace_attr_seteventcost(&attr, 12.5), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posixtrace_event_cost_like(&attr, &ns), EINVAL);
    ck_assert_int_eq(posix_trace_get_attr(trid, &attr), 0);
    ck_assert_int_eq(posixtrace_attr_geteventcost(&attr, &ns), 0);
    ck_assert(ns == 12.5);
    while (posix_trace_eventtypelist_getnext_id(trid, &event, &unavailable) == 0 && !unavailable)
        if (posix_trace_eventid_get_name(trid, event, name) == 0)
            ck_assert_ptr_null(strstr(name, "cost"));
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, of_a_log);
    tcase_add_test(tc, bounds);
    tcase_add_test(tc, of_a_log_with_a_gap);
    tcase_add_test(tc, instead_of_switches);
    tcase_add_test(tc, of_a_running_stream);
    tcase_add_test(tc, arguments);
    tcase_add_test(tc, stopped_by_its_caller);
    tcase_add_test(tc, cost);
    tcase_add_test(tc, cost_of_a_stream);
}

int main(void)
{
    return run_suite("metrics", "package", NULL, add);
}
