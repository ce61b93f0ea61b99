/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * --filter: which events are recorded.  All that is said becomes one expression of
 * the stream, which the traced processes look at themselves: also for types that they open
 * later, and nobody has to watch them.
 *
 * A pattern is short for `event "PATTERN"`.  What one may mean by mistake for the other is
 * told apart by what only an expression has: a comparison, a quote, a bracket, or one of its
 * words before a blank.
 */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/filter.h>

#include "tool.h"

static bool is_expression(const char *text)
{
    static const char *const words[] = { "not ", "event ", "class ", "group ", "pid ", "tid ",
                                         "thread ", "length " };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return strpbrk(text, "\"()<>=~") || strstr(text, " and ") || strstr(text, " or ");
}

static void put_pattern(FILE *to, const char *pattern)
{
    fputs("event \"", to);
    for (; *pattern; pattern++) {
        if (*pattern == '"' || *pattern == '\\')
            putc('\\', to);
        putc(*pattern, to);
    }
    putc('"', to);
}

static bool leaves_out(const char *text)
{
    return text[0] == '!' && !is_expression(text);
}

/* Those that are wanted, connected by or; then those that are not. */
static void put_all(FILE *to, const struct record_request *q)
{
    const char *before = "(";

    for (size_t i = 0; i < q->filter_count; i++) {
        if (leaves_out(q->filters[i]))
            continue;
        fputs(before, to);
        if (is_expression(q->filters[i]))
            fprintf(to, "(%s)", q->filters[i]);
        else
            put_pattern(to, q->filters[i]);
        before = " or ";
    }
    before = *before == ' ' ? ") and not " : "not ";
    for (size_t i = 0; i < q->filter_count; i++) {
        if (!leaves_out(q->filters[i]))
            continue;
        fputs(before, to);
        put_pattern(to, q->filters[i] + 1);
        before = " and not ";
    }
    if (before[0] == ')')
        putc(')', to);
}

static int check_one(const char *text)
{
    struct posixtrace_expression_fault fault;
    posixtrace_expression_t *e = NULL;
    int error = is_expression(text) ? posixtrace_expression_parse(text, &e, &fault) : 0;

    posixtrace_expression_free(e);
    if (error == EINVAL)
        return tool_usage("option '--filter', column %zu: %s; posixtrace-filter(5) describes "
                          "expressions", fault.column, quote(fault.text));
    return error ? tool_usage("option '--filter': %s", strerror(error)) : EXIT_DONE;
}

int record_filter_add(struct record_request *q, const char *text)
{
    if (!*text || strcmp(text, "!") == 0)
        return tool_usage("option '--filter' needs the name of an event type, a pattern or an "
                          "expression");
    q->filters = tool_grow(q->filters, q->filter_count + 1, sizeof *q->filters);
    q->filters[q->filter_count++] = text;
    return check_one(text);
}

int record_filter_make(struct record_request *q)
{
    size_t length;
    FILE *to;

    if (q->filter_count == 0)
        return EXIT_DONE;
    to = open_memstream(&q->expression, &length);
    if (!to)
        return tool_error("no memory");
    put_all(to, q);
    if (fclose(to) != 0)
        return tool_error("no memory");
    if (length > POSIXTRACE_EXPRESSION_MAX)
        return tool_usage("what '--filter' says is too long: %zu bytes as an expression, %d are "
                          "possible", length, POSIXTRACE_EXPRESSION_MAX);
    return EXIT_DONE;
}

int record_filter_begin(const struct recording *r, const struct record_request *q)
{
    return q->expression ? posixtrace_set_expression(r->trid, q->expression, NULL) : 0;
}
