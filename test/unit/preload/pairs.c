/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* usage: pairs N      locks and unlocks a mutex, and posts and takes a semaphore, N times */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    sem_t sem;

    sem_init(&sem, 0, 0);
    for (long n = argc > 1 ? atol(argv[1]) : 0; n > 0; n--) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        sem_post(&sem);
        sem_wait(&sem);
    }
    return 0;
}
