/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group M, first part: trace points in signal handlers.
 *
 * A timer interrupts the thread as often as it can while the thread does what
 * a test is about.  That every single instruction can be interrupted is proved
 * elsewhere (test/proof); here the rules are shown to hold in ordinary use.
 */
#include "support/trace_helpers.h"

#include <signal.h>
#include <sys/time.h>

#define SIGNALS 300

static trace_event_id_t handler_id;
static volatile sig_atomic_t handled;

static void on_timer(int signo)
{
    (void)signo;
    if (handled < SIGNALS) {
        th_put(handler_id, (uint32_t)handled, 50);
        handled++;
    }
}

static void start_timer(int flags)
{
    struct sigaction action = { .sa_handler = on_timer, .sa_flags = flags };
    struct itimerval often = { { 0, 100 }, { 0, 100 } };

    handler_id = th_id("from handler");
    handled = 0;
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
}

static void stop_timer(void)
{
    struct itimerval never = { { 0, 0 }, { 0, 0 } };

    ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
}

/* All events of handlers are there, in order and whole. */
static void expect_handled(struct th_list list)
{
    struct th_list from_handler = th_only(list, handler_id);

    ck_assert_uint_eq(from_handler.n, (size_t)handled);
    th_expect_run(from_handler, 0);
}

START_TEST(test_256_handler_in_event)
{
    trace_event_id_t id = th_id("interrupted");
    trace_id_t trid = th_stream(.policy = POSIX_TRACE_UNTIL_FULL, .stream_size = 32 << 20);
    struct th_list list;
    uint32_t n = 0;

    ck_ok(posix_trace_start(trid));
    start_timer(SA_RESTART);
    while (n < 300000 && handled < SIGNALS)
        th_put(id, n++, 24);
    stop_timer();
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    list = th_drain(trid);
    expect_handled(list);
    ck_assert_uint_eq(th_only(list, id).n, n);
    th_expect_run(th_only(list, id), 0);
    ck_assert_int_gt(handled, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

/* Things that take locks or memory, one after the other. */
static void do_everything(trace_id_t trid, uint32_t round, struct th_list *read)
{
    trace_event_set_t set = th_set(POSIX_TRACE_ERROR);
    struct posix_trace_event_info info;
    unsigned char data[64];
    char name[32];
    void *memory;
    size_t len;
    int unavailable = 1, error;

    snprintf(name, sizeof name, "name %u", round % 500);
    th_id(name);
    error = posix_trace_set_filter(trid, &set,
                                   round % 2 ? POSIX_TRACE_ADD_EVENTSET : POSIX_TRACE_SUB_EVENTSET);
    ck_assert(error == 0 || error == EINTR);
    memory = malloc(1000 + round % 5000);
    ck_assert_ptr_nonnull(memory);
    free(memory);
    /* the filter change has just left an event to read */
    error = posix_trace_getnext_event(trid, &info, data, sizeof data, &len, &unavailable);
    ck_assert(error == 0 || error == EINTR);
    if (error == 0 && !unavailable && info.posix_event_id == handler_id) {
        unsigned char *copy = th_alloc(len);
        memcpy(copy, data, len);
        ck_assert_uint_lt(read->n, SIGNALS);
        read->at[read->n++] = (struct th_event){ info, len, copy };
    }
}

START_TEST(test_257_handler_in_anything)
{
    trace_id_t trid = th_stream(.stream_size = 4 << 20);
    struct th_list read = { th_alloc(SIGNALS * sizeof *read.at), 0 }, rest;
    uint32_t round = 0;

    ck_ok(posix_trace_start(trid));
    start_timer(0);
    while (handled < SIGNALS && round < 20000)
        do_everything(trid, round++, &read);
    stop_timer();
    ck_assert_int_gt(handled, 0);
    rest = th_only(th_drain(trid), handler_id);
    ck_assert_uint_eq(read.n + rest.n, (size_t)handled);
    th_expect_run(read, 0);
    th_expect_run(rest, (uint32_t)read.n);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_256_handler_in_event);
    tcase_add_test(tc, test_257_handler_in_anything);
}

int main(void)
{
    return th_main("M signals", add);
}
