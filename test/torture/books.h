/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What a stream or a log says of each of some threads, for tests that know what these have
 * generated.  Threads whose slots were used again have books only together: others.
 */
#ifndef TORTURE_BOOKS_H
#define TORTURE_BOOKS_H

#include <stdint.h>
#include <sys/types.h>
#include <posixtrace/info.h>
#include <trace.h>

#define BOOKS_LANES 64u

struct books {
    uint64_t recorded[BOOKS_LANES], lost[BOOKS_LANES];
    uint64_t refused[BOOKS_LANES]; /* of what was lost, what was never stored */
    uint64_t others, others_lost;
    uint64_t sum; /* of all that threads have lost */
    uint64_t all; /* as the stream says it */
};

/* tid: the thread of each lane; 0: none yet. */
void books_take(struct books *b, trace_id_t trid, const pid_t *tid, uint32_t lanes);

#endif
