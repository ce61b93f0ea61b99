/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Products and quotients of 96 and 128 bits, for 32.32 fixed point: the
 * compiler's 128-bit integers where it has them, else the same from 64-bit
 * pieces (32-bit machines).  Both give the same numbers.  The _pieces variants
 * are compiled everywhere, so that one machine can test both.
 */
#ifndef PT_BASE_WIDE_H
#define PT_BASE_WIDE_H

#include <stdint.h>

/* The low 64 bits of a * b >> 32. */
static inline uint64_t pt_mul128_mul_pieces(uint64_t a, uint64_t b)
{
    uint64_t ah = a >> 32, al = a & UINT32_MAX, bh = b >> 32, bl = b & UINT32_MAX;

    return (ah * bh << 32) + ah * bl + al * bh + (al * bl >> 32);
}

/* (a << 32) / d, or UINT64_MAX where that has more than 64 bits; d > 0. */
static inline uint64_t pt_mul128_div_pieces(uint64_t a, uint64_t d)
{
    uint64_t high = a / d, rest = a % d, low = 0;

    if (high > UINT32_MAX)
        return UINT64_MAX;
    for (int i = 0; i < 32; i++) {
        int carry = (int)(rest >> 63);

        rest <<= 1;
        low <<= 1;
        if (carry || rest >= d) {
            rest -= d;
            low |= 1;
        }
    }
    return high << 32 | low;
}

#if defined __SIZEOF_INT128__
__extension__ typedef unsigned __int128 pt_mul128;

static inline uint64_t pt_mul128_mul(uint64_t a, uint64_t b)
{
    return (uint64_t)((pt_mul128)a * b >> 32);
}

static inline uint64_t pt_mul128_div(uint64_t a, uint64_t d)
{
    pt_mul128 q = ((pt_mul128)a << 32) / d;

    return q < UINT64_MAX ? (uint64_t)q : UINT64_MAX;
}
#else
#define pt_mul128_mul pt_mul128_mul_pieces
#define pt_mul128_div pt_mul128_div_pieces
#endif

#endif
