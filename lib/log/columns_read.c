/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Opens columns and makes records of them; see columns.h.  Nothing of the input is trusted: a
 * checksum says that it is what was written, not that it was written by this library.
 *
 * The classes of the records and the columns of lengths say where each record begins.  All columns
 * are walked and checked before the first is read, so that readers that leave out the data find
 * the same packets good as those that read it.
 */
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize("O3") /* for its loops, as columns.c */
#endif
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "log/byteorder.h"
#include "log/columns_view.h"
#include "shm/record.h"

/* Bytes that the arrays of struct pt_columns_view have for each record. */
enum { MEMORY = 4 * sizeof(uint32_t) + 1 };

/* The next bytes of the input; NULL: there are not so many. */
static const uint8_t *take(struct pt_columns_view *v, size_t size)
{
    const uint8_t *at = v->at;

    if ((size_t)(v->end - at) < size)
        return NULL;
    v->at += size;
    return at;
}

/* ---- columns ---- */

static struct pt_column_head head_at(const uint8_t *at)
{
    struct pt_column_head head;

    memcpy(&head, at, sizeof head);
    return (struct pt_column_head){ pt_le16(head.mode), pt_le16(head.exceptions),
                                    pt_le32(head.base) };
}

static uint16_t place_at(const uint8_t *places, uint32_t i)
{
    uint16_t place;

    memcpy(&place, places + 2 * (size_t)i, sizeof place);
    return pt_le16(place);
}

/* Passes a column of n numbers; *at: where it begins. */
static bool pass_column(struct pt_columns_view *v, uint32_t n, const uint8_t **at)
{
    struct pt_column_head head;
    unsigned k;

    *at = take(v, sizeof head);
    if (!*at)
        return false;
    head = head_at(*at);
    k = head.mode % PT_COLUMNS_DELTA;
    if (k > 4 || head.mode >= 2 * PT_COLUMNS_DELTA || !take(v, (size_t)n * k) ||
        !take(v, (size_t)head.exceptions * 6))
        return false;
    for (uint32_t i = 0; i < head.exceptions; i++)
        if (place_at(*at + sizeof head + (size_t)n * k, i) >= n)
            return false;
    return true;
}

static void read_planes(const uint8_t *planes, unsigned k, uint32_t n, uint32_t base, uint32_t *x)
{
    switch (k) {
    case 0:
        for (uint32_t i = 0; i < n; i++)
            x[i] = base;
        return;
    case 1:
        for (uint32_t i = 0; i < n; i++)
            x[i] = planes[i] + base;
        return;
    case 2:
        for (uint32_t i = 0; i < n; i++)
            x[i] = (planes[i] | (uint32_t)planes[n + i] << 8) + base;
        return;
    case 3:
        for (uint32_t i = 0; i < n; i++)
            x[i] = (planes[i] | (uint32_t)planes[n + i] << 8 | (uint32_t)planes[2 * n + i] << 16) +
                   base;
        return;
    default:
        for (uint32_t i = 0; i < n; i++)
            x[i] = (planes[i] | (uint32_t)planes[n + i] << 8 | (uint32_t)planes[2 * n + i] << 16 |
                    (uint32_t)planes[3 * n + i] << 24) +
                   base;
    }
}

bool pt_columns_constant(const uint8_t **at, uint32_t *value)
{
    struct pt_column_head head = head_at(*at);

    if (head.mode != 0 || head.exceptions != 0)
        return false;
    *value = head.base;
    *at += sizeof head;
    return true;
}

/* The column was passed by pass_column(). */
void pt_columns_word(const uint8_t **at, uint32_t n, uint32_t *x)
{
    struct pt_column_head head = head_at(*at);
    unsigned k = head.mode % PT_COLUMNS_DELTA;
    const uint8_t *planes = *at + sizeof head, *places = planes + (size_t)n * k;
    const uint8_t *numbers = places + 2 * (size_t)head.exceptions;

    *at = numbers + 4 * (size_t)head.exceptions;
    read_planes(planes, k, n, head.base, x);
    for (uint32_t i = 0; i < head.exceptions; i++)
        x[place_at(places, i)] = pt_le32_at(numbers + 4 * (size_t)i) + head.base;
    if (head.mode >= PT_COLUMNS_DELTA) {
        uint32_t before = 0;

        for (uint32_t i = 0; i < n; i++)
            x[i] = before += x[i];
    }
}

static bool read_column(struct pt_columns_view *v, uint32_t n, uint32_t *x)
{
    const uint8_t *at;

    if (!pass_column(v, n, &at))
        return false;
    pt_columns_word(&at, n, x);
    return true;
}

/* ---- where the records are ---- */

static bool read_heads(struct pt_columns_view *v)
{
    const uint8_t *at = take(v, sizeof(struct pt_columns_head));
    uint32_t sum = 0;

    if (!at)
        return false;
    v->count = pt_le32_at(at);
    v->class_count = pt_le32_at(at + 4);
    if (v->count == 0 || v->count > v->bytes / PT_RECORD_HEAD || v->count > PT_COLUMNS_RECORDS ||
        v->class_count == 0 || v->class_count > PT_COLUMNS_CLASSES)
        return false;
    at = take(v, v->class_count * sizeof(struct pt_columns_class));
    for (uint32_t i = 0; at && i < v->class_count; i++, at += sizeof(struct pt_columns_class)) {
        struct pt_columns_part *c = &v->classes[i];

        *c = (struct pt_columns_part){ pt_le32_at(at),     pt_le32_at(at + 4),  sum,
                                       pt_le32_at(at + 8), pt_le32_at(at + 12), NULL };
        if (c->low > 0xffff || c->records == 0 || c->records > v->count - sum || c->words < 2 ||
            c->words > PT_COLUMNS_WORDS || (c->length > 0xffff && c->length != PT_COLUMNS_VARIABLE))
            return false;
        sum += c->records;
    }
    return at && sum == v->count;
}

/* One byte holds 8 / bits of them. */
static void unpack_sequence(const uint8_t *at, unsigned bits, uint32_t count, uint8_t *to)
{
    unsigned each = 8 / bits, mask = (1u << bits) - 1;
    uint32_t whole = count / each;

    for (uint32_t i = 0; i < whole; i++)
        for (unsigned j = 0; j < each; j++)
            to[i * each + j] = (uint8_t)(at[i] >> j * bits & mask);
    for (uint32_t i = whole * each; i < count; i++)
        to[i] = (uint8_t)(at[whole] >> (i - whole * each) * bits & mask);
}

/* The class of each record; each has as many as its head says. */
static bool read_sequence(struct pt_columns_view *v)
{
    unsigned bits = pt_columns_bits(v->class_count), each = bits ? 8 / bits : 1;
    const uint8_t *at = take(v, bits ? (v->count + each - 1) / each : 0);
    uint32_t found[2][256] = { { 0 } }, i;

    if (!at)
        return false;
    if (!bits) {
        memset(v->sequence, 0, v->count);
        return true;
    }
    switch (bits) { /* so that each loop has a constant number of bits */
    case 1: unpack_sequence(at, 1, v->count, v->sequence); break;
    case 2: unpack_sequence(at, 2, v->count, v->sequence); break;
    case 4: unpack_sequence(at, 4, v->count, v->sequence); break;
    default: memcpy(v->sequence, at, v->count);
    }
    for (i = 0; i + 1 < v->count; i += 2) {
        found[0][v->sequence[i]]++;
        found[1][v->sequence[i + 1]]++;
    }
    if (i < v->count)
        found[0][v->sequence[i]]++;
    for (i = 0; i < v->class_count; i++)
        if (found[0][i] + found[1][i] != v->classes[i].records)
            return false;
    return true; /* their sum is all */
}

static bool fits(const struct pt_columns_part *c, uint32_t length)
{
    uint32_t words = (length + 3) / 4 + 2;

    return length <= 0xffff &&
           (c->length == PT_COLUMNS_VARIABLE ? length / 4 + 2 : words) >= c->words;
}

/* The data of each record, by class; together the records have v->bytes. */
static bool read_lengths(struct pt_columns_view *v)
{
    uint64_t sum = 0;

    for (uint32_t k = 0; k < v->class_count; k++) {
        struct pt_columns_part *c = &v->classes[k];
        uint32_t *length = v->length + c->first;

        if (c->length != PT_COLUMNS_VARIABLE) {
            for (uint32_t i = 0; i < c->records; i++)
                length[i] = c->length;
            sum += (uint64_t)c->records * pt_record_size(c->length);
            if (!fits(c, c->length))
                return false;
            continue;
        }
        if (!read_column(v, c->records, length))
            return false;
        for (uint32_t i = 0; i < c->records; i++) {
            if (!fits(c, length[i]))
                return false;
            sum += pt_record_size(length[i]);
        }
    }
    return sum == v->bytes;
}

static bool pass_class(struct pt_columns_view *v, struct pt_columns_part *c)
{
    const uint8_t *at;
    uint64_t rest = 0;

    c->at = v->at;
    for (uint32_t i = 0; i < c->words; i++)
        if (!pass_column(v, c->records, &at))
            return false;
    if (c->length != PT_COLUMNS_VARIABLE)
        rest = (uint64_t)c->records * pt_columns_rest(c, c->length);
    else
        for (uint32_t i = 0; i < c->records; i++)
            rest += pt_columns_rest(c, v->length[c->first + i]);
    return take(v, rest) != NULL;
}

int pt_columns_open(struct pt_columns *c, struct pt_columns_view *v, const void *from,
                    uint32_t size, uint32_t bytes)
{
    uint32_t most = bytes / PT_RECORD_HEAD;
    bool good;

    if (pt_array_renew(&c->memory, &c->room, (size_t)most * MEMORY) < 0)
        return -ENOMEM;
    v->at = from;
    v->end = v->at + size;
    v->bytes = bytes;
    v->value = (uint32_t *)(void *)c->memory;
    v->second = v->value + most;
    v->time = v->second + most;
    v->length = v->time + most;
    v->sequence = (uint8_t *)(v->length + most);
    good = read_heads(v) && read_sequence(v) && read_column(v, v->count, v->time) &&
           read_lengths(v);
    for (uint32_t i = 0; good && i < v->class_count; i++)
        good = pass_class(v, &v->classes[i]);
    return good && v->at == v->end ? 0 : -EBADMSG;
}

/* ---- records ---- */

/* Writes the first 8 bytes of each record, and where it is to v->second, by class. */
static void place_records(struct pt_columns_view *v, uint8_t *rows)
{
    uint32_t next[PT_COLUMNS_CLASSES], at = 0;

    for (uint32_t k = 0; k < v->class_count; k++)
        next[k] = v->classes[k].first;
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t class = v->sequence[i], to = next[class]++, length = v->length[to];
        uint32_t size = pt_record_size(length);

        v->second[to] = at;
        pt_put_le32(rows + at, v->classes[class].low | length << 16);
        pt_put_le32(rows + at + 4, v->time[i]);
        if (length % 8)
            memset(rows + at + size - 8, 0, 8);
        at += size;
    }
    pt_assert(at == v->bytes);
}

/* The last word of a record without another one may stand for fewer bytes, the rest pads. */
static void read_class(struct pt_columns_view *v, const struct pt_columns_part *c, uint8_t *rows)
{
    const uint32_t *place = v->second + c->first;
    const uint8_t *at = c->at;
    uint32_t number;

    for (uint32_t word = 0; word < c->words; word++) {
        uint8_t *to = rows + 8 + 4 * (size_t)word;

        if (pt_columns_constant(&at, &number)) {
            for (uint32_t i = 0; i < c->records; i++)
                pt_put_le32(to + place[i], number);
            continue;
        }
        pt_columns_word(&at, c->records, v->value);
        for (uint32_t i = 0; i < c->records; i++)
            pt_put_le32(to + place[i], v->value[i]);
    }
    for (uint32_t i = 0; i < c->records; i++) {
        uint32_t length = v->length[c->first + i], rest = pt_columns_rest(c, length);

        memcpy(rows + place[i] + PT_RECORD_HEAD + length - rest, at, rest);
        at += rest;
    }
}

int pt_columns_read(struct pt_columns *c, const void *from, uint32_t size, void *records,
                    uint32_t bytes)
{
    struct pt_columns_view v;
    int error = pt_columns_open(c, &v, from, size, bytes);

    if (error)
        return error;
    place_records(&v, records);
    for (uint32_t i = 0; i < v.class_count; i++)
        read_class(&v, &v.classes[i], records);
    return 0;
}
