/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Requests that are slow for a known reason:
 *
 *     posixtrace record --system -o cache.ptl ./cache FILE
 *     posixtrace why request cache.ptl
 *
 * Two workers need the lock of a cache for a moment.  A third thread has it, too, and in every 16th
 * of its turns writes FILE and waits for the disk meanwhile.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

enum { TURNS = 400, REQUESTS = 2000, WORK = 2000 };

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static trace_event_id_t request_begin, request_end;
static int file;

static void evict(int turn)
{
    char block[65536];

    pthread_mutex_lock(&cache_lock);
    if (turn % 16 == 0) {
        memset(block, turn, sizeof block);
        if (pwrite(file, block, sizeof block, 0) < 0 || fsync(file) < 0)
            perror("cache: write");
    }
    pthread_mutex_unlock(&cache_lock);
}

static void *evictor(void *unused)
{
    pthread_setname_np(pthread_self(), "evictor");
    for (int turn = 1; turn <= TURNS; turn++) {
        evict(turn);
        usleep(200);
    }
    return unused;
}

static void look_up(void)
{
    pthread_mutex_lock(&cache_lock);
    for (volatile int i = 0; i < WORK; i++)
        ;
    pthread_mutex_unlock(&cache_lock);
}

static void *worker(void *unused)
{
    pthread_setname_np(pthread_self(), "worker");
    for (int i = 0; i < REQUESTS; i++) {
        posix_trace_event(request_begin, &i, sizeof i);
        look_up();
        posix_trace_event(request_end, &i, sizeof i);
        usleep(50);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];

    file = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (file < 0) {
        fputs("usage: cache FILE, which can be written\n", stderr);
        return 64;
    }
    if (posix_trace_eventid_open("request:begin", &request_begin) != 0 ||
        posix_trace_eventid_open("request:end", &request_end) != 0 ||
        pthread_create(&threads[0], NULL, evictor, NULL) != 0 ||
        pthread_create(&threads[1], NULL, worker, NULL) != 0 ||
        pthread_create(&threads[2], NULL, worker, NULL) != 0)
        return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
