/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Encodings of Parquet: bytes that the published format has as examples or that follow from it,
 * differences at the limits of integers, and dictionaries without memory.
 */
#include <check.h>
#include <stdio.h>
#include "analysis/tables/dictionary.h"
#include "analysis/format/parquet/encodings.h"
#include "analysis/format/parquet/thrift.h"
#include "support/run_suite.h"

static void expect(struct pt_bytes *b, const char *bytes, size_t size)
{
    ck_assert(!b->failed);
    ck_assert_uint_eq(b->used, size);
    ck_assert_mem_eq(b->at, bytes, size);
    pt_bytes_free(b);
}

#define EXPECT(b, literal) expect(b, literal, sizeof literal - 1)

/* The numbers 0 to 7 with 3 bits: the example of the format. */
START_TEST(bit_packed)
{
    struct pt_bytes b = { .at = NULL };
    struct pt_parquet_runs r = { .to = &b, .width = 3 };

    for (uint32_t i = 0; i < 8; i++)
        pt_parquet_runs_put(&r, i, 1);
    pt_parquet_runs_end(&r);
    EXPECT(&b, "\x03\x88\xc6\xfa");
}
END_TEST

/* Runs of one value are joined; fewer than eight are a group; the last group has zeros. */
START_TEST(runs)
{
    struct pt_bytes b = { .at = NULL };
    struct pt_parquet_runs r = { .to = &b, .width = 1 };

    pt_parquet_runs_put(&r, 1, 60);
    pt_parquet_runs_put(&r, 1, 40);
    pt_parquet_runs_put(&r, 0, 3);
    pt_parquet_runs_put(&r, 1, 9);
    pt_parquet_runs_put(&r, 0, 20);
    pt_parquet_runs_put(&r, 1, 1);
    pt_parquet_runs_end(&r);
    EXPECT(&b, "\xc8\x01\x01"
               "\x05\xf8\x0f\x20\x00"
               "\x03\x01");
}
END_TEST

/* 64 groups do not fit a head of one byte. */
START_TEST(many_groups)
{
    struct pt_bytes b = { .at = NULL };
    struct pt_parquet_runs r = { .to = &b, .width = 1 };

    for (uint32_t i = 0; i < 64 * 8; i++)
        pt_parquet_runs_put(&r, i & 1, 1);
    pt_parquet_runs_end(&r);
    ck_assert_uint_eq(b.used, 64 + 2);
    ck_assert_uint_eq(b.at[0], 63 << 1 | 1);
    ck_assert_uint_eq(b.at[64], 1 << 1 | 1);
    pt_bytes_free(&b);
}
END_TEST

/* 1 to 5, and 7 5 3 1 2 3 4 5: the examples of the format. */
START_TEST(differences)
{
    static const uint32_t even[] = { 1, 2, 3, 4, 5 }, uneven[] = { 7, 5, 3, 1, 2, 3, 4, 5 };
    struct pt_bytes v = { .at = NULL }, b = { .at = NULL };

    for (size_t i = 0; i < 5; i++)
        pt_parquet_put32(&v, even[i]);
    pt_parquet_put_delta(&b, &v, 5, false);
    EXPECT(&b, "\x80\x01\x04\x05\x02\x02\0\0\0\0");
    v.used = 0;
    for (size_t i = 0; i < 8; i++)
        pt_parquet_put32(&v, uneven[i]);
    pt_parquet_put_delta(&b, &v, 8, false);
    EXPECT(&b, "\x80\x01\x04\x08\x0e\x03\x02\0\0\0\xc0\x3f\0\0\0\0\0\0");
    pt_bytes_free(&v);
}
END_TEST

/* The steps from the least integer to the greatest wrap round: 1 and -1, which are 2 bits. */
START_TEST(differences_wrap)
{
    struct pt_bytes v = { .at = NULL }, b = { .at = NULL };

    for (int i = 0; i < 3; i++)
        pt_parquet_put64(&v, i & 1 ? INT64_MAX : (uint64_t)INT64_MIN);
    pt_parquet_put_delta(&b, &v, 3, true);
    EXPECT(
        &b,
        "\x80\x01\x04\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x02\0\0\0\x08\0\0\0\0\0\0\0");
    v.used = 0;
    for (int i = 0; i < 3; i++)
        pt_parquet_put32(&v, i & 1 ? INT32_MAX : (uint32_t)INT32_MIN);
    pt_parquet_put_delta(&b, &v, 3, false);
    EXPECT(&b, "\x80\x01\x04\x03\xff\xff\xff\xff\x0f\x01\x02\0\0\0\x08\0\0\0\0\0\0\0");
    pt_bytes_free(&v);
}
END_TEST

/* Steps that differ by 2^63 need all 64 bits. */
START_TEST(differences_of_64_bits)
{
    struct pt_bytes v = { .at = NULL }, b = { .at = NULL };

    pt_parquet_put64(&v, 0);
    pt_parquet_put64(&v, INT64_MAX);
    pt_parquet_put64(&v, INT64_MAX - 1);
    pt_parquet_put64(&v, INT64_MAX - 1 + (uint64_t)INT64_MIN);
    pt_parquet_put_delta(&b, &v, 4, true);
    ck_assert_uint_eq(b.used, 5 + 10 + 4 + 32 * 8);
    ck_assert_mem_eq(b.at + 5 + 10, "\x40\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 12);
    pt_bytes_free(&b);
    pt_bytes_free(&v);
}
END_TEST

/* Field numbers that follow, one that is far, a structure, and lists of 2 and of 15. */
START_TEST(thrift)
{
    struct pt_bytes b = { .at = NULL };
    struct pt_thrift t = { .to = &b };

    pt_thrift_i32(&t, 1, -1);
    pt_thrift_i64(&t, 20, 64);
    pt_thrift_struct(&t, 21);
    pt_thrift_bool(&t, 2, true);
    pt_thrift_byte(&t, 3, -2);
    pt_thrift_end(&t);
    pt_thrift_binary(&t, 22, "ab", 2);
    pt_thrift_list(&t, 23, PT_THRIFT_I32, 2);
    pt_thrift_list(&t, 24, PT_THRIFT_STRUCT, 15);
    pt_thrift_end(&t);
    EXPECT(&b, "\x15\x01\x06\x28\x80\x01\x1c\x21\x13\xfe\x00\x18\x02"
               "ab\x19\x25\x19\xfc\x0f\x00");
}
END_TEST

START_TEST(text)
{
    struct pt_bytes b = { .at = NULL };

    ck_assert(pt_parquet_put_text(&b, "a\xc3\xbc\0", 4));
    ck_assert(!pt_parquet_put_text(&b, "\xff\xe2\x82z\xc3", 5));
    EXPECT(&b, "a\xc3\xbc\0\\xff\\xe2\\x82z\\xc3");
}
END_TEST

static void number_all(struct pt_texts *t, uint32_t from, uint32_t to)
{
    char name[16];

    for (uint32_t i = from; i < to; i++) {
        int length = snprintf(name, sizeof name, "text %u", (unsigned)i);

        ck_assert_uint_eq(pt_texts_number(t, name, (size_t)length), i);
    }
}

/* A table that could not become larger takes no more, and hangs in no search. */
START_TEST(texts_without_memory)
{
    struct pt_texts t = { .count = 0 };

    number_all(&t, 0, 1000);
    number_all(&t, 0, 1000);
    t.slots.failed = true;
    t.slots.used = 0;
    ck_assert_uint_eq(pt_texts_number(&t, "more", 4), UINT32_MAX);
    t.slots.failed = false;
    number_all(&t, 0, 1001);
    pt_texts_free(&t);
}
END_TEST

START_TEST(numbers)
{
    struct pt_bytes v = { .at = NULL };
    struct pt_parquet_numbers n = { .count = 0 };

    for (uint64_t i = 0; i < 1000; i++)
        pt_parquet_put64(&v, i % 7 << 60);
    ck_assert(pt_parquet_numbers_fill(&n, &v, 1000, true));
    ck_assert_uint_eq(n.count, 7);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(pt_parquet_get64(&n.values, pt_parquet_get32(&n.ids, i)),
                          (uint64_t)(i % 7) << 60);
    v.used = 0;
    for (uint32_t i = 0; i < 2 * PT_PARQUET_ENTRIES; i++)
        pt_parquet_put32(&v, i < 2000 ? i % 2 : i);
    ck_assert(!pt_parquet_numbers_fill(&n, &v, 2 * PT_PARQUET_ENTRIES, false));
    pt_parquet_numbers_free(&n);
    pt_bytes_free(&v);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, bit_packed);
    tcase_add_test(t, runs);
    tcase_add_test(t, many_groups);
    tcase_add_test(t, differences);
    tcase_add_test(t, differences_wrap);
    tcase_add_test(t, differences_of_64_bits);
    tcase_add_test(t, thrift);
    tcase_add_test(t, text);
    tcase_add_test(t, texts_without_memory);
    tcase_add_test(t, numbers);
}

int main(void)
{
    return run_suite("format", "parquet", NULL, add);
}
