/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See self_record_filter.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/expression.h"
#include "model/ctype_c.h"
#include "startup/self_record_filter.h"

/* The length up to a comma, or the end.  An expression has commas only in strings. */
static size_t length_of_one(const char *list)
{
    bool quoted = false;
    size_t i = 0;

    for (; list[i] && (quoted || list[i] != ','); i++) {
        if (list[i] == '"')
            quoted = !quoted;
        else if (quoted && list[i] == '\\' && (list[i + 1] == '"' || list[i + 1] == '\\'))
            i++;
    }
    return i;
}

/* Splits the list in place; returns the start of each part, without blanks. */
static size_t split(char *list, const char **patterns)
{
    size_t count = 0;

    for (char *at = list, *next; *at; at = next) {
        size_t length = length_of_one(at);

        next = at + length + (at[length] == ',');
        while (length > 0 && pt_is_space(at[length - 1]))
            length--;
        at[length] = '\0';
        while (pt_is_space(*at))
            at++;
        if (*at)
            patterns[count++] = at;
    }
    return count;
}

/* First one by one, so that the column is of the list.  A negative errno. */
static int join(const char *list, const char **patterns, size_t count, char *expression,
                struct posixtrace_expression_fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        int r = pt_expression_from_patterns(&patterns[i], 1, expression, fault);

        if (r < 0) {
            fault->column += fault->column ? (size_t)(patterns[i] - list) : 0;
            return r;
        }
    }
    return pt_expression_from_patterns(patterns, count, expression, fault);
}

static void explain(char *bad, const struct posixtrace_expression_fault *fault)
{
    if (fault->column)
        snprintf(bad, PT_RECORD_BAD,
                 "POSIXTRACE_RECORD_FILTER, column %zu: %s; "
                 "posixtrace-filter(5) describes expressions",
                 fault->column, fault->text);
    else
        snprintf(bad, PT_RECORD_BAD, "POSIXTRACE_RECORD_FILTER is %s",
                 fault->text[0] ? fault->text : "more than there is memory for");
}

bool pt_record_filter_read(const char *list, char *expression, char bad[PT_RECORD_BAD])
{
    struct posixtrace_expression_fault fault = { 0 };
    /* One a byte at most, with the comma. */
    const char **patterns = calloc(strlen(list) + 1, sizeof *patterns);
    char *copy = strdup(list);
    int r = -ENOMEM;

    if (patterns && copy)
        r = join(copy, patterns, split(copy, patterns), expression, &fault);
    if (r < 0)
        explain(bad, &fault);
    free(copy);
    free(patterns);
    return r == 0;
}
