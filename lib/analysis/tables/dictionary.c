/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Dictionaries of columns; see dictionary.h.  Tables of open addressing. */
#include "analysis/tables/dictionary.h"
#include "text/hash.h"

enum { FIRST_SLOTS = 64, PROBE = 1024 };

/* So many slots that are free. */
static bool renew(struct pt_bytes *slots, size_t count)
{
    uint8_t *at;

    slots->used = 0;
    at = pt_bytes_add(slots, count * sizeof(uint32_t));
    if (at)
        memset(at, 0, count * sizeof(uint32_t));
    return at;
}

const uint8_t *pt_texts_get(const struct pt_texts *t, size_t i, size_t *length)
{
    const uint8_t *at = t->text.at + pt_parquet_get64(&t->offsets, i);
    uint32_t n;

    memcpy(&n, at, sizeof n);
    *length = le32toh(n);
    return at + sizeof n;
}

/* Where a text is, or the free slot for it. */
static size_t find(const struct pt_texts *t, const void *at, size_t length)
{
    size_t mask = t->slots.used / sizeof(uint32_t) - 1;
    size_t slot = pt_hash_bytes(PT_HASH_START, at, length) & mask;
    uint32_t number;

    while ((number = pt_parquet_get32(&t->slots, slot)) != 0) {
        size_t other;
        const uint8_t *text = pt_texts_get(t, number - 1, &other);

        if (other == length && memcmp(text, at, length) == 0)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool make_room(struct pt_texts *t)
{
    size_t slots = FIRST_SLOTS, length;

    if (2 * (t->count + 1) <= t->slots.used / sizeof(uint32_t))
        return true;
    while (slots < 2 * (t->count + 1))
        slots *= 2;
    if (!renew(&t->slots, slots))
        return false;
    for (size_t i = 0; i < t->count; i++) {
        const uint8_t *at = pt_texts_get(t, i, &length);

        pt_parquet_set32(&t->slots, find(t, at, length), (uint32_t)i + 1);
    }
    return true;
}

uint32_t pt_texts_number(struct pt_texts *t, const void *at, size_t length)
{
    uint64_t offset = t->text.used;
    size_t slot;
    uint32_t number;

    if (t->text.failed || t->offsets.failed || t->slots.failed || !make_room(t))
        return UINT32_MAX;
    slot = find(t, at, length);
    number = pt_parquet_get32(&t->slots, slot);
    if (number)
        return number - 1;
    pt_parquet_put32(&t->text, (uint32_t)length);
    pt_parquet_put(&t->text, at, length);
    pt_parquet_put64(&t->offsets, offset);
    if (t->text.failed || t->offsets.failed)
        return UINT32_MAX;
    pt_parquet_set32(&t->slots, slot, (uint32_t)t->count + 1);
    return (uint32_t)t->count++;
}

void pt_texts_clear(struct pt_texts *t)
{
    pt_bytes_clear(&t->text);
    pt_bytes_clear(&t->offsets);
    pt_bytes_clear(&t->slots);
    t->count = 0;
}

void pt_texts_free(struct pt_texts *t)
{
    pt_bytes_free(&t->text);
    pt_bytes_free(&t->offsets);
    pt_bytes_free(&t->slots);
}

/* ---- numbers ---- */

static uint32_t number_of(struct pt_parquet_numbers *n, uint64_t v, size_t mask, bool wide)
{
    size_t slot = (v * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;
    uint32_t number;

    while ((number = pt_parquet_get32(&n->slots, slot)) != 0) {
        if (pt_parquet_get64(&n->keys, slot) == v)
            return number - 1;
        slot = (slot + 1) & mask;
    }
    number = (uint32_t)++n->count;
    pt_parquet_set32(&n->slots, slot, number);
    pt_parquet_set64(&n->keys, slot, v);
    pt_parquet_put_number(&n->values, v, wide ? 8 : 4);
    return number - 1;
}

static bool prepare(struct pt_parquet_numbers *n, size_t slots)
{
    n->values.used = n->ids.used = n->keys.used = n->count = 0;
    return renew(&n->slots, slots) && pt_bytes_add(&n->keys, slots * sizeof(uint64_t));
}

bool pt_parquet_numbers_fill(struct pt_parquet_numbers *n, const struct pt_bytes *from,
                             size_t count, bool wide)
{
    size_t most = count < PT_PARQUET_ENTRIES ? count : PT_PARQUET_ENTRIES, slots = FIRST_SLOTS;
    uint64_t before = 0;
    uint32_t number = 0;

    while (slots < 2 * most + 2)
        slots *= 2;
    if (!prepare(n, slots))
        return false;
    if (!pt_bytes_add(&n->ids, count * sizeof number))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t v = wide ? pt_parquet_get64(from, i) : pt_parquet_get32(from, i);

        if (i == 0 || v != before)
            number = number_of(n, v, slots - 1, wide);
        if (n->count > most || (i == PROBE && n->count > PROBE / 2))
            return false;
        before = v;
        pt_parquet_set32(&n->ids, i, number);
    }
    return !n->values.failed;
}

void pt_parquet_numbers_free(struct pt_parquet_numbers *n)
{
    pt_bytes_free(&n->values);
    pt_bytes_free(&n->ids);
    pt_bytes_free(&n->keys);
    pt_bytes_free(&n->slots);
}
