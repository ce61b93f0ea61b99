/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Events that can be checked: the payload of the proof and torture tests.
 *
 * A lane is a sequence of events that one thread of execution generates (a thread, or its handler
 * of one signal).  The payload has lane, number and checksum; length and filling follow from lane
 * and number.  So a single event shows whether it is complete, and the events of a lane show which
 * are missing, doubled or out of order.  Making one is async-signal-safe.
 *
 * A short one has 8 bytes, for which there is a fast path of its own: number and lane in the lower
 * half, checksum in the upper.
 */
#ifndef TORTURE_PAYLOAD_H
#define TORTURE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PAYLOAD_MAX   256u
#define PAYLOAD_SHORT 8u

struct payload {
    uint32_t lane;
    uint32_t len;
    uint64_t seq;
    uint64_t sum;
    uint8_t fill[PAYLOAD_MAX - 24];
};

#define PAYLOAD_HEAD offsetof(struct payload, fill)

_Static_assert(sizeof(struct payload) == PAYLOAD_MAX && PAYLOAD_HEAD == 24, "no padding");

static inline uint64_t payload_mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 32;
}

/* Short ones are the most frequent, the longest has PAYLOAD_MAX bytes. */
static inline uint32_t payload_len(uint32_t lane, uint64_t seq)
{
    uint64_t r = payload_mix(seq * 1021 + lane);
    uint32_t room = (r & 7) == 0 ? PAYLOAD_MAX - (uint32_t)PAYLOAD_HEAD : 40;

    return (uint32_t)PAYLOAD_HEAD + (uint32_t)(r >> 8) % (room + 1);
}

static inline uint64_t payload_sum(const struct payload *p)
{
    uint64_t sum = payload_mix((uint64_t)p->lane << 32 | p->len) ^ payload_mix(p->seq + 1);

    for (uint32_t i = 0; i < p->len - PAYLOAD_HEAD; i++)
        sum = (sum << 5 | sum >> 59) ^ p->fill[i];
    return sum;
}

/* Returns the length of the data to trace. */
static inline size_t payload_make(struct payload *p, uint32_t lane, uint64_t seq)
{
    p->lane = lane;
    p->seq = seq;
    p->len = payload_len(lane, seq);
    for (uint32_t i = 0; i < p->len - PAYLOAD_HEAD; i++)
        p->fill[i] = (uint8_t)(seq * 7 + lane * 31 + i);
    p->sum = payload_sum(p);
    return p->len;
}

static inline size_t payload_make_short(struct payload *p, uint32_t lane, uint64_t seq)
{
    uint64_t word = lane << 24 | (seq & 0xffffff);

    word |= payload_mix(word) << 32;
    memcpy(p, &word, sizeof word);
    return PAYLOAD_SHORT;
}

static inline bool payload_is_short(struct payload *p, const void *data)
{
    uint64_t word;

    memcpy(&word, data, sizeof word);
    p->lane = (uint32_t)word >> 24;
    p->seq = word & 0xffffff;
    p->len = PAYLOAD_SHORT;
    return word >> 32 == (uint32_t)payload_mix((uint32_t)word);
}

/* Is this data one whole payload?  It is copied to *p for the caller to use, of a short
 * one lane, number and length. */
static inline bool payload_is_whole(struct payload *p, const void *data, size_t len)
{
    if (len == PAYLOAD_SHORT)
        return payload_is_short(p, data);
    if (len < PAYLOAD_HEAD || len > PAYLOAD_MAX)
        return false;
    memcpy(p, data, len);
    return p->len == len && p->len == payload_len(p->lane, p->seq) && p->sum == payload_sum(p);
}

#endif
