/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Threads that are torn out of posix_trace_event(), for good.
 *
 *   left [MULTIPLIER [SEED]]
 *
 * One thread after the other traces without a pause until it is ended from
 * outside: by a handler that traces and calls pthread_exit(), by asynchronous
 * cancellation, or by a handler that traces and leaves by siglongjmp(), many
 * times.  Whatever they were in the middle of: every event whose call returned
 * is read, once, whole and in order, or counted as lost; at most one more for
 * each call that was left; and the next thread finds everything usable.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include "torture/audit.h"

#define ROUNDS     300u
#define JUMPS      20u
#define WATCHDOG_S 380

enum way { EXIT, CANCEL, JUMP, WAYS };

/* Two lanes a thread: its own events, its handler's. */
struct lane {
    _Atomic uint64_t begun, returned;
};

static struct lane *lanes;
static trace_event_id_t event_id;
static _Thread_local uint32_t my_lane;
static _Thread_local sigjmp_buf back;
static _Thread_local volatile sig_atomic_t jumps_left;

static void trace_in(uint32_t lane)
{
    struct payload p;
    uint64_t number = atomic_fetch_add(&lanes[lane].begun, 1);
    size_t len = payload_make(&p, lane, number);

    posix_trace_event(event_id, &p, len);
    atomic_fetch_add(&lanes[lane].returned, 1);
}

static void leave_for_good(int sig)
{
    (void)sig;
    trace_in(my_lane + 1);
    pthread_exit(NULL);
}

static void leave_by_jump(int sig)
{
    (void)sig;
    trace_in(my_lane + 1);
    siglongjmp(back, 1);
}

static void *trace_until_ended(void *argument)
{
    int old;

    my_lane = (uint32_t)(uintptr_t)argument;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (;;)
        trace_in(my_lane);
    return NULL;
}

static void *trace_and_jump(void *argument)
{
    my_lane = (uint32_t)(uintptr_t)argument;
    jumps_left = JUMPS;
    if (sigsetjmp(back, 1) != 0)
        jumps_left--;
    while (jumps_left > 0)
        trace_in(my_lane);
    return NULL;
}

/* Until the thread has traced count events more, or has ended its jumps. */
static void let_it_trace(uint32_t lane, uint64_t count)
{
    uint64_t goal = atomic_load(&lanes[lane].returned) + count;

    while (atomic_load(&lanes[lane].returned) < goal)
        sched_yield();
}

static void end_it(pthread_t thread, uint32_t lane, enum way way, uint64_t *random)
{
    unsigned times = way == JUMP ? JUMPS : 1;

    for (unsigned i = 0; i < times; i++) {
        uint64_t handled = atomic_load(&lanes[lane + 1].returned);

        *random = *random * 6364136223846793005ull + 1442695040888963407ull;
        let_it_trace(lane, 1 + (*random >> 33) % 50);
        DEMAND_OK(way == CANCEL ? pthread_cancel(thread)
                                : pthread_kill(thread, way == EXIT ? SIGUSR1 : SIGUSR2));
        while (way == JUMP && atomic_load(&lanes[lane + 1].returned) == handled)
            sched_yield();
    }
    DEMAND_OK(pthread_join(thread, NULL));
}

static trace_id_t new_stream(void)
{
    trace_attr_t attr;
    trace_id_t trid;

    DEMAND_OK(posix_trace_attr_init(&attr));
    DEMAND_OK(posix_trace_attr_setstreamsize(&attr, 32 << 20));
    DEMAND_OK(posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
    DEMAND_OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
    DEMAND_OK(posix_trace_create(0, &attr, &trid));
    DEMAND_OK(posix_trace_start(trid));
    return trid;
}

static void check_books(const struct audit *a, trace_id_t trid, uint32_t threads)
{
    uint64_t begun = 0, returned = 0, accounted = a->events + audit_lost(trid);

    for (uint32_t lane = 0; lane < threads * 2; lane++) {
        begun += atomic_load(&lanes[lane].begun);
        returned += atomic_load(&lanes[lane].returned);
        DEMAND(a->read[lane] <= atomic_load(&lanes[lane].begun), "lane %u: %llu read", lane,
               (unsigned long long)a->read[lane]);
    }
    DEMAND(returned <= accounted && accounted <= begun,
           "%llu begun, %llu returned, %llu in the books", (unsigned long long)begun,
           (unsigned long long)returned, (unsigned long long)accounted);
}

int main(int argc, char **argv)
{
    uint32_t rounds = (uint32_t)(ROUNDS * audit_multiplier(argc > 1 ? argv[1] : NULL));
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)getpid();
    struct sigaction for_good = { .sa_handler = leave_for_good };
    struct sigaction jump = { .sa_handler = leave_by_jump };
    struct audit audit;
    trace_id_t trid;

    if (SIGNALS_ARE_DELAYED)
        return SKIPPED;
    printf("seed %llu\n", (unsigned long long)random);
    rounds = rounds < WAYS ? WAYS : rounds;
    lanes = calloc(rounds * 2, sizeof *lanes);
    DEMAND(lanes, "no memory");
    sigaction(SIGUSR1, &for_good, NULL);
    sigaction(SIGUSR2, &jump, NULL);
    DEMAND_OK(posix_trace_eventid_open("left", &event_id));
    trid = new_stream();
    audit_init(&audit, event_id, rounds * 2);
    for (uint32_t i = 0; i < rounds; i++) {
        enum way way = i % WAYS;
        pthread_t thread;

        alarm(WATCHDOG_S);
        DEMAND_OK(pthread_create(&thread, NULL, way == JUMP ? trace_and_jump : trace_until_ended,
                                 (void *)(uintptr_t)(i * 2)));
        end_it(thread, i * 2, way, &random);
        audit_drain(&audit, trid);
    }
    check_books(&audit, trid, rounds);
    DEMAND_OK(posix_trace_shutdown(trid));
    printf("%u threads, %llu events\n", rounds, (unsigned long long)audit.events);
    audit_deinit(&audit);
    free(lanes);
    return 0;
}
