/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * 32.32 products and quotients: the arithmetic of 32-bit machines gives what
 * that of 64-bit machines gives, and both what the definition says.
 */
#include <check.h>
#include <stdlib.h>
#include "base/mul128.h"
#include "support/run_suite.h"

static const uint64_t edges[] = {
    0,
    1,
    2,
    3,
    999999999,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x100000001,
    0x123456789abcdef,
    0x7fffffffffffffff,
    0x8000000000000000,
    0xfffffffe00000001,
    0xffffffff00000000,
    0xfffffffffffffffe,
    0xffffffffffffffff,
};
enum { EDGES = sizeof edges / sizeof edges[0], RANDOM = 20000 };

/* Of every length, so that small and large numbers meet. */
static uint64_t some_number(void)
{
    uint64_t n = 0;

    for (int i = 0; i < 4; i++)
        n = n << 16 ^ (uint64_t)(rand() & 0xffff);
    return n >> rand() % 64;
}

/* The definition, a bit at a time: the sum of b << i, for the bits of a, in words of 32 bits.  The
 * low 32 bits are shifted out. */
static uint64_t slow_mul(uint64_t a, uint64_t b)
{
    uint64_t low = 0, high = 0;

    for (int i = 0; i < 64; i++) {
        uint64_t l = b << i, h = i ? b >> (64 - i) : 0;

        if (!(a >> i & 1))
            continue;
        high += h + (low + l < l);
        low += l;
    }
    return high << 32 | low >> 32;
}

static void expect_same(uint64_t a, uint64_t b)
{
    uint64_t product = slow_mul(a, b);

    ck_assert_uint_eq(pt_mul128_mul_pieces(a, b), product);
    ck_assert_uint_eq(pt_mul128_mul(a, b), product);
    if (b)
        ck_assert_uint_eq(pt_mul128_div_pieces(a, b), pt_mul128_div(a, b));
}

START_TEST(edges_with_edges)
{
    for (int i = 0; i < EDGES; i++)
        for (int k = 0; k < EDGES; k++)
            expect_same(edges[i], edges[k]);
}
END_TEST

START_TEST(numbers_of_all_lengths)
{
    srand(1);
    for (int i = 0; i < RANDOM; i++)
        expect_same(some_number(), some_number());
}
END_TEST

/* q = (a << 32) / d is the greatest number with q * d <= a << 32. */
START_TEST(quotients_fit)
{
    srand(2);
    for (int i = 0; i < RANDOM; i++) {
        uint64_t a = some_number() >> 24, d = some_number() | 1, q = pt_mul128_div_pieces(a, d);

        if (q == UINT64_MAX)
            continue;
        ck_assert_uint_le(pt_mul128_mul_pieces(q, d), a);
        ck_assert_uint_ge(pt_mul128_mul_pieces(q + 1, d), a);
    }
}
END_TEST

START_TEST(known_ones)
{
    ck_assert_uint_eq(pt_mul128_mul(1ull << 32, 12345), 12345);
    ck_assert_uint_eq(pt_mul128_mul(3ull << 31, 10), 15);
    ck_assert_uint_eq(pt_mul128_div(10, 4), 10737418240u); /* 2.5 */
    ck_assert_uint_eq(pt_mul128_div(1, 3), 0x55555555);
    ck_assert_uint_eq(pt_mul128_div_pieces(UINT64_MAX, 1), UINT64_MAX);
    ck_assert_uint_eq(pt_mul128_div(UINT64_MAX, 1), UINT64_MAX);
    ck_assert_uint_eq(pt_mul128_div_pieces(UINT32_MAX, 1), 0xffffffff00000000);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, known_ones);
    tcase_add_test(t, edges_with_edges);
    tcase_add_test(t, numbers_of_all_lengths);
    tcase_add_test(t, quotients_fit);
}

int main(void)
{
    return run_suite("base mul128", "fixed point", NULL, add);
}
