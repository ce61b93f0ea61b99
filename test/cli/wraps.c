/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that has pthread_mutex_lock() of its own, which records, so that the library's
 * own calls of it record, too.
 *
 * usage: wraps early|late
 *   early   all types are opened before the constructors of libraries run
 *   late    the first is recorded in main(), and while that is prepared those of the library's
 *           own calls
 * It prints how many calls main() made.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <posixtrace/emit.h>

enum { CALLS = 1000 };

static int (*real)(pthread_mutex_t *);
static int on;

static void find_real(void)
{
    void *symbol = dlsym(RTLD_NEXT, "pthread_mutex_lock");

    memcpy(&real, &symbol, sizeof real);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    const void *which = mutex;

    if (!real)
        find_real();
    if (on)
        POSIXTRACE_EVENT("lock", which);
    return real(mutex);
}

static void before_libraries(int argc, char **argv)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    if (argc > 1 && strcmp(argv[1], "early") == 0) {
        on = 1;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(int, char **) = before_libraries;

int main(int argc, char **argv)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    on = 1;
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        POSIXTRACE_EVENT("main");
    for (int i = 0; i < CALLS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    printf("%d\n", CALLS);
    return 0;
}
