/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace_snapshot() of streams with many events: how often it reads the whole stream for the
 * losses, and where it ends if the stream overwrites what the snapshot has not read yet; and of one
 * with a thread inside.  The test wraps pt_stream_info() and pt_log_builder_add().
 */
#include <fcntl.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include "control/control.h"
#include "control/info.h"
#include "log/writer/builder.h"
#include "process/self.h"
#include "shm/attention.h"
#include "support/run_suite.h"
#include "writer/event.h"

enum { EVENTS = 60000, TYPE = POSIX_TRACE_UNNAMED_USER_EVENT };

int __real_pt_stream_info(struct pt_stream *s, struct posixtrace_info *info);
int __wrap_pt_stream_info(struct pt_stream *s, struct posixtrace_info *info);
int __real_pt_log_builder_add(struct pt_log_builder *b, const struct posixtrace_event *event);
int __wrap_pt_log_builder_add(struct pt_log_builder *b, const struct posixtrace_event *event);

static unsigned looks, added, overwrites;

int __wrap_pt_stream_info(struct pt_stream *s, struct posixtrace_info *info)
{
    looks++;
    return __real_pt_stream_info(s, info);
}

static void put(unsigned events)
{
    for (unsigned i = 0; i < events; i++)
        posix_trace_event(TYPE, &i, sizeof i);
}

int __wrap_pt_log_builder_add(struct pt_log_builder *b, const struct posixtrace_event *event)
{
    if (++added == EVENTS / 10 && overwrites)
        put(overwrites);
    return __real_pt_log_builder_add(b, event);
}

static struct posixtrace_snapshot_report take_snapshot(unsigned then)
{
    struct posixtrace_snapshot_report report;
    FILE *file = tmpfile();
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 4 << 20), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    put(EVENTS);
    looks = added = 0;
    overwrites = then;
    ck_assert_int_eq(posixtrace_snapshot(trid, fileno(file), &report, sizeof report), 0);
    overwrites = 0;
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    fclose(file);
    return report;
}

START_TEST(many_events)
{
    struct posixtrace_snapshot_report report = take_snapshot(0);

    ck_assert_uint_eq(report.events, EVENTS + 1); /* START */
    ck_assert_uint_le(looks, 2);
}
END_TEST

/* It ends soon after it has read all that it can. */
START_TEST(overwritten)
{
    struct posixtrace_snapshot_report report = take_snapshot(6 * EVENTS);

    ck_assert_uint_gt(report.lost_during[POSIXTRACE_LOST_OVERWRITTEN], EVENTS);
    ck_assert_uint_lt(report.events, EVENTS / 2);
    ck_assert_uint_le(looks, 4);
}
END_TEST

/* A thread is in an event of the stream with that bit, and leaves it when a reader waits. */
static pt_u64 in_event, over;

static void *stay_inside(void *unused)
{
    struct pt_writer *writer;

    put(2); /* the second one is in the thread's list */
    writer = &pt_thread_self->writers0[__builtin_ctzll(pt_self_peek()->page->gates[TYPE])];
    pt_store_seqcst(&writer->slot->inside, UINT64_MAX);
    pt_store_seqcst(&in_event, 1u);
    while (!(pt_load_seqcst(writer->attention) & PT_WAIT_READER) && !pt_load_seqcst(&over))
        sched_yield();
    pt_event_leave_writer(writer);
    return unused;
}

/* Events that are there and held back by a thread that has no processor in its event. */
START_TEST(held_back)
{
    struct posixtrace_snapshot_report report;
    FILE *file = tmpfile();
    pthread_t thread;
    trace_id_t trid;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(posix_trace_create(0, NULL, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, stay_inside, NULL), 0);
    while (!pt_load_seqcst(&in_event))
        sched_yield();
    put(10);
    ck_assert_int_eq(posixtrace_snapshot(trid, fileno(file), &report, sizeof report), 0);
    pt_store_seqcst(&over, 1u);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(report.events, 13); /* START */
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    fclose(file);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, held_back);
    tcase_add_test(tc, many_events);
    tcase_add_test(tc, overwritten);
}

int main(void)
{
    return run_suite("stream", "snapshot", NULL, add);
}
