/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Trace ids under threads that look them up while others end their streams: a thread that gets a
 * stream gets the one of its trid, alive until it is put back, and a reused handle is never taken
 * for the old one.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/atomics.h"
#include "stream/handle.h"

enum { PLACES = 6, LOOKERS = 4, CLOSERS = 2, FULL = 20000, MEETINGS = 10 };

/* A trid and what its stream must look like; kept for ever. */
struct pair {
    trace_id_t trid;
    int mark;
    struct pair *older;
};

static struct pair *place[PLACES];
static struct pair *all;
static uint32_t done, marks, found, missed;
/* Short runs are those under valgrind, which runs one thread at a time and switches when a thread
 * yields: without that, the threads that look up would get nearly all the time. */
static bool short_run;

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void fail(const char *what)
{
    fprintf(stderr, "test_handle: %s\n", what);
    exit(1);
}

static struct pair *open_one(void)
{
    struct pt_stream *s = calloc(1, sizeof *s);
    struct pair *p = calloc(1, sizeof *p);

    if (!s || !p)
        fail("no memory");
    s->kind = PT_STREAM_RECORDED;
    s->instance = pt_self_instance();
    s->file.fd = p->mark = (int)pt_add_seqcst(&marks, 1u) + 1;
    if (pt_handle_add(s, &p->trid) != 0)
        fail("no handle");
    p->older = pt_load_relaxed(&all);
    while (!pt_cas_seqcst(&all, &p->older, p))
        ;
    return p;
}

static void close_one(struct pair *p)
{
    struct pt_stream *s = pt_handle_remove(p->trid, PT_STREAM_RECORDED);

    if (!s || s->file.fd != p->mark)
        fail("removed another stream");
    if (pt_handle_get(p->trid, PT_STREAM_RECORDED))
        fail("found after it was removed");
    s->file.fd = -1;
    free(s);
}

static void *look(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    struct pair *p;

    while (!pt_load_seqcst(&done)) {
        if (short_run)
            sched_yield();
        p = pt_load_seqcst(&place[next_random(&seed) % PLACES]);
        /* Often the same several times: the short way. */
        for (unsigned i = next_random(&seed) % 4; p && i < 4; i++) {
            struct pt_stream *s = pt_handle_get(p->trid, PT_STREAM_RECORDED);

            if (s && s->file.fd != p->mark)
                fail("got another stream, or one that is gone");
            if (s)
                pt_handle_put(s);
            pt_add_relaxed(s ? &found : &missed, 1u);
        }
    }
    return NULL;
}

/* They have a processor, too, and find a stream. */
static void wait_for_lookers(void)
{
    uint32_t before = pt_load_seqcst(&found);

    while (pt_load_seqcst(&found) == before)
        sched_yield();
}

static void *reopen(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg, rounds = FULL;

    if (short_run)
        rounds /= 100;
    for (unsigned i = 0; i < rounds; i++) {
        struct pair *fresh = open_one();
        struct pair *old = pt_exchange_seqcst(&place[next_random(&seed) % PLACES], fresh);

        if (old)
            close_one(old);
        if (i % (rounds / MEETINGS) == 0)
            wait_for_lookers();
    }
    return NULL;
}

int main(void)
{
    pthread_t lookers[LOOKERS], closers[CLOSERS];
    struct pair *p;

    short_run = getenv("POSIXTRACE_TEST_SHORT") != NULL;
    for (uintptr_t i = 0; i < LOOKERS; i++)
        if (pthread_create(&lookers[i], NULL, look, (void *)(i + 1)) != 0)
            fail("no thread");
    for (uintptr_t i = 0; i < CLOSERS; i++)
        if (pthread_create(&closers[i], NULL, reopen, (void *)(i + 100)) != 0)
            fail("no thread");
    for (unsigned i = 0; i < CLOSERS; i++)
        pthread_join(closers[i], NULL);
    pt_store_seqcst(&done, 1u);
    for (unsigned i = 0; i < LOOKERS; i++)
        pthread_join(lookers[i], NULL);
    for (unsigned i = 0; i < PLACES; i++)
        if (place[i])
            close_one(place[i]);
    printf("%u streams, found %u times, gone %u times\n", marks, found, missed);
    while ((p = all) != NULL) {
        all = p->older;
        if (pt_handle_get(p->trid, PT_STREAM_ANY))
            fail("an old trid is good again");
        free(p);
    }
    return found > 0 ? 0 : 1;
}
