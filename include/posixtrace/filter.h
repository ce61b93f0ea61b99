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
 *
 * Functions return 0 or an error number unless they say otherwise.  They are thread-safe, and
 * async-signal-safe only where they say so.
 * An expression belongs to the caller, who frees it; a text in a fault is in the structure.
 */
#ifndef POSIXTRACE_FILTER_H
#define POSIXTRACE_FILTER_H

#include <posixtrace/event.h>
#include <posixtrace/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POSIXTRACE_EXPRESSION_MAX 2047 /* bytes of one, without the final NUL */

/* Never changed: threads may share one. */
typedef struct posixtrace_expression posixtrace_expression_t;

struct posixtrace_expression_fault {
    size_t column;  /* in bytes, from 1 */
    char text[120]; /* without control characters */
};

/*
 * Compiles text.  The caller frees *expression with posixtrace_expression_free().  fault may be
 * NULL.
 *
 * EINVAL        a NULL argument, or not an expression: *fault has the place and the reason
 * ENAMETOOLONG  longer than POSIXTRACE_EXPRESSION_MAX
 * ENOMEM
 */
int posixtrace_expression_parse(const char *text, posixtrace_expression_t **expression,
                                struct posixtrace_expression_fault *fault);
void posixtrace_expression_free(posixtrace_expression_t *expression); /* or NULL */

/*
 * Makes the text of one expression from several patterns, as those of posixtrace record --filter:
 * it is true for events that match any of them, and none that begins with "!".  Each is short for
 * `event "PATTERN"`, or, if it has the signs of an expression (posixtrace-filter(5)), an
 * expression.  count 0: "".
 *
 * expression has room for size bytes; POSIXTRACE_EXPRESSION_MAX + 1 are always enough.  fault may
 * be NULL; its column is in the first wrong pattern, or 0: together they are too long.
 *
 * EINVAL        a NULL argument, or size 0; a pattern is empty, or not an expression; nested
 *               too deep
 * ERANGE        the text and its NUL are longer than size; nothing is stored
 * ENAMETOOLONG  longer than POSIXTRACE_EXPRESSION_MAX as an expression
 * ENOMEM
 */
int posixtrace_expression_from_patterns(const char *const *patterns, size_t count, char *expression,
                                        size_t size, struct posixtrace_expression_fault *fault);

/*
 * Does the event match?  layout: of its type's data, or NULL; a test of a field that the
 * event does not have is false.  Async-signal-safe, thread-safe.
 */
bool posixtrace_expression_match(const posixtrace_expression_t *expression,
                                 const struct posixtrace_event *event,
                                 const posixtrace_layout_t *layout);

/*
 * The same for an event of trid, a stream of any kind, whose descriptions the library knows.
 * false also where trid is not a stream, an argument is NULL, or there is no memory.
 * Thread-safe, not async-signal-safe.
 */
bool posixtrace_event_match(trace_id_t trid, const struct posixtrace_event *event,
                            const posixtrace_expression_t *expression);

/*
 * Decides for all events of a type at once: 0 none of them matches, 1 all do, -1 it depends
 * on the event.  Async-signal-safe, thread-safe.
 */
int posixtrace_expression_decide(const posixtrace_expression_t *expression, const char *event_name,
                                 const posixtrace_layout_t *layout);

/* Does it look at fields?  Async-signal-safe. */
bool posixtrace_expression_needs_fields(const posixtrace_expression_t *expression);

struct posixtrace_expression_test {
    const char *subject; /* "event", "class", "group", or "field" */
    const char *name;    /* of the field, or to compare with the type's name */
    bool pattern;        /* name is a pattern; never for a field */
};

/*
 * The i-th test of a type's name or of a field, from 0, in no particular order; good as long
 * as the expression.  For a program that warns about names that no event type has.
 * Async-signal-safe, thread-safe.
 *
 * EINVAL  a NULL argument, or size is 0
 * ENOENT  there is none: i counts from 0
 */
int posixtrace_expression_get_test(const posixtrace_expression_t *expression, size_t i,
                                   struct posixtrace_expression_test *test, size_t size);

/* Has the type what the i-th test names: such a name, or such a field, of a kind that the test
 * compares, and a name of its enumeration?  false: there is no such test, too.  layout: as above.
 * Async-signal-safe. */
bool posixtrace_expression_test_suits(const posixtrace_expression_t *expression, size_t i,
                                      const char *event_name, const posixtrace_layout_t *layout);

/* ---- in the traced program ---- */

/*
 * From now on, of the types that posix_trace_set_filter() lets pass, the stream records only events
 * for which the expression is true, in every process that it traces.  NULL or "": all of them
 * again.  For the standard's own events of a stream (posix_trace_start and so on) only the event
 * set decides.
 *
 * If the type's name and the process decide, the expression is not evaluated in the event: a type
 * for which it is never true costs as much as one that no stream wants, and one for which it is
 * always true costs the same as before.  Only other types are slower (docs/benchmarks.md).  A type
 * is decided when a process opens its name; until then its events evaluate the expression.
 *
 * Events that another stream passes on in a chain (posixtrace_chain()) are recorded without a look
 * at this one's expression.
 *
 * The stream uses a second one of the TRACE_SYS_MAX places on each process, until it is shut down.
 * posix_trace_clear() and posix_trace_start() as for the event set.  If the stream runs, it gets a
 * posix_trace_filter event.  Thread-safe, not async-signal-safe.
 *
 * EINVAL        no stream that can be controlled, or not an expression: *fault says where
 * ENAMETOOLONG  longer than POSIXTRACE_EXPRESSION_MAX
 * EAGAIN        no place is left on one of the processes; nothing has changed
 * EBUSY         four threads that were stopped hold all places for filters
 * EACCES, EMFILE, ENFILE, ENOMEM: a process that the running stream traces cannot be reached
 *               (posix_trace_start(3)); nothing has changed
 * ENOMEM, and for an attached stream, see posixtrace_attach(): ENXIO, ENOTSUP
 */
int posixtrace_set_expression(trace_id_t trid, const char *expression,
                              struct posixtrace_expression_fault *fault);

/*
 * The one in force, with its NUL in size bytes; POSIXTRACE_EXPRESSION_MAX + 1 are always enough.
 * "": none.  Thread-safe, not async-signal-safe.
 *
 * EINVAL  a NULL pointer, size 0, or no such stream
 * ERANGE  it is longer; nothing is stored
 */
int posixtrace_get_expression(trace_id_t trid, char *expression, size_t size);

/* Whether the event is to be recorded. */
typedef bool (*posixtrace_handler_t)(void *context, const struct posixtrace_event *event);

/*
 * Sets a function of the program that decides about each event of a type, after event set and
 * expression have let it pass; event 0: for all types without a function of their own.  It works in
 * the calling process and its forked children only, not after exec; the stream may be any that
 * traces the process.  function NULL: removes it.
 *
 * The function runs in the thread that records the event, also in signal handlers if they record
 * events; then it has to be async-signal-safe.  event->ns is 0, because the event has no time yet.
 * Events that the function records itself are nested in this one; those nested four levels deep are
 * lost, and counted.  When this call returns, the previous function is not running any more, unless
 * a thread has been in it for a second.  It is not asked about events that another stream passes on
 * in a chain (posixtrace_chain()).  Thread-safe, not async-signal-safe.
 *
 * EINVAL  no stream that can be controlled, or no event type that is open and may have one
 * ESRCH   the stream does not trace the calling process
 * EAGAIN  no place is left on the process, as above
 * ENOMEM, EMFILE, ENFILE, and for an attached stream ENXIO, ENOTSUP
 */
int posixtrace_set_handler(trace_id_t trid, trace_event_id_t event, posixtrace_handler_t function,
                           void *context);

#ifdef __cplusplus
}
#endif
#endif
