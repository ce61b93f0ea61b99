/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Columns: what comes back is what was put in, for all kinds of numbers; the form is the short one.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/html/html_columns.h"
#include "analysis/html/html_texts.h"
#include "support/run_suite.h"

enum { HEAD = 16, MOST = 64, ROUNDS = 2000 };

static uint64_t number_at(const uint8_t *at, unsigned size)
{
    uint64_t v = 0;

    for (unsigned i = size; i > 0; i--)
        v = v << 8 | at[i - 1];
    return v;
}

/* The values as the page reads them, modulo 2^64; without PT_HTML_WIDE also in doubles. */
static void read_back(const struct pt_html_bytes *b, size_t count, uint64_t *values)
{
    unsigned width = b->at[0], flags = b->at[1];
    uint64_t base = number_at(b->at + 8, 8), last = base;
    double exact = (double)(int64_t)base;

    ck_assert_uint_eq(number_at(b->at + 4, 4), count);
    ck_assert_uint_eq(b->used, HEAD + width * count);
    for (size_t i = 0; i < count; i++) {
        uint64_t u = 0, z;

        for (unsigned p = 0; p < width; p++)
            u |= (uint64_t)b->at[HEAD + p * count + i] << (8 * p);
        z = flags & PT_HTML_ZIGZAG ? (u >> 1 ^ -(u & 1)) : u;
        last = (flags & PT_HTML_DIFFERENCES ? last : base) + z;
        values[i] = last;
        if (flags & PT_HTML_WIDE)
            continue;
        ck_assert(u <= (uint64_t)PT_HTML_EXACT);
        exact = (flags & PT_HTML_DIFFERENCES ? exact : (double)(int64_t)base) + (double)(int64_t)z;
        ck_assert(exact >= -(double)PT_HTML_EXACT && exact <= (double)PT_HTML_EXACT);
        ck_assert((uint64_t)(int64_t)exact == last);
    }
}

static void check(const uint64_t *values, size_t count, bool is_signed, unsigned width)
{
    struct pt_html_column c = { .values = NULL };
    struct pt_html_bytes b = { .at = NULL };
    uint64_t back[MOST];

    for (size_t i = 0; i < count; i++)
        ck_assert(pt_html_column_add(&c, values[i]));
    pt_html_put_column(&b, &c, is_signed);
    ck_assert(!b.failed);
    read_back(&b, count, back);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(back[i], values[i]);
    if (width <= 8)
        ck_assert_uint_eq(b.at[0], width);
    if (b.at[1] & PT_HTML_WIDE)
        ck_assert_int_eq((b.at[1] & PT_HTML_SIGNED) != 0, is_signed);
    pt_html_column_deinit(&c);
    pt_html_bytes_deinit(&b);
}

START_TEST(the_form_is_the_short_one)
{
    const uint64_t same[] = { 77, 77, 77 }, near[] = { 1000000, 1000255, 1000001 };
    const uint64_t rising[] = { 0, 90000, 180000, 270001, 359999 };
    const uint64_t top[] = { UINT64_MAX, UINT64_MAX - 1 }, negative[] = { (uint64_t)-5, 3 };

    check(NULL, 0, false, 0);
    check(same, 3, false, 0);
    check(near, 3, false, 1);
    check(rising, 5, false, 3);
    check(top, 2, false, 1);
    check(negative, 2, true, 1);
}
END_TEST

static uint64_t random_number(unsigned *seed)
{
    uint64_t v = (uint64_t)(unsigned)rand_r(seed) << 62 ^ (uint64_t)(unsigned)rand_r(seed) << 31 ^
                 (uint64_t)(unsigned)rand_r(seed);

    return v >> (unsigned)rand_r(seed) % 64;
}

START_TEST(all_numbers_come_back)
{
    static const uint64_t edges[] = {
        0, 1, UINT64_MAX, INT64_MAX, (uint64_t)1 << 63, (uint64_t)1 << 53, ((uint64_t)1 << 53) - 1
    };
    unsigned seed = 1;

    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t count = (size_t)rand_r(&seed) % MOST;
        uint64_t values[MOST], step = random_number(&seed), v = random_number(&seed);

        for (size_t i = 0; i < count; i++) {
            values[i] = round % 4 == 0   ? edges[(unsigned)rand_r(&seed) % 7] + (i & 1)
                        : round % 4 == 1 ? (v += step % 1000)
                        : round % 4 == 2 ? -(random_number(&seed) >> 1)
                                         : random_number(&seed);
        }
        check(values, count, round % 4 == 2 || round % 8 == 3, 9);
    }
}
END_TEST

START_TEST(texts_are_kept_once)
{
    struct pt_html_texts t = { .count = 0 };
    struct pt_html_bytes b = { .at = NULL };
    static const char want[] = "[\"a\\u003c/script\\u003e\",\"\",\"\\u2028\\udcff\\u0000\"]";

    for (unsigned round = 0; round < 2; round++) {
        ck_assert_uint_eq(pt_html_texts_index(&t, "a</script>", 10), 0);
        ck_assert_uint_eq(pt_html_texts_index(&t, "", 0), 1);
        ck_assert_uint_eq(pt_html_texts_index(&t, "\xe2\x80\xa8\xff", 5), 2);
        ck_assert_uint_eq(pt_html_texts_index(&t, "a</script>", 10), 0);
        b.used = 0;
        pt_html_put_texts(&b, &t);
        ck_assert_uint_eq(number_at(b.at + 4, 4), 3);
        ck_assert_uint_eq(number_at(b.at + 8, 8), sizeof want - 1);
        ck_assert_int_eq(memcmp(b.at + HEAD, want, sizeof want - 1), 0);
        pt_html_texts_clear(&t);
    }
    for (uint64_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(pt_html_texts_index(&t, &i, sizeof i), i);
    for (uint64_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(pt_html_texts_index(&t, &i, sizeof i), i);
    pt_html_texts_deinit(&t);
    pt_html_bytes_deinit(&b);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, the_form_is_the_short_one);
    tcase_add_test(tc, all_numbers_come_back);
    tcase_add_test(tc, texts_are_kept_once);
}

int main(void)
{
    return run_suite("html", "columns", NULL, add_tests);
}
