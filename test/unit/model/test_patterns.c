/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Patterns and expressions joined to one expression: its text, its meaning, and errors in the
 * parts.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "support/run_suite.h"
#include <posixtrace/filter.h>

enum { MOST = 4 };

struct list {
    const char *of[MOST];
};

static char made[POSIXTRACE_EXPRESSION_MAX + 1];
static struct posixtrace_expression_fault fault;

static int make(struct list list)
{
    size_t count = 0;

    while (count < MOST && list.of[count])
        count++;
    return posixtrace_expression_from_patterns(list.of, count, made, sizeof made, &fault);
}

static void expect(struct list list, const char *expression)
{
    int r = make(list);

    ck_assert_msg(r == 0, "%s: %d, column %zu: %s", expression, r, fault.column, fault.text);
    ck_assert_str_eq(made, expression);
}

static void expect_fault(struct list list, int error, size_t column, const char *words)
{
    strcpy(made, "as it was");
    ck_assert_int_eq(make(list), error);
    ck_assert_msg(fault.column == column && strstr(fault.text, words), "%s: column %zu: %s", words,
                  fault.column, fault.text);
    ck_assert_str_eq(made, "as it was");
}

#define LIST(...) ((struct list){ { __VA_ARGS__ } })

START_TEST(texts)
{
    expect((struct list){ { NULL } }, "");
    expect(LIST("a"), "event \"a\"");
    expect(LIST("a", "b*"), "event \"a\" or event \"b*\"");
    expect(LIST("!a"), "not event \"a\"");
    expect(LIST("!a", "![b]"), "not event \"a\" and not event \"[b]\"");
    expect(LIST("a", "!b", "c", "!d"),
           "(event \"a\" or event \"c\") and not event \"b\" and not event \"d\"");
    expect(LIST("n >= 3 or m"), "n >= 3 or m");
    expect(LIST("n >= 3 or m", "x", "!y"), "(n >= 3 or m or event \"x\") and not event \"y\"");
    expect(LIST("a\\*b"), "event \"a\\\\*b\"");
}
END_TEST

/* Texts that count as expressions, and so are unchanged; and texts that do not. */
START_TEST(kinds)
{
    static const char *const expressions[] = {
        "n == 1", "n<1",   "n>1",          "n = 1",    "s ~ \"x\"",   "(n)",         "n and m",
        "n or m", "n&&m",  "n||m",         "not n",    "event \"x\"", "class \"x\"", "group \"x\"",
        "pid 1",  "tid 1", "thread \"x\"", "length 1", "!(n)",        "!n == 1",
    };
    static const char *const patterns[] = {
        "n",   "notn", "events", "pid", "order",   "android",           "n and",    "or m",
        "a&b", "a|b",  "req:*",  "a b", "class:x", "a.b-c/d%e#f,g;h@i", "\xc3\xa4",
    };

    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        expect(LIST(expressions[i]), expressions[i]);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char text[80], left[80];

        snprintf(text, sizeof text, "event \"%s\"", patterns[i]);
        expect(LIST(patterns[i]), text);
        snprintf(left, sizeof left, "!%s", patterns[i]);
        snprintf(text, sizeof text, "not event \"%s\"", patterns[i]);
        expect(LIST(left), text);
    }
}
END_TEST

static bool means(struct list list, const char *name, int32_t pid)
{
    struct posixtrace_event e = { .name = name, .pid = pid, .thread_name = "" };
    posixtrace_expression_t *expression;
    bool match;

    ck_assert_int_eq(make(list), 0);
    ck_assert_int_eq(posixtrace_expression_parse(made, &expression, NULL), 0);
    match = posixtrace_expression_match(expression, &e, NULL);
    posixtrace_expression_free(expression);
    return match;
}

START_TEST(meaning)
{
    struct list mixed = LIST("pid 5 and event \"a*\"", "b\\*", "pid 7 or pid 8", "!*x");

    ck_assert(means(mixed, "a", 5));
    ck_assert(!means(mixed, "a", 6));
    ck_assert(!means(mixed, "ax", 5));
    ck_assert(means(mixed, "b*", 6));
    ck_assert(!means(mixed, "bb", 6));
    ck_assert(means(mixed, "c", 8));
    ck_assert(!means(mixed, "cx", 7));
    ck_assert(means(LIST("!a", "!b"), "c", 1));
    ck_assert(!means(LIST("!a", "!b"), "b", 1));
}
END_TEST

START_TEST(faults)
{
    char deep[40] = "", word[POSIXTRACE_EXPRESSION_MAX + 2];
    const char *missing[2] = { "a", NULL };

    expect_fault(LIST(""), EINVAL, 1, "a pattern or an expression is expected");
    expect_fault(LIST("a", "!"), EINVAL, 2, "a pattern or an expression is expected");
    expect_fault(LIST("a", "n >="), EINVAL, 5, "a number is expected");
    /* Each has to be one alone. */
    expect_fault(LIST("n == 1) or (n == 2"), EINVAL, 7, "and, or or the end");
    for (int i = 0; i < 16; i++)
        strcat(deep, "(");
    strcat(deep, "n");
    for (int i = 0; i < 16; i++)
        strcat(deep, ")");
    expect(LIST(deep), deep);
    expect_fault(LIST(deep, "!a"), EINVAL, 0, "nested too deep: more than 16");
    memset(word, 'n', sizeof word);
    word[POSIXTRACE_EXPRESSION_MAX - 8] = '\0';
    ck_assert_int_eq(make(LIST(word)), 0);
    ck_assert_uint_eq(strlen(made), POSIXTRACE_EXPRESSION_MAX);
    expect_fault(LIST(word, "a"), ENAMETOOLONG, 0, "too long: 2060 bytes as an expression, 2047");
    word[POSIXTRACE_EXPRESSION_MAX - 8] = '=';
    word[POSIXTRACE_EXPRESSION_MAX + 1] = '\0';
    expect_fault(LIST(word), ENAMETOOLONG, 0, "too long: 2048 bytes as an expression, 2047");
    ck_assert_int_eq(posixtrace_expression_from_patterns(missing, 2, made, sizeof made, &fault),
                     EINVAL);
    ck_assert_int_eq(posixtrace_expression_from_patterns(NULL, 1, made, sizeof made, &fault),
                     EINVAL);
    ck_assert_int_eq(posixtrace_expression_from_patterns(missing, 1, made, 0, &fault), EINVAL);
    ck_assert_int_eq(posixtrace_expression_from_patterns(&(const char *){ "a" }, 1, made, 4, NULL),
                     ERANGE);
    ck_assert_int_eq(posixtrace_expression_from_patterns(missing, 1, NULL, 1, &fault), EINVAL);
    ck_assert_int_eq(posixtrace_expression_from_patterns(missing + 1, 0, made, sizeof made, NULL),
                     0);
    ck_assert_int_eq(
        posixtrace_expression_from_patterns(&(const char *){ "!" }, 1, made, sizeof made, NULL),
        EINVAL);
}
END_TEST

static void add(TCase *c)
{
    tcase_add_test(c, texts);
    tcase_add_test(c, kinds);
    tcase_add_test(c, meaning);
    tcase_add_test(c, faults);
}

int main(void)
{
    return run_suite("expression", "patterns", NULL, add);
}
