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
 * EINVAL        a NULL argument, or not an expression: *fault says where and why
 * ENAMETOOLONG  longer than POSIXTRACE_EXPRESSION_MAX
 * ENOMEM
 */
int posixtrace_expression_parse(const char *text, posixtrace_expression_t **expression,
                                struct posixtrace_expression_fault *fault);
void posixtrace_expression_free(posixtrace_expression_t *expression); /* or NULL */

/*
 * The text of one expression that means what several patterns do together, as those of
 * posixtrace record --filter: any of them, and none that begins with "!".  Each is short for
 * `event "PATTERN"`, or, if it has what only expressions have (posixtrace-filter(5)), an
 * expression.  count 0: "".
 *
 * expression has room for size bytes; POSIXTRACE_EXPRESSION_MAX + 1 are always enough.  fault
 * may be NULL; its column is one of the first pattern that is wrong, or 0: they are too much
 * together.
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
    const char *name;    /* the field's, or what the type's name is compared with */
    bool pattern;        /* it is a pattern; never of a field */
};

/*
 * The i-th test of a type's name or of a field, from 0, in no particular order; good as long
 * as the expression.  For a program that warns about names that no event type has.
 * Async-signal-safe, thread-safe.
 *
 * EINVAL  a NULL argument, or size is 0
 * ENOENT  there is none: i counts from 0
 */
int posixtrace_expression_test(const posixtrace_expression_t *expression, size_t i,
                               struct posixtrace_expression_test *test, size_t size);

/* Has the type what the i-th test names: such a name, or such a field?  false: there is no
 * such test, too.  layout: as above.  Async-signal-safe. */
bool posixtrace_expression_test_suits(const posixtrace_expression_t *expression, size_t i,
                                      const char *event_name, const posixtrace_layout_t *layout);

/* ---- in the traced program ---- */

/*
 * Records from now on only those events, of the types that posix_trace_set_filter() lets
 * pass, that the expression means; of every process that the stream traces.  NULL or "":
 * all of them again.  The standard's own events of a stream (posix_trace_start and so on)
 * are its event set's alone.
 *
 * What the type's name and the process decide is not looked at in the event: a type that is
 * never meant costs what one costs that no stream wants, and one that always is what
 * it cost before.  Only types whose events have to be looked at are slower (docs/benchmarks.md).
 * A name is decided when a process opens it; until then its events are looked at.
 *
 * For that the stream takes a second one of the TRACE_SYS_MAX places on each process, until it
 * is shut down.  posix_trace_clear() and posix_trace_start() as for the event set.  If the
 * stream runs, it gets a posix_trace_filter event.  Thread-safe, not async-signal-safe.
 *
 * EINVAL        no stream that can be controlled, or not an expression: *fault says where
 * ENAMETOOLONG  longer than POSIXTRACE_EXPRESSION_MAX
 * EAGAIN        no place is left on one of the processes; nothing has changed
 * EBUSY         four threads that were stopped hold all places for filters
 * EACCES, EMFILE, ENFILE, ENOMEM: a process that the running stream traces cannot be reached
 *               (posix_trace_start(3)); nothing has changed
 * ENOMEM, and of an attached stream as posixtrace_attach() tells: ENXIO, ENOTSUP
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
 * Asks a function of the program's about each event of a type, last, when event set and
 * expression have let it pass; event 0: about all types that have none of their own.
 * In the calling process only, and in what it forks (not in what it executes); the stream
 * may be any that traces it.  function NULL: no longer.
 *
 * The function runs where the event is recorded: in any thread, and in signal handlers if they
 * record events; it has to be as safe as its surroundings.  event->ns is 0: the event has
 * no time yet.  Events that it records itself are nested in this one; four levels deep
 * they are lost, and counted.  When this returns the one before is not running any more, unless
 * a thread has been in it for a second.  Thread-safe, not async-signal-safe.
 *
 * EINVAL  no stream that can be controlled, or no event type that is open and may have one
 * ESRCH   the stream does not trace the calling process
 * EAGAIN  no place is left on the process, as above
 * ENOMEM, and of an attached stream ENXIO, ENOTSUP
 */
int posixtrace_set_handler(trace_id_t trid, trace_event_id_t event, posixtrace_handler_t function,
                           void *context);

#ifdef __cplusplus
}
#endif
#endif
