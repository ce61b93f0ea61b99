/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See filter_option.h. */
#include "input/filter_option.h"

#include <stdlib.h>
#include <string.h>

#include "common/tool.h"

static int make(const char *option, const char *const *texts, size_t count, char *text)
{
    struct posixtrace_expression_fault fault;
    int error = posixtrace_expression_from_patterns(texts, count, text,
                                                    POSIXTRACE_EXPRESSION_MAX + 1, &fault);

    if (fault.column)
        return tool_usage("%s %s, column %zu: %s; posixtrace-filter(5) describes expressions",
                          option, quote(texts[0]), fault.column, unquoted(fault.text));
    if (fault.text[0])
        return tool_usage("%s is %s", option, fault.text);
    return error ? tool_error("%s: %s", option, strerror(error)) : EXIT_DONE;
}

/* Parsed alone first, so that an error message is about this one. */
int filter_option_add(struct filter_option *w, const char *option, const char *text)
{
    char alone[POSIXTRACE_EXPRESSION_MAX + 1];

    w->option = option;
    w->texts = tool_grow(w->texts, w->count + 1, sizeof *w->texts);
    w->texts[w->count++] = text;
    return make(option, &text, 1, alone);
}

int filter_option_make(struct filter_option *w)
{
    int status, error;

    if (w->count == 0)
        return EXIT_DONE;
    w->text = tool_grow(NULL, POSIXTRACE_EXPRESSION_MAX + 1, 1);
    status = make(w->option, w->texts, w->count, w->text);
    if (status != EXIT_DONE)
        return status;
    error = posixtrace_expression_parse(w->text, &w->expression, NULL);
    return error ? tool_error("%s: %s", w->option, strerror(error)) : EXIT_DONE;
}

void filter_option_free(struct filter_option *w)
{
    posixtrace_expression_free(w->expression);
    free(w->texts);
    free(w->text);
    w->expression = NULL;
    w->texts = NULL;
    w->text = NULL;
}

/* A type may be described later, while a stream is followed: only results that do not depend on
 * fields are remembered. */
int filter_option_settled(struct filter_option *w, const struct posixtrace_event *e)
{
    signed char *known;
    int value;

    if (!w->expression)
        return 1;
    if (e->id >= FILTER_OPTION_TYPES || posixtrace_expression_needs_fields(w->expression))
        return -1;
    known = &w->known[e->id];
    if (*known == 0) {
        value = posixtrace_expression_decide(w->expression, e->name, NULL);
        *known = value == 0 ? 1 : value == 1 ? 2 : 3;
    }
    return *known == 3 ? -1 : *known - 1;
}

bool filter_option_wants(const struct filter_option *w, const struct posixtrace_event *e,
                         const posixtrace_layout_t *layout)
{
    return posixtrace_expression_match(w->expression, e, layout);
}
