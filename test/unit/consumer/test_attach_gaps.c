/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Attached streams: where events are missing, or are no part of the stream, an onlooker gets marks,
 * and counts what the stream has lost.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/clock.h"
#include "page/page.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"
#include "attach_helpers.h"

/* How many ticks there are; *marks: of missing events, too. */
static uint64_t read_all(trace_id_t trid, unsigned *marks)
{
    struct posixtrace_event e;
    uint64_t ticks = 0;
    int none = 0;

    for (*marks = 0;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return ticks;
        ticks += e.id == tick;
        *marks += e.id == POSIX_TRACE_OVERFLOW || e.id == POSIX_TRACE_RESUME;
    }
}

static trace_event_id_t next(trace_id_t trid, struct posixtrace_event *e)
{
    int none;

    ck_assert_int_eq(posixtrace_next_event(trid, e, sizeof *e, &none), 0);
    ck_assert(!none);
    return e->id;
}

/* ---- events outside the windows ---- */

/* Its thread has found the gate open, and takes the time after the STOP. */
static void trace_too_late(trace_id_t own, uint64_t number)
{
    struct pt_stream *s = pt_handle_get(own, ~0u);

    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(posix_trace_stop(own), 0);
    pt_page_set_gate(s->page, s->bit, tick, PT_GATE_OPEN);
    trace(number, number + 1);
    pt_page_set_gate(s->page, s->bit, tick, PT_GATE_CLOSED);
    pt_handle_put(s);
}

/* What no window has is no part of the stream, for an onlooker as for the owner; _i: the STOP is
 * read before the next START is made. */
START_TEST(outside_windows)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posixtrace_info mine, owners;
    unsigned marks;

    trace(0, 3);
    trace_too_late(own, 3);
    if (_i)
        ck_assert_uint_eq(read_ticks(trid, 0), 3);
    ck_assert_int_eq(posix_trace_start(own), 0);
    trace(4, 6);
    trace_too_late(own, 6);
    ck_assert_uint_eq(read_all(trid, &marks), _i ? 2 : 5);
    ck_assert_uint_eq(marks, 0);
    ck_assert_uint_eq(missed(trid), 0);
    ck_assert_uint_eq(read_all(own, &marks), 5);
    ck_assert_int_eq(posixtrace_get_info(trid, &mine, sizeof mine), 0);
    ck_assert_int_eq(posixtrace_get_info(own, &owners, sizeof owners), 0);
    ck_assert_uint_eq(owners.events, 5);
    ck_assert_uint_eq(mine.events, 5);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

struct stepper {
    pthread_t thread;
    sem_t go, done;
    uint64_t number;
};

static void *make_steps(void *stepper)
{
    struct stepper *s = stepper;

    for (unsigned i = 0; i < 3; i++) {
        while (sem_wait(&s->go) < 0)
            ;
        trace(s->number, s->number + 3);
        s->number += 3;
        sem_post(&s->done);
    }
    return NULL;
}

static void make_step(struct stepper *s)
{
    sem_post(&s->go);
    while (sem_wait(&s->done) < 0)
        ;
}

/* The chunk of a thread has events of before and after a STOP and START that were read; then there
 * were 5 + _i FILTERs, and the stream has the last ones. */
START_TEST(stopped_earlier)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid;
    struct stepper s = { .number = 100 };
    trace_event_set_t none_of_all;
    struct posixtrace_event e;
    uint64_t number, next = 0;
    bool gap = false, mark = false;
    unsigned marks;
    int none = 0;

    ck_assert_int_eq(sem_init(&s.go, 0, 0), 0);
    ck_assert_int_eq(sem_init(&s.done, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&s.thread, NULL, make_steps, &s), 0);
    make_step(&s);
    ck_assert_int_eq(posix_trace_stop(own), 0);
    make_step(&s);
    ck_assert_int_eq(posix_trace_start(own), 0);
    ck_assert_int_eq(posix_trace_eventset_empty(&none_of_all), 0);
    for (int i = 0; i < 5 + _i; i++)
        ck_assert_int_eq(posix_trace_set_filter(own, &none_of_all, POSIX_TRACE_SET_EVENTSET), 0);
    ck_assert_uint_eq(read_all(own, &marks), 3);
    make_step(&s);
    trid = attach();
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        gap = e.id == POSIX_TRACE_OVERFLOW || (gap && e.id != POSIX_TRACE_RESUME);
        mark |= e.id == POSIX_TRACE_RESUME;
        if (e.id != tick)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert(next == 0 || number == next || gap || mark);
        next = number + 1;
        mark = false;
    }
    ck_assert_uint_eq(next, 109);
    ck_assert_int_eq(pthread_join(s.thread, NULL), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* A chunk has events of before and after the last restart of a full stream. */
START_TEST(restarted_earlier)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid;
    struct pt_seg *seg = segment_of(own);
    struct posixtrace_event e;

    trace(0, 3);
    pt_store_seqcst(&seg->h->gap_to, pt_clock_now(seg->g.clock));
    trace(3, 6);
    trid = attach();
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_START);
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_OVERFLOW);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(next(trid, &e), tick);
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_RESUME);
    ck_assert_uint_eq(read_ticks(trid, 3), 3);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* A full stream refuses events, which have no numbers.  It has been emptied and runs again before
 * an onlooker looks, _i + 1 times: OVERFLOW and RESUME are around the missing events. */
START_TEST(restarted_unseen)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posixtrace_event e;
    uint64_t number, next = 0, from = 10;
    bool gap = false, mark = false;
    unsigned marks;
    int none = 0;

    trace(0, from);
    ck_assert_uint_eq(read_ticks(trid, 0), from);
    next = from;
    for (int i = 0; i <= _i; i++, from += 2000) {
        trace(from, from + 2000);
        ck_assert_uint_lt(read_all(own, &marks), 2000);
    }
    trace(from, from + 10);
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        mark |= e.id == POSIX_TRACE_STOP;
        gap = e.id == POSIX_TRACE_OVERFLOW || (gap && e.id != POSIX_TRACE_RESUME);
        if (e.id != tick)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert_uint_ge(number, next);
        ck_assert(number == next || mark || gap);
        next = number + 1;
        mark = false;
    }
    ck_assert_uint_eq(next, from + 10);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(overtaken)
{
    trace_id_t own = create(POSIX_TRACE_LOOP, -1), trid = attach(), late;
    struct posixtrace_event e;
    uint64_t ticks = 0;
    unsigned told = 0;
    int none = 0;

    trace(0, 5000);
    late = attach();
    ck_assert_uint_eq(missed(late), 0);
    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            break;
        ticks += e.id == tick;
        told += e.id == POSIX_TRACE_OVERFLOW;
    }
    ck_assert_uint_gt(ticks, 0);
    ck_assert_uint_lt(ticks, 5000);
    ck_assert_uint_eq(ticks + missed(trid), 5000);
    ck_assert_uint_eq(told, 1);
    ck_assert_uint_eq(read_ticks(late, 5000 - ticks), ticks);
    ck_assert_uint_eq(read_ticks(own, 5000 - ticks), ticks);
    ck_assert_int_eq(posixtrace_detach(late), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

static uint64_t lost_before(trace_id_t trid, unsigned cause)
{
    uint64_t lost[POSIXTRACE_LOSS_CAUSES], sum = 0;

    ck_assert_int_eq(posixtrace_attach_lost(trid, lost), 0);
    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        sum += i == cause ? 0 : lost[i];
    ck_assert_uint_eq(sum, 0);
    return lost[cause];
}

/* What was overwritten before the attach is a gap before the first event, what was cleared is
 * none; _i: its owner has read events in between. */
START_TEST(overwritten_earlier)
{
    trace_id_t own = create(POSIX_TRACE_LOOP, -1), trid;
    struct posixtrace_event e;
    struct timespec before;

    clock_gettime(CLOCK_REALTIME, &before);
    trace(0, 5000);
    if (_i) {
        ck_assert_uint_eq(next(own, &e), POSIX_TRACE_OVERFLOW);
        trace(5000, 10000);
    }
    trid = attach();
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_OVERFLOW);
    /* When the stream was created. */
    ck_assert_int_le(e.ns, (int64_t)before.tv_sec * 1000000000 + before.tv_nsec);
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_RESUME);
    ck_assert_uint_eq(next(trid, &e), tick);
    ck_assert_uint_eq(missed(trid), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_clear(own), 0);
    trace(0, 7);
    trid = attach();
    ck_assert_uint_eq(next(trid, &e), tick);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* Overwritten after a clear that the onlooker has not noticed. */
START_TEST(cleared_and_overwritten)
{
    trace_id_t own = create(POSIX_TRACE_LOOP, -1), trid = attach();
    struct posixtrace_event e;

    trace(0, 3);
    ck_assert_uint_eq(read_ticks(trid, 0), 3);
    ck_assert_int_eq(posix_trace_clear(own), 0);
    trace(0, 5000);
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_OVERFLOW);
    ck_assert_uint_eq(next(trid, &e), POSIX_TRACE_RESUME);
    ck_assert_uint_eq(next(trid, &e), tick);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

/* A stream that was cleared has filled since, and a thread whose chunk has room continues.
 * Onlooker and owner read the same events, and time does not go back. */
START_TEST(cleared_and_filled)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct stepper s = { .number = 10000 };
    struct posixtrace_event e;
    uint64_t ticks = 0, stops = 0;
    unsigned marks;
    int64_t last = 0;
    int none = 0;

    ck_assert_int_eq(sem_init(&s.go, 0, 0), 0);
    ck_assert_int_eq(sem_init(&s.done, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&s.thread, NULL, make_steps, &s), 0);
    make_step(&s);
    ck_assert_uint_eq(read_ticks(trid, 10000), 3);
    ck_assert_int_eq(posix_trace_clear(own), 0);
    make_step(&s);
    trace(0, 5000);
    make_step(&s);
    ck_assert_int_eq(pthread_join(s.thread, NULL), 0);
    for (; !none; last = none ? last : e.ns) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        ck_assert(none || e.ns >= last);
        ticks += !none && e.id == tick;
        stops += !none && e.id == POSIX_TRACE_STOP;
    }
    ck_assert_uint_eq(stops, 1);
    ck_assert_uint_eq(read_all(own, &marks), ticks);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

static void *trace_and_end(void *unused)
{
    trace(0, 3);
    return unused;
}

/* What a stream has overwritten before is lost, of living and of ended threads; what was
 * read or cleared is not. */
START_TEST(lost_earlier)
{
    trace_id_t own = create(POSIX_TRACE_LOOP, -1), trid;
    uint64_t lost[POSIXTRACE_LOSS_CAUSES], n;
    pthread_t thread;

    trace(0, 10);
    trid = attach();
    ck_assert_uint_eq(lost_before(trid, POSIXTRACE_LOST_OVERWRITTEN), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, trace_and_end, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    trace(10, 5000);
    trid = attach();
    n = lost_before(trid, POSIXTRACE_LOST_OVERWRITTEN);
    ck_assert_uint_gt(n, 300);
    ck_assert_uint_eq(n + read_ticks(trid, n - 300), 5300);
    ck_assert_uint_eq(missed(trid), 0);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_clear(own), 0);
    trace(0, 7);
    trid = attach();
    ck_assert_uint_eq(lost_before(trid, POSIXTRACE_LOST_OVERWRITTEN), 0);
    ck_assert_uint_eq(read_ticks(trid, 0), 7);
    ck_assert_int_eq(posixtrace_attach_lost(trid, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_attach_lost(own, lost), EINVAL);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(full_earlier)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid;
    uint64_t n;

    trace(0, 5000);
    trid = attach();
    n = lost_before(trid, POSIXTRACE_LOST_FULL);
    ck_assert_uint_gt(n, 0);
    ck_assert_uint_eq(n + read_ticks(trid, 0), 5000);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

START_TEST(full_and_restarted)
{
    trace_id_t own = create(POSIX_TRACE_UNTIL_FULL, -1), trid = attach();
    struct posix_trace_status_info status;
    uint64_t n;

    trace(0, 5000);
    n = read_ticks(trid, 0);
    ck_assert_uint_eq(n + missed(trid), 5000);
    /* The onlooker has neither ended the automatic stop nor reset the creator's status. */
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
    ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_assert_int_eq(posix_trace_get_status(own, &status), 0);
    ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    ck_assert_uint_eq(read_ticks(own, 0), n);
    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
    trace(5000, 5003);
    ck_assert_uint_eq(read_ticks(trid, 5000), 3);
    ck_assert_int_eq(posixtrace_detach(trid), 0);
    ck_assert_int_eq(posix_trace_shutdown(own), 0);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, outside_windows, 0, 2);
    tcase_add_loop_test(t, stopped_earlier, 0, 3);
    tcase_add_test(t, restarted_earlier);
    tcase_add_loop_test(t, restarted_unseen, 0, 3);
    tcase_add_test(t, overtaken);
    tcase_add_loop_test(t, overwritten_earlier, 0, 2);
    tcase_add_test(t, cleared_and_overwritten);
    tcase_add_test(t, cleared_and_filled);
    tcase_add_test(t, lost_earlier);
    tcase_add_test(t, full_earlier);
    tcase_add_test(t, full_and_restarted);
}

int main(void)
{
    return run_suite("attach gaps", "attach", NULL, add);
}
