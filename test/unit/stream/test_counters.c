/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Each counter of the protocol that has less than 64 bits somewhere starts close to the end of
 * those bits: nothing is lost and nothing stands still where it passes that end.  Which
 * counters there are, and how long each lasts, is in docs/decisions/0017-counters.md.  Times are
 * in test_far_times.c.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include "base/clock.h"
#include "process/self.h"
#include "stream/handle.h"
#include "support/flush_log.h"
#include "support/run_suite.h"

enum { SIZE = 32768, EVENTS = 60000, THREADS = 6, EACH = 200 };

static trace_event_id_t tick;

static trace_id_t create(int policy, int log)
{
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, SIZE), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    if (log >= 0)
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, log, &trid), 0);
    else
        ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    return trid;
}

/* The header stays mapped until shutdown. */
static struct pt_seg_header *header_of(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    ck_assert_ptr_nonnull(s);
    pt_handle_put(s);
    return s->seg->h;
}

static void trace(uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n < to; n++)
        posix_trace_event(tick, &n, sizeof n);
}

static uint64_t lost_of(trace_id_t trid, uint64_t *recorded)
{
    struct posixtrace_info info;
    uint64_t n = 0;

    ck_assert_int_eq(posixtrace_get_info(trid, &info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        n += info.lost[c];
    *recorded = info.events;
    return n;
}

/* How many ticks there are, numbered in order; the last number. */
static uint64_t read_ticks(trace_id_t trid, uint64_t *last)
{
    struct posixtrace_event e;
    uint64_t n = 0, number = 0;
    int unavailable;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, &unavailable), 0);
        if (unavailable)
            break;
        if (e.id != tick)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert(n == 0 || number == *last + 1);
        *last = number;
        n++;
    }
    return n;
}

/* Chunks change hands some 2,000 times, a few of them before the end of the bits. */
START_TEST(generation)
{
    trace_id_t trid = create(POSIX_TRACE_LOOP, -1);
    uint64_t last = 0, n, recorded;

    header_of(trid)->next_gen = (1ull << 40) - 20;
    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(0, EVENTS);
    n = read_ticks(trid, &last);
    ck_assert_uint_eq(last, EVENTS - 1);
    ck_assert_uint_ge(n, SIZE / 24);
    ck_assert_uint_eq(lost_of(trid, &recorded), EVENTS - n);
    /* And from there on. */
    trace(EVENTS, EVENTS + 10);
    ck_assert_uint_eq(read_ticks(trid, &last), 10);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static uint64_t ticks_in_log(int log)
{
    uint64_t last = 0, n;
    trace_id_t trid;

    ck_assert_int_eq(lseek(log, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(log, &trid), 0);
    n = read_ticks(trid, &last);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    return n;
}

START_TEST(generation_with_log)
{
    FILE *file = tmpfile();
    trace_id_t trid = create(POSIX_TRACE_FLUSH, fileno(file));
    uint64_t recorded;

    header_of(trid)->next_gen = (1ull << 40) - 20;
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (uint64_t n = 0; n < 20000; n += 100) {
        trace(n, n + 100);
        flush_log(trid);
    }
    ck_assert_uint_eq(lost_of(trid, &recorded), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_uint_eq(ticks_in_log(fileno(file)), 20000);
    fclose(file);
}
END_TEST

static void *trace_some(void *first)
{
    uint64_t n = *(uint64_t *)first;

    trace(n, n + EACH);
    return NULL;
}

/* One thread after the other, each a writer of its own. */
static void trace_in_threads(void)
{
    for (uint64_t i = 0; i < THREADS; i++) {
        uint64_t first = i * EACH;
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, trace_some, &first), 0);
        pthread_join(thread, NULL);
    }
}

/* Every thread is there with all that it recorded. */
static void check_threads(trace_id_t trid)
{
    struct posixtrace_thread_info t;
    unsigned whole = 0;
    size_t cursor = 0;
    int unavailable;

    for (;;) {
        ck_assert_int_eq(posixtrace_thread_getnext(trid, &cursor, &t, &unavailable), 0);
        if (unavailable)
            break;
        whole += t.recorded == EACH;
        for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
            ck_assert_uint_eq(t.lost[c], 0);
    }
    ck_assert_uint_eq(whole, THREADS);
}

/* The log has two places for a writer's number; the state of a slot 24 bits of it. */
static const uint64_t wids[] = { (1ull << 24) - 3, (1ull << 32) - 3, (1ull << 48) - 3 };

START_TEST(writer_number)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    uint64_t recorded = 0, n = 0;
    struct posixtrace_event e;
    int unavailable;

    header_of(trid)->next_wid = wids[_i];
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (uint64_t i = 0; i < THREADS; i++) {
        uint64_t first = i * EACH, last = 0;
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, trace_some, &first), 0);
        pthread_join(thread, NULL);
        ck_assert_uint_eq(read_ticks(trid, &last), EACH);
        ck_assert_uint_eq(last, first + EACH - 1);
        n += EACH;
    }
    ck_assert_int_eq(posixtrace_next_event(trid, &e, &unavailable), 0);
    ck_assert_uint_eq(lost_of(trid, &recorded), 0);
    ck_assert_uint_eq(recorded, n);
    check_threads(trid);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

START_TEST(writer_number_with_log)
{
    FILE *file = tmpfile();
    trace_id_t trid = create(POSIX_TRACE_FLUSH, fileno(file)), log;

    header_of(trid)->next_wid = wids[_i];
    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace_in_threads();
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_uint_eq(ticks_in_log(fileno(file)), THREADS * EACH);
    ck_assert_int_eq(lseek(fileno(file), 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fileno(file), &log), 0);
    check_threads(log);
    ck_assert_int_eq(posix_trace_close(log), 0);
    fclose(file);
}
END_TEST

/* The lock's count of hands, and the words that threads sleep on. */
START_TEST(hands_and_futexes)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    struct pt_seg_header *h = header_of(trid);
    uint64_t last = 0;

    h->control = pt_control_make(0, pt_control_slot_1(h->control), (1ull << 27) - 5);
    h->reader_futex = h->flush_futex = h->control_futex = h->fill_futex = UINT32_MAX - 2;
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(posix_trace_start(trid), 0);
        trace(i, i + 1);
        ck_assert_int_eq(posix_trace_stop(trid), 0);
    }
    ck_assert_uint_eq(read_ticks(trid, &last), 10);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void *wait_for_ticks(void *trid)
{
    struct posix_trace_event_info e;
    uint64_t number, got = 0;
    size_t length;
    int unavailable;

    while (got < 8) {
        ck_assert_int_eq(posix_trace_getnext_event(*(trace_id_t *)trid, &e, &number, sizeof number,
                                                   &length, &unavailable),
                         0);
        got += e.posix_event_id == tick;
    }
    return NULL;
}

/* Before each tick the reader sleeps on the word, which passes its end. */
START_TEST(reader_is_woken)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    struct pt_seg_header *h = header_of(trid);
    pthread_t reader;

    h->reader_futex = UINT32_MAX - 3;
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, wait_for_ticks, &trid), 0);
    for (uint64_t i = 0; i < 8; i++) {
        while (!(pt_load_seqcst(&h->attention) & PT_WAIT_READER))
            usleep(100);
        trace(i, i + 1);
    }
    pthread_join(reader, NULL);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* Of the gate bits: each stream that gets one changes its epoch. */
START_TEST(epoch)
{
    struct pt_self *self = pt_self_make();
    uint64_t last = 0;

    ck_assert_ptr_nonnull(self);
    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        self->page->epoch[bit] = (1ull << 32) - 3;
    self->page->changes = (1ull << 32) - 3;
    for (unsigned i = 0; i < 8; i++) {
        trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);

        ck_assert_int_eq(posix_trace_start(trid), 0);
        trace(0, 10);
        ck_assert_uint_eq(read_ticks(trid, &last), 10);
        ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    }
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, generation);
    tcase_add_test(t, generation_with_log);
    tcase_add_loop_test(t, writer_number, 0, sizeof wids / sizeof *wids);
    tcase_add_loop_test(t, writer_number_with_log, 0, sizeof wids / sizeof *wids);
    tcase_add_test(t, hands_and_futexes);
    tcase_add_test(t, reader_is_woken);
    tcase_add_test(t, epoch);
}

int main(void)
{
    return run_suite("counters", "stream", NULL, add);
}
