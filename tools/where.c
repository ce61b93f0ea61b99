/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See where.h. */
#include "where.h"

#include <errno.h>
#include <string.h>

#include "tool.h"

int where_set(struct where *w, const char *option, const char *text)
{
    struct posixtrace_expression_fault fault;
    int error;

    if (w->expression)
        return tool_usage("option '--%s' twice; 'and' connects two expressions", option);
    error = posixtrace_expression_parse(text, &w->expression, &fault);
    if (error == EINVAL)
        return tool_usage("option '--%s', column %zu: %s; posixtrace-filter(5) describes "
                          "expressions", option, fault.column, unquoted(fault.text));
    if (error)
        return tool_usage("option '--%s': %s", option, strerror(error));
    return EXIT_DONE;
}

void where_free(struct where *w)
{
    posixtrace_expression_free(w->expression);
    w->expression = NULL;
}

/* A type may be described later, while a stream is followed: only what does not depend
 * on fields is remembered. */
int where_settled(struct where *w, const struct posixtrace_event *e)
{
    signed char *known;
    int value;

    if (!w->expression)
        return 1;
    if (e->id >= WHERE_TYPES || posixtrace_expression_needs_fields(w->expression))
        return -1;
    known = &w->known[e->id];
    if (*known == 0) {
        value = posixtrace_expression_decide(w->expression, e->name, NULL);
        *known = value == 0 ? 1 : value == 1 ? 2 : 3;
    }
    return *known == 3 ? -1 : *known - 1;
}

bool where_wants(const struct where *w, const struct posixtrace_event *e,
                 const posixtrace_layout_t *layout)
{
    return posixtrace_expression_match(w->expression, e, layout);
}
