/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Where only long calls are recorded: with 0 ns as the limit each call is one event, with an hour
 * none is.  Both are tests of this program, which the environment distinguishes.
 */
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include "scene.h"

enum { FILE_FD = 100, LEFT = 20 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static bool all;
static char path[TH_PATH];

static void name_all(void)
{
    int fd = th_file(path, O_RDWR);

    ck_ok(sem_init(&s, 0, 1));
    ck_assert_int_eq(dup2(fd, FILE_FD), FILE_FD);
    close(fd);
    scene_name(&m, "M");
    scene_name(&c, "C");
    scene_name(&s, "S");
    scene_name((void *)FILE_FD, "FILE");
}

#define ck_long(text) ck_events(0, all ? text : "")

START_TEST(kinds)
{
    struct timespec ns = { 0, 1000000 }, before, after;
    trace_id_t trid;

    name_all();
    trid = scene_begin();
    clock_gettime(CLOCK_MONOTONIC, &before);
    nanosleep(&ns, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    pthread_mutex_lock(&m);
    pthread_cond_timedwait(&c, &m, &scene_past);
    pthread_mutex_unlock(&m);
    sem_trywait(&s);
    sem_trywait(&s);
    sem_post(&s);
    scene_note((int)write(FILE_FD, "abc", 3));
    flock(FILE_FD, LOCK_SH);
    poll(NULL, 0, 0);
    waitpid(-1, NULL, 0);
    scene_end(trid);
    ck_long("long_call sleep none - due, long_call mutex_lock none M 0, "
            "long_call cond_wait none C 110, long_call sem_wait none S 0, "
            "long_call sem_wait none S 11, long_call io write FILE 3, "
            "long_call file_lock flock FILE 0, long_call poll poll -1 0, "
            "long_call child_wait waitpid -1 -10");
    ck_assert_str_eq(scene_descriptors()[0] ? "FILE" : "", all ? "FILE" : "");
    if (all) {
        ck_assert_int_ge(scene_durations[0], 1000000);
        ck_assert_int_le(scene_durations[0], th_ns(after) - th_ns(before));
    }
}
END_TEST

static void tries(int number)
{
    (void)number;
    sem_trywait(&s);
}

/* A call inside of a call: each has its own begin. */
START_TEST(nested)
{
    struct timespec ms = { 0, 1000000 };
    struct sigaction action = { .sa_handler = tries };
    struct itimerspec soon = { { 0, 3000000 }, { 0, 1 } }, off = { .it_value = { 0, 0 } };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    trace_id_t trid;
    timer_t timer;
    int r = 0;

    name_all();
    ck_ok(sigaction(SIGUSR1, &action, NULL));
    ck_ok(timer_create(CLOCK_MONOTONIC, &event, &timer));
    ck_ok(pthread_mutex_lock(&m));
    trid = scene_begin();
    timer_settime(timer, 0, &soon, NULL);
    do /* until the signal comes in it */
        r = nanosleep(&ms, NULL);
    while (r == 0);
    timer_settime(timer, 0, &off, NULL);
    scene_end(trid);
    ck_ok(pthread_mutex_unlock(&m));
    ck_ok(timer_delete(timer));
    ck_assert_uint_ge(scene_count("signal_begin 10"), 1);
    ck_assert_uint_eq(scene_count("signal_end 10"), scene_count("signal_begin 10"));
    ck_assert_uint_eq(scene_count("long_call sem_wait none S"),
                      all ? scene_count("signal_end 10") : 0);
    ck_assert(scene_count("signal_end 10, long_call sleep none - due") >= all);
}
END_TEST

static sigjmp_buf out;

static void leaves(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

/* Calls that a handler left take no places for good. */
START_TEST(left)
{
    struct sigaction action = { .sa_handler = leaves };
    trace_id_t trid;
    int two[2];

    name_all();
    ck_ok(sigaction(SIGALRM, &action, NULL));
    ck_ok(pipe(two));
    trid = scene_begin();
    for (volatile int i = 0; i < LEFT; i++)
        if (sigsetjmp(out, 1) == 0) {
            char byte;
            ssize_t n;

            ualarm(100, 0);
            n = read(two[0], &byte, 1);
            abort();
            (void)n;
        }
    sem_trywait(&s);
    sem_trywait(&s);
    scene_end(trid);
    ck_assert_uint_eq(scene_count("long_call io read"), 0);
    ck_assert_uint_eq(scene_count("long_call sem_wait none S 0"), all);
    ck_assert_uint_eq(scene_count("long_call sem_wait none S 11"), all);
}
END_TEST

static void add(TCase *tc)
{
    const char *limit = getenv("POSIXTRACE_RECORD_LONGER_THAN");

    all = limit && strcmp(limit, "0") == 0;
    tcase_add_test(tc, kinds);
    tcase_add_test(tc, nested);
    tcase_add_test(tc, left);
}

int main(void)
{
    return th_main("preload longer", add);
}
