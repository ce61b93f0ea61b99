/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads: their begin, the three ways to end, what a cancelled thread was in; and
 * forked children.
 */
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <sys/wait.h>
#include "scene.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;

static void name_all(void)
{
    ck_ok(sem_init(&s, 0, 0));
    scene_name(&m, "M");
    scene_name(&c, "C");
    scene_name(&s, "S");
}

static void *ends(void *how)
{
    sem_post(&s);
    if (how)
        pthread_exit(how);
    return how;
}

/* One thread in a scene; what it returned. */
static void *play(void *(*body)(void *), void *context, bool cancel)
{
    trace_id_t trid = scene_begin();
    void *result = NULL;
    pthread_t t;

    scene_note(pthread_create(&t, NULL, body, context));
    scene_name((void *)t, "T");
    if (cancel)
        scene_note(pthread_cancel(t));
    scene_note(pthread_join(t, &result));
    scene_end(trid);
    ck_assert_uint_eq(scene_threads(), 2);
    return result;
}

/* The thread's lines, whichever of the two was first. */
static const char *events_of_thread(void)
{
    unsigned creator = strncmp(scene_events(0), "thread_create", 13) == 0 ? 0 : 1;

    ck_events(creator, "thread_create T, thread_join T, thread_joined T");
    return scene_events(!creator);
}

START_TEST(returns)
{
    name_all();
    ck_assert_ptr_null(play(ends, NULL, false));
    ck_assert_str_eq(events_of_thread(), "thread_begin T, sem_post S, thread_end T");
    ck_results("0 0");
}
END_TEST

START_TEST(exits)
{
    name_all();
    ck_assert_ptr_eq(play(ends, &s, false), &s);
    ck_assert_str_eq(events_of_thread(), "thread_begin T, sem_post S, thread_end T");
}
END_TEST

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void *waits_for_sem(void *unused)
{
    sem_wait(&s);
    return unused;
}

static void *waits_for_cond(void *unused)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, &m);
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return unused;
}

static void *sleeps(void *unused)
{
    for (;;)
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &(struct timespec){ INT_MAX, 0 }, NULL);
    return unused;
}

/* The calls remain cancellation points, also for a request that came before them. */
START_TEST(cancelled)
{
    name_all();
    ck_assert_ptr_eq(play(waits_for_sem, NULL, true), PTHREAD_CANCELED);
    ck_assert_str_eq(events_of_thread(), "thread_begin T, sem_wait S, sem_taken S ECANCELED, "
                                         "thread_end T");
    ck_assert_ptr_eq(play(waits_for_cond, NULL, true), PTHREAD_CANCELED);
    ck_assert_str_eq(events_of_thread(),
                     "thread_begin T, mutex_lock M, mutex_locked M, cond_wait C, mutex_unlock M, "
                     "mutex_locked M, cond_woken C ECANCELED, mutex_unlock M, thread_end T");
    ck_assert_ptr_eq(play(sleeps, NULL, true), PTHREAD_CANCELED);
    ck_assert_str_eq(events_of_thread(), "thread_begin T, sleep - due, sleep_done - due, "
                                         "thread_end T");
    ck_assert_int_eq(scene_due[0], INT_MAX * INT64_C(1000000000));
    ck_assert_int_eq(scene_due[1], scene_due[0]);
}
END_TEST

static bool ready;

static void *wakes(void *unused)
{
    pthread_mutex_lock(&m);
    ready = true;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return unused;
}

/* Two threads: what makes a wait end has the earlier time. */
START_TEST(woken)
{
    trace_id_t trid;
    pthread_t t;

    name_all();
    trid = scene_begin();
    pthread_mutex_lock(&m);
    scene_note(pthread_create(&t, NULL, wakes, NULL));
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    scene_note(pthread_join(t, NULL));
    scene_name((void *)t, "T");
    scene_end(trid);
    ck_results("0 0");
    ck_events(0, "mutex_lock M, mutex_locked M, thread_create T, cond_wait C, mutex_unlock M, "
                 "mutex_locked M, cond_woken C, mutex_unlock M, thread_join T, thread_joined T");
    ck_events(1, "thread_begin T, mutex_lock M, mutex_locked M, cond_signal C, mutex_unlock M, "
                 "thread_end T");
}
END_TEST

static void *keeps(void *unused)
{
    sem_wait(&s);
    return unused;
}

/* All but a 256th of what a pointer can name, which no address space has in one piece. */
#define TOO_LARGE (SIZE_MAX - (SIZE_MAX >> 8))

/* A thread from before the stream ends in it, and one without memory is refused. */
START_TEST(older_than_the_stream)
{
    pthread_attr_t huge;
    struct th_thread t;
    trace_id_t trid;
    pthread_t none;

    name_all();
    ck_ok(pthread_attr_init(&huge));
    ck_ok(pthread_attr_setstacksize(&huge, TOO_LARGE));
    th_thread_start(&t, keeps, NULL);
    th_thread_wait_asleep(&t);
    scene_name((void *)t.thread, "T");
    trid = scene_begin();
    sem_post(&s);
    pthread_join(t.thread, NULL);
    scene_note(pthread_create(&none, &huge, keeps, NULL) == 0); /* valgrind says EINVAL */
    scene_end(trid);
    ck_results("0");
    ck_events(0, "sem_post S, thread_join T, thread_joined T");
    ck_events(1, "thread_end T");
}
END_TEST

START_TEST(forked)
{
    trace_id_t trid;
    int status = -1;
    pid_t child;

    name_all();
    trid = scene_begin();
    pthread_mutex_lock(&m);
    child = fork();
    pthread_mutex_unlock(&m);
    if (child == 0) {
        sem_post(&s);
        _exit(sem_trywait(&s));
    }
    scene_note(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    scene_name((void *)(intptr_t)child, "CHILD");
    scene_end(trid);
    ck_results("EPERM"); /* the name of 1 */
    ck_assert_uint_eq(scene_threads(), 2);
    ck_assert_ptr_eq(strstr(scene_events(0),
                            "mutex_lock M, mutex_locked M, mutex_unlock M, "
                            "child_wait waitpid CHILD, child_waited waitpid CHILD "),
                     scene_events(0));
    ck_events(1, "mutex_unlock M, sem_post S, sem_wait S, sem_taken S");
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, returns);
    tcase_add_test(tc, exits);
    tcase_add_test(tc, cancelled);
    tcase_add_test(tc, woken);
    tcase_add_test(tc, older_than_the_stream);
    tcase_add_test(tc, forked);
}

int main(void)
{
    return th_main("preload threads", add);
}
