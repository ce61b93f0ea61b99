/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Writes one column; see columns.h.  A sample says which form makes it shortest.  Then one loop
 * writes all its planes and counts the exceptions, and another writes these.  Loops have no
 * branches that depend on the numbers, so that compilers vectorise them.
 */
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize("O3") /* -O2 does not vectorise them: twice the time */
#endif
#include "log/columns.h"

#include <string.h>

#include "log/byteorder.h"

enum {
    SAMPLE = 64,   /* numbers of a column that its form is chosen by */
    EXCEPTION = 6, /* bytes */
    BLOCK = 32     /* numbers, a bit of a word each */
};

/* Numbers of a column at equal distances, as one of its two forms. */
struct sample {
    uint32_t x[SAMPLE], n, base, greatest;
    uint32_t bytes, cost; /* of each that make the column of the sample shortest; how long */
};

static void find_greatest(struct sample *s)
{
    uint32_t greatest = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        s->x[i] -= s->base;
        greatest = s->x[i] > greatest ? s->x[i] : greatest;
    }
    s->greatest = greatest;
}

static uint32_t longer(const struct sample *s, uint32_t bytes)
{
    uint32_t more = 0;

    for (uint32_t i = 0; i < s->n; i++)
        more += s->x[i] >> 8 * bytes != 0;
    return more;
}

/* A form that is not shorter than `most` is not needed. */
static void find_bytes(struct sample *s, uint32_t most)
{
    bool more = true;

    s->bytes = 4;
    s->cost = 4 * s->n;
    for (uint32_t k = 0; k < 4 && more && k * s->n < most; k++) {
        uint32_t cost;

        more = s->greatest >> 8 * k != 0;
        cost = k * s->n + (more ? longer(s, k) * EXCEPTION : 0);
        if (cost < s->cost) {
            s->cost = cost;
            s->bytes = k;
        }
    }
}

/* What the numbers leave of their range above the greatest of the sample, halved: so much less may
 * the base be, since the sample has not the least and the greatest of all. */
static uint32_t slack(const struct sample *s)
{
    uint32_t most = s->bytes < 4 ? (1u << 8 * s->bytes) - 1 : UINT32_MAX, greatest = 0;

    if (s->greatest <= most)
        return (most - s->greatest) / 2;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t within = s->x[i] <= most ? s->x[i] : 0;

        greatest = within > greatest ? within : greatest;
    }
    return (most - greatest) / 2;
}

/* Chooses mode and base by values at equal distances. */
static void choose(const uint32_t *v, uint32_t n, struct pt_column_head *head)
{
    struct sample plain, delta;
    uint32_t count = 0, step = n / SAMPLE + 1, low = UINT32_MAX;
    int32_t least = INT32_MAX;

    for (uint32_t i = step / 2; i < n; i += step, count++) {
        plain.x[count] = v[i];
        delta.x[count] = v[i] - v[(ptrdiff_t)i - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        low = plain.x[i] < low ? plain.x[i] : low;
        least = (int32_t)delta.x[i] < least ? (int32_t)delta.x[i] : least;
    }
    plain.n = delta.n = count;
    plain.base = low;
    delta.base = (uint32_t)least;
    find_greatest(&plain);
    find_greatest(&delta);
    find_bytes(&plain, UINT32_MAX);
    find_bytes(&delta, plain.cost);
    if (delta.cost < plain.cost) {
        head->mode = (uint16_t)(PT_COLUMNS_DELTA + delta.bytes);
        head->base = delta.base - slack(&delta);
    } else {
        uint32_t less = slack(&plain);

        head->mode = (uint16_t)plain.bytes;
        head->base = less < low ? low - less : 0;
    }
}

/* A number of a column; before the first value is a 0. */
static inline uint32_t number(const uint32_t *v, uint32_t base, bool delta)
{
    return v[0] - base - (delta ? v[-1] : 0);
}

/* Which of n numbers, at most BLOCK, have more than shift bits: the lowest bit is the first one. */
static inline __attribute__((always_inline)) uint32_t
longer_ones(const uint32_t *v, uint32_t base, bool delta, uint32_t shift, uint32_t n)
{
#define BITS(i) 1u << (i), 1u << ((i) + 1), 1u << ((i) + 2), 1u << ((i) + 3)
    static const uint32_t bit[BLOCK] = { BITS(0),  BITS(4),  BITS(8),  BITS(12),
                                         BITS(16), BITS(20), BITS(24), BITS(28) };
    uint32_t which = 0;

    for (uint32_t i = 0; i < n; i++)
        which |= number(v + i, base, delta) >> shift ? bit[i] : 0;
    return which;
}

/* Writes the places and numbers of those with more than shift bits, after room for count places. */
static inline __attribute__((always_inline)) void exceptions(const uint32_t *v, uint32_t base,
                                                             bool delta, uint32_t shift, uint32_t n,
                                                             uint8_t *places, uint32_t count)
{
    uint8_t *numbers = places + 2 * (size_t)count;

    for (uint32_t i = 0; i < n; i += BLOCK) {
        uint32_t which = i + BLOCK <= n ? longer_ones(v + i, base, delta, shift, BLOCK)
                                        : longer_ones(v + i, base, delta, shift, n - i);

        for (; which; which &= which - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctz(which);
            uint32_t x = pt_le32(number(v + at, base, delta));
            uint16_t place = pt_le16((uint16_t)at);

            memcpy(places, &place, sizeof place);
            memcpy(numbers, &x, sizeof x);
            places += sizeof place;
            numbers += sizeof x;
        }
    }
}

static void put_exceptions(const uint32_t *v, uint32_t n, struct pt_column_head head, uint8_t *to,
                           uint32_t count)
{
    uint32_t shift = 8 * (head.mode % PT_COLUMNS_DELTA);

    if (head.mode < PT_COLUMNS_DELTA)
        exceptions(v, head.base, false, shift, n, to, count);
    else
        exceptions(v, head.base, true, shift, n, to, count);
}

/* Writes k planes of n bytes; how many numbers have more bytes. */
static inline __attribute__((always_inline)) uint32_t
planes(const uint32_t *v, uint32_t n, uint32_t base, bool delta, unsigned k, uint8_t *to)
{
    uint8_t *restrict to0 = to, *restrict to1 = to + (k > 1 ? n : 0);
    uint8_t *restrict to2 = to1 + (k > 2 ? n : 0), *restrict to3 = to2 + (k > 3 ? n : 0);
    uint32_t above = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = number(v + i, base, delta);

        if (k > 0)
            to0[i] = (uint8_t)x;
        if (k > 1)
            to1[i] = (uint8_t)(x >> 8);
        if (k > 2)
            to2[i] = (uint8_t)(x >> 16);
        if (k > 3)
            to3[i] = (uint8_t)(x >> 24);
        else
            above += x >> 8 * k != 0;
    }
    return above;
}

static uint32_t put_planes(const uint32_t *v, uint32_t n, struct pt_column_head head, uint8_t *to)
{
    switch (head.mode) {
    case 0: return planes(v, n, head.base, false, 0, to);
    case 1: return planes(v, n, head.base, false, 1, to);
    case 2: return planes(v, n, head.base, false, 2, to);
    case 3: return planes(v, n, head.base, false, 3, to);
    case 4: return planes(v, n, head.base, false, 4, to);
    case PT_COLUMNS_DELTA: return planes(v, n, head.base, true, 0, to);
    case PT_COLUMNS_DELTA + 1: return planes(v, n, head.base, true, 1, to);
    case PT_COLUMNS_DELTA + 2: return planes(v, n, head.base, true, 2, to);
    case PT_COLUMNS_DELTA + 3: return planes(v, n, head.base, true, 3, to);
    default: return planes(v, n, head.base, true, 4, to);
    }
}

static uint8_t *put_numbers(uint8_t *at, const uint8_t *end, const uint32_t *v, uint32_t n,
                            struct pt_column_head head)
{
    uint32_t k = head.mode % PT_COLUMNS_DELTA, count;
    struct pt_column_head stored = { .mode = pt_le16(head.mode), .base = pt_le32(head.base) };

    if ((size_t)(end - at) < sizeof stored + (size_t)n * k)
        return NULL;
    count = put_planes(v, n, head, at + sizeof stored);
    stored.exceptions = pt_le16((uint16_t)count);
    memcpy(at, &stored, sizeof stored);
    at += sizeof stored + (size_t)n * k;
    if ((size_t)(end - at) < (size_t)count * EXCEPTION)
        return NULL;
    if (count)
        put_exceptions(v, n, head, at, count);
    return at + (size_t)count * EXCEPTION;
}

/* Is each number that much more than the one before? */
static bool has_step(const uint32_t *v, uint32_t n, uint32_t step)
{
    uint32_t differ = 0;

    for (uint32_t i = 1; i < n && i < SAMPLE / 4; i++)
        differ |= (v[i] - v[i - 1]) ^ step;
    for (uint32_t i = 1; i < n && !differ; i += SAMPLE)
        for (uint32_t j = i; j < n && j < i + SAMPLE; j++)
            differ |= (v[j] - v[j - 1]) ^ step;
    return differ == 0;
}

uint8_t *pt_column_write(uint8_t *at, const uint8_t *end, const uint32_t *v, uint32_t n,
                         bool differ)
{
    struct pt_column_head head = { .base = v[0] };

    if (differ && has_step(v, n, v[1] - v[0]))
        head = (struct pt_column_head){ .mode = PT_COLUMNS_DELTA, .base = v[1] - v[0] };
    else if (differ)
        choose(v, n, &head);
    return put_numbers(at, end, v, differ ? n : 0, head);
}
