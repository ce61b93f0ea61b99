/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads that hold a chunk each: every one traces an event into the running streams and
 * then stands still, so that what it wrote to is not given back, until it is let go.
 */
#ifndef SUPPORT_CHUNK_HOLDERS_H
#define SUPPORT_CHUNK_HOLDERS_H

#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <trace.h>

enum { CHUNK_HOLDERS_MAX = 64 };

struct chunk_holders {
    trace_event_id_t type;
    uint32_t count;
    pthread_t thread[CHUNK_HOLDERS_MAX];
    pthread_barrier_t held, let_go;
};

static inline void *hold_a_chunk(void *holders)
{
    struct chunk_holders *h = holders;

    posix_trace_event(h->type, NULL, 0);
    pthread_barrier_wait(&h->held);
    pthread_barrier_wait(&h->let_go);
    return NULL;
}

/* Returns when all have traced. */
static inline void hold_chunks(struct chunk_holders *h, uint32_t count, trace_event_id_t type)
{
    ck_assert_uint_le(count, CHUNK_HOLDERS_MAX);
    h->count = count;
    h->type = type;
    pthread_barrier_init(&h->held, NULL, count + 1);
    pthread_barrier_init(&h->let_go, NULL, count + 1);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&h->thread[i], NULL, hold_a_chunk, h), 0);
    pthread_barrier_wait(&h->held);
}

/* Returns when all have ended. */
static inline void let_chunks_go(struct chunk_holders *h)
{
    pthread_barrier_wait(&h->let_go);
    for (uint32_t i = 0; i < h->count; i++)
        pthread_join(h->thread[i], NULL);
    pthread_barrier_destroy(&h->held);
    pthread_barrier_destroy(&h->let_go);
}

#endif
