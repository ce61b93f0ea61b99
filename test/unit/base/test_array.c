/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Arrays that become longer when they are full, and not before. */
#include <stdint.h>
#include <stdlib.h>
#include "base/array.h"
#include "support/run_suite.h"

START_TEST(grows)
{
    struct {
        uint32_t number, twice;
    } *array = NULL;
    size_t room = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        ck_assert_int_eq(pt_array_grow(&array, &room, i, sizeof *array), 0);
        ck_assert_uint_gt(room, i);
        array[i].number = i;
        array[i].twice = 2 * i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert(array[i].number == i && array[i].twice == 2 * i);
    free(array);
}
END_TEST

START_TEST(stays)
{
    uint64_t *array = NULL, *before;
    size_t room = 0, room_before;

    ck_assert_int_eq(pt_array_grow(&array, &room, 0, sizeof *array), 0);
    before = array;
    room_before = room;
    ck_assert_int_eq(pt_array_grow(&array, &room, room - 1, sizeof *array), 0);
    ck_assert_ptr_eq(array, before);
    ck_assert_uint_eq(room, room_before);
    free(array);
}
END_TEST

START_TEST(doubles)
{
    uint8_t *buffer = NULL;
    size_t room = 0;

    ck_assert_int_eq(pt_array_grow_to(&buffer, &room, 5, 16), 0);
    ck_assert_uint_eq(room, 16);
    for (uint8_t i = 0; i < 16; i++)
        buffer[i] = i;
    ck_assert_int_eq(pt_array_grow_to(&buffer, &room, 16, 16), 0);
    ck_assert_uint_eq(room, 16);
    ck_assert_int_eq(pt_array_grow_to(&buffer, &room, 65, 16), 0);
    ck_assert_uint_eq(room, 128);
    for (uint8_t i = 0; i < 16; i++)
        ck_assert_uint_eq(buffer[i], i);
    free(buffer);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, grows);
    tcase_add_test(t, stays);
    tcase_add_test(t, doubles);
}

int main(void)
{
    return run_suite("base", "grow", NULL, add_tests);
}
