/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The name map in a full file system: texts that were stored are found, those that find no memory
 * take no room, and another process can have the map.  pt_sys_populate() goes through the test:
 * while the file system is full, only pages that the file has can be had.
 */
#include <stdio.h>
#include <sys/mman.h>
#include "page/mapping_list.h"
#include "shm_helpers.h"

int __real_pt_sys_populate(void *at, size_t bytes);
int __wrap_pt_sys_populate(void *at, size_t bytes);

static bool full;

int __wrap_pt_sys_populate(void *at, size_t bytes)
{
    for (size_t i = 0; full && i < bytes; i += PT_PAGE) {
        unsigned char there = 0;

        if (mincore((char *)at + i, PT_PAGE, &there) < 0 || !(there & 1))
            return -ENOMEM;
    }
    return __real_pt_sys_populate(at, bytes);
}

/* What a text of that number is for; each stores, and finds what it has stored. */
static int store_name(struct pt_names *n, unsigned number, char *text)
{
    uint32_t id = 0, again = 0;
    int r;

    snprintf(text, 12, "%u", number);
    text[strlen(text)] = ' ';
    r = pt_names_id(n, text, true, &id);
    ck_assert(r == 0 || r == -ENOMEM);
    if (r < 0)
        return r;
    ck_assert_int_eq(pt_names_id(n, text, true, &again), 0);
    ck_assert_uint_eq(again, id);
    ck_assert_str_eq(pt_names_get(n, id), text);
    return 0;
}

static int store_description(struct pt_names *n, unsigned number, char *text)
{
    uint32_t id = PT_ID_NAMED_FIRST + number;
    int r = pt_names_describe(n, id, text);

    ck_assert(r == 0 || r == -ENOMEM);
    if (r < 0)
        return r;
    ck_assert_int_eq(pt_names_describe(n, id, "another"), -EEXIST);
    ck_assert_str_eq(pt_names_description(n, id), text);
    return 0;
}

static int store_mapping(struct pt_names *n, unsigned number, char *text)
{
    uint32_t id;
    int r;

    snprintf(text, 12, "%u", number);
    text[strlen(text)] = ' ';
    r = pt_mapping_list_add(n, PT_MAPPING_NEW, text, strlen(text), &id);
    ck_assert(r == 0 || r == -ENOMEM);
    if (r < 0)
        return r;
    ck_assert_uint_eq(pt_mapping_list_find(n, text, strlen(text)), id);
    ck_assert_str_eq(pt_mapping_list_get(n, id), text);
    return 0;
}

static int (*const kinds[])(struct pt_names *, unsigned, char *) = { store_name, store_description,
                                                                     store_mapping };

enum { LENGTH = 60, TRIES = 20000 };

/* Of texts that begin at each place of a page: found as long as there is memory, and again when
 * there is some after many tries. */
START_TEST(stored_is_found)
{
    char file[64], text[LENGTH + 1];
    struct pt_names *n;
    unsigned number = 0;

    memset(text, 't', LENGTH);
    text[LENGTH] = '\0';
    ck_assert_int_eq(pt_names_create(&n, file), 0);
    for (int round = 0; round < 4; round++) {
        full = false;
        ck_assert_int_eq(kinds[_i](n, number++, text), 0);
        full = true;
        while (kinds[_i](n, number, text) == 0)
            number++;
    }
    for (int i = 0; i < TRIES; i++)
        ck_assert_int_eq(kinds[_i](n, number, text), -ENOMEM);
    full = false;
    ck_assert_int_eq(kinds[_i](n, number, text), 0);
    pt_names_unmap(n);
}
END_TEST

/* A map in which no text of a kind is, and one in which some are. */
START_TEST(opened)
{
    char file[64], text[LENGTH + 1];
    struct pt_names *a, *b;

    memset(text, 't', LENGTH);
    text[LENGTH] = '\0';
    ck_assert_int_eq(pt_names_create(&a, file), 0);
    if (_i < 3)
        ck_assert_int_eq(kinds[_i](a, 0, text), 0);
    /* mincore() does not see what fallocate() has reserved. */
    ck_assert_int_eq(__real_pt_sys_populate(a, sizeof *a), 0);
    full = true;
    ck_assert_int_eq(pt_names_open(&b, file), 0);
    full = false;
    pt_names_unmap(a);
    pt_names_unmap(b);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, stored_is_found, 0, 3);
    tcase_add_loop_test(tc, opened, 0, 4);
}

int main(void)
{
    return ring_main("names in a full file system", add);
}
