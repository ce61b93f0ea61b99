/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The wrapped functions of the C library.  Each is called through a pointer, which at first points
 * to a function that looks all of them up, so no call needs a test.
 *
 * P: returns an error number; E: returns -1 and sets errno.
 */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define REAL_ERROR_NUMBER(P)                                                                       \
    P(pthread_mutex_lock, (pthread_mutex_t * a), (a))                                              \
    P(pthread_mutex_trylock, (pthread_mutex_t * a), (a))                                           \
    P(pthread_mutex_timedlock, (pthread_mutex_t * a, const struct timespec *b), (a, b))            \
    P(pthread_mutex_clocklock, (pthread_mutex_t * a, clockid_t b, const struct timespec *c),       \
      (a, b, c))                                                                                   \
    P(pthread_mutex_unlock, (pthread_mutex_t * a), (a))                                            \
    P(pthread_rwlock_rdlock, (pthread_rwlock_t * a), (a))                                          \
    P(pthread_rwlock_tryrdlock, (pthread_rwlock_t * a), (a))                                       \
    P(pthread_rwlock_timedrdlock, (pthread_rwlock_t * a, const struct timespec *b), (a, b))        \
    P(pthread_rwlock_clockrdlock, (pthread_rwlock_t * a, clockid_t b, const struct timespec *c),   \
      (a, b, c))                                                                                   \
    P(pthread_rwlock_wrlock, (pthread_rwlock_t * a), (a))                                          \
    P(pthread_rwlock_trywrlock, (pthread_rwlock_t * a), (a))                                       \
    P(pthread_rwlock_timedwrlock, (pthread_rwlock_t * a, const struct timespec *b), (a, b))        \
    P(pthread_rwlock_clockwrlock, (pthread_rwlock_t * a, clockid_t b, const struct timespec *c),   \
      (a, b, c))                                                                                   \
    P(pthread_rwlock_unlock, (pthread_rwlock_t * a), (a))                                          \
    P(pthread_cond_wait, (pthread_cond_t * a, pthread_mutex_t * b), (a, b))                        \
    P(pthread_cond_timedwait, (pthread_cond_t * a, pthread_mutex_t * b, const struct timespec *c), \
      (a, b, c))                                                                                   \
    P(pthread_cond_clockwait,                                                                      \
      (pthread_cond_t * a, pthread_mutex_t * b, clockid_t c, const struct timespec *d),            \
      (a, b, c, d))                                                                                \
    P(pthread_cond_signal, (pthread_cond_t * a), (a))                                              \
    P(pthread_cond_broadcast, (pthread_cond_t * a), (a))                                           \
    P(pthread_join, (pthread_t a, void **b), (a, b))                                               \
    P(pthread_tryjoin_np, (pthread_t a, void **b), (a, b))                                         \
    P(pthread_timedjoin_np, (pthread_t a, void **b, const struct timespec *c), (a, b, c))          \
    P(pthread_clockjoin_np, (pthread_t a, void **b, clockid_t c, const struct timespec *d),        \
      (a, b, c, d))                                                                                \
    P(sigwait, (const sigset_t *a, int *b), (a, b))                                                \
    P(pthread_barrier_wait, (pthread_barrier_t * a), (a))                                          \
    P(clock_nanosleep, (clockid_t a, int b, const struct timespec *c, struct timespec *d),         \
      (a, b, c, d))                                                                                \
    P(pthread_setname_np, (pthread_t a, const char *b), (a, b))                                    \
    P(pthread_create, (pthread_t * a, const pthread_attr_t *b, void *(*c)(void *), void *d),       \
      (a, b, c, d))

#define REAL_ERRNO(E)                                                                      \
    E(sem_wait, (sem_t * a), (a))                                                          \
    E(sem_trywait, (sem_t * a), (a))                                                       \
    E(sem_timedwait, (sem_t * a, const struct timespec *b), (a, b))                        \
    E(sem_clockwait, (sem_t * a, clockid_t b, const struct timespec *c), (a, b, c))        \
    E(sem_post, (sem_t * a), (a))                                                          \
    E(nanosleep, (const struct timespec *a, struct timespec *b), (a, b))                   \
    E(epoll_ctl, (int a, int b, int c, struct epoll_event *d), (a, b, c, d))               \
    E(socketpair, (int a, int b, int c, int *d), (a, b, c, d))                             \
    E(close, (int a), (a))                                                                 \
    E(__close, (int a), (a))                                                               \
    E(dup2, (int a, int b), (a, b))                                                        \
    E(__dup2, (int a, int b), (a, b))                                                      \
    E(dup3, (int a, int b, int c), (a, b, c))                                              \
    E(fclose, (FILE * a), (a))                                                             \
    E(pclose, (FILE * a), (a))                                                             \
    E(closedir, (DIR * a), (a))                                                            \
    E(close_range, (unsigned a, unsigned b, int c), (a, b, c))                             \
    E(dlclose, (void *a), (a))                                                             \
    E(pause, (void), ())                                                                   \
    E(usleep, (useconds_t a), (a))                                                         \
    E(timer_settime, (timer_t a, int b, const struct itimerspec *c, struct itimerspec *d), \
      (a, b, c, d))                                                                        \
    E(sigaction, (int a, const struct sigaction *b, struct sigaction *c), (a, b, c))

/* All that signal() may be called in a program, by the standard that it was compiled for;
 * and sigset(), which sets a handler and unblocks the signal. */
#define REAL_SET_HANDLER(S) \
    S(signal) S(ssignal) S(bsd_signal) S(sysv_signal) S(__sysv_signal) S(sigset)

/* Which close a descriptor and open one. */
#define REAL_REOPEN(R) R(freopen) R(freopen64)

/* With more arguments, as many as there may be. */
#define REAL_VARIADIC(V) V(fcntl) V(fcntl64) V(__fcntl)

#pragma GCC visibility push(hidden)
#define REAL_DECLARE(name, parameters, arguments) extern int(*real_##name) parameters;
REAL_ERROR_NUMBER(REAL_DECLARE)
REAL_ERRNO(REAL_DECLARE)
#undef REAL_DECLARE
extern unsigned (*real_sleep)(unsigned);
extern long (*real_syscall)(long, ...);
extern void (*real_closefrom)(int);
#define REAL_DECLARE(name) extern FILE *(*real_##name)(const char *, const char *, FILE *);
REAL_REOPEN(REAL_DECLARE)
#undef REAL_DECLARE
#define REAL_DECLARE_FCNTL(name) extern int (*real_##name)(int, int, ...);
REAL_VARIADIC(REAL_DECLARE_FCNTL)
#undef REAL_DECLARE_FCNTL
#define REAL_DECLARE(name) extern sighandler_t (*real_##name)(int, sighandler_t);
REAL_SET_HANDLER(REAL_DECLARE)
#undef REAL_DECLARE

/* Looks all of them up, now. */
void real_find(void);
#pragma GCC visibility pop

/* The headers declare each of them for some standards only. */
#define REAL_DECLARE(name) sighandler_t name(int, sighandler_t);
REAL_SET_HANDLER(REAL_DECLARE)
#undef REAL_DECLARE

#endif
