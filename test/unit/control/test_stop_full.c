/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posix_trace_stop() of a stream that has stopped itself because it is full: it records
 * nothing and loses nothing until posix_trace_start(), also after it has been emptied, by its
 * reader or by its flush thread; its owner and an onlooker read the same.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include "base/clock.h"
#include "consumer/consumer.h"
#include "shm/attention.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/run_suite.h"
#include "writer/writer.h"

static trace_event_id_t tick;
static uint64_t made;

static trace_id_t create(int policy, int fd)
{
    trace_attr_t attr;
    trace_id_t trid;

    made = 0;
    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 65536), 0);
    ck_assert_int_eq(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
    if (fd < 0)
        ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    else
        ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    return trid;
}

static struct posix_trace_status_info status_of(trace_id_t trid)
{
    struct posix_trace_status_info status;

    ck_assert_int_eq(posix_trace_get_status(trid, &status), 0);
    return status;
}

static uint64_t lost_of(trace_id_t trid)
{
    struct posixtrace_info info;
    uint64_t lost = 0;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        lost += info.lost[c];
    return lost;
}

static void trace(unsigned n)
{
    for (; n > 0; n--, made++)
        posix_trace_event(tick, &made, sizeof made);
}

static void fill(trace_id_t trid)
{
    do
        trace(100);
    while (status_of(trid).posix_stream_full_status != POSIX_TRACE_FULL);
}

struct found {
    uint64_t ticks, last;
    unsigned starts, stops;
};

static struct found read_all(trace_id_t trid)
{
    struct found f = { 0, 0, 0, 0 };
    struct posixtrace_event e;
    int none;

    for (;;) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &none), 0);
        if (none)
            return f;
        f.starts += e.id == POSIX_TRACE_START;
        f.stops += e.id == POSIX_TRACE_STOP;
        if (strcmp(e.name, "tick") != 0)
            continue;
        f.ticks++;
        memcpy(&f.last, e.data, sizeof f.last);
    }
}

static int any_stream(void *file, const struct posixtrace_stream *s)
{
    strcpy(file, s->file);
    return s->owner == getpid();
}

START_TEST(stays_stopped_when_emptied)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1), onlooker;
    struct found owner, other;
    uint64_t before, lost;

    ck_assert_int_eq(posixtrace_stream_list(any_stream, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &onlooker), 0);
    fill(trid);
    before = made;
    lost = lost_of(trid);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    trace(500);
    ck_assert_uint_eq(lost_of(trid), lost);
    owner = read_all(trid);
    other = read_all(onlooker);
    ck_assert_uint_eq(owner.ticks + lost, before);
    ck_assert_uint_eq(other.ticks, owner.ticks);
    ck_assert_int_eq(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_assert_int_eq(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    trace(500);
    ck_assert_uint_eq(read_all(trid).ticks, 0);
    ck_assert_uint_eq(lost_of(trid), lost);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(5);
    owner = read_all(trid);
    other = read_all(onlooker);
    ck_assert_uint_eq(owner.ticks, 5);
    ck_assert_uint_eq(owner.starts, 1);
    ck_assert_mem_eq(&owner, &other, sizeof owner);
    ck_assert_uint_eq(lost_of(onlooker), lost);
    ck_assert_int_eq(posixtrace_detach(onlooker), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* A stream that stops itself again before the restart has cleared the mark of the first stop:
 * writers still learn of the second. */
START_TEST(stops_again_in_the_restart)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    fill(trid);
    ck_assert(pt_load_seqcst(pt_attention(s->seg->h)) & PT_WAIT_STOPPED);
    pt_stream_forget_stop(s->seg->h);
    ck_assert(pt_load_seqcst(pt_attention(s->seg->h)) & PT_WAIT_STOPPED);
    read_all(trid);
    ck_assert_int_eq(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    ck_assert(!(pt_load_seqcst(pt_attention(s->seg->h)) & PT_WAIT_STOPPED));
    pt_handle_put(s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* Stopped and started while it is full: what comes after that is lost again, until it is
 * emptied. */
START_TEST(start_takes_the_stop_back)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    struct found f;
    uint64_t lost;

    fill(trid);
    lost = lost_of(trid);
    for (unsigned i = 0; i < 50; i++) {
        ck_assert_int_eq(posix_trace_stop(trid), 0);
        trace(3);
        ck_assert_int_eq(posix_trace_start(trid), 0);
        trace(7);
    }
    ck_assert_int_eq(status_of(trid).posix_stream_full_status, POSIX_TRACE_FULL);
    ck_assert_uint_eq(lost_of(trid), lost + 50 * 7);
    f = read_all(trid);
    ck_assert_uint_eq(f.starts, 2);
    ck_assert_uint_eq(f.stops, 1);
    ck_assert_int_eq(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    trace(9);
    ck_assert_uint_eq(read_all(trid).ticks, 9);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* An onlooker looks while the stream is full, and again when it is full for the second time:
 * what was recorded in between is not refused for it. */
START_TEST(full_twice_between_two_looks)
{
    char file[sizeof((struct posixtrace_stream *)0)->file];
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1), onlooker;
    struct found owner, other;
    uint64_t before;

    ck_assert_int_eq(posixtrace_stream_list(any_stream, file), 1);
    ck_assert_int_eq(posixtrace_attach(file, &onlooker), 0);
    fill(trid);
    owner = read_all(onlooker);
    other = read_all(trid);
    ck_assert_uint_eq(other.ticks, owner.ticks);
    before = made;
    fill(trid);
    other = read_all(onlooker);
    ck_assert_uint_eq(other.starts, 1);
    owner = read_all(trid);
    ck_assert_uint_ge(other.ticks, 1);
    ck_assert_uint_eq(other.ticks, owner.ticks);
    ck_assert_uint_eq(other.last, owner.last);
    ck_assert_uint_ge(other.last, before);
    ck_assert_uint_eq(lost_of(onlooker), lost_of(trid));
    ck_assert_int_eq(posixtrace_detach(onlooker), 0);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* It stops itself after posix_trace_clear() has seen it run, and before its consumer clears. */
START_TEST(full_while_it_is_cleared)
{
    trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, -1);
    struct pt_stream *s = pt_handle_get(trid, ~0u);
    struct found f;

    ck_assert_ptr_nonnull(s);
    fill(trid);
    pthread_mutex_lock(&s->reading);
    ck_assert_int_eq(pt_consumer_clear(&s->live, pt_clock_now(s->seg->g.clock)), 0);
    pthread_mutex_unlock(&s->reading);
    ck_assert_int_eq(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    ck_assert_int_eq(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    trace(5);
    f = read_all(trid);
    ck_assert_uint_eq(f.ticks, 5);
    ck_assert_uint_eq(f.starts + f.stops, 0);
    pt_handle_put(s);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void *empty_pipe(void *fd)
{
    char bytes[4096];

    while (read(*(int *)fd, bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

/* The log is a pipe that is read only after the stop. */
START_TEST(flush_does_not_start_it)
{
    struct posixtrace_info before, after;
    pthread_t reader;
    trace_id_t trid;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    trid = create(POSIX_TRACE_FLUSH, ends[1]);
    fill(trid);
    ck_assert_int_eq(posix_trace_stop(trid), 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, empty_pipe, &ends[0]), 0);
    while (status_of(trid).posix_stream_full_status == POSIX_TRACE_FULL)
        usleep(1000);
    ck_assert_int_eq(posixtrace_get_info(trid, &before, sizeof before), 0);
    ck_assert_int_eq(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_assert_uint_eq(before.events + before.lost[POSIXTRACE_LOST_FULL], made);
    trace(1000);
    ck_assert_int_eq(posixtrace_get_info(trid, &after, sizeof after), 0);
    ck_assert_uint_eq(after.events, before.events);
    ck_assert_mem_eq(after.lost, before.lost, sizeof after.lost);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    trace(10);
    ck_assert_int_eq(posixtrace_get_info(trid, &after, sizeof after), 0);
    ck_assert_uint_eq(after.events, before.events + 10);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    close(ends[1]);
    ck_assert_int_eq(pthread_join(reader, NULL), 0);
    close(ends[0]);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, stays_stopped_when_emptied);
    tcase_add_test(t, stops_again_in_the_restart);
    tcase_add_test(t, start_takes_the_stop_back);
    tcase_add_test(t, full_twice_between_two_looks);
    tcase_add_test(t, full_while_it_is_cleared);
    tcase_add_test(t, flush_does_not_start_it);
}

int main(void)
{
    return run_suite("stop full", "stream", NULL, add);
}
