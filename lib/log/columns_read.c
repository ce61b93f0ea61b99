/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Makes records of columns; see columns.h.  Nothing of the input is trusted: a checksum says that
 * it is what was written, not that it was written by this library.
 *
 * The classes of the records and the columns of lengths say where each record begins; then each
 * column is read into an array, and from there into its place in the records.
 */
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize("O3") /* for its loops, as columns.c */
#endif
#include <errno.h>
#include <string.h>

#include "log/byteorder.h"
#include "log/columns.h"
#include "shm/record.h"

struct class
{
    uint32_t low, records, first, length, words; /* first: of its places */
    const uint8_t *lengths;                      /* their column */
};

struct work {
    const uint8_t *at, *end; /* the input */
    uint8_t *rows;
    uint32_t bytes, count, class_count;
    uint8_t *sequence;
    uint32_t *place;  /* where each record begins, by class */
    uint32_t *value;  /* of one column */
    uint32_t *time;   /* of each record */
    uint32_t *length; /* of the data, by class */
    struct class classes[PT_COLUMNS_CLASSES];
};

/* The next bytes of the input; NULL: there are not so many. */
static const uint8_t *take(struct work *w, size_t size)
{
    const uint8_t *at = w->at;

    if ((size_t)(w->end - at) < size)
        return NULL;
    w->at += size;
    return at;
}

/* ---- columns ---- */

static void read_planes(const uint8_t *planes, unsigned k, uint32_t n, uint32_t *x)
{
    switch (k) {
    case 0: memset(x, 0, n * sizeof *x); return;
    case 1:
        for (uint32_t i = 0; i < n; i++)
            x[i] = planes[i];
        return;
    case 2:
        for (uint32_t i = 0; i < n; i++)
            x[i] = planes[i] | (uint32_t)planes[n + i] << 8;
        return;
    default:
        for (uint32_t i = 0; i < n; i++) {
            x[i] = planes[i] | (uint32_t)planes[n + i] << 8 | (uint32_t)planes[2 * n + i] << 16;
            if (k == 4)
                x[i] |= (uint32_t)planes[3 * n + i] << 24;
        }
    }
}

static bool read_exceptions(const uint8_t *at, uint32_t count, uint32_t n, uint32_t *x)
{
    const uint8_t *numbers = at + 2 * (size_t)count;

    for (uint32_t i = 0; i < count; i++) {
        uint16_t place;

        memcpy(&place, at + 2 * (size_t)i, sizeof place);
        place = pt_le16(place);
        if (place >= n)
            return false;
        x[place] = pt_le32_at(numbers + 4 * (size_t)i);
    }
    return true;
}

/* The next column begins with this: sets *k to the bytes of its numbers. */
static bool read_column_head(struct work *w, struct pt_column_head *head, unsigned *k)
{
    const uint8_t *from = take(w, sizeof *head);

    if (!from)
        return false;
    memcpy(head, from, sizeof *head);
    *head = (struct pt_column_head){ pt_le16(head->mode), pt_le16(head->exceptions),
                                     pt_le32(head->base) };
    *k = head->mode % PT_COLUMNS_DELTA;
    return *k <= 4 && head->mode < 2 * PT_COLUMNS_DELTA;
}

static bool read_numbers(struct work *w, const struct pt_column_head *head, unsigned k, uint32_t n,
                         uint32_t *v)
{
    const uint8_t *planes = take(w, (size_t)n * k);
    const uint8_t *exceptions = planes ? take(w, (size_t)head->exceptions * 6) : NULL;
    uint32_t before = 0;

    if (!exceptions)
        return false;
    read_planes(planes, k, n, v);
    if (!read_exceptions(exceptions, head->exceptions, n, v))
        return false;
    if (head->mode < PT_COLUMNS_DELTA) {
        for (uint32_t i = 0; i < n; i++)
            v[i] += head->base;
    } else {
        for (uint32_t i = 0; i < n; i++)
            v[i] = before += v[i] + head->base;
    }
    return true;
}

/* n numbers of the next column. */
static bool read_column(struct work *w, uint32_t n, uint32_t *v)
{
    struct pt_column_head head;
    unsigned k;

    return read_column_head(w, &head, &k) && read_numbers(w, &head, k, n, v);
}

/* ---- where the records are ---- */

static bool read_heads(struct work *w)
{
    const uint8_t *at = take(w, sizeof(struct pt_columns_head));
    uint32_t sum = 0;

    if (!at)
        return false;
    w->count = pt_le32_at(at);
    w->class_count = pt_le32_at(at + 4);
    if (w->count == 0 || w->count > w->bytes / PT_RECORD_HEAD || w->count > PT_COLUMNS_RECORDS ||
        w->class_count == 0 || w->class_count > PT_COLUMNS_CLASSES)
        return false;
    at = take(w, w->class_count * sizeof(struct pt_columns_class));
    for (uint32_t i = 0; at && i < w->class_count; i++, at += sizeof(struct pt_columns_class)) {
        struct class *c = &w->classes[i];

        *c = (struct class){ pt_le32_at(at),     pt_le32_at(at + 4),  sum,
                             pt_le32_at(at + 8), pt_le32_at(at + 12), NULL };
        if (c->low > 0xffff || c->records == 0 || c->records > w->count - sum || c->words < 2 ||
            c->words > PT_COLUMNS_WORDS || (c->length > 0xffff && c->length != PT_COLUMNS_VARIABLE))
            return false;
        sum += c->records;
    }
    return at && sum == w->count;
}

/* The class of each record; each has as many as its head says. */
static bool read_sequence(struct work *w)
{
    unsigned bits = pt_columns_bits(w->class_count), each = bits ? 8 / bits : 1;
    const uint8_t *at = take(w, bits ? (w->count + each - 1) / each : 0);
    uint32_t found[PT_COLUMNS_CLASSES] = { 0 };

    if (!at)
        return false;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t class = bits ? at[i / each] >> (i % each * bits) & ((1u << bits) - 1) : 0;

        if (class >= w->class_count || ++found[class] > w->classes[class].records)
            return false;
        w->sequence[i] = (uint8_t) class;
    }
    return true;
}

static bool fits(const struct class *c, uint32_t length)
{
    uint32_t words = (length + 3) / 4 + 2;

    return length <= 0xffff &&
           (c->length == PT_COLUMNS_VARIABLE ? length / 4 + 2 : words) >= c->words;
}

/* The data of each record, by class. */
static bool read_lengths(struct work *w)
{
    for (uint32_t k = 0; k < w->class_count; k++) {
        struct class *c = &w->classes[k];
        uint32_t *length = w->length + c->first;

        if (c->length != PT_COLUMNS_VARIABLE) {
            for (uint32_t i = 0; i < c->records; i++)
                length[i] = c->length;
        } else if (!read_column(w, c->records, length)) {
            return false;
        }
        for (uint32_t i = 0; i < c->records; i++)
            if (!fits(c, length[i]))
                return false;
    }
    return true;
}

/* Writes the first 8 bytes of each record, and knows where it is. */
static bool place_records(struct work *w)
{
    uint32_t next[PT_COLUMNS_CLASSES], at = 0;

    for (uint32_t k = 0; k < w->class_count; k++)
        next[k] = w->classes[k].first;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t class = w->sequence[i], to = next[class]++, length = w->length[to];
        uint32_t size = pt_record_size(length);

        if (size > w->bytes - at)
            return false;
        w->place[to] = at;
        pt_put_le32(w->rows + at, w->classes[class].low | length << 16);
        pt_put_le32(w->rows + at + 4, w->time[i]);
        if (length % 8)
            memset(w->rows + at + size - 8, 0, 8);
        at += size;
    }
    return at == w->bytes;
}

/* ---- their contents ---- */

static void store_all(const uint32_t *place, uint32_t n, uint8_t *to, uint32_t number)
{
    for (uint32_t i = 0; i < n; i++)
        pt_put_le32(to + place[i], number);
}

/* The last word of a record without another one may stand for fewer bytes, the rest pads. */
static bool read_words(struct work *w, const struct class *c)
{
    const uint32_t *place = w->place + c->first;

    for (uint32_t word = 0; word < c->words; word++) {
        uint8_t *to = w->rows + 8 + 4 * (size_t)word;
        struct pt_column_head head;
        unsigned k;

        if (!read_column_head(w, &head, &k))
            return false;
        if (head.mode == 0 && head.exceptions == 0) {
            store_all(place, c->records, to, head.base);
            continue;
        }
        if (!read_numbers(w, &head, k, c->records, w->value))
            return false;
        for (uint32_t i = 0; i < c->records; i++)
            pt_put_le32(to + place[i], w->value[i]);
    }
    return true;
}

static bool read_rest(struct work *w, const struct class *c)
{
    uint32_t from = 4 * (c->words - 2);

    for (uint32_t i = 0; i < c->records; i++) {
        uint32_t length = w->length[c->first + i], size = length > from ? length - from : 0;
        const uint8_t *at = take(w, size);

        if (!at)
            return false;
        memcpy(w->rows + w->place[c->first + i] + PT_RECORD_HEAD + from, at, size);
    }
    return true;
}

int pt_columns_read(struct pt_columns *c, const void *from, uint32_t size, void *records,
                    uint32_t bytes)
{
    struct work w = { .at = from, .rows = records, .bytes = bytes };
    uint32_t most = bytes / PT_RECORD_HEAD;
    bool good;

    w.end = w.at + size;
    if (!pt_columns_reserve(c, most))
        return -ENOMEM;
    w.value = (uint32_t *)(void *)c->memory;
    w.time = w.value + most;
    w.place = w.time + most;
    w.length = w.place + most;
    w.sequence = (uint8_t *)(w.length + most);
    good = read_heads(&w) && read_sequence(&w) && read_column(&w, w.count, w.time) &&
           read_lengths(&w) && place_records(&w);
    for (uint32_t i = 0; good && i < w.class_count; i++)
        good = read_words(&w, &w.classes[i]) && read_rest(&w, &w.classes[i]);
    return good && w.at == w.end ? 0 : -EBADMSG;
}
