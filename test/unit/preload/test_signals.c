/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Signal handlers: their start and end, the handlers that the program gets back, and handlers that
 * do not return.
 */
#include <fcntl.h>
#include <posixtrace/event.h>
#include <posixtrace/filter.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include "scene.h"
#include "support/system_types.h"

static sem_t s;
static int seen_value, seen_signal;
static sigjmp_buf out;

static void posts(int number)
{
    seen_signal = number;
    sem_post(&s);
    errno = EIO;
}

static void takes_info(int number, siginfo_t *info, void *context)
{
    seen_signal = number;
    seen_value = context ? info->si_value.sival_int : -1;
}

static void leaves(int number)
{
    sem_post(&s);
    siglongjmp(out, number);
}

static void begin(void)
{
    ck_ok(sem_init(&s, 0, 0));
    scene_name(&s, "S");
}

START_TEST(around_a_handler)
{
    struct sigaction a = { .sa_handler = posts, .sa_flags = SA_RESTART }, old;
    char want[200];
    trace_id_t trid;

    begin();
    sigaddset(&a.sa_mask, SIGUSR2);
    trid = scene_begin();
    scene_note_errno(sigaction(SIGUSR1, &a, NULL));
    raise(SIGUSR1);
    scene_note(errno);
    sem_trywait(&s);
    scene_note_errno(sigaction(SIGUSR1, NULL, &old));
    scene_end(trid);
    ck_results("0 EIO 0");
    snprintf(want, sizeof want,
             "signal_begin %d, sem_post S, signal_end %d, sem_wait S, "
             "sem_taken S",
             SIGUSR1, SIGUSR1);
    ck_events(0, want);
    ck_assert_int_eq(seen_signal, SIGUSR1);
    ck_assert(old.sa_handler == posts);
    ck_assert_int_eq(old.sa_flags & (SA_RESTART | SA_SIGINFO | SA_NODEFER), SA_RESTART);
    ck_assert_int_eq(sigismember(&old.sa_mask, SIGUSR2), 1);
}
END_TEST

START_TEST(information)
{
    struct sigaction a = { .sa_sigaction = takes_info, .sa_flags = SA_SIGINFO }, old;
    struct sigaction *volatile same;
    char want[100];
    trace_id_t trid;

    begin();
    ck_ok(sigaction(SIGUSR2, &a, &old));
    ck_assert(old.sa_handler == SIG_DFL);
    trid = scene_begin();
    scene_note_errno(sigqueue(getpid(), SIGUSR2, (union sigval){ .sival_int = 4711 }));
    scene_end(trid);
    ck_results("0");
    ck_assert_int_eq(seen_value, 4711);
    snprintf(want, sizeof want, "signal_begin %d, signal_end %d", SIGUSR2, SIGUSR2);
    ck_events(0, want);
    a.sa_handler = SIG_IGN;
    a.sa_flags = 0;
    same = &a;
    ck_ok(sigaction(SIGUSR2, &a, same)); /* as programs do */
    ck_assert(a.sa_sigaction == takes_info);
    ck_assert_int_eq(a.sa_flags & SA_SIGINFO, SA_SIGINFO);
    ck_ok(sigaction(SIGUSR2, NULL, &old));
    ck_assert(old.sa_handler == SIG_IGN);
}
END_TEST

/* Values that are not functions are unchanged, errors, too; and a handler for one signal is removed
 * after it. */
START_TEST(told_to_the_program)
{
    struct sigaction once = { .sa_handler = posts, .sa_flags = SA_RESETHAND }, old;

    signal(SIGHUP, SIG_DFL); /* nohup has it ignored */
    ck_assert(signal(SIGHUP, posts) == SIG_DFL);
    ck_assert(signal(SIGHUP, SIG_IGN) == posts);
    ck_assert(signal(SIGHUP, leaves) == SIG_IGN);
    ck_assert(signal(SIGHUP, SIG_DFL) == leaves);
    ck_assert(signal(SIGHUP, SIG_DFL) == SIG_DFL);
    ck_assert(signal(SIGKILL, posts) == SIG_ERR);
    ck_assert_int_eq(sigaction(SIGSTOP, &once, NULL), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_int_eq(sigaction(-1, &once, NULL), -1);
    begin();
    ck_ok(sigaction(SIGUSR1, &once, NULL));
    ck_ok(raise(SIGUSR1));
    ck_ok(sem_trywait(&s));
    ck_ok(sigaction(SIGUSR1, NULL, &old));
    ck_assert(old.sa_handler == SIG_DFL);
}
END_TEST

/* More handlers than there are places: the program still gets back the ones it has set. */
START_TEST(many_handlers)
{
    struct sigaction a = { .sa_flags = 0 }, old;

    for (uintptr_t i = 0; i < 300; i++) {
        a.sa_handler = (void (*)(int))(0x100000 + 16 * i);
        ck_ok(sigaction(SIGUSR1, &a, NULL));
        ck_ok(sigaction(SIGUSR1, NULL, &old));
        ck_assert(old.sa_handler == a.sa_handler);
    }
    begin();
    ck_assert(signal(SIGUSR1, posts) == a.sa_handler);
    ck_ok(raise(SIGUSR1));
    ck_ok(sem_trywait(&s));
}
END_TEST

START_TEST(left_by_siglongjmp)
{
    char want[200];
    trace_id_t trid;

    begin();
    ck_assert(signal(SIGUSR1, leaves) != SIG_ERR);
    trid = scene_begin();
    if (sigsetjmp(out, 1) == 0)
        raise(SIGUSR1);
    sem_trywait(&s);
    scene_end(trid);
    snprintf(want, sizeof want, "signal_begin %d, sem_post S, sem_wait S, sem_taken S", SIGUSR1);
    ck_events(0, want);
}
END_TEST

/* signal() of a program that is compiled for another standard. */
sighandler_t bsd_signal(int, sighandler_t); /* declared for older standards only */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

START_TEST(by_other_names)
{
    static sighandler_t (*const set[])(int, sighandler_t) = { ssignal, bsd_signal, sysv_signal,
                                                              __sysv_signal, sigset };

    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
        char want[200];
        trace_id_t trid;

        begin();
        ck_assert(set[i](SIGUSR1, posts) == SIG_DFL);
        trid = scene_begin();
        raise(SIGUSR1);
        scene_end(trid);
        snprintf(want, sizeof want, "signal_begin %d, sem_post S, signal_end %d", SIGUSR1, SIGUSR1);
        ck_events(0, want);
        signal(SIGUSR1, SIG_DFL);
    }
}
END_TEST

static void posts_unknown(int number)
{
    (void)number;
    sem_post(&s);
}

static void leaves_unknown(int number)
{
    sem_post(&s);
    siglongjmp(out, number);
}

/* A handler for which there is no place any more. */
static void set_unknown(int number, void (*handler)(int))
{
    struct sigaction a = { .sa_flags = 0 };

    for (uintptr_t i = 0; i < 300; i++) {
        a.sa_handler = (void (*)(int))(0x100000 + 16 * i);
        ck_ok(sigaction(number, &a, NULL));
    }
    a.sa_handler = handler;
    ck_ok(sigaction(number, &a, NULL));
}

/* Inside an event: what decides about it raises a signal. */
static bool raises(void *context, const struct posixtrace_event *event)
{
    volatile int *left = context;

    (void)event;
    if (*left > 0) {
        --*left;
        raise(SIGUSR1);
    }
    return true;
}

static trace_id_t interrupted_stream(int *times)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_create(0, &attr, &trid));
    ck_ok(posixtrace_set_handler(trid, POSIXTRACE_SEM_WAIT, raises, times));
    ck_ok(posix_trace_start(trid));
    return trid;
}

/* An event that a handler left: the thread's next ones are recorded. */
START_TEST(event_left_by_unknown_handler)
{
    int times = 3;
    trace_id_t hook = interrupted_stream(&times), trid;

    begin();
    set_unknown(SIGUSR1, leaves_unknown);
    trid = scene_begin();
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(out, 1) == 0)
            sem_trywait(&s);
    sem_trywait(&s);
    sem_trywait(&s);
    sem_trywait(&s);
    scene_end(trid);
    ck_ok(posix_trace_shutdown(hook));
    ck_assert_int_eq(times, 0);
    ck_assert_uint_eq(scene_count("sem_post S"), 3);
    ck_assert_uint_eq(scene_count("sem_taken S"), 3);
}
END_TEST

/* A handler that interrupts an event and returns: what it does is recorded. */
START_TEST(event_interrupted_by_unknown_handler)
{
    int times = 2;
    trace_id_t hook = interrupted_stream(&times), trid;

    begin();
    set_unknown(SIGUSR1, posts_unknown);
    trid = scene_begin();
    sem_trywait(&s);
    sem_trywait(&s);
    scene_end(trid);
    ck_ok(posix_trace_shutdown(hook));
    ck_assert_int_eq(times, 0);
    ck_assert_uint_eq(scene_count("sem_post S"), 2);
    ck_assert_uint_eq(scene_count("sem_wait S"), 2);
    ck_assert_uint_eq(scene_count("sem_taken S"), 2);
}
END_TEST

/* A function that decides about events and makes calls itself is not called for those. */
static bool posts_itself(void *context, const struct posixtrace_event *event)
{
    unsigned *calls = context;

    (void)event;
    ++*calls;
    sem_post(&s);
    return true;
}

START_TEST(function_that_makes_calls)
{
    trace_id_t asking, trid;
    trace_attr_t attr;
    unsigned calls = 0, made;

    begin();
    ck_ok(posix_trace_attr_init(&attr));
    ck_ok(posix_trace_create(0, &attr, &asking));
    ck_ok(posixtrace_set_handler(asking, 0, posts_itself, &calls));
    for (trace_event_id_t id = POSIXTRACE_SWITCH_IN; id <= OWN_LAST; id++)
        ck_ok(posixtrace_set_handler(asking, id, posts_itself, &calls));
    ck_ok(posix_trace_start(asking));
    trid = scene_begin();
    calls = 0;
    sem_trywait(&s);
    made = calls;
    scene_end(trid);
    ck_ok(posix_trace_shutdown(asking));
    ck_assert_uint_eq(made, 2);
    ck_assert_uint_ge(scene_count("sem_post S"), 2);
    ck_assert_uint_eq(scene_count("sem_wait S"), 1);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, by_other_names);
    tcase_add_test(tc, function_that_makes_calls);
    tcase_add_test(tc, around_a_handler);
    tcase_add_test(tc, information);
    tcase_add_test(tc, told_to_the_program);
    tcase_add_test(tc, many_handlers);
    tcase_add_test(tc, left_by_siglongjmp);
    tcase_add_test(tc, event_left_by_unknown_handler);
    tcase_add_test(tc, event_interrupted_by_unknown_handler);
}

int main(void)
{
    return th_main("preload signals", add);
}
