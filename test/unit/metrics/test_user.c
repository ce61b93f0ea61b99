/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Metrics of two events of the user's, as a set measures them. */
#include <errno.h>
#include <string.h>
#include <posixtrace/ada_metrics.h>
#include "scene.h"
#include "support/run_suite.h"

enum { EVENTS = 400, THREADS = 3 };

/* The same random trace each time, the user's two events by these names. */
static trace_id_t random_log(const char *initial, const char *final)
{
    const char *const events[] = { initial,
                                   final,
                                   "interrupt",
                                   "No_Preempt",
                                   "context_end",
                                   "posixtrace_switch_out",
                                   "posixtrace_switch_in",
                                   "posixtrace_sleep",
                                   "posixtrace_sleep_done" };
    struct scene_trace *t = scene_trace_begin();
    unsigned state = 12345;

    for (int i = 0; i < EVENTS; i++) {
        state = state * 1103515245 + 12345;
        scene_trace_add(t, 10 * i, 1 + (int)(state >> 8) % THREADS,
                        events[(state >> 16) % (sizeof events / sizeof events[0])], 0, 0, false);
    }
    return scene_trace_open(t);
}

static posixtrace_metric_set_t *set_of(const char *text)
{
    posixtrace_metric_set_t *set = NULL;
    struct posixtrace_metric_fault fault = { .text = "" };

    ck_assert_msg(posixtrace_metric_set_parse(text, strlen(text), &set, &fault) == 0, "%u:%u %s",
                  fault.line, fault.column, fault.text);
    return set;
}

static char *results_of(const posixtrace_metric_t *metric, const char *initial, const char *final)
{
    trace_id_t trid = random_log(initial, final);
    char *results = scene_results(&metric, 1, trid);

    scene_trace_close(trid);
    return results;
}

/* What the set makes of two events finds what the metric of these names finds. */
static void finds_the_same(const posixtrace_metric_set_t *set, enum posixtrace_user_time time,
                           const posixtrace_metric_t *as, const char *initial, const char *final)
{
    char *expected = results_of(as, initial, final), *found;
    posixtrace_metric_t *made;

    ck_assert_int_eq(
        posixtrace_metric_set_user(set, posixtrace_metric_name(as), "$1 \"", "b", time, &made), 0);
    found = results_of(made, "$1 \"", "b");
    ck_assert_ptr_nonnull(strchr(expected, '\n'));
    ck_assert_str_eq(found, expected);
    free(expected);
    free(found);
    posixtrace_metric_free(made);
}

START_TEST(figure_2)
{
    posixtrace_metric_set_t *marte;
    posixtrace_metric_t *made;

    ck_assert_int_eq(posixtrace_metric_set_open("marte", &marte), 0);
    ck_assert_uint_eq(posixtrace_metric_set_count(marte), 2);
    finds_the_same(marte, POSIXTRACE_USER_OF_SET, posixtrace_metric_set_find(marte, "User Metric"),
                   "initial_event", "final_event");
    ck_assert_int_eq(
        posixtrace_metric_set_user(marte, "m", "a", "a", POSIXTRACE_USER_OF_SET, &made), ENOTSUP);
    posixtrace_metric_set_free(marte);
}
END_TEST

#define ALL_OF_IT                                                              \
    "metric m state a out \"x\", i -> b state b begin lambda -> c state c in " \
    "\"y\", i -> d state d in lambda -> e state e end lambda -> a end "

/* Elapsed time is that of an automaton that knows nothing else, and what it is without the
 * system the paper's function says. */
START_TEST(times)
{
    posixtrace_metric_set_t *linux_set, *plain = set_of(ALL_OF_IT);
    const posixtrace_metric_t *all = posixtrace_metric_set_get(plain, 0);
    posixtrace_metric_t *without;

    ck_assert_int_eq(posixtrace_metric_set_open("linux", &linux_set), 0);
    finds_the_same(linux_set, POSIXTRACE_USER_OF_SET, all, "x", "y");
    finds_the_same(plain, POSIXTRACE_USER_ELAPSED, all, "x", "y");
    for (int system = 0; system < 2; system++) {
        ck_assert_int_eq(posixtrace_new_user_metric("m", "x", "y", system, &without), 0);
        finds_the_same(plain, system ? POSIXTRACE_USER_CPU : POSIXTRACE_USER_NOSYSTEM, without, "x",
                       "y");
        posixtrace_metric_free(without);
    }
    posixtrace_metric_set_free(linux_set);
    posixtrace_metric_set_free(plain);
}
END_TEST

#define OF_SET(name)                                                          \
    "metric " name " state a out $INITIAL, i -> b state b begin lambda -> c " \
    "state c in interrupt -> d $FINAL, i -> d state d end lambda -> a end "

/* A set of one's own says what it is, before or after its metrics, and in quotes the name is
 * one like others. */
START_TEST(of_a_text)
{
    static const char *const texts[] = { OF_SET("$NAME") ALL_OF_IT, ALL_OF_IT OF_SET("$NAME"),
                                         ALL_OF_IT OF_SET("$NAME") "# end" };
    posixtrace_metric_set_t *as = set_of(
        "metric m state a out \"x\", i -> b state b begin lambda -> c "
        "state c in interrupt -> d \"y\", i -> d state d end lambda -> a end ");

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        posixtrace_metric_set_t *set = set_of(texts[i]);

        ck_assert_uint_eq(posixtrace_metric_set_count(set), 1);
        finds_the_same(set, POSIXTRACE_USER_OF_SET, posixtrace_metric_set_get(as, 0), "x", "y");
        posixtrace_metric_set_free(set);
    }
    posixtrace_metric_set_free(as);
    as = set_of(OF_SET("\"$NAME\""));
    ck_assert_uint_eq(posixtrace_metric_set_count(as), 1);
    posixtrace_metric_set_free(as);
}
END_TEST

/* In quotation marks and comments, $NAME, $INITIAL and $FINAL are text like other text. */
START_TEST(in_quotation_marks)
{
    posixtrace_metric_set_t *as = set_of(
        "metric m state a out \"x\", i -> b \"of $FINAL\", i -> e state b begin lambda -> c "
        "state c in \"y\", i -> d \"$INITIAL\", i -> e state d end lambda -> a "
        "state e cancel lambda -> a end ");
    posixtrace_metric_set_t *set = set_of(
        "metric $NAME # of $INITIAL\n state \"$NAME\" out $INITIAL, i -> b \"of $FINAL\", i -> e "
        "state b begin lambda -> c state c in $FINAL, i -> d \"$INITIAL\", i -> e "
        "state d end lambda -> \"$NAME\" state e cancel lambda -> \"$NAME\" end ");

    finds_the_same(set, POSIXTRACE_USER_OF_SET, posixtrace_metric_set_get(as, 0), "x", "y");
    posixtrace_metric_set_free(set);
    posixtrace_metric_set_free(as);
}
END_TEST

/* A measurement of 15 ns between events of these types, or none. */
static void finds(const posixtrace_metric_t *metric, const char *first, const char *second,
                  bool any)
{
    struct scene_trace *t = scene_trace_begin();
    trace_id_t trid;
    char *found;

    scene_trace_add(t, 10, 1, first, 0, 0, false);
    scene_trace_add(t, 25, 1, second, 0, 0, false);
    trid = scene_trace_open(t);
    found = scene_results(&metric, 1, trid);
    ck_assert_msg((strstr(found, " 15 ") != NULL) == any, "%s: %s", first, found);
    free(found);
    scene_trace_close(trid);
}

/* A further description of a name is the same event, unless the metric names it itself. */
START_TEST(described_again)
{
    static const struct {
        const char *type;
        bool is_event;
    } types[] = { { "go", true },    { "go#2", true },    { "go#12", true },
                  { "go#1", false }, { "go#02", false },  { "go#2x", false },
                  { "go#", false },  { "gone#2", false }, { "g", false } };
    posixtrace_metric_set_t *named = set_of(
        "metric m state a out \"go#2\", i -> b state b begin "
        "lambda -> c state c in go, i -> d state d end lambda -> a end ");
    const posixtrace_metric_t *itself = posixtrace_metric_set_get(named, 0);
    posixtrace_metric_t *made;

    ck_assert_int_eq(
        posixtrace_metric_set_user(named, "m", "go", "stop", POSIXTRACE_USER_ELAPSED, &made), 0);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        finds(made, types[i].type, "stop#3", types[i].is_event);
    posixtrace_metric_free(made);
    finds(itself, "go#2", "go#3", true);
    finds(itself, "go#3", "go#2", false);
    posixtrace_metric_set_free(named);
}
END_TEST

static void is_refused(const char *text, const char *why)
{
    struct posixtrace_metric_fault fault = { .text = "" };
    posixtrace_metric_set_t *set;

    ck_assert_int_eq(posixtrace_metric_set_parse(text, strlen(text), &set, &fault), EINVAL);
    ck_assert_msg(strstr(fault.text, why) != NULL, "%s", fault.text);
}

START_TEST(arguments)
{
    posixtrace_metric_set_t *set = set_of(ALL_OF_IT);
    posixtrace_metric_t *m;
    enum posixtrace_user_time of_set = POSIXTRACE_USER_OF_SET;

    ck_assert_int_eq(posixtrace_metric_set_user(NULL, "m", "a", "b", of_set, &m), EINVAL);
    ck_assert_int_eq(posixtrace_metric_set_user(set, NULL, "a", "b", of_set, &m), EINVAL);
    ck_assert_int_eq(posixtrace_metric_set_user(set, "m", "", "b", of_set, &m), EINVAL);
    ck_assert_int_eq(posixtrace_metric_set_user(set, "m", "a", "b\n", of_set, &m), EINVAL);
    ck_assert_int_eq(posixtrace_metric_set_user(set, "m", "a", "b", of_set, NULL), EINVAL);
    ck_assert_int_eq(
        posixtrace_metric_set_user(set, "m", "a", "b", (enum posixtrace_user_time)4, &m), EINVAL);
    for (int time = POSIXTRACE_USER_OF_SET; time <= POSIXTRACE_USER_NOSYSTEM; time++) {
        ck_assert_int_eq(
            posixtrace_metric_set_user(set, "$NAME", "a", "a", (enum posixtrace_user_time)time, &m),
            0);
        ck_assert_str_eq(posixtrace_metric_name(m), "$NAME");
        posixtrace_metric_free(m);
    }
    posixtrace_metric_set_free(set);
    is_refused(OF_SET("$NAME") OF_SET("$NAME"), "$NAME already");
    is_refused("metric $NAME state a out $INITIAL, i -> a end", "needs the events");
    is_refused(OF_SET("$NAME") "; more", "begins no word");
    is_refused("metric $NAME state a out \"$INITIAL\", i -> b state b begin lambda -> c state c "
               "in \"$FINAL\", i -> d state d end lambda -> a end ",
               "not in quotation marks");
    is_refused("metric $NAME state $NAME out $INITIAL, i -> b state b begin lambda -> c state c "
               "in $FINAL, i -> d state d end lambda -> \"$NAME\" end ",
               "filled in");
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, figure_2);
    tcase_add_test(tc, times);
    tcase_add_test(tc, of_a_text);
    tcase_add_test(tc, in_quotation_marks);
    tcase_add_test(tc, described_again);
    tcase_add_test(tc, arguments);
}

int main(void)
{
    return run_suite("metrics", "user metric", NULL, add);
}
