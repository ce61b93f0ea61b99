/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* posixtrace/filter.h: expressions over events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "api/guard.h"
#include "api/sized.h"
#include "control/control.h"
#include "control/set_callback.h"
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

PT_PUBLIC int posixtrace_expression_from_patterns(const char *const *patterns, size_t count,
                                                  char *expression, size_t size,
                                                  struct posixtrace_expression_fault *fault)
{
    char text[POSIXTRACE_EXPRESSION_MAX + 1];
    int r;

    if (fault)
        *fault = (struct posixtrace_expression_fault){ 0 };
    if (!expression || size == 0 || (!patterns && count > 0))
        return EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!patterns[i])
            return EINVAL;
    r = pt_expression_from_patterns(patterns, count, text, fault);
    return r < 0 ? -r : -pt_sized_text(expression, size, text);
}

PT_PUBLIC bool posixtrace_expression_match(const posixtrace_expression_t *expression,
                                           const struct posixtrace_event *event,
                                           const posixtrace_layout_t *layout)
{
    struct pt_subject_event s = { .name = event->name, .event = event, .layout = layout };

    return pt_expression_value(expression, &s) == 1;
}

PT_PUBLIC bool posixtrace_event_match(trace_id_t trid, const struct posixtrace_event *event,
                                      const posixtrace_expression_t *expression)
{
    const struct posixtrace_layout *layout = NULL;
    struct pt_guard g;
    int r = 0;

    if (!event || !expression || !pt_guard_enter(&g, trid, PT_STREAM_ANY))
        return false;
    if (expression->fields)
        r = pt_stream_layout(g.s, event->id, &layout);
    r = r == 0 && posixtrace_expression_match(expression, event, layout);
    pt_guard_leave(&g, 0);
    return r;
}

PT_PUBLIC int posixtrace_expression_decide(const posixtrace_expression_t *expression,
                                           const char *event_name,
                                           const posixtrace_layout_t *layout)
{
    struct pt_subject_event s = { .name = event_name, .layout = layout };

    return pt_expression_value(expression, &s);
}

PT_PUBLIC bool posixtrace_expression_needs_fields(const posixtrace_expression_t *expression)
{
    return expression->fields;
}

PT_PUBLIC int posixtrace_expression_get_test(const posixtrace_expression_t *expression, size_t i,
                                             struct posixtrace_expression_test *test, size_t size)
{
    static const char *const subjects[] = { "event", "class", "group" };
    struct posixtrace_expression_test t;
    const struct pt_node *n;
    bool field;

    if (!expression || !test || size == 0)
        return EINVAL;
    n = pt_expression_test(expression, i);
    if (!n)
        return ENOENT;
    field = n->subject == PT_SUBJECT_FIELD;
    t = (struct posixtrace_expression_test){
        .subject = field ? "field" : subjects[n->subject],
        .name = pt_expression_text(expression, field ? n->name : n->string),
        .pattern = !field && n->relation == PT_LIKE,
    };
    pt_sized_copy(test, size, &t, sizeof t);
    return 0;
}

PT_PUBLIC bool posixtrace_expression_test_suits(const posixtrace_expression_t *expression, size_t i,
                                                const char *event_name,
                                                const posixtrace_layout_t *layout)
{
    const struct pt_node *n = pt_expression_test(expression, i);

    return n && pt_expression_test_suits(expression, n, event_name, layout);
}

PT_PUBLIC int posixtrace_set_expression(trace_id_t trid, const char *expression,
                                        struct posixtrace_expression_fault *fault)
{
    posixtrace_expression_t *parsed = NULL;
    struct pt_guard g;
    int r = 0;

    if (fault)
        *fault = (struct posixtrace_expression_fault){ 0 };
    if (!expression)
        expression = "";
    if (expression[0])
        r = -pt_expression_parse(expression, &parsed, fault);
    free(parsed);
    if (r != 0)
        return r;
    if (!pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    return pt_guard_leave(&g, pt_stream_set_expression(g.s, expression, pt_caller()));
}

PT_PUBLIC int posixtrace_get_expression(trace_id_t trid, char *expression, size_t size)
{
    pt_u64 text[PT_FILTER_TEXT / 8];
    struct pt_guard g;

    if (!expression || size == 0 || !pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    pt_seg_expression(g.s->seg->h, (char *)text);
    return pt_guard_leave(&g, pt_sized_text(expression, size, (const char *)text));
}

static bool has_type(struct pt_stream *s, trace_event_id_t event)
{
    bool has;

    pthread_mutex_lock(&s->reading);
    has = pt_stream_name(s, event) || pt_event_system_name(event);
    pthread_mutex_unlock(&s->reading);
    return has;
}

PT_PUBLIC int posixtrace_set_handler(trace_id_t trid, trace_event_id_t event,
                                     posixtrace_handler_t function, void *context)
{
    struct pt_guard g;

    if (event >= PT_ID_MAX || (event && event <= PT_ID_SYSTEM_LAST) ||
        !pt_guard_enter(&g, trid, PT_LIVING_STREAMS))
        return EINVAL;
    if (event && !has_type(g.s, event))
        return pt_guard_leave(&g, -EINVAL);
    return pt_guard_leave(&g, pt_filter_callback_set(g.s, event, function, context));
}
