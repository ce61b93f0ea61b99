/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The backlog of context switches: order, room, and entries for losses. */
#include "source/backlog.h"
#include "support/run_suite.h"

enum { ROOM = 16 };

static size_t take(struct pt_backlog *b, uint64_t before, const struct pt_switch **list)
{
    pt_backlog_collect(b);
    return pt_backlog_take(b, before, list);
}

static void add(struct pt_backlog *b, uint64_t ts, uint32_t what)
{
    pt_backlog_add(b, &(struct pt_switch){ .ts = ts, .pid = 1, .tid = 2, .what = what });
}

START_TEST(in_order)
{
    const struct pt_switch *list;
    struct pt_backlog b;

    ck_assert_int_eq(pt_backlog_init(&b, ROOM, false), 0);
    add(&b, 30, PT_SWITCH_IN);
    add(&b, 10, PT_SWITCH_OUT);
    add(&b, 20, PT_SWITCH_OUT);
    add(&b, 20, PT_SWITCH_IN);
    ck_assert_uint_eq(take(&b, 30, &list), 3);
    ck_assert_uint_eq(list[0].ts, 10);
    ck_assert_uint_eq(list[1].what, PT_SWITCH_OUT);
    ck_assert_uint_eq(list[2].what, PT_SWITCH_IN);
    /* A round that failed gets them again, and what has come since. */
    add(&b, 35, PT_SWITCH_OUT);
    ck_assert_uint_eq(take(&b, 31, &list), 4);
    ck_assert_uint_eq(list[0].ts, 10);
    ck_assert_uint_eq(list[3].ts, 30);
    pt_backlog_done(&b);
    ck_assert_uint_eq(take(&b, 36, &list), 1);
    pt_backlog_done(&b);
    ck_assert_uint_eq(take(&b, UINT64_MAX, &list), 0);
    pt_backlog_deinit(&b);
}
END_TEST

/* Everything that was added is given or counted as lost, whichever end goes. */
START_TEST(full)
{
    bool newest = _i == 1;
    const struct pt_switch *list;
    uint64_t lost = 0, kernel = 0, given = 0, first, last;
    struct pt_backlog b;
    size_t n;

    ck_assert_int_eq(pt_backlog_init(&b, ROOM, newest), 0);
    for (uint64_t ts = 1; ts <= 5 * ROOM; ts++)
        add(&b, ts, PT_SWITCH_IN);
    pt_backlog_lose_in_kernel(&b, 3, 7);
    n = take(&b, UINT64_MAX, &list);
    first = list[0].ts;
    last = list[n - 1].ts;
    for (size_t i = 0; i < n; i++) {
        given += list[i].what == PT_SWITCH_IN;
        lost += list[i].what == PT_SWITCH_LOST ? list[i].value : 0;
        kernel += list[i].what == PT_SWITCH_LOST_BY_KERNEL ? list[i].value : 0;
        ck_assert(i == 0 || list[i - 1].ts <= list[i].ts);
    }
    ck_assert_uint_eq(given + lost, 5 * ROOM);
    ck_assert_uint_eq(kernel, 7);
    ck_assert_uint_gt(given, ROOM / 2);
    pt_backlog_done(&b);
    ck_assert_uint_eq(take(&b, UINT64_MAX, &list), 0);
    ck_assert_uint_eq(newest ? last : first, newest ? 5 * ROOM : 1);
    pt_backlog_deinit(&b);
}
END_TEST

/* One ring is emptied after the other: of all their switches the newest by time stay. */
START_TEST(older_ring_last)
{
    const struct pt_switch *list;
    struct pt_backlog b;
    size_t n;

    ck_assert_int_eq(pt_backlog_init(&b, ROOM, true), 0);
    for (uint64_t ts = 1; ts <= 2 * ROOM; ts++)
        add(&b, 10 * ROOM + ts, PT_SWITCH_IN);
    for (uint64_t ts = 1; ts <= 2 * ROOM; ts++)
        add(&b, ts, PT_SWITCH_OUT);
    n = take(&b, UINT64_MAX, &list);
    ck_assert_uint_gt(n, ROOM / 2);
    ck_assert_uint_eq(list[n - 1].ts, 12 * ROOM);
    for (size_t i = n - ROOM / 2; i < n; i++)
        ck_assert_uint_eq(list[i].what, PT_SWITCH_IN);
    pt_backlog_deinit(&b);
}
END_TEST

/* Notes stay as long as other entries can be dropped; losses are counted. */
START_TEST(notes_stay)
{
    const struct pt_switch *list;
    uint64_t lost = 0, switches = 0;
    unsigned notes = 0;
    struct pt_backlog b;
    size_t n;

    ck_assert_int_eq(pt_backlog_init(&b, ROOM, true), 0);
    add(&b, 1, PT_SWITCH_ENDED);
    add(&b, 2, PT_SWITCH_NAMED);
    for (uint64_t ts = 3; ts < 3 + 4 * ROOM; ts++)
        add(&b, ts, PT_SWITCH_IN);
    n = take(&b, UINT64_MAX, &list);
    for (size_t i = 0; i < n; i++) {
        notes += pt_switch_is_note(list[i].what);
        lost += list[i].what == PT_SWITCH_LOST ? list[i].value : 0;
        switches += list[i].what == PT_SWITCH_IN;
    }
    ck_assert_uint_eq(notes, 2);
    ck_assert_uint_eq(switches + lost, 4 * ROOM);
    pt_backlog_done(&b);
    for (uint64_t ts = 100; ts < 100 + 4 * ROOM; ts++)
        add(&b, ts, PT_SWITCH_ENDED);
    n = take(&b, UINT64_MAX, &list);
    ck_assert_uint_gt(n, ROOM / 2);
    ck_assert_uint_eq(list[n - 1].ts, 99 + 4 * ROOM);
    pt_backlog_deinit(&b);
}
END_TEST

/* A loss with a time after the watermark waits; the end of a thread is not a loss. */
START_TEST(losses)
{
    const struct pt_switch *list;
    struct pt_backlog b;

    ck_assert_int_eq(pt_backlog_init(&b, ROOM, false), 0);
    for (uint64_t ts = 0; ts < ROOM; ts++)
        add(&b, ts, PT_SWITCH_IN);
    add(&b, 60, PT_SWITCH_ENDED);
    ck_assert_uint_eq(take(&b, UINT64_MAX, &list), ROOM);
    pt_backlog_done(&b);
    pt_backlog_lose_in_kernel(&b, 50, 2);
    ck_assert_uint_eq(take(&b, 50, &list), 0);
    ck_assert_uint_eq(take(&b, 51, &list), 1);
    ck_assert_uint_eq(list[0].what, PT_SWITCH_LOST_BY_KERNEL);
    ck_assert_uint_eq(list[0].value, 2);
    pt_backlog_done(&b);
    ck_assert_uint_eq(take(&b, UINT64_MAX, &list), 0);
    pt_backlog_deinit(&b);
}
END_TEST

/* A round that fails again and again: nothing grows, nothing is lost without a word. */
START_TEST(never_done)
{
    const struct pt_switch *list;
    uint64_t lost = 0, given = 0;
    struct pt_backlog b;
    size_t n = 0;

    ck_assert_int_eq(pt_backlog_init(&b, ROOM, _i == 1), 0);
    for (uint64_t ts = 1; ts <= 10 * ROOM; ts++) {
        add(&b, ts, PT_SWITCH_IN);
        n = take(&b, UINT64_MAX, &list);
    }
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < n; i++) {
            given += list[i].what == PT_SWITCH_IN;
            lost += list[i].what == PT_SWITCH_LOST ? list[i].value : 0;
        }
        pt_backlog_done(&b);
        n = take(&b, UINT64_MAX, &list);
    }
    ck_assert_uint_eq(given + lost, 10 * ROOM);
    ck_assert_uint_eq(n, 0);
    pt_backlog_deinit(&b);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, in_order);
    tcase_add_loop_test(t, full, 0, 2);
    tcase_add_test(t, older_ring_last);
    tcase_add_test(t, notes_stay);
    tcase_add_test(t, losses);
    tcase_add_loop_test(t, never_done, 0, 2);
}

int main(void)
{
    return run_suite("source", "backlog", NULL, add_tests);
}
