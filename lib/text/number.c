/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See number.h. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "text/number.h"
#include "text/rounding.h"

#define EXACT_MAX 9007199254740992.0 /* up to here every integer is a double */

enum { MOST_DECIMALS = 17 };

#define TEN(t)     t "0" t "1" t "2" t "3" t "4" t "5" t "6" t "7" t "8" t "9"
#define SIXTEEN(t) TEN(t) t "a" t "b" t "c" t "d" t "e" t "f"

const char pt_digit_pairs[201] = TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6")
    TEN("7") TEN("8") TEN("9");
const char pt_hex_pairs[513] = SIXTEEN("0") SIXTEEN("1") SIXTEEN("2") SIXTEEN("3") SIXTEEN("4")
    SIXTEEN("5") SIXTEEN("6") SIXTEEN("7") SIXTEEN("8") SIXTEEN("9") SIXTEEN("a") SIXTEEN("b")
        SIXTEEN("c") SIXTEEN("d") SIXTEEN("e") SIXTEEN("f");

unsigned pt_number_digits(uint64_t value)
{
    static const uint64_t tens[] = { 1,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     10000000000,
                                     100000000000,
                                     1000000000000,
                                     10000000000000,
                                     100000000000000,
                                     1000000000000000,
                                     10000000000000000,
                                     100000000000000000,
                                     1000000000000000000,
                                     10000000000000000000u };
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    /* 1233 / 4096 is a little more than log10(2): at most one too few. */
    unsigned digits = bits * 1233 >> 12;

    return digits + (value >= tens[digits]) + (value == 0);
}

char *pt_number_u64(char *to, uint64_t value)
{
    char *end = to + pt_number_digits(value), *at = end;

    while (value >= 100) {
        at -= 2;
        memcpy(at, pt_digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(at - 2, pt_digit_pairs + 2 * value, 2);
    else
        at[-1] = (char)('0' + value);
    return end;
}

char *pt_number_i64(char *to, int64_t value)
{
    uint64_t size = (uint64_t)value;

    if (value < 0) {
        *to++ = '-';
        size = 0 - size;
    }
    return pt_number_u64(to, size);
}

char *pt_number_time(char *to, uint64_t ns)
{
    static const char units[5][3] = { "ns", "us", "ms", "s", "d" };
    enum { DAY = 86400 };
    uint64_t rest = 0;
    unsigned unit = 0, decimals;

    while (ns >= 1000 && unit < 3) {
        rest = ns % 1000;
        ns /= 1000;
        unit++;
    }
    if (ns >= 10000000) {
        rest = ns % DAY * 1000 / DAY;
        ns /= DAY;
        unit++;
    }
    decimals = unit == 0 || ns >= 1000 ? 0 : 4 - pt_number_digits(ns);
    to = pt_number_u64(to, ns);
    if (decimals > 0) {
        *to++ = '.';
        /* the first so many of three digits */
        to[0] = (char)('0' + rest / 100);
        memcpy(to + 1, pt_digit_pairs + 2 * (rest % 100), 2);
        to += decimals;
    }
    memcpy(to, units[unit], 2);
    return to + (unit >= 3 ? 1 : 2);
}

char *pt_number_hex(char *to, uint64_t value)
{
    unsigned digits = value ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;

    *to++ = '0';
    *to++ = 'x';
    while (digits-- > 0)
        *to++ = "0123456789abcdef"[value >> (4 * digits) & 15];
    return to;
}

char *pt_number_bytes(char *to, const uint8_t *at, size_t length)
{
    size_t i = 0;

    for (; length - i >= 4; i += 4, to += 8) {
        memcpy(to, pt_hex_pairs + 2 * at[i], 2);
        memcpy(to + 2, pt_hex_pairs + 2 * at[i + 1], 2);
        memcpy(to + 4, pt_hex_pairs + 2 * at[i + 2], 2);
        memcpy(to + 6, pt_hex_pairs + 2 * at[i + 3], 2);
    }
    for (; i < length; i++, to += 2)
        memcpy(to, pt_hex_pairs + 2 * at[i], 2);
    return to;
}

static bool same(double a, double b, unsigned bits)
{
    if (bits == 32) {
        a = (double)(float)a;
        b = (double)(float)b;
    }
    return !(a < b) && !(a > b);
}

/*
 * If value is n / 10^k with n and 10^k exact, the division gives the double nearest to that
 * decimal number: it reads back as value.  *n, as a number: n for that k.
 */
static bool has_decimals(double value, double scale, unsigned bits, double *n)
{
    *n = nearbyint(value * scale);
    return *n < EXACT_MAX && same(*n / scale, value, bits);
}

/* The least such k, up to 17; false: there is none.  Most numbers that programs trace have
 * few decimals: six are tried at once, and trailing zeros removed.  No other number
 * of up to 15 digits reads back as the same double. */
__attribute__((noinline)) /* see rounding.h */
static bool
find_decimals(double value, unsigned bits, uint64_t *number, unsigned *decimals)
{
    unsigned k = 0;
    double scale = 1, n;

    if (bits == 64 && has_decimals(value, 1e6, bits, &n) && n < 1e15) {
        *number = (uint64_t)n;
        for (k = 6; k > 0 && *number % 1000 == 0; k -= 3)
            *number /= 1000;
        for (; k > 0 && *number % 10 == 0; k--)
            *number /= 10;
        *decimals = k;
        return true;
    }
    while (!has_decimals(value, scale, bits, &n)) {
        if (n >= EXACT_MAX || k == MOST_DECIMALS)
            return false;
        k++;
        scale *= 10;
    }
    *number = (uint64_t)n;
    *decimals = k;
    return true;
}

static char *put_plain(char *to, uint64_t number, unsigned decimals)
{
    char digits[24], *end;
    size_t length;

    end = pt_number_u64(digits, number);
    length = (size_t)(end - digits);
    if (length <= decimals) {
        to = (char *)mempcpy(to, "0.", 2);
        for (size_t i = length; i < decimals; i++)
            *to++ = '0';
        return (char *)mempcpy(to, digits, length);
    }
    to = (char *)mempcpy(to, digits, length - decimals);
    if (decimals) {
        *to++ = '.';
        to = (char *)mempcpy(to, digits + length - decimals, decimals);
    }
    return to;
}

/* stdio writes the decimal point of the locale; replaces it. */
static char *put_point(char *to, const char *words)
{
    bool was_point = false;

    for (; *words; words++) {
        bool point = !strchr("0123456789e+-", *words);

        if (!point)
            *to++ = *words;
        else if (!was_point)
            *to++ = '.';
        was_point = point;
    }
    return to;
}

char *pt_number_float(char *to, double value, unsigned bits)
{
    bool subnormal = fabs(value) < (bits == 32 ? (double)FLT_MIN : DBL_MIN);
    int digits = subnormal ? 1 : bits == 32 ? FLT_DIG : DBL_DIG;
    int most = bits == 32 ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    unsigned decimals, rounding;
    uint64_t number;
    char words[64];
    bool plain;

    if (signbit(value)) {
        *to++ = '-';
        value = -value;
    }
    if (same(value, 0, 64)) {
        *to++ = '0';
        return to;
    }
    rounding = pt_rounding_begin();
    plain = value >= 1e-5 && value < 1e15 && find_decimals(value, bits, &number, &decimals);
    pt_rounding_end(rounding);
    if (plain)
        return put_plain(to, number, decimals);
    /* A number of 15 digits from here to 10^15 has been found: with 17 decimals at most. */
    if (bits == 64 && value >= 1e-3 && value < 1e15)
        digits++;
    do
        snprintf(words, sizeof words, "%.*g", digits, value);
    while (!same(strtod(words, NULL), value, bits) && digits++ < most);
    return put_point(to, words);
}
