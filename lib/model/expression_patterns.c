/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Joins the filters given on a command line into one expression.  Each is an expression, or a
 * pattern, which is short for `event "PATTERN"`.
 *
 * A text is an expression if it has a comparison, a quote, a bracket, a connecting sign or word, or
 * starts with a keyword and a blank; else it is a pattern.  Each text is parsed separately first,
 * so that none can close a bracket of the joined expression.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/expression.h"

/* Beyond its end a text is counted but not stored. */
struct text {
    char bytes[POSIXTRACE_EXPRESSION_MAX + 1];
    size_t length;
};

static bool is_expression(const char *text)
{
    static const char begins[][8] = { "not ", "event ", "class ",  "group ",
                                      "pid ", "tid ",   "thread ", "length " };
    static const char has[][6] = { " and ", " or ", "&&", "||" };

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(text, begins[i], strlen(begins[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        if (strstr(text, has[i]))
            return true;
    return strpbrk(text, "\"()<>=~") != NULL;
}

static bool leaves_out(const char *text)
{
    return text[0] == '!' && !is_expression(text);
}

static void put(struct text *to, const char *bytes, size_t length)
{
    if (to->length + length <= POSIXTRACE_EXPRESSION_MAX)
        memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void put_text(struct text *to, const char *text)
{
    put(to, text, strlen(text));
}

static void put_pattern(struct text *to, const char *pattern)
{
    put_text(to, "event \"");
    for (; *pattern; pattern++) {
        if (*pattern == '"' || *pattern == '\\')
            put_text(to, "\\");
        put(to, pattern, 1);
    }
    put_text(to, "\"");
}

/* Those that are wanted, connected by or, which binds less than all that is in them; then
 * those that are not.  In brackets?  That is returned. */
static bool put_all(struct text *to, const char *const *patterns, size_t count)
{
    const char *before;
    size_t wanted = 0;
    bool brackets;

    for (size_t i = 0; i < count; i++)
        wanted += !leaves_out(patterns[i]);
    brackets = wanted > 0 && wanted < count;
    before = brackets ? "(" : "";
    for (size_t i = 0; i < count; i++) {
        if (leaves_out(patterns[i]))
            continue;
        put_text(to, before);
        if (is_expression(patterns[i]))
            put_text(to, patterns[i]);
        else
            put_pattern(to, patterns[i]);
        before = " or ";
    }
    before = brackets ? ") and not " : "not ";
    for (size_t i = 0; i < count; i++) {
        if (!leaves_out(patterns[i]))
            continue;
        put_text(to, before);
        put_pattern(to, patterns[i] + 1);
        before = " and not ";
    }
    return brackets;
}

static int check(const char *text, struct posixtrace_expression_fault *fault)
{
    struct posixtrace_expression *e = NULL;
    int r = pt_expression_parse(text, &e, fault);

    free(e);
    return r;
}

/* One that is too long is so in the whole as well, where it is counted. */
static int check_one(const char *pattern, struct posixtrace_expression_fault *fault)
{
    size_t sign = pattern[0] == '!';
    int r;

    if (is_expression(pattern)) {
        r = check(pattern, fault);
        return r == -ENAMETOOLONG ? 0 : r;
    }
    if (pattern[sign])
        return 0;
    if (fault) {
        fault->column = sign + 1;
        strcpy(fault->text, "the name of an event type, a pattern or an expression is expected");
    }
    return -EINVAL;
}

static int check_whole(struct text *whole, bool brackets, struct posixtrace_expression_fault *fault)
{
    int r;

    if (whole->length > POSIXTRACE_EXPRESSION_MAX) {
        if (fault)
            snprintf(fault->text, sizeof fault->text,
                     "too long: %zu bytes as an expression, %d "
                     "are possible",
                     whole->length, POSIXTRACE_EXPRESSION_MAX);
        return -ENAMETOOLONG;
    }
    whole->bytes[whole->length] = '\0';
    /* All that can be wrong now is that there is one bracket more. */
    r = brackets ? check(whole->bytes, NULL) : 0;
    if (r == -EINVAL && fault)
        snprintf(fault->text, sizeof fault->text,
                 "nested too deep: more than %u brackets and "
                 "nots in each other",
                 PT_EXPRESSION_DEPTH);
    return r;
}

int pt_expression_from_patterns(const char *const *patterns, size_t count, char *expression,
                                struct posixtrace_expression_fault *fault)
{
    struct text whole = { .length = 0 };
    bool brackets;
    int r;

    for (size_t i = 0; i < count; i++) {
        r = check_one(patterns[i], fault);
        if (r < 0)
            return r;
    }
    brackets = put_all(&whole, patterns, count);
    r = check_whole(&whole, brackets, fault);
    if (r == 0)
        memcpy(expression, whole.bytes, whole.length + 1);
    return r;
}
