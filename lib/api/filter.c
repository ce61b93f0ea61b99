/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/filter.h: expressions over events. */
#include <errno.h>
#include <stdlib.h>
#include "base/atomics.h"
#include "model/expression.h"

PT_PUBLIC int posixtrace_expression_parse(const char *text, posixtrace_expression_t **expression,
                                          struct posixtrace_expression_fault *fault)
{
    if (fault)
        *fault = (struct posixtrace_expression_fault){ 0 };
    return text && expression ? -pt_expression_parse(text, expression, fault) : EINVAL;
}

PT_PUBLIC void posixtrace_expression_free(posixtrace_expression_t *expression)
{
    free(expression);
}

PT_PUBLIC bool posixtrace_expression_match(const posixtrace_expression_t *expression,
                                           const struct posixtrace_event *event,
                                           const posixtrace_layout_t *layout)
{
    struct pt_subject_event s = { event->name, event, layout };

    return pt_expression_value(expression, &s) == 1;
}

PT_PUBLIC int posixtrace_expression_decide(const posixtrace_expression_t *expression,
                                           const char *event_name,
                                           const posixtrace_layout_t *layout)
{
    struct pt_subject_event s = { event_name, NULL, layout };

    return pt_expression_value(expression, &s);
}

PT_PUBLIC bool posixtrace_expression_needs_fields(const posixtrace_expression_t *expression)
{
    return expression->fields;
}
