/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What a thread waits for: what a reader takes, and what it refuses. */
#include <posixtrace/system.h>
#include <pthread.h>
#include "shm/waiting.h"
#include "shm_helpers.h"

enum { LOOKS = 20000 };

static struct pt_seg seg;
static uint32_t slot;
static uint64_t wid;

/* All that belongs together has the same number in it. */
static struct pt_slot_waiting made(uint64_t n)
{
    return (struct pt_slot_waiting){ .began = n,
                                     .object = n,
                                     .caller = n,
                                     .type = n & 1 ? POSIXTRACE_MUTEX_LOCK : POSIXTRACE_IO,
                                     .call = n & 1 ? UINT32_MAX : POSIXTRACE_CALL_READ };
}

static void begin(void)
{
    ring_create(&seg, 49152);
    slot = ring_attach(&seg, 0);
    wid = pt_seg_slot(&seg, slot)->wid;
}

static bool look(struct pt_slot_waiting *w)
{
    return pt_waiting_look(&seg, slot, wid, w);
}

START_TEST(one)
{
    struct pt_slot_waiting put = made(7), w;
    struct pt_slot *s;

    begin();
    s = pt_seg_slot(&seg, slot);
    ck_assert(!look(&w));
    pt_waiting_put(s, 3, &put);
    ck_assert(look(&w));
    ck_assert_uint_eq(w.number, 3);
    ck_assert_uint_eq(w.began, 7);
    ck_assert_uint_eq(w.object, 7);
    ck_assert_uint_eq(w.caller, 7);
    ck_assert_uint_eq(w.type, POSIXTRACE_MUTEX_LOCK);
    ck_assert_uint_eq(w.call, UINT32_MAX);
    ck_assert(!pt_waiting_look(&seg, slot, wid + 1, &w)); /* of another writer */
    pt_waiting_clear(s);
    ck_assert(!look(&w));
    ring_remove(&seg);
}
END_TEST

/* Any process of the user can write there. */
START_TEST(hostile)
{
    static const uint32_t bad_types[] = { 0,
                                          POSIXTRACE_SWITCH_IN,
                                          POSIXTRACE_MUTEX_LOCKED,
                                          POSIXTRACE_WAITING,
                                          64,
                                          64 + POSIXTRACE_IO,
                                          UINT32_MAX };
    static const uint32_t bad_calls[] = { 63, 101, 1u << 31, UINT32_MAX - 1 };
    struct pt_slot_waiting put = made(2), w;
    struct pt_slot *s;

    begin();
    s = pt_seg_slot(&seg, slot);
    for (size_t i = 0; i < sizeof bad_types / sizeof *bad_types; i++) {
        put.type = bad_types[i];
        pt_waiting_put(s, i + 1, &put);
        ck_assert(!look(&w));
    }
    put.type = POSIXTRACE_IO;
    for (size_t i = 0; i < sizeof bad_calls / sizeof *bad_calls; i++) {
        put.call = bad_calls[i];
        pt_waiting_put(s, i + 1, &put);
        ck_assert(!look(&w));
    }
    put.call = POSIXTRACE_CALL_WRITE;
    pt_waiting_put(s, 1, &put);
    ck_assert(look(&w));
    ring_remove(&seg);
}
END_TEST

/* The next writer of a slot waits for nothing, and one that ends itself does not. */
START_TEST(next_writer)
{
    struct pt_slot_waiting put = made(1), w;
    uint32_t again;

    begin();
    pt_waiting_put(pt_seg_slot(&seg, slot), 1, &put);
    pt_slot_end_dead(&seg, slot, pt_seg_slot(&seg, slot)->state);
    ck_assert(look(&w)); /* killed in the call */
    pt_slot_release(&seg, slot);
    again = ring_attach(&seg, 0);
    ck_assert_uint_eq(again, slot);
    wid = pt_seg_slot(&seg, slot)->wid;
    ck_assert(!look(&w));
    pt_waiting_put(pt_seg_slot(&seg, slot), 1, &put);
    pt_slot_detach(&seg, slot, 0);
    ck_assert(!look(&w));
    ring_remove(&seg);
}
END_TEST

static bool over;

static void *writes(void *unused)
{
    (void)unused;
    for (uint64_t n = 1; !pt_load_acquire(&over); n++) {
        struct pt_slot_waiting put = made(n);

        pt_waiting_put(pt_seg_slot(&seg, slot), n, &put);
        if (n % 3 == 0)
            pt_waiting_clear(pt_seg_slot(&seg, slot));
    }
    return NULL;
}

/* No reader finds parts of two contents. */
START_TEST(not_torn)
{
    struct pt_slot_waiting w;
    unsigned found = 0;
    pthread_t thread;

    begin();
    pt_store_release(&over, false);
    ck_assert_int_eq(pthread_create(&thread, NULL, writes, NULL), 0);
    for (unsigned i = 0; i < LOOKS || found == 0; i++) {
        struct pt_slot_waiting as;

        if (!look(&w))
            continue;
        found++;
        as = made(w.number);
        ck_assert(w.began == w.number && w.object == w.number && w.caller == w.number &&
                  w.type == as.type && w.call == as.call);
    }
    pt_store_release(&over, true);
    pthread_join(thread, NULL);
    ring_remove(&seg);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, one);
    tcase_add_test(t, hostile);
    tcase_add_test(t, next_writer);
    tcase_add_test(t, not_torn);
}

int main(void)
{
    return ring_main("waiting", add);
}
