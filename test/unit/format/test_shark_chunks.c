/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace/shark.h: control of chunks, and each mode when the chunk is full: nothing is lost at a
 * change of chunk, and the reserve has room for the end of a trace.
 */
#include <fcntl.h>
#include <posixtrace/info.h>
#include "shark_bench.h"

START_TEST(stop_keeps_the_first)
{
    int a = sb_chunk(5, 0, FREE | STOP);

    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(100, 4);
    ck_assert_uint_eq(sb_flags(a), STOP);
    sb_log(104, 1);
    ck_assert_uint_eq(sb_flags(a), STOP | FULL);
    sb_log(105, 3);
    ck_assert_uint_eq(sb_look(a).lost, 3);
    ck_assert_uint_eq(sb_look(a).events, 5);
    sb_expect(sb_send(a, FREE | STOP), 100, 5);
    ck_assert_uint_eq(sb_flags(a), FREE | STOP);
    /* There is room again. */
    sb_log(200, 6);
    sb_expect(sb_send(a, FREE | STOP), 200, 5);
    ck_assert_uint_eq(sb_look(a).lost, 4);
    sb_clear();
}
END_TEST

START_TEST(closing_events_fit)
{
    int a = sb_chunk(3, 2, FREE | STOP);
    struct records got;

    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(0, 10);
    FTrace_set_filter(FTrace_filter_user, 1);
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 1, 2);
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 3, 4);
    ck_assert_uint_eq(sb_look(a).lost, 8);
    got = sb_send(a, FREE | STOP);
    ck_assert_uint_eq(got.n, 5);
    ck_assert_uint_eq(got.at[3].code, FTrace_filter_user);
    ck_assert_uint_eq(got.at[3].par1, 1);
    ck_assert_uint_eq(got.at[4].code, FTrace_EVT_trace_stop);
    ck_assert_uint_eq(got.at[4].par2, 2);
    /* The reserve is empty again too; and with room, nothing is taken from it. */
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);
    sb_log(0, 10);
    TRACER_LOGEVENT(FTrace_EVT_numevents, 0, 0);
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);
    ck_assert_uint_eq(sb_send(a, FREE | STOP).n, 5);
    sb_clear();
}
END_TEST

START_TEST(jtn_goes_on)
{
    int a = sb_chunk(3, 0, FREE | JTN), b = sb_chunk(4, 0, FREE | JTN);
    int c = sb_chunk(2, 1, FREE | STOP);

    ck_ok(FTrace_chunk_link(a, b));
    ck_ok(FTrace_chunk_link(b, c));
    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(0, 11);
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);
    ck_assert_uint_eq(sb_flags(a), JTN | FULL);
    ck_assert_uint_eq(sb_flags(b), JTN | FULL);
    ck_assert_uint_eq(sb_look(c).lost, 2);
    ck_assert_int_eq(sb_look(a).next, b);
    sb_expect(sb_send(a, JTN), 0, 3);
    sb_expect(sb_send(b, JTN), 3, 4);
    ck_assert_uint_eq(sb_send(c, STOP).n, 3);
    sb_clear();
}
END_TEST

/* Two buffers in turn, as long as they are emptied; time continues from one to the other. */
START_TEST(ring_of_chunks)
{
    int a = sb_chunk(3, 0, FREE | JTN), b = sb_chunk(3, 0, FREE | JTN);
    uint32_t at = 0;
    uint64_t last = 0;

    ck_ok(FTrace_chunk_link(a, b));
    ck_ok(FTrace_chunk_link(b, a));
    ck_ok(FTrace_set_chunk_flags(a, FREE | JTN));
    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(0, 3);
    for (int turn = 0; turn < 20; turn++, at += 3) {
        struct records got;

        sb_log(at + 3, 3);
        got = sb_send(turn % 2 ? b : a, JTN);
        sb_expect(got, at, 3);
        ck_assert(got.at[0].tsc >= last);
        last = got.at[2].tsc;
    }
    sb_log(at + 3, 4); /* both are full: the last one finds no room */
    ck_assert_uint_eq(sb_look(a).lost + sb_look(b).lost, 1);
    sb_expect(sb_send(a, JTN), at, 3);
    sb_log(at + 20, 1);
    sb_expect(sb_send(b, JTN), at + 3, 3);
    sb_expect(sb_send(a, JTN), at + 20, 1);
    sb_clear();
}
END_TEST

START_TEST(cyc_keeps_the_newest)
{
    enum { PLACES = 500, ALL = 20000 };
    int a = sb_chunk(PLACES, 0, FREE | CYC);
    struct records got;

    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(0, ALL);
    ck_assert_uint_eq(sb_flags(a), CYC);
    ck_assert_uint_eq(sb_look(a).events, PLACES);
    ck_assert_uint_eq(sb_look(a).lost, 0);
    got = sb_send(a, FREE | CYC);
    ck_assert_uint_ge(got.n, PLACES);
    ck_assert_uint_lt(got.n, ALL);
    sb_expect(got, ALL - (uint32_t)got.n, (uint32_t)got.n);
    sb_log(5, 5);
    sb_expect(sb_send(a, FREE | CYC), 5, 5);
    sb_clear();
}
END_TEST

START_TEST(next_chunk_moves)
{
    int a = sb_chunk(10, 1, FREE | CYC), b = sb_chunk(10, 0, FREE | STOP);

    ck_ok(FTrace_chunk_link(a, b));
    ck_ok(FTrace_actual_chunk_select(a));
    FTrace_enable();
    sb_log(0, 2);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    ck_assert_uint_eq(sb_flags(a), CYC | FULL);
    sb_log(2, 3);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0); /* b has no successor */
    ck_assert_uint_eq(sb_flags(b), STOP | FULL);
    sb_log(9, 1);
    ck_assert_uint_eq(sb_look(b).lost, 1);
    sb_expect(sb_send(a, FREE | CYC), 0, 2);
    sb_expect(sb_send(b, FREE | STOP), 2, 3);
    sb_clear();
}
END_TEST

START_TEST(flags_and_searches)
{
    int a = sb_chunk(1, 0, FREE | JTN), b = sb_chunk(1, 0, NODEL), c = sb_chunk(1, 0, FREE | STOP);
    FTrace_flags flags = 0xaa;

    ck_assert_int_eq(FTrace_get_first_chunk(FREE), a);
    ck_assert_int_eq(FTrace_get_first_chunk(STOP | NODEL), b);
    ck_assert_int_eq(FTrace_get_first_chunk(CYC), b);
    ck_errno(FTrace_get_first_chunk(FULL), ENOENT);
    ck_errno(FTrace_chunk_delete(b), EPERM);
    ck_errno(FTrace_actual_chunk_select(b), EBUSY);
    ck_errno(FTrace_chunk_link(a, b), EBUSY);
    ck_errno(FTrace_chunk_link(a, a), EINVAL);
    ck_ok(FTrace_chunk_link(a, c));
    ck_assert_uint_eq(sb_flags(c), STOP);
    ck_errno(FTrace_chunk_delete(c), EBUSY);
    ck_ok(FTrace_actual_chunk_select(a));
    ck_assert_uint_eq(sb_flags(a), JTN);
    ck_errno(FTrace_chunk_delete(a), EBUSY);
    ck_ok(FTrace_actual_chunk_select(-1));
    ck_ok(FTrace_chunk_delete(a));
    ck_ok(FTrace_chunk_delete(c));
    ck_assert_ptr_null(FTrace_get_chunk_table()[a]);
    ck_errno(FTrace_get_chunk_flags(a, &flags), ENOENT);
    ck_assert_uint_eq(flags, 0xaa);
    ck_errno(FTrace_compress_chunk(b, 0), ENOTSUP);
    ck_assert_int_eq(sb_chunk(1, 0, FREE), a); /* numbers are used again */
    sb_clear();
}
END_TEST

START_TEST(hostile_arguments)
{
    static const int numbers[] = { -2, -2147483647 - 1, 3, 255, 256, 2147483647 };
    static const unsigned bad_flags[] = { 0x10, 0x40, 0x80, 0x0c, 0xff };
    int a = sb_chunk(1, 0, FREE);

    for (size_t i = 0; i < TH_COUNT(numbers); i++) {
        FTrace_flags flags;

        ck_errno(FTrace_chunk_delete(numbers[i]), ENOENT);
        ck_errno(FTrace_set_chunk_flags(numbers[i], 0), ENOENT);
        ck_errno(FTrace_get_chunk_flags(numbers[i], &flags), ENOENT);
        ck_errno(FTrace_actual_chunk_select(numbers[i]), ENOENT);
        ck_errno(FTrace_chunk_link(a, numbers[i]), ENOENT);
        ck_errno(FTrace_chunk_link(numbers[i], a), ENOENT);
        ck_errno(FTrace_compress_chunk(numbers[i], 0), ENOENT);
        ck_errno(FTrace_send_chunk(numbers[i], 0, 0), ENOENT);
    }
    for (size_t i = 0; i < TH_COUNT(bad_flags); i++) {
        ck_errno(FTrace_chunk_create(16, 0, (FTrace_flags)bad_flags[i]), EINVAL);
        ck_errno(FTrace_set_chunk_flags(a, (FTrace_flags)bad_flags[i]), EINVAL);
        ck_errno(FTrace_send_chunk(a, 0, (FTrace_flags)bad_flags[i]), EINVAL);
    }
    ck_assert_uint_eq(sb_flags(a), FREE);
    ck_errno(FTrace_get_chunk_flags(a, NULL), EINVAL);
    ck_errno(FTrace_chunk_create(15, 0, 0), EINVAL);
    ck_errno(FTrace_chunk_create(-16, 0, 0), EINVAL);
    ck_errno(FTrace_chunk_create(16, -1, 0), EINVAL);
    ck_assert_int_eq(FTrace_get_first_chunk(FREE), a);
    sb_clear();
}
END_TEST

/* As many as a process may have streams; then EAGAIN, and all are as good as before. */
START_TEST(many_chunks)
{
    int made = 0, chunk;

    while ((chunk = FTrace_chunk_create(16, 0, FREE | STOP)) >= 0) {
        ck_assert_int_eq(chunk, made);
        made++;
    }
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_int_ge(made, 8);
    ck_ok(FTrace_actual_chunk_select(made - 1));
    FTrace_enable();
    sb_log(1, 1);
    sb_expect(sb_send(made - 1, STOP), 1, 1);
    ck_assert_uint_eq(sb_send(0, STOP).n, 0);
    sb_clear();
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, stop_keeps_the_first);
    tcase_add_test(tc, closing_events_fit);
    tcase_add_test(tc, jtn_goes_on);
    tcase_add_test(tc, ring_of_chunks);
    tcase_add_test(tc, cyc_keeps_the_newest);
    tcase_add_test(tc, next_chunk_moves);
    tcase_add_test(tc, flags_and_searches);
    tcase_add_test(tc, hostile_arguments);
    tcase_add_test(tc, many_chunks);
}

int main(void)
{
    return th_main("shark chunks", add);
}
