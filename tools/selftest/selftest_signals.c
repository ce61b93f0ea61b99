/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Signal handlers that trace while their thread traces.
 *
 * A thread records numbered events without a pause; two signals with handlers that also record
 * interrupt it again and again, also one in the other's handler.  When the stream is nearly full,
 * no more signals are sent, the thread ends, and the stream is read; then the next thread continues
 * the numbers.  At the end each of the three series must be there, from first to last, and nothing
 * be lost.
 */
#include "selftest/selftest.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <posixtrace/info.h>

#include "common/units.h"
#include "common/progress.h"

enum {
    SERIES = 3,
    HANDLERS = 2,
    IN_HANDLER = 2,
    EVENTS = 300000,
    SIGNALS_LEAST = 100,
    SIGNALS_MOST = 10000
};
#define STREAM_SIZE (16u << 20) /* room for EVENTS and those of SIGNALS_MOST handlers */

/* Series 0 is the thread's own; 1 and 2 are those of the handlers. */
static const int signals[HANDLERS] = { SIGUSR1, SIGUSR2 };
static trace_event_id_t ids[SERIES];
static uint64_t recorded[SERIES]; /* the tracing thread's, its handlers included */
static sem_t handled[HANDLERS];
static sem_t finished, may_end;

struct books {
    uint64_t read[SERIES];
    uint64_t sent[HANDLERS];
    uint64_t wrong; /* not the number that was due */
    int error;
};

static void record(unsigned series)
{
    uint64_t number = recorded[series];

    posix_trace_event(ids[series], &number, sizeof number);
    recorded[series] = number + 1;
}

static void handle(int number)
{
    unsigned handler = number == SIGUSR2;
    int saved = errno;

    for (int i = 0; i < IN_HANDLER; i++)
        record(1 + handler);
    sem_post(&handled[handler]);
    errno = saved;
}

static void *trace(void *unused)
{
    (void)unused;
    for (int i = 0; i < EVENTS && !selftest_interrupted(); i++)
        record(0);
    sem_post(&finished);
    while (sem_wait(&may_end) < 0)
        ; /* a signal */
    return NULL;
}

/* Reads all that is there. */
static void drain(trace_id_t trid, struct books *b)
{
    struct posixtrace_event e;
    int unavailable = 0;

    while (b->error == 0) {
        b->error = posixtrace_next_event(trid, &e, sizeof e, &unavailable);
        if (b->error || unavailable)
            break;
        for (unsigned s = 0; s < SERIES; s++) {
            if (e.id == ids[s])
                b->wrong += selftest_number(&e) != b->read[s]++;
        }
    }
}

/* Each signal again as soon as its handler has run, until the thread is done
 * and no signal is under way. */
static void send_signals(pthread_t thread, struct books *b)
{
    bool waits[HANDLERS] = { false }, done = false;
    unsigned sent = 0;

    while (!done || waits[0] || waits[1]) {
        done = done || sem_trywait(&finished) == 0;
        for (int i = 0; i < HANDLERS; i++) {
            waits[i] = waits[i] && sem_trywait(&handled[i]) != 0;
            if (waits[i] || done || sent >= SIGNALS_MOST)
                continue;
            waits[i] = pthread_kill(thread, signals[i]) == 0;
            b->sent[i] += waits[i];
            sent += waits[i];
        }
        sched_yield();
    }
    sem_post(&may_end);
}

/* The life of one thread; an error number if there could be none. */
static int run_thread(struct books *b)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART }, before[HANDLERS];
    pthread_t thread;
    int error;

    sigemptyset(&action.sa_mask);
    for (int i = 0; i < HANDLERS; i++)
        sigaction(signals[i], &action, &before[i]);
    error = pthread_create(&thread, NULL, trace, NULL);
    if (!error) {
        send_signals(thread, b);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < HANDLERS; i++)
        sigaction(signals[i], &before[i], NULL);
    return error;
}

static void run_threads(trace_id_t trid, int64_t until, struct books *b)
{
    do {
        b->error = run_thread(b);
        drain(trid, b);
    } while (!b->error && !selftest_interrupted() &&
             (b->sent[0] + b->sent[1] < SIGNALS_LEAST || selftest_now() < until));
}

static void judge(trace_id_t trid, struct books *b)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    if (!b->error)
        b->error = posixtrace_get_info(trid, &info, sizeof info);
    if (b->error) {
        report_check(false, "signals", "%s", strerror(b->error));
        return;
    }
    lost = selftest_lost(info.lost);
    report_check(b->wrong == 0 && lost == 0 && b->read[0] == recorded[0] &&
                     b->read[1] == recorded[1] && b->read[2] == recorded[2] &&
                     b->read[1] + b->read[2] == IN_HANDLER * (b->sent[0] + b->sent[1]),
                 "signals",
                 "%s signals; %s events of their handlers, %s read; %s of the thread, "
                 "%s read; %s lost, %s not in order",
                 units_count(b->sent[0] + b->sent[1]), units_count(recorded[1] + recorded[2]),
                 units_count(b->read[1] + b->read[2]), units_count(recorded[0]),
                 units_count(b->read[0]), units_count(lost), units_count(b->wrong));
}

void selftest_signals(const struct selftest *t)
{
    static const char *const names[SERIES] = { "thread", "handler 1", "handler 2" };
    int64_t until = selftest_now() + (int64_t)(t->seconds * 0.07 * (double)SELFTEST_NS);
    struct books b = { .error = 0 };
    trace_id_t trid;
    int error = 0;

    progress_step("signals");
    for (int i = 0; i < SERIES && !error; i++)
        error = posix_trace_eventid_open(names[i], &ids[i]);
    if (!error)
        error = selftest_stream(STREAM_SIZE, POSIX_TRACE_UNTIL_FULL, -1, 0, &trid);
    if (error) {
        report_check(false, "signals", "cannot trace: %s", strerror(error));
        return;
    }
    sem_init(&finished, 0, 0);
    sem_init(&may_end, 0, 0);
    for (int i = 0; i < HANDLERS; i++)
        sem_init(&handled[i], 0, 0);
    run_threads(trid, until, &b);
    judge(trid, &b);
    posix_trace_shutdown(trid);
}
