/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that does what its standard input says, for top.py: a word a line, answered by
 * "ok NUMBER..." when it is done.
 *
 *   pairs N     N pairs of events with hostile and plain names
 *   deadlock    two threads lock two locks in turn; their ids
 *   alone       a thread locks a lock twice; its id
 *   held        a thread waits for a lock that another one holds, which reads; their ids
 *   chatter N   a thread that locks and unlocks N times, and ends
 *
 * It ends with its standard input, whatever its threads wait for.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lonely = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static sem_t ready;
static int ends[2];
static pid_t tids[2];

static void need(bool ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static void starts(int i, const char *name)
{
    tids[i] = (pid_t)syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), name);
    need(sem_post(&ready) == 0, "sem_post");
}

static void *takes(void *backwards)
{
    pthread_mutex_t *one = backwards ? &second : &first, *two = backwards ? &first : &second;

    starts(backwards != NULL, backwards ? "two\033[7m\a" : "one");
    pthread_mutex_lock(one);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(two);
    return NULL;
}

static void *locks_twice(void *unused)
{
    starts(0, "lonely");
    pthread_mutex_lock(&lonely);
    pthread_mutex_lock(&lonely);
    return unused;
}

static void *holds(void *unused)
{
    char byte;

    pthread_mutex_lock(&held);
    starts(1, "holder");
    need(read(ends[0], &byte, 1) >= 0, "read");
    return unused;
}

static void *wants(void *unused)
{
    starts(0, "wanter");
    pthread_mutex_lock(&held);
    return unused;
}

static void start(void *(*function)(void *), void *argument)
{
    pthread_t thread;

    need(pthread_create(&thread, NULL, function, argument) == 0, "pthread_create");
    while (sem_wait(&ready) != 0)
        ;
}

static void record_pairs(long count)
{
    trace_event_id_t begin, end, evil_begin, evil_end;

    posix_trace_eventid_open("req:begin", &begin);
    posix_trace_eventid_open("req:end", &end);
    posix_trace_eventid_open("e\033]0;x\a:begin", &evil_begin);
    posix_trace_eventid_open("e\033]0;x\a:end", &evil_end);
    for (long i = 0; i < count; i++) {
        posix_trace_event(begin, NULL, 0);
        posix_trace_event(evil_begin, NULL, 0);
        posix_trace_event(evil_end, NULL, 0);
        posix_trace_event(end, NULL, 0);
    }
}

static void *chatters(void *count)
{
    for (long i = *(const long *)count; i > 0; i--) {
        pthread_mutex_lock(&busy);
        pthread_mutex_unlock(&busy);
    }
    return NULL;
}

static void chatter(long count)
{
    pthread_t thread;

    need(pthread_create(&thread, NULL, chatters, &count) == 0, "pthread_create");
    pthread_join(thread, NULL);
}

static int obey(const char *word, long number)
{
    if (strcmp(word, "pairs") == 0) {
        record_pairs(number);
    } else if (strcmp(word, "chatter") == 0) {
        chatter(number);
    } else if (strcmp(word, "deadlock") == 0) {
        start(takes, NULL);
        start(takes, &both);
        return 2;
    } else if (strcmp(word, "alone") == 0) {
        start(locks_twice, NULL);
        return 1;
    } else if (strcmp(word, "held") == 0) {
        start(holds, NULL);
        start(wants, NULL);
        return 2;
    }
    return 0;
}

int main(void)
{
    char line[64], word[32];
    long number;
    int count;

    need(sem_init(&ready, 0, 0) == 0 && pipe(ends) == 0, "pipe");
    need(pthread_barrier_init(&both, NULL, 2) == 0, "barrier");
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        number = 0;
        if (sscanf(line, "%31s %ld", word, &number) < 1)
            continue;
        count = obey(word, number);
        printf("ok");
        for (int i = 0; i < count; i++)
            printf(" %d", (int)tids[i]);
        printf("\n");
        fflush(stdout);
    }
    _exit(0);
}
