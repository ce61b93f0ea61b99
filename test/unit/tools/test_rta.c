/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Response-time analysis: values that were computed by hand, one equation after
 * the other, and task files, good and bad.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include "rta/rta.h"
#include "support/run_suite.h"

#define MS 1000000

static struct rta_task tasks[RTA_TASKS_MAX];
static struct rta_fault fault;
static size_t count;

static void parse(const char *text)
{
    ck_assert_msg(rta_parse(text, strlen(text), tasks, &count, &fault), "%u:%u: %s", fault.line,
                  fault.column, fault.text);
}

static void analyse(const char *text)
{
    parse(text);
    rta_analyse(tasks, count, 0);
}

static void expect(size_t i, enum rta_verdict verdict, int64_t r)
{
    ck_assert_int_lt(i, count);
    ck_assert_msg(tasks[i].verdict == verdict && tasks[i].r == r, "%s: R %lld, verdict %d",
                  tasks[i].name, (long long)tasks[i].r, tasks[i].verdict);
}

/* ---- equation 1 ---- */

/* R3: 5, 5+3+3=11, 5+6+3=14, 5+6+6=17, 5+9+6=20, 5+9+6=20. */
START_TEST(textbook_set)
{
    analyse("a 3 7ms C=3ms\nb 2 12ms C=3ms\nc 1 20ms C=5ms\n");
    expect(0, RTA_SCHEDULABLE, 3 * MS);
    expect(1, RTA_SCHEDULABLE, 6 * MS);
    expect(2, RTA_SCHEDULABLE, 20 * MS);
    ck_assert_double_eq_tol(rta_utilization(tasks, count), 3.0 / 7 + 3.0 / 12 + 5.0 / 20, 1e-12);
}
END_TEST

START_TEST(order_of_lines_is_free)
{
    analyse("c 1 20ms C=5ms\na 3 7ms C=3ms\nb 2 12ms C=3ms\n");
    expect(0, RTA_SCHEDULABLE, 20 * MS);
    expect(1, RTA_SCHEDULABLE, 3 * MS);
    expect(2, RTA_SCHEDULABLE, 6 * MS);
}
END_TEST

/* With a deadline of 19 the same set is not schedulable: 17 is followed by 20. */
START_TEST(deadline_before_period)
{
    analyse("a 3 7ms C=3ms\nb 2 12ms C=3ms deadline=6ms\nc 1 20ms C=5ms deadline=19ms\n");
    expect(1, RTA_SCHEDULABLE, 6 * MS);
    expect(2, RTA_LATE, 20 * MS);
}
END_TEST

/* R3 is 5, 11, 14, 17, 20: beyond a deadline of 10, the solution within the period is given. */
START_TEST(late_within_the_period)
{
    analyse("a 3 7ms C=3ms\nb 2 12ms C=3ms\nc 1 20ms C=5ms deadline=10ms\n");
    expect(2, RTA_LATE, 20 * MS);
    ck_assert(tasks[2].exact);
}
END_TEST

/* What a log has of responses corrects a verdict, and never towards the better. */
START_TEST(a_log_contradicts)
{
    analyse("a 3 7ms C=3ms\nb 2 12ms C=3ms deadline=8ms\nc 1 20ms C=5ms deadline=10ms\n");
    rta_compare(&tasks[0], 3 * MS);
    expect(0, RTA_SCHEDULABLE, 3 * MS);
    rta_compare(&tasks[0], 3 * MS + 1);
    expect(0, RTA_CONTRADICTED, 3 * MS);
    rta_compare(&tasks[1], 8 * MS);
    expect(1, RTA_CONTRADICTED, 6 * MS);
    rta_compare(&tasks[1], 8 * MS + 1);
    expect(1, RTA_LATE, 6 * MS);
    rta_compare(&tasks[2], 1);
    expect(2, RTA_LATE, 20 * MS);
}
END_TEST

/* 20/40 + 26/50 is 102 %: R of b is 26, 46, 66, which is beyond 50. */
START_TEST(too_much)
{
    analyse("a 2 40us C=20us\nb 1 50us C=26us\n");
    expect(0, RTA_SCHEDULABLE, 20000);
    expect(1, RTA_LATE, 66000);
    ck_assert(!tasks[1].exact);
    ck_assert_double_gt(rta_utilization(tasks, count), 1.0);
}
END_TEST

/* A higher task that is late itself still has an end for those below it. */
START_TEST(one_late_task_does_not_hide_others)
{
    analyse("a 3 10ms C=4ms deadline=3ms\nb 2 20ms C=4ms\n");
    expect(0, RTA_LATE, 4 * MS);
    expect(1, RTA_SCHEDULABLE, 8 * MS);
}
END_TEST

/* The ceiling at a multiple of the period: a release at R does not preempt. */
START_TEST(release_at_the_end)
{
    analyse("a 2 5ns C=2ns\nb 1 10ns C=3ns\n");
    expect(1, RTA_SCHEDULABLE, 5);
    analyse("a 2 5ns C=2ns\nb 1 10ns C=4ns\n");
    expect(1, RTA_SCHEDULABLE, 8);
}
END_TEST

START_TEST(equal_priorities_delay_each_other)
{
    analyse("a 1 10ms C=2ms\nb 1 10ms C=3ms\n");
    expect(0, RTA_SCHEDULABLE, 5 * MS);
    expect(1, RTA_SCHEDULABLE, 5 * MS);
}
END_TEST

/* ---- equations 2 to 5 ---- */

/* C = 2+0.1; R of the lower one: C 3+0.2, preemption 2.1. */
START_TEST(system_time_is_execution)
{
    analyse("a 2 10ms C=2ms JST=100us\nb 1 20ms C=3ms JST=200us\n");
    expect(0, RTA_SCHEDULABLE, 2100000);
    expect(1, RTA_SCHEDULABLE, 5300000);
    ck_assert_int_eq(tasks[1].c, 3200000);
}
END_TEST

/* The largest SB of the tasks with lower priority, or the task's own B if that is larger. */
START_TEST(blocking_is_the_largest)
{
    analyse("a 3 10ms C=1ms SB=900us\nb 2 20ms C=1ms SB=30us B=10us\nc 1 40ms C=1ms SB=20us\n");
    ck_assert_int_eq(tasks[0].b_critical, 30000);
    ck_assert_int_eq(tasks[1].b_critical, 20000);
    ck_assert_int_eq(tasks[2].b_critical, 0);
    expect(0, RTA_SCHEDULABLE, 1030000);
    expect(1, RTA_SCHEDULABLE, 2020000);
    expect(2, RTA_SCHEDULABLE, 3000000);
    analyse("a 2 10ms C=1ms B=50us\nb 1 20ms C=1ms SB=30us\n");
    ck_assert_int_eq(tasks[0].b_critical, 50000);
}
END_TEST

/* R of a: 6 + 1 = 7 (b once), then b is there twice within 7: 6 + 2 = 8, and stays. */
START_TEST(wake_ups_of_lower_tasks)
{
    analyse("a 2 20ms C=6ms\nb 1 6500us C=0 DUW=1ms deadline=5ms\n");
    expect(0, RTA_SCHEDULABLE, 8 * MS);
    ck_assert_int_eq(tasks[0].b_activation, 2 * MS);
    ck_assert_int_eq(tasks[0].b, 2 * MS);
    ck_assert_int_eq(tasks[0].activations, 1 * MS);
    ck_assert_int_eq(tasks[1].activations, 0);
}
END_TEST

/* The last paragraph of the paper, from its own figure 4. */
START_TEST(figure_4)
{
    static const char *const duw[15] = { "44.235", "43.680", "36.207", "35.291", "43.380",
                                         "37.602", "43.726", "42.435", "37.392", "42.241",
                                         "37.617", "36.762", "35.936", "36.041", "36.552" };
    static const char *const sb[15] = { "27.837", "27.972", "27.131", "28.257", "28.632",
                                        "28.302", "27.807", "26.921", "26.786", "27.687",
                                        "28.377", "28.182", "28.572", "28.047", "27.282" };
    char text[4096];
    size_t used = 0;

    for (int i = 0; i < 15; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "task%d %d 200ms C=2ms SB=%sus DUW=%sus\n", i + 1, 30 - i, sb[i],
                                 duw[i]);
    analyse(text);
    ck_assert_int_eq(tasks[0].activations, 544862);
    ck_assert_int_eq(tasks[0].b_critical, 28632);
    ck_assert_int_eq(tasks[13].activations, 36552);
    expect(0, RTA_SCHEDULABLE, 2 * MS + 544862 + 28632);
}
END_TEST

/* ---- beyond the paper ---- */

/* Lehoczky 1990: the responses of b in its busy period are 114, 102, 116, 104, 118, 106, 94. */
START_TEST(the_fifth_job_is_the_worst)
{
    analyse("a 2 70ms C=26ms\nb 1 100ms C=62ms deadline=120ms\n");
    expect(0, RTA_SCHEDULABLE, 26 * MS);
    expect(1, RTA_SCHEDULABLE, 118 * MS);
    ck_assert(tasks[1].exact);
    ck_assert_int_eq(tasks[1].jobs, 7);
    analyse("a 2 70ms C=26ms\nb 1 100ms C=62ms deadline=117ms\n");
    expect(1, RTA_LATE, 118 * MS);
    analyse("a 2 70ms C=26ms\nb 1 100ms C=62ms\n");
    expect(1, RTA_LATE, 118 * MS);
}
END_TEST

/* w of b: 3 + 3 ceil((w + J) / 7) is 6 for J = 1, and 9 for J = 2. */
START_TEST(jitter_of_a_higher_task)
{
    analyse("a 2 7ms C=3ms J=1ms\nb 1 12ms C=3ms\n");
    expect(0, RTA_SCHEDULABLE, 4 * MS);
    expect(1, RTA_SCHEDULABLE, 6 * MS);
    analyse("a 2 7ms C=3ms J=2ms\nb 1 12ms C=3ms J=1ms\n");
    expect(0, RTA_SCHEDULABLE, 5 * MS);
    expect(1, RTA_SCHEDULABLE, 10 * MS);
}
END_TEST

/* w(0) = 4, released up to 9 late: the next job comes at 1, w(1) = 8, R = 8 + 9 - 10. */
START_TEST(jitter_of_its_own)
{
    analyse("a 1 10ms C=4ms J=9ms deadline=20ms\n");
    expect(0, RTA_SCHEDULABLE, 13 * MS);
    ck_assert_int_eq(tasks[0].jobs, 2);
}
END_TEST

/* Of a alone 9 + 1.2 in 10: each job ends 0.2 later than the one before, the fourth late.
 * S = 1: a 3 + 1; b 4 + 1 + ceil(w / 10) 5: 5, 10, 10; the switch away from it ends at 11. */
START_TEST(switches_cost)
{
    parse("a 2 10ms C=3ms\nb 1 20ms C=4ms\n");
    rta_analyse(tasks, count, MS);
    expect(0, RTA_SCHEDULABLE, 4 * MS);
    expect(1, RTA_SCHEDULABLE, 10 * MS);
    parse("a 1 10ms C=8500us\n");
    rta_analyse(tasks, count, 500000);
    expect(0, RTA_SCHEDULABLE, 9 * MS);
    parse("a 1 10ms C=9ms\n");
    rta_analyse(tasks, count, 600000);
    expect(0, RTA_LATE, 10200000);
    ck_assert(!tasks[0].exact);
}
END_TEST

/* c has 20 of 20 as it is; without its 5, b may have 3 + 5 / 2: in 20 it comes twice. */
START_TEST(how_much_execution_may_grow)
{
    static struct rta_growth g;

    parse("a 3 7ms C=3ms\nb 2 12ms C=3ms\nc 1 20ms C=5ms\n");
    rta_grow(tasks, count, 0, &g);
    ck_assert_int_eq(g.factor, 1000);
    ck_assert_int_eq(g.c_max[0], 3 * MS);
    ck_assert_int_eq(g.c_max[1], 3 * MS);
    ck_assert_int_eq(g.c_max[2], 5 * MS);
    parse("a 2 10ms C=2ms JST=1ms\nb 1 20ms C=5ms\n");
    rta_grow(tasks, count, 0, &g);
    ck_assert_int_eq(g.factor, 1818); /* 20 / 11, b at 20 after two of a */
    ck_assert_int_eq(g.c_max[0], 7500000);
    ck_assert_int_eq(g.c_max[1], 14 * MS);
    parse("a 2 10ms C=20ms\nb 1 20ms C=20ms\n");
    rta_grow(tasks, count, 0, &g);
    ck_assert_int_eq(g.factor, 333); /* 20 / 60 */
    ck_assert_int_eq(g.c_max[0], 0);
    ck_assert_int_eq(g.c_max[1], -1);
    parse("a 2 10ms C=0\n");
    rta_grow(tasks, count, 0, &g);
    ck_assert_int_eq(g.factor, (int64_t)RTA_FACTOR_MAX * RTA_FACTOR_UNIT);
}
END_TEST

/* ---- ends ---- */

START_TEST(numbers_that_do_not_fit)
{
    analyse("a 3 1ns C=1000000000s JST=1000000000s deadline=1ns\n"
            "b 2 1000000000s C=1000000000s B=1000000000s DUW=1000000000s SB=1000000000s\n"
            "c 1 1000000000s C=1000000000s DUW=1000000000s\n");
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(tasks[i].verdict, RTA_LATE);
    ck_assert_int_eq(tasks[1].r, INT64_MAX);
}
END_TEST

/* All of the processor is taken, 1 ns at a time: no end in sight. */
START_TEST(steps_are_bounded)
{
    analyse("a 2 2ns C=1ns\nb 1 1000000000s C=1ns B=1000000s\n");
    ck_assert_int_eq(tasks[1].verdict, RTA_SCHEDULABLE);
    analyse("a 3 1ns C=1ns\nb 2 1000000000s C=1ns\n");
    ck_assert_int_eq(tasks[1].verdict, RTA_UNDECIDED);
    ck_assert_int_lt(tasks[1].r, 1000 * MS);
}
END_TEST

/* ---- task files ---- */

START_TEST(all_that_a_line_may_have)
{
    parse("# a comment\n\n\t a 10 25ms  # behind\r\n"
          "\"b c\" -3 0.2s deadline=250ms J=3us C=1.5ms B=2us JST=84.838us SB=7ns DUW=0 "
          "thread=\"worker 0\"\nd 0 1s tid=77");
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(tasks[0].name, "a");
    ck_assert_str_eq(tasks[0].thread, "a");
    ck_assert_int_eq(tasks[0].priority, 10);
    ck_assert_int_eq(tasks[0].period, 25 * MS);
    ck_assert_int_eq(tasks[0].deadline, 25 * MS);
    ck_assert_int_eq(tasks[0].value[RTA_C], -1);
    ck_assert_uint_eq(tasks[0].line, 3);
    ck_assert_str_eq(tasks[1].name, "b c");
    ck_assert_str_eq(tasks[1].thread, "worker 0");
    ck_assert_int_eq(tasks[1].priority, -3);
    ck_assert_int_eq(tasks[1].period, 200 * MS);
    ck_assert_int_eq(tasks[1].deadline, 250 * MS);
    ck_assert_int_eq(tasks[1].jitter, 3000);
    ck_assert_int_eq(tasks[1].value[RTA_C], 1500000);
    ck_assert_int_eq(tasks[1].value[RTA_B], 2000);
    ck_assert_int_eq(tasks[1].value[RTA_JST], 84838);
    ck_assert_int_eq(tasks[1].value[RTA_SB], 7);
    ck_assert_int_eq(tasks[1].value[RTA_DUW], 0);
    ck_assert_int_eq(tasks[2].tid, 77);
    ck_assert_int_eq(tasks[2].period, 1000 * MS);
}
END_TEST

static const struct {
    const char *text;
    unsigned line, column;
    const char *says;
} bad[] = {
    { "", 1, 1, "no task" },
    { "# nothing\n", 1, 1, "no task" },
    { "a", 1, 2, "priority" },
    { "a 1", 1, 4, "period" },
    { "a x 5ms", 1, 3, "'x'" },
    { "a 1.5 5ms", 1, 3, "priority" },
    { "a 99999999999999999999 5ms", 1, 3, "priority" },
    { "a - 5ms", 1, 3, "priority" },
    { "a 1 5", 1, 5, "'5'" },
    { "a 1 0", 1, 5, "more than 0" },
    { "a 1 -5ms", 1, 5, "period" },
    { "a 1 5 ms", 1, 5, "period" },
    { "a 1 5min", 1, 5, "period" },
    { "a 1 .5ms", 1, 5, "period" },
    { "a 1 5.ms", 1, 5, "period" },
    { "a 1 5..5ms", 1, 5, "period" },
    { "a 1 5.5.5ms", 1, 5, "period" },
    { "a 1 ms", 1, 5, "period" },
    { "a 1 1.5ns", 1, 5, "period" },
    { "a 1 1.00000001us", 1, 5, "period" },
    { "a 1 1000000001s", 1, 5, "period" },
    { "a 1 99999999999999999999ns", 1, 5, "period" },
    { "a 1 5ms J=-1ms", 1, 11, "J:" },
    { "a 1 5ms J=1ms J=1ms", 1, 15, "twice" },
    { "a 1 5ms deadline=0", 1, 18, "more than 0" },
    { "a 1 5ms\n  a 2 6ms\n", 2, 3, "line 1" },
    { "a 1 5ms c=1ms", 1, 9, "'c=1ms'" },
    { "a 1 5ms fast", 1, 9, "'fast'" },
    { "a 1 5ms C=1ms C=2ms", 1, 15, "twice" },
    { "a 1 5ms tid=4 thread=b", 1, 15, "twice" },
    { "a 1 5ms tid=0", 1, 13, "tid" },
    { "a 1 5ms thread=", 1, 16, "thread" },
    { "a 1 5ms thread=\"b", 1, 16, "quote" },
    { "\"\" 1 5ms", 1, 2, "name" },
    { "a 1 5ms C=", 1, 11, "C:" },
};

START_TEST(bad_task_files)
{
    const char *text = bad[_i].text;

    ck_assert(!rta_parse(text, strlen(text), tasks, &count, &fault));
    ck_assert_msg(fault.line == bad[_i].line && fault.column == bad[_i].column &&
                      strstr(fault.text, bad[_i].says),
                  "%s: %u:%u: %s", text, fault.line, fault.column, fault.text);
}
END_TEST

START_TEST(zero_byte)
{
    ck_assert(!rta_parse("a 1 5ms\nb\0 1", 12, tasks, &count, &fault));
    ck_assert_uint_eq(fault.line, 2);
    ck_assert_uint_eq(fault.column, 2);
}
END_TEST

START_TEST(too_many_tasks)
{
    static char text[(RTA_TASKS_MAX + 1) * 32];
    size_t used = 0;

    for (int i = 0; i < RTA_TASKS_MAX; i++)
        used += (size_t)sprintf(text + used, "t%d 1 1ms\n", i);
    parse(text);
    ck_assert_uint_eq(count, RTA_TASKS_MAX);
    sprintf(text + used, "one-more 1 1ms\n");
    ck_assert(!rta_parse(text, strlen(text), tasks, &count, &fault));
    ck_assert_uint_eq(fault.line, RTA_TASKS_MAX + 1);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, textbook_set);
    tcase_add_test(t, order_of_lines_is_free);
    tcase_add_test(t, deadline_before_period);
    tcase_add_test(t, late_within_the_period);
    tcase_add_test(t, a_log_contradicts);
    tcase_add_test(t, too_much);
    tcase_add_test(t, one_late_task_does_not_hide_others);
    tcase_add_test(t, release_at_the_end);
    tcase_add_test(t, equal_priorities_delay_each_other);
    tcase_add_test(t, system_time_is_execution);
    tcase_add_test(t, blocking_is_the_largest);
    tcase_add_test(t, wake_ups_of_lower_tasks);
    tcase_add_test(t, figure_4);
    tcase_add_test(t, the_fifth_job_is_the_worst);
    tcase_add_test(t, jitter_of_a_higher_task);
    tcase_add_test(t, jitter_of_its_own);
    tcase_add_test(t, switches_cost);
    tcase_add_test(t, how_much_execution_may_grow);
    tcase_add_test(t, numbers_that_do_not_fit);
    tcase_add_test(t, steps_are_bounded);
    tcase_add_test(t, all_that_a_line_may_have);
    tcase_add_loop_test(t, bad_task_files, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(t, zero_byte);
    tcase_add_test(t, too_many_tasks);
}

int main(void)
{
    return run_suite("tools", "rta", NULL, add);
}
