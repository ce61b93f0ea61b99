/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Expressions over events: which ones are meant, in words.
 *
 *     group "rkh.sma" and ao == 0x1234
 *     event "order*" and (price >= 100 or symbol == "ABC") and not tid 4711
 *
 * posixtrace-filter(5) is the language.  An expression looks at the type's name, at
 * process, thread and length, and at fields (posixtrace/typed.h).  It is compiled once,
 * and evaluated without allocation.
 */
#ifndef POSIXTRACE_FILTER_H
#define POSIXTRACE_FILTER_H

#include <posixtrace/event.h>
#include <posixtrace/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POSIXTRACE_EXPRESSION_MAX 2047   /* bytes of one, without the final NUL */

/* Never changed: threads may share one. */
typedef struct posixtrace_expression posixtrace_expression_t;

struct posixtrace_expression_fault {
    size_t column;            /* in bytes, from 1 */
    char   text[120];
};

/*
 * To be freed.  fault may be NULL.
 *
 * EINVAL        a NULL argument, or not an expression: *fault says where and why
 * ENAMETOOLONG  longer than POSIXTRACE_EXPRESSION_MAX
 * ENOMEM
 */
int posixtrace_expression_parse(const char *text, posixtrace_expression_t **expression,
                                struct posixtrace_expression_fault *fault);
void posixtrace_expression_free(posixtrace_expression_t *expression);   /* or NULL */

/*
 * Is the event meant?  layout: of its type's data, or NULL; a test of a field that the
 * event does not have is false.  Async-signal-safe, thread-safe.
 */
bool posixtrace_expression_match(const posixtrace_expression_t *expression,
                                 const struct posixtrace_event *event,
                                 const posixtrace_layout_t *layout);

/*
 * What is known of all events of a type: 0 none of them is meant, 1 all are, -1 it depends
 * on the event.  Async-signal-safe, thread-safe.
 */
int posixtrace_expression_decide(const posixtrace_expression_t *expression, const char *event_name,
                                 const posixtrace_layout_t *layout);

/* Does it look at fields? */
bool posixtrace_expression_needs_fields(const posixtrace_expression_t *expression);

#ifdef __cplusplus
}
#endif
#endif
