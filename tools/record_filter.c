/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * --filter: which events are recorded.  All that is said becomes one expression of
 * the stream, which the traced processes look at themselves: also for types that they open
 * later, and nobody has to watch them.
 */
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/filter.h>

#include "tool.h"

static int make(const char *const *patterns, size_t count, char *expression)
{
    struct posixtrace_expression_fault fault;
    int error = posixtrace_expression_from_patterns(patterns, count, expression, &fault);

    if (fault.column)
        return tool_usage("option '--filter', column %zu: %s; posixtrace-filter(5) describes "
                          "expressions", fault.column, unquoted(fault.text));
    if (fault.text[0])
        return tool_usage("what '--filter' says is %s", fault.text);
    return error ? tool_error("option '--filter': %s", strerror(error)) : EXIT_DONE;
}

/* Looked at alone first, so that what is wrong is said of this one. */
int record_filter_add(struct record_request *q, const char *text)
{
    char alone[POSIXTRACE_EXPRESSION_MAX + 1];

    q->filters = tool_grow(q->filters, q->filter_count + 1, sizeof *q->filters);
    q->filters[q->filter_count++] = text;
    return make(&text, 1, alone);
}

int record_filter_make(struct record_request *q)
{
    if (q->filter_count == 0)
        return EXIT_DONE;
    q->expression = tool_grow(NULL, POSIXTRACE_EXPRESSION_MAX + 1, 1);
    return make(q->filters, q->filter_count, q->expression);
}

int record_filter_begin(const struct recording *r, const struct record_request *q)
{
    return q->expression ? posixtrace_set_expression(r->trid, q->expression, NULL) : 0;
}
