/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Many threads' first events in a stream, all at once, again and again.
 *
 *   attach [MULTIPLIER]
 *
 * In each round there is a new stream, for which all threads set out from a
 * barrier to trace a few events: all take their places as writers, and their
 * first chunks, at the same time.  The stream must then tell of exactly these
 * threads, with exactly these events, and give all events.
 */
#include <pthread.h>
#include <posixtrace/info.h>
#include "torture/audit.h"

#define THREADS    48u
#define EVENTS     3u /* of a thread in a round */
#define ROUNDS     1500u
#define WATCHDOG_S 380

static pthread_barrier_t begin, end;
static trace_event_id_t event_id;
static unsigned rounds;

static void *trace_in_each_round(void *argument)
{
    uint32_t lane = (uint32_t)(uintptr_t)argument;
    struct payload p;

    for (uint64_t round = 0; round < rounds; round++) {
        pthread_barrier_wait(&begin);
        for (uint64_t i = 0; i < EVENTS; i++) {
            size_t len = payload_make(&p, lane, round * EVENTS + i);

            posix_trace_event(event_id, &p, len);
        }
        pthread_barrier_wait(&end);
    }
    pthread_barrier_wait(&begin); /* no thread ends before the last round is checked */
    return NULL;
}

static trace_id_t new_stream(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 64 << 10));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    DEMAND_OK(posix_trace_create(0, &attr, &trid));
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

static void check_threads(trace_id_t trid, uint64_t round)
{
    struct posixtrace_thread_info info;
    unsigned threads = 0;
    int unavailable;

    DEMAND_OK(posixtrace_threadlist_rewind(trid));
    for (;;) {
        DEMAND_OK(posixtrace_threadlist_getnext(trid, &info, sizeof info, &unavailable));
        if (unavailable)
            break;
        DEMAND(info.recorded == EVENTS, "round %llu: a thread with %llu events",
               (unsigned long long)round, (unsigned long long)info.recorded);
        threads++;
    }
    DEMAND(threads == THREADS, "round %llu: told of %u threads", (unsigned long long)round,
           threads);
}

static void check_events(struct audit *a, trace_id_t trid, uint64_t round)
{
    uint64_t before = a->events;

    audit_drain(a, trid);
    DEMAND(a->gaps == 0 && a->events - before == THREADS * EVENTS,
           "round %llu: %llu events, %llu gaps", (unsigned long long)round,
           (unsigned long long)(a->events - before), (unsigned long long)a->gaps);
}

int main(int argc, char **argv)
{
    double multiplier = audit_multiplier(argc > 1 ? argv[1] : NULL);
    pthread_t threads[THREADS];
    struct audit audit;

    alarm((unsigned)(WATCHDOG_S * (multiplier > 1 ? multiplier : 1)));
    rounds = (unsigned)(ROUNDS * multiplier) + 1;
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&end, NULL, THREADS + 1);
    DEMAND_OK(posix_trace_eventid_open("attach", &event_id));
    audit_init(&audit, event_id, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_create(&threads[i], NULL, trace_in_each_round, (void *)i));
    for (uint64_t round = 0; round < rounds; round++) {
        trace_id_t trid = new_stream();

        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&end);
        DEMAND_OK(posix_trace_stop(trid));
        check_events(&audit, trid, round);
        check_threads(trid, round);
        DEMAND_OK(posix_trace_shutdown(trid));
    }
    pthread_barrier_wait(&begin);
    for (unsigned i = 0; i < THREADS; i++)
        DEMAND_OK(pthread_join(threads[i], NULL));
    audit_deinit(&audit);
    printf("%u rounds\n", rounds);
    return 0;
}
