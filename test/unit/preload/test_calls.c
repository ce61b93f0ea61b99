/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Each wrapped call of locks, waits, sleeps and timers: the events with their data, and
 * that the call itself is what it was, also when it fails.
 */
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include "scene.h"

START_TEST(mutexes)
{
    static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER,
                           b = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    trace_id_t trid;

    scene_name(&a, "A");
    scene_name(&b, "B");
    trid = scene_begin();
    scene_note(pthread_mutex_lock(&a));
    scene_note(pthread_mutex_trylock(&a));
    scene_note(pthread_mutex_timedlock(&a, &scene_past));
    scene_note(pthread_mutex_clocklock(&a, CLOCK_MONOTONIC, &scene_past));
    scene_note(pthread_mutex_unlock(&a));
    scene_note(pthread_mutex_trylock(&b));
    scene_note(pthread_mutex_lock(&b));
    scene_note(pthread_mutex_unlock(&b));
    scene_note(pthread_mutex_unlock(&b));
    scene_end(trid);
    ck_results("0 EBUSY ETIMEDOUT ETIMEDOUT 0 0 EDEADLK 0 EPERM");
    ck_events(0, "mutex_lock A, mutex_locked A, mutex_lock A, mutex_locked A EBUSY, "
                 "mutex_lock A, mutex_locked A ETIMEDOUT, mutex_lock A, mutex_locked A ETIMEDOUT, "
                 "mutex_unlock A, mutex_lock B, mutex_locked B, "
                 "mutex_lock B, mutex_locked B EDEADLK, mutex_unlock B, mutex_unlock B");
    ck_assert_uint_eq(scene_threads(), 1);
}
END_TEST

START_TEST(rwlocks)
{
    static pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
    trace_id_t trid;

    scene_name(&a, "A");
    trid = scene_begin();
    scene_note(pthread_rwlock_rdlock(&a));
    scene_note(pthread_rwlock_tryrdlock(&a));
    scene_note(pthread_rwlock_timedrdlock(&a, &scene_past));
    scene_note(pthread_rwlock_clockrdlock(&a, CLOCK_MONOTONIC, &scene_past));
    scene_note(pthread_rwlock_trywrlock(&a));
    for (int i = 0; i < 4; i++)
        scene_note(pthread_rwlock_unlock(&a));
    scene_note(pthread_rwlock_wrlock(&a));
    scene_note(pthread_rwlock_timedwrlock(&a, &scene_past));
    scene_note(pthread_rwlock_clockwrlock(&a, CLOCK_MONOTONIC, &scene_past));
    scene_note(pthread_rwlock_unlock(&a));
    scene_end(trid);
    ck_results("0 0 0 0 EBUSY 0 0 0 0 0 EDEADLK EDEADLK 0");
    ck_events(0, "rwlock_lock A, rwlock_locked A, rwlock_lock A, rwlock_locked A, "
                 "rwlock_lock A, rwlock_locked A, rwlock_lock A, rwlock_locked A, "
                 "rwlock_lock A, rwlock_locked A EBUSY, "
                 "rwlock_unlock A, rwlock_unlock A, rwlock_unlock A, rwlock_unlock A, "
                 "rwlock_lock A, rwlock_locked A, rwlock_lock A, rwlock_locked A EDEADLK, "
                 "rwlock_lock A, rwlock_locked A EDEADLK, rwlock_unlock A");
}
END_TEST

START_TEST(conditions)
{
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    trace_id_t trid;

    scene_name(&m, "M");
    scene_name(&c, "C");
    ck_ok(pthread_mutex_lock(&m));
    trid = scene_begin();
    scene_note(pthread_cond_timedwait(&c, &m, &scene_past));
    scene_note(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &scene_past));
    scene_note(pthread_cond_timedwait(&c, &m, &(struct timespec){ 0, -1 }));
    scene_note(pthread_cond_signal(&c));
    scene_note(pthread_cond_broadcast(&c));
    scene_end(trid);
    ck_ok(pthread_mutex_unlock(&m));
    ck_results("ETIMEDOUT ETIMEDOUT EINVAL 0 0");
    ck_events(0, "cond_wait C, mutex_unlock M, mutex_locked M, cond_woken C ETIMEDOUT, "
                 "cond_wait C, mutex_unlock M, mutex_locked M, cond_woken C ETIMEDOUT, "
                 "cond_wait C, mutex_unlock M, mutex_locked M, cond_woken C EINVAL, "
                 "cond_signal C, cond_signal C");
}
END_TEST

START_TEST(semaphores)
{
    trace_id_t trid;
    sem_t s;

    ck_ok(sem_init(&s, 0, 1));
    scene_name(&s, "S");
    trid = scene_begin();
    scene_note_errno(sem_wait(&s));
    scene_note_errno(sem_trywait(&s));
    scene_note_errno(sem_timedwait(&s, &scene_past));
    scene_note_errno(sem_clockwait(&s, CLOCK_MONOTONIC, &scene_past));
    scene_note_errno(sem_post(&s));
    errno = E2BIG;
    scene_note_errno(sem_trywait(&s));
    scene_note(errno);
    scene_end(trid);
    ck_results("0 EAGAIN ETIMEDOUT ETIMEDOUT 0 0 E2BIG");
    ck_events(0, "sem_wait S, sem_taken S, sem_wait S, sem_taken S EAGAIN, "
                 "sem_wait S, sem_taken S ETIMEDOUT, sem_wait S, sem_taken S ETIMEDOUT, "
                 "sem_post S, sem_wait S, sem_taken S");
}
END_TEST

START_TEST(barriers)
{
    pthread_barrier_t b;
    trace_id_t trid;

    ck_ok(pthread_barrier_init(&b, NULL, 1));
    scene_name(&b, "B");
    trid = scene_begin();
    scene_note(pthread_barrier_wait(&b));
    scene_end(trid);
    ck_results("-1"); /* PTHREAD_BARRIER_SERIAL_THREAD */
    ck_events(0, "barrier_wait B, barrier_passed B");
}
END_TEST

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) == 0 ? th_ns(t) : -1;
}

/* Between two looks at the clock, and after that much. */
static void ck_due(int64_t due, int64_t before, int64_t after, int64_t ns)
{
    ck_assert_int_ge(due, before + ns);
    ck_assert_int_le(due, after + ns);
}

START_TEST(sleeps)
{
    struct timespec ns = { 0, 500 }, bad = { 0, 1000000000 };
    trace_id_t trid = scene_begin();
    int64_t before = clock_ns(CLOCK_REALTIME), after;

    scene_note_errno(nanosleep(&ns, NULL));
    scene_note_errno(usleep(1));
    scene_note((int)sleep(0));
    scene_note(clock_nanosleep(CLOCK_MONOTONIC, 0, &ns, NULL));
    scene_note(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &scene_past, NULL));
    scene_note_errno(nanosleep(&bad, NULL));
    after = clock_ns(CLOCK_REALTIME);
    scene_end(trid);
    ck_results("0 0 0 0 0 EINVAL");
    ck_events(0, "sleep - due, sleep_done - due, sleep - due, sleep_done - due, "
                 "sleep - due, sleep_done - due, sleep - due, sleep_done - due, "
                 "sleep - due, sleep_done - due, sleep - never, sleep_done - never");
    for (int i = 0; i < 12; i += 2)
        ck_assert_int_eq(scene_due[i], scene_due[i + 1]);
    ck_due(scene_due[0], before, after, 500);
    ck_due(scene_due[2], before, after, 1000);
    ck_due(scene_due[4], before, after, 0);
    ck_due(scene_due[6], before, after, 500);
    ck_assert_int_eq(scene_due[8], 1000000000);
}
END_TEST

/* Absolute times of another clock; and those too far for a number. */
START_TEST(sleeps_until)
{
    int64_t real[2], monotonic[2];
    trace_id_t trid = scene_begin();

    real[0] = clock_ns(CLOCK_REALTIME);
    monotonic[1] = clock_ns(CLOCK_MONOTONIC);
    scene_note(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &scene_past, NULL));
    scene_note(
        clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, TIMER_ABSTIME, &(struct timespec){ 0, 1 }, NULL));
    monotonic[0] = clock_ns(CLOCK_MONOTONIC);
    real[1] = clock_ns(CLOCK_REALTIME);
    scene_note_errno(clock_nanosleep(CLOCK_REALTIME, 0, &(struct timespec){ -1, 0 }, NULL));
    scene_end(trid);
    ck_results("0 0 EINVAL");
    ck_events(0, "sleep - due, sleep_done - due, sleep - never, sleep_done - never, "
                 "sleep - never, sleep_done - never");
    ck_assert_int_ge(scene_due[0], real[0] - monotonic[0] + 1000000000);
    ck_assert_int_le(scene_due[0], real[1] - monotonic[1] + 1000000000);
}
END_TEST

START_TEST(timers)
{
    struct sigevent none = { .sigev_notify = SIGEV_NONE };
    struct itimerspec in = { .it_value = { 1000, 0 } }, at = in, off = { .it_value = { 0, 0 } },
                      bad = { .it_value = { 0, -1 } };
    struct timespec now;
    int64_t begun = clock_ns(CLOCK_REALTIME), before, after;
    timer_t timer;
    trace_id_t trid;

    ck_ok(timer_create(CLOCK_MONOTONIC, &none, &timer));
    ck_ok(clock_gettime(CLOCK_MONOTONIC, &now));
    at.it_value.tv_sec += now.tv_sec;
    scene_name((void *)timer, "T");
    trid = scene_begin();
    before = clock_ns(CLOCK_REALTIME);
    scene_note_errno(timer_settime(timer, 0, &in, NULL));
    scene_note_errno(timer_settime(timer, TIMER_ABSTIME, &at, NULL));
    after = clock_ns(CLOCK_REALTIME);
    scene_note_errno(timer_settime(timer, 0, &off, NULL));
    scene_note_errno(timer_settime(timer, 0, &bad, NULL));
    scene_note_errno(timer_settime(timer, 0, &in, &off));
    scene_end(trid);
    ck_ok(timer_delete(timer));
    ck_results("0 0 0 EINVAL 0");
    ck_events(0, (uintptr_t)timer == 0
                     ? "timer_set - due, timer_set - due, timer_set - never, timer_set - due"
                     : "timer_set T due, timer_set T due, timer_set T never, timer_set T due");
    ck_due(scene_due[0], before, after, 1000000000000);
    /* The program's second began up to a second before it looked. */
    ck_assert_int_ge(scene_due[1], begun + 999000000000);
    ck_assert_int_le(scene_due[1], after + 1000000000000);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, mutexes);
    tcase_add_test(tc, rwlocks);
    tcase_add_test(tc, conditions);
    tcase_add_test(tc, semaphores);
    tcase_add_test(tc, barriers);
    tcase_add_test(tc, sleeps);
    tcase_add_test(tc, sleeps_until);
    tcase_add_test(tc, timers);
}

int main(void)
{
    return th_main("preload calls", add);
}
