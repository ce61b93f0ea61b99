/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads that are all alive at once, each with so many events of 8 bytes: in turns, or, with
 * "rush", each as fast as it can when all are there.
 *
 * usage: crowd THREADS EVENTS [rush]
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace.h>

static trace_event_id_t type;
static unsigned long events;
static int rush;
static pthread_barrier_t all;

static void *trace(void *nothing)
{
    (void)nothing;
    pthread_barrier_wait(&all);
    for (uint64_t i = 0; i < events; i++) {
        posix_trace_event(type, &i, sizeof i);
        if (!rush)
            sched_yield();
    }
    pthread_barrier_wait(&all);
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 2 ? strtoul(argv[1], NULL, 0) : 0;
    pthread_t *threads = calloc(count + 1, sizeof *threads);
    pthread_attr_t attr;

    if (count == 0 || !threads)
        return 2;
    events = strtoul(argv[2], NULL, 0);
    rush = argc > 3;
    if (posix_trace_eventid_open("crowd", &type) != 0)
        return 2;
    pthread_barrier_init(&all, NULL, (unsigned)count);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    for (unsigned long i = 0; i < count; i++)
        if (pthread_create(&threads[i], &attr, trace, NULL) != 0) {
            fprintf(stderr, "crowd: no more than %lu threads\n", i);
            exit(3);
        }
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}
