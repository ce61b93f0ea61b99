/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that loads the library with dlopen(), traces in threads and calls
 * dlclose(), a hundred times.  Threads that traced end before, during and
 * after dlclose(): their exit code is the library's, so it must stay mapped.
 *
 *     reload LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace.h>

enum { CYCLES = 100, THREADS = 4, EVENTS = 50 };

static struct {
    __typeof__(&posix_trace_event) event;
    __typeof__(&posix_trace_eventid_open) eventid_open;
    __typeof__(&posix_trace_create) create;
    __typeof__(&posix_trace_start) start;
    __typeof__(&posix_trace_trygetnext_event) trygetnext;
    __typeof__(&posix_trace_shutdown) shutdown;
} api;

static trace_event_id_t event_id;
static pthread_barrier_t traced;

static void fail(const char *what, int error)
{
    fprintf(stderr, "reload: %s: %d\n", what, error);
    exit(1);
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (!found)
        fail(name, 0);
    return found;
}

static void *trace(void *arg)
{
    for (int i = 0; i < EVENTS; i++)
        api.event(event_id, &i, sizeof i);
    pthread_barrier_wait(&traced);
    return arg;
}

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "reload: %s\n", dlerror());
        exit(1);
    }
    api.event = symbol(library, "posix_trace_event");
    api.eventid_open = symbol(library, "posix_trace_eventid_open");
    api.create = symbol(library, "posix_trace_create");
    api.start = symbol(library, "posix_trace_start");
    api.trygetnext = symbol(library, "posix_trace_trygetnext_event");
    api.shutdown = symbol(library, "posix_trace_shutdown");
    return library;
}

static int count(trace_id_t trid)
{
    struct posix_trace_event_info info;
    size_t length;
    int data, unavailable = 0, error, n = 0;

    while (!(error = api.trygetnext(trid, &info, &data, sizeof data, &length, &unavailable)) &&
           !unavailable)
        n += info.posix_event_id == event_id;
    if (error)
        fail("posix_trace_trygetnext_event", error);
    return n;
}

static void cycle(const char *path)
{
    pthread_t threads[THREADS];
    trace_id_t trid;
    void *library = load(path);
    int error, found = 0;

    if ((error = api.eventid_open("reload", &event_id)) || (error = api.create(0, NULL, &trid)) ||
        (error = api.start(trid)))
        fail("no stream", error);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, trace, NULL))
            fail("pthread_create", 0);
    pthread_barrier_wait(&traced);
    /* A thread that ends is inside its slot, so events may come a little later. */
    while (found < THREADS * EVENTS)
        found += count(trid);
    if (found > THREADS * EVENTS)
        fail("events are there twice", 0);
    if ((error = api.shutdown(trid)))
        fail("posix_trace_shutdown", error);
    dlclose(library);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        fail("usage: reload LIBRARY", 0);
    pthread_barrier_init(&traced, NULL, THREADS + 1);
    for (int i = 0; i < CYCLES; i++)
        cycle(argv[1]);
    return 0;
}
