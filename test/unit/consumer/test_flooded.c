/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A LOOP stream turns over while a thread has no processor inside an event.  The reader gets what
 * the stream has, and the event of that thread is overwritten.
 */
#include <pthread.h>
#include <string.h>
#include "support/asleep.h"
#include "support/run_suite.h"
#include "support/stream_inside.h"

enum { STREAM = 65536, MANY = 3 * STREAM / 16 };

static trace_event_id_t id;
static trace_id_t trid;
static pthread_barrier_t turn;

static void trace(uint64_t number)
{
    posix_trace_event(id, &number, sizeof number);
}

static void *trace_around(void *unused)
{
    trace(0);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    trace(MANY + 1);
    return unused;
}

/* The numbers until there is no event: *last, and how many.  They ascend by one. */
static unsigned read_numbers(uint64_t *last)
{
    struct posix_trace_event_info info;
    unsigned count = 0;
    size_t length;
    uint64_t number;
    int missing;

    for (;;) {
        ck_assert_int_eq(
            posix_trace_trygetnext_event(trid, &info, &number, sizeof number, &length, &missing),
            0);
        if (missing)
            return count;
        if (info.posix_event_id != id)
            continue;
        ck_assert(count == 0 || number == *last + 1);
        *last = number;
        count++;
    }
}

START_TEST(a_thread_without_a_processor)
{
    struct pt_slot *slot;
    uint64_t last = 0, lost = 0;
    unsigned count;
    trace_attr_t attr;
    pthread_t thread;

    ck_assert_int_eq(pthread_barrier_init(&turn, NULL, 2), 0);
    ck_assert_int_eq(posix_trace_eventid_open("number", &id), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, STREAM), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, trace_around, NULL), 0);
    pthread_barrier_wait(&turn);
    slot = slot_of_last_writer(segment_of(trid));
    pt_store_seqcst(&slot->inside, (uint64_t)-1);
    wait_asleep(slot->author.tid);
    count = read_numbers(&last); /* it is found inside */
    for (uint64_t i = 1; i <= MANY; i++)
        trace(i);
    count += read_numbers(&last);
    ck_assert_uint_gt(count, STREAM / 64);
    ck_assert_uint_eq(last, MANY);
    pt_store_seqcst(&slot->inside, (uint64_t)0);
    pthread_barrier_wait(&turn);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    count += read_numbers(&last);
    ck_assert_uint_eq(last, MANY + 1);
    for (int cause = 0; cause < POSIXTRACE_LOSS_CAUSES; cause++)
        lost += info_of(trid).lost[cause];
    ck_assert_uint_eq(count + lost, MANY + 2);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, a_thread_without_a_processor);
}

int main(void)
{
    return run_suite("consumer flooded", "flooded", NULL, add);
}
