/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See scan.h.  The length of a record determines the start of the next one, so in a plain walk each
 * load waits for the previous one.  Here a record whose first word equals that of the previous
 * record, except for the time, needs no decoding: the processor predicts the comparison and loads
 * ahead.  Programs often trace the same event many times in a row.
 */
#include "log/scan.h"

/* The bounds as one comparison: ts is between them if ts - low - 1 < room. */
struct bounds {
    uint64_t shift, room;
};

static uint64_t first_word(const uint8_t *p)
{
    uint64_t w;

    pt_copy_unchecked(&w, p, sizeof w);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        w = w << 32 | w >> 32; /* the first half is the low one */
    return w;
}

/* Takes consecutive events from *at on whose first word, except for the time, is word;
 * returns how many.  *latest is moved by shift. */
static uint32_t take_same(const uint8_t **at, const uint8_t *end, uint64_t word, uint32_t size,
                          const struct bounds *b, uint64_t *latest)
{
    const uint8_t *p = *at;
    uint32_t head = (uint32_t)word, n = 0;
    uint64_t newest = *latest;

    while ((uint32_t)word == head && (size_t)(end - p) >= size) {
        uint64_t ts = (word >> 32) + b->shift;

        if (ts >= b->room)
            break;
        newest = ts > newest ? ts : newest;
        n++;
        p += size;
        if (end - p < (ptrdiff_t)PT_RECORD_HEAD)
            break;
        word = first_word(p);
    }
    *at = p;
    *latest = newest;
    return n;
}

void pt_scan_events(struct pt_record_scan *s, uint64_t low, uint64_t high, struct pt_types *types)
{
    struct bounds b = { s->at.base - low - 1, high - low - 1 };
    uint64_t latest = 0, before = s->events;
    uint32_t n = 1;

    if (high <= low)
        return;
    while (n && s->at.end - s->at.p >= (ptrdiff_t)PT_RECORD_HEAD) {
        uint64_t word = first_word(s->at.p);
        uint32_t head = (uint32_t)word, id = head & PT_RECORD_ID_MASK;

        if ((head >> 12 & 15u) != PT_RECORD_EVENT || id - 1u >= PT_ID_MAX - 1u)
            break;
        n = take_same(&s->at.p, s->at.end, word, pt_record_size(head >> 16), &b, &latest);
        if (n)
            pt_types_add(types, id, n);
        s->events += n;
    }
    latest += low + 1;
    if (s->events > before && latest > s->last_ts)
        s->last_ts = latest;
}
