/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program for 'posixtrace top' to look at (top_cost.py): threads that record pairs of events at a
 * rate, or that only wait.
 *
 * usage: top_load THREADS RATE SECONDS    RATE: events a second of all, 0: as many as can be;
 *                                         -1: each records one and waits
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trace.h>

enum { STEP = 32, NAP_NS = 200000, STACK = 65536, MOST = 20000 };

static trace_event_id_t begins, ends;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static double rate, seconds;
static int is_over;

static void need(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *records(void *unused)
{
    const struct timespec nap = { 0, NAP_NS };
    double start = now(), passed;
    long done = 0, data[2] = { 1, 2 };

    while ((passed = now() - start) < seconds) {
        if (rate > 0 && (double)done >= passed * rate) {
            nanosleep(&nap, NULL);
            continue;
        }
        for (int i = 0; i < STEP / 2; i++) {
            posix_trace_event(begins, data, sizeof data);
            posix_trace_event(ends, data, sizeof data[0]);
        }
        done += STEP;
    }
    return unused;
}

static void *waits(void *unused)
{
    posix_trace_event(begins, NULL, 0);
    pthread_mutex_lock(&mutex);
    while (!is_over)
        pthread_cond_wait(&over, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    static pthread_t threads[MOST];
    long count = argc > 1 ? atol(argv[1]) : 1, wanted = argc > 2 ? atol(argv[2]) : 0;
    pthread_attr_t attr;

    count = count < 1 ? 1 : count > MOST ? MOST : count;
    seconds = argc > 3 ? atof(argv[3]) : 10;
    rate = wanted > 0 ? (double)wanted / (double)count : 0;
    need(posix_trace_eventid_open("req:begin", &begins), "open");
    need(posix_trace_eventid_open("req:end", &ends), "open");
    need(pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, STACK), "attributes");
    for (long i = 0; i < count; i++)
        need(pthread_create(&threads[i], &attr, wanted < 0 ? waits : records, NULL), "thread");
    if (wanted < 0)
        nanosleep(&(struct timespec){ (time_t)seconds, 0 }, NULL);
    pthread_mutex_lock(&mutex);
    is_over = 1;
    pthread_cond_broadcast(&over);
    pthread_mutex_unlock(&mutex);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
