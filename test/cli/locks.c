/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that has never heard of posixtrace: it locks, waits, sleeps, makes a thread, and has
 * a signal handler.  With an argument it executes that as a command; with '-' it waits.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem;

static void on_signal(int number)
{
    (void)number;
}

static void *thread(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    sem_post(&sem);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t t;

    sem_init(&sem, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_create(&t, NULL, thread, NULL);
    sem_wait(&sem);
    pthread_join(t, NULL);
    usleep(1);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    while (argc > 1 && argv[1][0] == '-')
        sem_wait(&sem);
    if (argc > 1)
        execvp(argv[1], argv + 1);
    puts("done");
    return 0;
}
