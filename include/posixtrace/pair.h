/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Pairs of events with the same key, whichever thread, process or stream they are of: a message
 * that one process sends and another receives.  The streams are read in one order of time; losses
 * of each are taken into account.  docs/metrics.md is the guide.
 *
 * Link with -lposixtrace-analysis.  A run belongs to one thread at a time.  Nothing here is
 * async-signal-safe.  Functions of type int return 0 or an error number; objects that they store
 * are the caller's, to be freed.  All times are nanoseconds, those of events since 1970.
 */
#ifndef POSIXTRACE_PAIR_H
#define POSIXTRACE_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pairs ---- */

enum { POSIXTRACE_PAIR_FIELDS = 4 };

typedef struct posixtrace_pair posixtrace_pair_t;

struct posixtrace_pair_fault {
    size_t column; /* of the text, in bytes, from 1; 0: of a stream, */
    size_t stream; /* by its place; */
    size_t other;  /* and of another one that does not agree; SIZE_MAX: none */
    char text[400];
};

/*
 * "send by id..recv by id": from an event send to the next event recv whose field id has the same
 * value.  Several fields are "send by host,id..recv by from,id".  A name with blanks, commas or
 * dots is in quotes, "a name", with \" and \\ inside.
 *
 * EINVAL  a NULL argument, or the text is wrong: *fault, if not NULL, has the reason
 * ENOMEM
 */
int posixtrace_pair_parse(const char *text, posixtrace_pair_t **pair,
                          struct posixtrace_pair_fault *fault);
void posixtrace_pair_free(posixtrace_pair_t *pair); /* or NULL */
/* The name of its first event (end: false), and of its last one. */
const char *posixtrace_pair_event(const posixtrace_pair_t *pair, bool end);
/* The field of that event; i from 0, NULL after the last. */
const char *posixtrace_pair_field(const posixtrace_pair_t *pair, bool end, size_t i);

/* ---- several pairs in one pass over several streams ---- */

typedef struct posixtrace_pair_run posixtrace_pair_run_t;

struct posixtrace_pair_place {
    int64_t ns;
    uint64_t thread_id;
    size_t stream; /* its place in trids; SIZE_MAX: the event was lost, or is not certain */
    pid_t pid, tid;
};

/*
 * A measurement; or, with unknown set, a pair that may have been and was not longer than length_ns:
 * events were lost that can belong to it.  POSIXTRACE_NO_BOUND of posixtrace/metrics.h: nothing
 * tells how long it was.
 */
struct posixtrace_pair_measurement {
    size_t pair; /* its place among those of the run */
    struct posixtrace_pair_place begin, end;
    int64_t length_ns;
    bool unknown;
    bool is_number;  /* the key is one number: */
    uint64_t number; /* signed ones cast */
};

/* Counts of what could not be measured, for one pair. */
struct posixtrace_pair_doubt {
    uint64_t unknown;    /* as above */
    uint64_t unfinished; /* first events without a last one, though nothing was lost */
    uint64_t restarted;  /* first events with the key of one that waited for its last one */
    uint64_t unmatched;  /* last events without a first one */
    uint64_t reversed;   /* last events before their first one: the clocks of two streams differ */
    int64_t reversed_ns; /* by so much at most */
    uint64_t keyless;    /* events whose data does not have the fields */
    int64_t at_most_ns;  /* nothing unknown lasted longer than that */
};

/*
 * measured is called for each measurement, in the order in which they end, and must not read trids.
 * A result other than 0 ends the run.  trids must name streams of different logs, each once.
 * Of pre-recorded streams the run starts with the first event.
 *
 * EINVAL  a NULL argument, no pair, no stream, or a trid that names none; or the fields of a pair
 *         are not in the descriptions of its events, or are no numbers and texts, or numbers in one
 *         and texts in another: *fault, if not NULL, names them
 * ENOMEM
 */
int posixtrace_pair_run_create(
    const posixtrace_pair_t *const *pairs, size_t pair_count, const trace_id_t *trids, size_t count,
    int (*measured)(void *context, const struct posixtrace_pair_measurement *m), void *context,
    posixtrace_pair_run_t **run, struct posixtrace_pair_fault *fault);
/* Pairs are reported only if wants says so of their first event, which has no name; unknown ones
 * always.  Before the first call of posixtrace_pair_run_take(). */
struct posixtrace_event;
void posixtrace_pair_run_select(posixtrace_pair_run_t *run,
                                bool (*wants)(void *context, size_t stream,
                                              const struct posixtrace_event *begin),
                                void *context);
/*
 * Of a pair whose last event is before its first one, by the clocks of two streams, reversed is
 * called when its first event comes, with the context of the run; length_ns is below 0, with
 * unknown, too.  False, as without it: the pair is counted as reversed.  True: it is not, since
 * the caller knows that the clocks differ by so much, or does not want it.  *stop, which is 0,
 * ends the run if it is set, as a result of measured.  Before the first call of
 * posixtrace_pair_run_take().
 */
void posixtrace_pair_run_reversed(posixtrace_pair_run_t *run,
                                  bool (*reversed)(void *context,
                                                   const struct posixtrace_pair_measurement *m,
                                                   int *stop));
/*
 * Takes at least that many events (0: all), if there are so many.  *unavailable is not 0 at the end
 * of all streams.  Returns as posixtrace_next_whole_events(), or the result of measured.
 *
 * EINVAL  a NULL argument; or as posixtrace_pair_run_create(), of a type that was not known then
 */
int posixtrace_pair_run_take(posixtrace_pair_run_t *run, uint64_t events, int *unavailable);
/* Ends the run: what waits for its last event is unfinished, or unknown.  0, EINVAL, ENOMEM, or the
 * result of measured, now or before. */
int posixtrace_pair_run_end(posixtrace_pair_run_t *run);
/* Events that were read. */
uint64_t posixtrace_pair_run_events(const posixtrace_pair_run_t *run);
void posixtrace_pair_run_doubt(const posixtrace_pair_run_t *run, size_t pair,
                               struct posixtrace_pair_doubt *doubt, size_t size);
/* Why posixtrace_pair_run_take() returned EINVAL. */
const struct posixtrace_pair_fault *posixtrace_pair_run_fault(const posixtrace_pair_run_t *run);
void posixtrace_pair_run_free(posixtrace_pair_run_t *run); /* or NULL */

#ifdef __cplusplus
}
#endif
#endif
