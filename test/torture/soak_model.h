/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What the soak knows of its threads and streams, and what must be read then.
 */
#ifndef TORTURE_SOAK_MODEL_H
#define TORTURE_SOAK_MODEL_H

#include "torture/audit.h"
#include "torture/books.h"

/* A thread or child that generates, shared with children.  begun - returned is the event
 * that is being generated. */
struct soak_lane {
    _Atomic uint64_t begun, returned;
    bool child;
};

extern struct soak_lane *soak_lane;
extern pid_t *soak_tid;     /* of each lane; shared with children */
extern uint32_t soak_lanes; /* used so far */

/* Of one who reads: what he must find, at least and at most. */
struct soak_view {
    const char *name;
    trace_id_t trid;
    bool is;
    uint64_t least[BOOKS_LANES], most[BOOKS_LANES];
    uint64_t open_least[BOOKS_LANES], open_most[BOOKS_LANES]; /* where the open window began */
    uint64_t lost_before[BOOKS_LANES], sum_before;            /* by a clear */
    uint64_t others; /* of threads not known any more when he came */
    uint64_t read[BOOKS_LANES], next[BOOKS_LANES];
    int64_t last_ns;
    uint64_t backward; /* times that were less than the one before */
};

struct soak_stream {
    struct soak_view owner, onlooker;
    bool is, running, filtered, inherited;
    int policy, fd;
    uint64_t stops; /* so far */
};

/* How far each lane is. */
struct soak_moment {
    uint64_t begun[BOOKS_LANES], returned[BOOKS_LANES];
};

void soak_note(struct soak_moment *m);

/* Are the lane's events part of it? */
bool soak_counts(const struct soak_stream *s, uint32_t i);

/* A call between two moments made was of now. */
void soak_change(const struct soak_stream *was, struct soak_stream *now,
                 const struct soak_moment *from, const struct soak_moment *to);

/* Is what was read and lost at least what was generated? */
bool soak_has_all(const struct soak_stream *s, const struct soak_view *v);
/* The threads rest: demands the bounds of what was read and lost; at_end: nothing is left to
 * be read. */
void soak_check_books(const struct soak_stream *s, const struct soak_view *v, bool at_end);

/* At most so many events; demands that they are whole and in order. */
void soak_read_some(struct soak_view *v, uint64_t at_most);

/* Forgets what there was; the threads rest. */
void soak_begin_again(struct soak_view *v);

#endif
