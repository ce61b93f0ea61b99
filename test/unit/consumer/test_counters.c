/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Each counter of the protocol starts close to the end of its bits, where it has less than 64 of
 * them somewhere, or else close to the end of 32: nothing is lost and nothing stands still where
 * it passes that end.  Which counters there are, and how long each lasts, is in
 * docs/decisions/0017-counters.md.  Times are in test_far_times.c, the rounds and looks of a
 * consumer in test_books.c.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include "base/clock.h"
#include "base/sys.h"
#include "flush/state.h"
#include "log/writer/state.h"
#include "process/thread.h"
#include "stream/handle.h"
#include "support/flush_log.h"
#include "support/run_suite.h"
#include "writer/writer.h"

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

/* It stays until shutdown. */
static struct pt_stream *stream_of(trace_id_t trid)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    ck_assert_ptr_nonnull(s);
    pt_handle_put(s);
    return s;
}

static struct pt_seg_header *header_of(trace_id_t trid)
{
    return stream_of(trid)->seg->h;
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

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
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
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &unavailable), 0);
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
    int unavailable;

    ck_assert_int_eq(posixtrace_threadlist_rewind(trid), 0);
    for (;;) {
        ck_assert_int_eq(posixtrace_threadlist_getnext(trid, &t, sizeof t, &unavailable), 0);
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
    ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &unavailable), 0);
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
        while (!(pt_load_seqcst(pt_attention(h)) & PT_WAIT_READER))
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
    struct pt_self *self;
    uint64_t last = 0;

    ck_assert_int_eq(pt_self_make(&self), 0);
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

/* Words of 64 bits: a copy with fewer shows where they pass 2^32. */
#define FEW_BITS (1ull << 32)

/* The slot of the thread that has recorded last, and holds a chunk. */
static struct pt_slot *slot_of_me(trace_id_t trid)
{
    const struct pt_seg *seg = stream_of(trid)->seg;

    for (uint32_t i = 0; i < seg->slots_open; i++) {
        struct pt_slot *s = pt_seg_slot(seg, i);

        if (s->tid == pt_sys_tid() && s->author.level == 0 && s->chunk)
            return s;
    }
    ck_abort_msg("no slot");
}

/* As if the thread had recorded many events that were never read: they are overwritten, and
 * those that come are all there. */
START_TEST(events_of_a_writer)
{
    const uint64_t more = FEW_BITS - 400;
    FILE *file = tmpfile();
    trace_id_t trid = create(POSIX_TRACE_LOOP, _i ? fileno(file) : -1);
    uint64_t last = 0, recorded = 0, n = 1;

    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(0, 1);
    if (_i)
        flush_log(trid);
    else
        ck_assert_uint_eq(read_ticks(trid, &last), 1);
    slot_of_me(trid)->chunk_base += more;
    for (; n < 20000; n += 100) {
        trace(n, n + 100);
        if (_i)
            flush_log(trid);
        else
            ck_assert_uint_eq(read_ticks(trid, &last), 100);
    }
    ck_assert_uint_eq(lost_of(trid, &recorded), more);
    ck_assert_uint_gt(slot_of_me(trid)->chunk_base, FEW_BITS);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    if (_i)
        ck_assert_uint_eq(ticks_in_log(fileno(file)), n);
    fclose(file);
}
END_TEST

/* What a thread counts of its own events, in one stream and in several. */
START_TEST(events_of_a_thread)
{
    trace_id_t trid[2];
    uint64_t last = 0;

    for (int i = 0; i < 2; i++) {
        trid[i] = create(POSIX_TRACE_UNTIL_FULL, -1);
        if (i <= _i)
            ck_assert_int_eq(posix_trace_start(trid[i]), 0);
    }
    trace(0, 5);
    pt_thread_self->count = FEW_BITS - 20;
    trace(5, 60);
    ck_assert_uint_eq(pt_thread_self->count, FEW_BITS + 35);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(read_ticks(trid[i], &last), i <= _i ? 60 : 0);
        ck_assert_int_eq(posix_trace_shutdown(trid[i]), 0);
    }
}
END_TEST

/* Chunks are recycled in the order in which they were closed: the newest events are kept. */
START_TEST(order_of_closing)
{
    trace_id_t trid = create(POSIX_TRACE_LOOP, -1);
    struct pt_seg_header *h = header_of(trid);
    uint64_t last = 0, n, recorded;

    h->next_close = FEW_BITS - 20;
    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(0, EVENTS);
    ck_assert_uint_gt(h->next_close, FEW_BITS);
    n = read_ticks(trid, &last);
    ck_assert_uint_eq(last, EVENTS - 1);
    ck_assert_uint_ge(n, SIZE / 24);
    ck_assert_uint_eq(lost_of(trid, &recorded), EVENTS - n);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

START_TEST(filters_set)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    struct pt_seg_header *h = header_of(trid);
    trace_event_set_t set;
    uint64_t last = 0;

    h->filter_now += FEW_BITS - 3 * PT_FILTERS;
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (unsigned i = 0; i < 16; i++) {
        posix_trace_eventset_empty(&set);
        if (i % 2)
            posix_trace_eventset_add(tick, &set);
        ck_assert_int_eq(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
        trace(i * 10, i * 10 + 10);
        ck_assert_uint_eq(read_ticks(trid, &last), i % 2 ? 0 : 10);
    }
    ck_assert_uint_gt(h->filter_now, FEW_BITS);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* Of a log; where it is full the oldest rounds go. */
START_TEST(packets_and_rounds)
{
    static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP };
    FILE *file = tmpfile();
    trace_attr_t attr;
    trace_id_t trid;
    struct pt_log_writer *w;
    uint64_t last = 0, n;

    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, policies[_i]), 0);
    ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, 65536), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fileno(file), &trid), 0);
    w = stream_of(trid)->flusher->writer;
    w->lsn = w->round = FEW_BITS - 40;
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (n = 0; n < 20000; n += 100) {
        trace(n, n + 100);
        flush_log(trid);
    }
    ck_assert_uint_gt(w->lsn, FEW_BITS);
    ck_assert_uint_gt(w->round, FEW_BITS);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(lseek(fileno(file), 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fileno(file), &trid), 0);
    if (_i == 0)
        ck_assert_uint_eq(read_ticks(trid, &last), n);
    else
        ck_assert_uint_ge(read_ticks(trid, &last), 1000);
    ck_assert_uint_eq(last, n - 1);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    fclose(file);
}
END_TEST

/* No more of them are shown than 65535. */
START_TEST(refused)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    struct pt_seg_header *h = header_of(trid);
    struct pt_writer writer = { .refused = false };
    struct posixtrace_limits limits;

    h->refused_writers = h->refused_procs = UINT32_MAX;
    pt_writer_refuse(&writer, h);
    pt_note_refused(&h->refused_procs);
    ck_assert_int_eq(posixtrace_get_limits(trid, &limits, sizeof limits), 0);
    ck_assert_uint_eq(limits.refused_threads, 65535);
    ck_assert_uint_eq(limits.refused_processes, 65535);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
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
    tcase_add_loop_test(t, events_of_a_writer, 0, 2);
    tcase_add_loop_test(t, events_of_a_thread, 0, 2);
    tcase_add_test(t, order_of_closing);
    tcase_add_test(t, filters_set);
    tcase_add_test(t, refused);
    tcase_add_loop_test(t, packets_and_rounds, 0, 2);
}

int main(void)
{
    return run_suite("counters", "stream", NULL, add);
}
