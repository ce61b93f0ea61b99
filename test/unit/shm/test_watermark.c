/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The watermark: whom it waits for, and that it moves on.  CLOCK_MONOTONIC goes through the test:
 * each look at it is 10 ns later than the one before, so no writer counts as stalled.
 */
#include <pthread.h>
#include <sched.h>
#include "base/clock.h"
#include "base/sys.h"
#include "shm_helpers.h"
#include "shm/slot.h"
#include "shm/watermark.h"
#include "support/asleep.h"

static struct pt_seg seg;
static struct pt_watch watch;

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    static uint64_t ns = 1000000000;

    if (id != CLOCK_MONOTONIC)
        return __real_clock_gettime(id, t);
    pt_add_relaxed(&ns, 10u);
    t->tv_sec = (time_t)(ns / 1000000000u);
    t->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

static uint64_t now(void)
{
    return pt_clock_now(seg.h->clock);
}

static uint64_t look(void)
{
    return pt_watch_look(&watch, &seg);
}

static void begin(void)
{
    ring_create(&seg, 49152);
    seg.g.fences = 1;
    pt_watch_init(&watch);
}

static void end(void)
{
    pt_watch_deinit(&watch);
    ring_remove(&seg);
}

START_TEST(nobody_inside)
{
    uint64_t before, w;

    begin();
    before = now();
    w = look();
    ck_assert_uint_ge(w, before);
    ck_assert_uint_le(w, now());
    ck_assert(!watch.held);
    ring_attach(&seg, 0);
    ck_assert_uint_ge(look(), w);
    ck_assert(!watch.held);
    end();
}
END_TEST

START_TEST(inside_holds_back_and_leaving_releases)
{
    struct pt_slot *s;
    uint64_t entered, w, left;

    begin();
    s = pt_seg_slot(&seg, ring_attach(&seg, 0));
    look();
    s->inside = 1;
    entered = now();
    for (int i = 0; i < 5; i++) {
        w = look();
        ck_assert_uint_le(w, entered);
        ck_assert(watch.held);
    }
    s->inside = 0;
    left = now();
    ck_assert_uint_ge(look(), left);
    ck_assert(!watch.held);
    end();
}
END_TEST

/* First seen inside: it may have been so since it attached. */
START_TEST(never_seen_outside)
{
    struct pt_slot *s;

    begin();
    s = pt_seg_slot(&seg, ring_attach(&seg, 0));
    s->inside = 1;
    ck_assert_uint_eq(look(), s->attach_ts);
    ck_assert(watch.held);
    end();
}
END_TEST

/* Another value: the event seen before is over, so all before the look that saw
 * it is committed. */
START_TEST(a_new_value_moves_the_bound)
{
    struct pt_slot *s;
    uint64_t first, looked, w;

    begin();
    s = pt_seg_slot(&seg, ring_attach(&seg, 0));
    s->inside = 1;
    first = look();
    looked = watch.looked;
    ck_assert_uint_lt(first, looked);
    s->inside = 2;
    w = look();
    ck_assert_uint_ge(w, looked);
    ck_assert_uint_lt(w, now());
    ck_assert(watch.held);
    ck_assert_uint_eq(look(), w);
    end();
}
END_TEST

/* Sleeps until the test lets it go. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *sleep_at_gate(void *tid)
{
    pt_store_release((int32_t *)tid, pt_sys_tid());
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return NULL;
}

/* Without a processor since it was found inside, and LOOP has overwritten younger events. */
START_TEST(overwritten_time_is_not_held_back)
{
    struct pt_slot *s;
    int32_t tid = 0;
    pthread_t thread;
    uint64_t found, w;

    begin();
    seg.g.attr.stream_policy = POSIX_TRACE_LOOP;
    pthread_mutex_lock(&gate);
    ck_assert_int_eq(pthread_create(&thread, NULL, sleep_at_gate, &tid), 0);
    while (!pt_load_acquire(&tid))
        sched_yield();
    wait_asleep(tid);
    s = pt_seg_slot(&seg, ring_attach(&seg, 0));
    s->author.tid = tid;
    look();
    seg.h->lost_last_ts = now();
    s->inside = 1;
    w = look();
    found = watch.looked;
    ck_assert(watch.held);
    ck_assert_uint_eq(look(), w);
    ck_assert(watch.held);
    seg.h->lost_last_ts = found;
    ck_assert_uint_gt(look(), found);
    ck_assert(!watch.held);
    /* Its next event is one of now. */
    s->inside = 2;
    look();
    ck_assert(watch.held);
    /* Younger events are overwritten, but it had a processor. */
    s->author.tid = pt_sys_tid();
    s->inside = 3;
    for (int i = 0; i < 3; i++) {
        look();
        ck_assert(watch.held);
        seg.h->lost_last_ts = now();
    }
    pthread_mutex_unlock(&gate);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    end();
}
END_TEST

START_TEST(the_slowest_decides)
{
    struct pt_slot *a, *b;
    uint64_t w;

    begin();
    a = pt_seg_slot(&seg, ring_attach(&seg, 0));
    b = pt_seg_slot(&seg, ring_attach(&seg, 1));
    a->inside = 1;
    w = look();
    ck_assert_uint_eq(w, a->attach_ts);
    b->inside = 1;
    ck_assert_uint_eq(look(), w);
    a->inside = 0;
    ck_assert_uint_gt(look(), w);
    ck_assert(watch.held);
    b->inside = 0;
    look();
    ck_assert(!watch.held);
    end();
}
END_TEST

/* The next writer in a slot is not taken for the one that was seen there. */
START_TEST(another_writer_in_the_slot)
{
    uint32_t first, second;
    uint64_t w;

    begin();
    first = ring_attach(&seg, 0);
    pt_seg_slot(&seg, first)->inside = 5;
    look();
    pt_slot_detach(&seg, first, 0);
    ck_assert_uint_ge(look(), pt_seg_slot(&seg, first)->attach_ts);
    ck_assert(!watch.held);
    pt_store_release(&pt_seg_slot(&seg, first)->state, (uint32_t)PT_SLOT_FREE);
    second = ring_attach(&seg, 0);
    ck_assert_uint_eq(second, first);
    pt_seg_slot(&seg, second)->inside = 5;
    w = look();
    ck_assert_uint_eq(w, pt_seg_slot(&seg, second)->attach_ts);
    end();
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, nobody_inside);
    tcase_add_test(tc, inside_holds_back_and_leaving_releases);
    tcase_add_test(tc, never_seen_outside);
    tcase_add_test(tc, a_new_value_moves_the_bound);
    tcase_add_test(tc, overwritten_time_is_not_held_back);
    tcase_add_test(tc, the_slowest_decides);
    tcase_add_test(tc, another_writer_in_the_slot);
}

int main(void)
{
    return ring_main("watermark", add);
}
