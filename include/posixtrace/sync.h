/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One clock for the logs of several hosts.  Messages between hosts bound the difference of their
 * clocks: none is received before it was sent.  From messages in both directions follow offset and
 * drift of each clock, with intervals; where there are none, from the kernel's bound of the error
 * of CLOCK_REALTIME.  docs/sync.md is the guide, 'posixtrace sync' finds the clocks, and
 * --sync=FILE of other verbs uses them.
 *
 * Link with -lposixtrace-analysis.  Functions of type int return 0 or an error number.  An object
 * does not change once it is made, so threads may share it.  Nothing here is async-signal-safe.
 */
#ifndef POSIXTRACE_SYNC_H
#define POSIXTRACE_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../trace.h"

#ifdef __cplusplus
extern "C" {
/* A function may have the name of a struct, whose constructor it hides. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/* The clocks of hosts.  A clock is that of a host since its boot, of one kind
 * (enum posixtrace_clock); where a log has neither name nor boot id of its host, that of the
  * log. */
typedef struct posixtrace_sync posixtrace_sync_t;

struct posixtrace_sync_fault {
    size_t line; /* from 1; 0: none */
    char text[240];
};

/*
 * Reads what posixtrace_sync_write() has written, from fd (not consumed) to its end.  fault may be
 * NULL.
 *
 * EINVAL  sync is NULL
 * EILSEQ  it is no such file, or it is damaged: *fault has the line and the reason
 * ENOMEM; EIO and others from read(2)
 */
int posixtrace_sync_read(int fd, posixtrace_sync_t **sync, struct posixtrace_sync_fault *fault);
int posixtrace_sync_write(const posixtrace_sync_t *sync, int fd);
void posixtrace_sync_free(posixtrace_sync_t *sync); /* or NULL */

/* Which clock a log has, by host, boot id and kind: an index from 0.  EINVAL: trid is not a
 * pre-recorded stream; ENOENT: none. */
int posixtrace_sync_find(const posixtrace_sync_t *sync, trace_id_t trid, size_t *index);

/*
 * From the next event on, all times that are read from trid are those of the common clock, as by
 * posixtrace_set_clock_map() of posixtrace/clock.h, whose errors it returns.  ENOENT as above.
 */
int posixtrace_sync_apply(const posixtrace_sync_t *sync, trace_id_t trid);

/* From where the interval of a clock is known. */
enum posixtrace_sync_source {
    POSIXTRACE_SYNC_REFERENCE, /* it is the common clock */
    POSIXTRACE_SYNC_MESSAGES,
    POSIXTRACE_SYNC_KERNEL, /* at least one end is known only by the kernel's bounds */
    POSIXTRACE_SYNC_UNKNOWN /* at least one end is not known */
};

struct posixtrace_sync_host {
    const char *host; /* "" if unknown */
    uint8_t boot_id[16];
    int clock;                 /* enum posixtrace_clock */
    unsigned source;           /* enum posixtrace_sync_source */
    int64_t first_ns, last_ns; /* the common clock, where the logs begin and end */
    int64_t offset_ns; /* the common clock less the host's own CLOCK_REALTIME, in the middle */
    int64_t drift_ppb; /* by how much the common clock runs faster than the host's */
};

/* EINVAL; ENOENT: there is no clock of that index. */
int posixtrace_sync_host(const posixtrace_sync_t *sync, size_t index,
                         struct posixtrace_sync_host *host, size_t size);

/* least <= value <= most.  INT64_MIN, INT64_MAX: no bound is known. */
struct posixtrace_interval {
    int64_t least_ns, most_ns;
};

/*
 * How far the true time, by the common clock, of an event of that clock is from the time ns that it
 * has after posixtrace_sync_apply(): within the interval, which contains 0.
 */
int posixtrace_sync_error(const posixtrace_sync_t *sync, size_t index, int64_t ns,
                          struct posixtrace_interval *error);

/* The same for all times from from_ns to to_ns: the interval has that of each of them.
 * EINVAL also: from_ns is later than to_ns. */
int posixtrace_sync_error_within(const posixtrace_sync_t *sync, size_t index, int64_t from_ns,
                                 int64_t to_ns, struct posixtrace_interval *error);

/*
 * The time from an event of one clock to an event of another (or the same), both as after
 * posixtrace_sync_apply(): the true difference to_ns - from_ns is within the interval.  Of one
 * clock only the drift is uncertain.
 *
 * EINVAL  a NULL argument
 * ENOENT  there is no clock of that index
 */
int posixtrace_sync_difference(const posixtrace_sync_t *sync, size_t from, int64_t from_ns,
                               size_t to, int64_t to_ns, struct posixtrace_interval *difference);

/* ---- finding the clocks ---- */

/* Events that belong together: a message with an id, sent by one host, received by others. */
struct posixtrace_sync_pair {
    const char *send, *send_id; /* the name of an event type, and of its field */
    const char *receive, *receive_id;
};

struct posixtrace_sync_options {
    const struct posixtrace_sync_pair *pairs;
    size_t pair_count;
    const char *reference; /* name of the host whose clock is the common one; NULL: the best */
    /* Called now and then with the number of events read, or NULL. */
    void (*progress)(void *context, uint64_t events);
    void *context;
};

/* What was found between two clocks, and why there is no solution. */
struct posixtrace_sync_link {
    size_t from, to;   /* indexes of clocks */
    uint64_t messages; /* in that direction */
};
struct posixtrace_sync_conflict {
    size_t from, to;
    int64_t sent_ns, received_ns; /* CLOCK_REALTIME of the two hosts, without steps */
    bool kernel;                  /* not a message: the kernel's bound of the host from, or to */
};

struct posixtrace_sync_summary {
    uint64_t events; /* read */
    uint64_t sends, receives;
    uint64_t messages;   /* with both ends, of different clocks */
    uint64_t same_clock; /* with both ends on one */
    uint64_t lonely;     /* ids with one end only */
    uint64_t repeated;   /* ids that were sent or received several times */
    uint64_t ambiguous;  /* ids that several clocks have sent: left out */
    uint64_t one_of;     /* of so many ids one was taken; 1: all */
    unsigned pieces;     /* of constant drift in which the time was divided; 1: it is constant */
    bool kernel_dropped; /* the kernel's bounds contradict, and were not used */
};

/*
 * Reads the logs, from their beginning, and finds their clocks.  The logs' own times are in force
 * again after it.  *sync also where the clocks contradict (EDOM), for the functions below only.
 *
 * EINVAL  a NULL argument, count or size is 0, a trid is not a pre-recorded stream, or no host has
 *         the name reference
 * EDOM    no clocks fit all messages: posixtrace_sync_conflict() has those that contradict
 * ESPIPE  a log in a pipe
 * E2BIG   more than 64 clocks
 * ENOMEM; EIO and others from read(2)
 */
int posixtrace_sync_create(const trace_id_t *trids, size_t count,
                           const struct posixtrace_sync_options *options, size_t size,
                           posixtrace_sync_t **sync);

/* Of an object that posixtrace_sync_create() has made; else EINVAL.  ENOENT after the last. */
int posixtrace_sync_summary(const posixtrace_sync_t *sync, struct posixtrace_sync_summary *summary,
                            size_t size);
int posixtrace_sync_link(const posixtrace_sync_t *sync, size_t index,
                         struct posixtrace_sync_link *link, size_t size);
int posixtrace_sync_conflict(const posixtrace_sync_t *sync, size_t index,
                             struct posixtrace_sync_conflict *conflict, size_t size);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif
#endif
