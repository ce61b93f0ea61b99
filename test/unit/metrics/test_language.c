/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The language of metrics: errors, with place and reason; warnings; names. */
#include <errno.h>
#include <string.h>
#include <posixtrace/ada_metrics.h>
#include "support/run_suite.h"

#define GOOD                                                            \
    "  state a out\n    go, i -> b\n  state b begin\n    lambda -> c\n" \
    "  state c in\n    go, i -> d\n  state d end\n    lambda -> a\n"

static const struct wrong {
    const char *text;
    unsigned line, column;
    const char *says;
} wrongs[] = {
    { "metrik x", 1, 1, "\"metric\" is expected" },
    { "metric", 1, 7, "name is expected" },
    { "metric x end", 1, 1, "no states" },
    { "metric x\n  go -> a", 2, 3, "\"state\" or an option" },
    { "metric x\n  state a inn", 2, 11, "begin, end, cancel, in, out or cond" },
    { "metric x\n  state a in\n  state a out", 3, 9, "already, in line 2" },
    { "metric x\n  state a in\n  go -> b\nend", 3, 9, "no state 'b'" },
    { "metric x\n  state a in\n  go, j -> a\nend", 3, 7, "\"i\", \"not i\", \"ok\", \"due\"" },
    { "metric x\n  state a in\n  go, not -> a\nend", 3, 11, "\"i\" is expected" },
    { "metric x\n  state a in\n  go, i, not i -> a\nend", 3, 10, "once" },
    { "metric x\n  state a in\n  go a\nend", 3, 6, "\"->\"" },
    { "metric x\n  state a in\n  go -> a at noon\nend", 3, 14, "\"at due\"" },
    { "metric x\n  state a in\n  lambda -> a at due\nend", 3, 18, "\"at event\"" },
    { "metric x\n  state a in\n  go -> a\n  go -> a\nend", 4, 3, "another way" },
    { "metric x\n  state a in\n  go, i -> a\n  go, i -> a\nend", 4, 3, "another way" },
    { "metric x\n  state a in\n  go, i -> a\n  go, i, ok -> a\nend", 4, 3, "another way" },
    { "metric x\n  state a in\n  go, i, ok -> a\n  go, i, early -> a\nend", 4, 3, "another way" },
    { "metric x\n  state a in\n  go, ok -> a\n  go, due -> a\nend", 4, 3, "another way" },
    { "metric x\n  state a in\n  go, i, ok -> a\n  go, i -> a\n  go, i -> a\nend", 5, 3,
      "another way" },
    { "metric x\n  state a in\n  go -> a at past noon\nend", 3, 19, "\"due\" is expected" },
    { "metric x\n  state a in\n  go -> a\n  lambda -> a\nend", 4, 3, "by lambda at once" },
    { "metric x\n  state a in\n  lambda -> b\n  state b in\n  lambda -> a\nend", 2, 9,
      "round and round" },
    { "metric x\n" GOOD, 10, 1, "\"end\" of the metric 'x'" },
    { "metric x\n" GOOD "end metric X\n" GOOD "end", 10, 1, "already" },
    { "metric x\n by object\n  state a out\n    alarm -> a\nend", 1, 1, "by object" },
    { "metric \"x\n", 1, 8, "not closed in its line" },
    { "metric \"x", 1, 8, "not closed" },
    { "metric x\n by item\n  state a out\n    go, i -> a\nend", 4, 5, "by item" },
    { "metric x\n by item\n  state a out\n    go, not i -> a\nend", 4, 5, "by item" },
    { "metric x\n by item\n  state a out\n    go -> a\n    go -> a\nend", 5, 5, "another way" },
    { "metric x\n by item\n  state a out\n    * -> b\n  state b in\nend", 1, 1, "no label \"*\"" },
    { "metric x\n by thread", 2, 5, "\"object\" or \"item\" is expected" },
    { "metric x by item 9", 1, 18, "1 to 8 bytes" },
    { "metric x by object 0", 1, 20, "1 to 8 bytes" },
    { "metric x by item 4bytes", 1, 18, "1 to 8 bytes" },
    { "metric x by item 4 at", 1, 22, "after \"at\"" },
    { "metric x by item at 61441", 1, 21, "0 to 61440 bytes" },
    { "metric x count some", 1, 16, "\"own\" or \"all\"" },
    { "metric x ; y", 1, 10, "begins no word" },
};

START_TEST(refused)
{
    const struct wrong *w = &wrongs[_i];
    struct posixtrace_metric_fault fault;
    posixtrace_metric_set_t *set = NULL;
    int error = posixtrace_metric_set_parse(w->text, strlen(w->text), &set, &fault);

    ck_assert_int_eq(error, EINVAL);
    ck_assert_ptr_null(set);
    ck_assert_msg(strstr(fault.text, w->says) != NULL, "%s: %s", w->text, fault.text);
    ck_assert_msg(fault.line == w->line && fault.column == w->column, "%s: %u:%u", w->text,
                  fault.line, fault.column);
    ck_assert_int_eq(posixtrace_metric_set_parse(w->text, strlen(w->text), &set, NULL), EINVAL);
}
END_TEST

static char doubts[4096];
static unsigned doubt_count, most_doubts;

static int note_doubt(void *context, const struct posixtrace_metric_fault *fault)
{
    size_t n = strlen(doubts);

    (void)context;
    doubt_count++;
    snprintf(doubts + n, sizeof doubts - n, "%u:%u %s\n", fault->line, fault->column, fault->text);
    return doubt_count == most_doubts ? -7 : 0;
}

static unsigned check_text(const char *text)
{
    struct posixtrace_metric_fault fault;
    posixtrace_metric_set_t *set;

    doubt_count = 0;
    doubts[0] = '\0';
    ck_assert_msg(posixtrace_metric_set_parse(text, strlen(text), &set, &fault) == 0, "%u:%u %s",
                  fault.line, fault.column, fault.text);
    ck_assert_int_eq(posixtrace_metric_set_check(set, note_doubt, NULL),
                     most_doubts && doubt_count == most_doubts ? -7 : 0);
    posixtrace_metric_set_free(set);
    return doubt_count;
}

START_TEST(doubted)
{
    ck_assert_uint_eq(check_text("metric x\n" GOOD "end"), 0);
    ck_assert_uint_eq(check_text(""), 1);
    ck_assert_uint_eq(check_text("metric x\n" GOOD "  state far out\n  go -> a\nend"), 1);
    ck_assert_str_eq(doubts, "10:9 state 'far' cannot be reached\n");
    ck_assert_uint_eq(check_text("metric x\n  state a out\n    go -> b\n  state b in\nend"), 3);
    most_doubts = 2;
    ck_assert_uint_eq(check_text("metric x\n  state a out\n    go -> b\n  state b in\nend"), 2);
    most_doubts = 0;
    ck_assert_uint_eq(check_text("metric x\n  state a out\n    go -> b\n  state b in\nend"), 3);
    ck_assert_ptr_nonnull(strstr(doubts, "4:9 no way leads out of state 'b'"));
    ck_assert_ptr_nonnull(strstr(doubts, "1:1 metric 'x' has no begin"));
    ck_assert_ptr_nonnull(strstr(doubts, "1:1 metric 'x' has no end"));
}
END_TEST

START_TEST(built_in)
{
    static const char *const names[] = {
        "Delay Until Wakeup", "Job System Time", "System Blocking", "Schedule And Dispatch",
        "Mutex Wait",         "Mutex Hold",      "Preemption",      "Off CPU",
        "Response Time",      "Execution Time",  "Period",          "Jitter",
        "Deadline Miss",      "Rwlock Wait",     "Condition Wait",  "Semaphore Wait",
        "Barrier Wait",       "IO Wait",         "Work Wait",       "File Lock Wait",
        "Futex Wait",         "Thread Wait",     "Child Wait",      "Signal Wait"
    };
    posixtrace_metric_set_t *set;

    ck_assert_uint_eq(check_text(posixtrace_metric_set_text("linux")), 0);
    ck_assert_uint_eq(check_text(posixtrace_metric_set_text("marte")), 0);
    ck_assert_int_eq(posixtrace_metric_set_open("linux", &set), 0);
    ck_assert_uint_eq(posixtrace_metric_set_count(set), sizeof names / sizeof names[0]);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const posixtrace_metric_t *m = posixtrace_metric_set_find(set, names[i]);

        ck_assert_msg(m != NULL, "%s", names[i]);
        ck_assert_str_ne(posixtrace_metric_about(m), "");
        ck_assert_int_eq(posixtrace_metric_by_object(m),
                         strcmp(names[i], "Mutex Hold") == 0 ||
                             (strstr(names[i], " Wait") && strcmp(names[i], "Signal Wait") != 0 &&
                              !strstr(names[i], "Until")));
    }
    ck_assert(!posixtrace_metric_by_object(NULL));
    ck_assert_ptr_null(posixtrace_metric_set_get(set, posixtrace_metric_set_count(set)));
    posixtrace_metric_set_free(set);
    ck_assert_int_eq(posixtrace_metric_set_open("solaris", &set), ENOENT);
    ck_assert_ptr_null(posixtrace_metric_set_text("solaris"));
}
END_TEST

START_TEST(names)
{
    posixtrace_metric_set_t *set;
    const posixtrace_metric_t *m;

    ck_assert_int_eq(posixtrace_metric_set_open("linux", &set), 0);
    m = posixtrace_metric_set_find(set, "Mutex Wait");
    ck_assert_ptr_eq(posixtrace_metric_set_find(set, "mutex-wait"), m);
    ck_assert_ptr_eq(posixtrace_metric_set_find(set, "MUTEX_WAIT"), m);
    ck_assert_ptr_eq(posixtrace_metric_set_find(set, "mutexwait"), m);
    ck_assert_ptr_null(posixtrace_metric_set_find(set, "mutex"));
    ck_assert_ptr_eq(posixtrace_metric_set_near(set, "mutex weit"), m);
    ck_assert_ptr_null(posixtrace_metric_set_near(set, "something else altogether"));
    posixtrace_metric_set_free(set);
}
END_TEST

START_TEST(events)
{
    bool needed = false;
    posixtrace_metric_t *m;

    ck_assert_int_eq(posixtrace_new_user_metric("m", "a", "b", true, &m), 0);
    ck_assert_str_eq(posixtrace_metric_name(m), "m");
    ck_assert_str_eq(posixtrace_metric_event(m, 0, &needed), "a");
    ck_assert(needed);
    ck_assert_str_eq(posixtrace_metric_event(m, 1, &needed), "b");
    ck_assert(needed);
    ck_assert_str_eq(posixtrace_metric_event(m, 2, &needed), "posixtrace_switch_out");
    ck_assert(!needed);
    ck_assert_ptr_null(posixtrace_metric_event(m, 5, NULL));
    posixtrace_metric_free(m);
}
END_TEST

START_TEST(drawn)
{
    posixtrace_metric_t *m;
    char *text, few[9];
    size_t len;

    ck_assert_int_eq(posixtrace_new_user_metric("a \"b\"", "x\\y", "z", false, &m), 0);
    ck_assert_uint_eq(posixtrace_metric_dot(NULL, few, sizeof few), 0);
    len = posixtrace_metric_dot(m, few, sizeof few);
    ck_assert_str_eq(few, "digraph ");
    text = malloc(len + 1);
    ck_assert_uint_eq(posixtrace_metric_dot(m, text, len + 1), len);
    ck_assert_uint_eq(strlen(text), len);
    ck_assert_ptr_nonnull(strstr(text, "digraph \"a \\\"b\\\"\" {"));
    ck_assert_ptr_nonnull(strstr(text, "[label=\"x\\\\y, i\"]"));
    ck_assert_ptr_nonnull(strstr(text, "shape=doublecircle"));
    free(text);
    ck_assert_uint_eq(posixtrace_metric_mermaid(NULL, few, sizeof few), 0);
    len = posixtrace_metric_mermaid(m, few, sizeof few);
    ck_assert_str_eq(few, "flowchar");
    text = malloc(len + 1);
    ck_assert_uint_eq(posixtrace_metric_mermaid(m, text, len + 1), len);
    ck_assert_ptr_nonnull(strstr(text, "flowchart LR\n  s0((\""));
    ck_assert_ptr_nonnull(strstr(text, "|\"x#92;y, i\"|"));
    ck_assert_ptr_nonnull(strstr(text, "\")))\n"));
    free(text);
    posixtrace_metric_free(m);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, refused, 0, (int)(sizeof wrongs / sizeof wrongs[0]));
    tcase_add_test(tc, doubted);
    tcase_add_test(tc, built_in);
    tcase_add_test(tc, names);
    tcase_add_test(tc, events);
    tcase_add_test(tc, drawn);
}

int main(void)
{
    return run_suite("metrics", "language", NULL, add);
}
