/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program whose threads wait for each other in a known way, for why_programs.py.
 *
 * usage: waiting held|signal|child|deadlock
 *
 * Nothing depends on time: main looks in /proc at what address a thread waits, and lets the others
 * continue only then.  77 where that cannot be seen.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t ready;
static int ends[2];
static bool done;
static trace_event_id_t begins, finishes;
static volatile pid_t tids[2];

static void need(bool ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static void starts(int i)
{
    tids[i] = (pid_t)syscall(SYS_gettid);
    need(sem_post(&ready) == 0, "sem_post");
}

/* Waits for a byte of main. */
static void read_one(void)
{
    char byte;

    need(read(ends[0], &byte, 1) == 1, "read");
}

/* Until the thread waits in a call whose first argument is from 'from' on, below from + size. */
static void until_it_has(pid_t pid, pid_t tid, unsigned long long from, size_t size)
{
    unsigned long long address = 0;
    char path[64], text[256];
    ssize_t length;
    long number;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    while (address < from || address - from >= size) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (length <= 0)
            exit(77);
        close(fd);
        text[length] = '\0';
        if (sscanf(text, "%ld %llx", &number, &address) < 2)
            address = 0;
        sched_yield();
    }
}

/* Until the thread waits for the object. */
static void until_it_waits(int i, const void *object, size_t size)
{
    until_it_has(getpid(), tids[i], (uintptr_t)object, size);
}

/* Until it reads. */
static void until_it_reads(int i)
{
    until_it_has(getpid(), tids[i], (unsigned)ends[0], 1);
}

/* ---- a lock held by a thread that reads ---- */

static void *holds(void *unused)
{
    pthread_mutex_lock(&first);
    starts(1);
    read_one();
    pthread_mutex_unlock(&first);
    return unused;
}

static void *wants(void *unused)
{
    starts(0);
    posix_trace_event(begins, NULL, 0);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    posix_trace_event(finishes, NULL, 0);
    return unused;
}

/* ---- a signal of a thread that reads before it ---- */

static void *signals(void *unused)
{
    starts(1);
    read_one();
    pthread_mutex_lock(&first);
    done = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&first);
    return unused;
}

static void *waits(void *unused)
{
    starts(0);
    posix_trace_event(begins, NULL, 0);
    pthread_mutex_lock(&first);
    while (!done)
        pthread_cond_wait(&changed, &first);
    pthread_mutex_unlock(&first);
    posix_trace_event(finishes, NULL, 0);
    return unused;
}

/* ---- a deadlock ---- */

static pthread_barrier_t both;

static void *takes(void *backwards)
{
    pthread_mutex_t *one = backwards ? &second : &first, *two = backwards ? &first : &second;

    starts(backwards != NULL);
    posix_trace_event(begins, NULL, 0);
    pthread_mutex_lock(one);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(two);
    return NULL;
}

/* ---- a process that waits for its child ---- */

static int wait_for_child(void)
{
    pid_t *pids = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile pid_t *child = pids;
    pid_t process;
    int status = 1;

    need(pids != MAP_FAILED, "mmap");
    process = fork();
    if (process == 0) {
        posix_trace_event(begins, NULL, 0);
        pids[1] = fork();
        if (pids[1] == 0) {
            read_one();
            exit(0);
        }
        *child = pids[1];
        need(waitpid(*child, &status, 0) == *child, "waitpid");
        posix_trace_event(finishes, NULL, 0);
        exit(status != 0);
    }
    need(process > 0, "fork");
    while (*child == 0)
        sched_yield();
    until_it_has(process, process, (unsigned)*child, 1);
    until_it_has(*child, *child, (unsigned)ends[0], 1);
    need(write(ends[1], "x", 1) == 1, "write");
    need(waitpid(process, &status, 0) == process, "waitpid");
    return status != 0;
}

static void start(pthread_t *thread, void *(*function)(void *), void *argument)
{
    need(pthread_create(thread, NULL, function, argument) == 0, "pthread_create");
    while (sem_wait(&ready) != 0)
        ;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    bool held = strcmp(mode, "held") == 0, signal = strcmp(mode, "signal") == 0;
    pthread_t one, two;

    need(sem_init(&ready, 0, 0) == 0 && pipe(ends) == 0, "pipe");
    need(pthread_barrier_init(&both, NULL, 2) == 0, "barrier");
    posix_trace_eventid_open("req:begin", &begins);
    posix_trace_eventid_open("req:end", &finishes);
    if (held || signal) {
        start(&one, held ? holds : signals, NULL);
        until_it_reads(1);
        start(&two, held ? wants : waits, NULL);
        until_it_waits(0, held ? (void *)&first : (void *)&changed,
                       held ? sizeof first : sizeof changed);
        need(write(ends[1], "x", 1) == 1, "write");
        pthread_join(one, NULL);
        pthread_join(two, NULL);
        return 0;
    }
    if (strcmp(mode, "child") == 0)
        return wait_for_child();
    start(&one, takes, NULL);
    start(&two, takes, &both);
    until_it_waits(0, &second, sizeof second);
    until_it_waits(1, &first, sizeof first);
    exit(0);
}
