/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See cells.h.  The buffer: classes, addresses that differ, times, lengths that differ, data, each
 * event's padded to 4; then the class of each event.
 */
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#pragma GCC optimize("O3") /* for its loops, as columns.c */
#endif
#include "log/cells.h"

#include <string.h>

#include "base/assert.h"
#include "log/byteorder.h"

bool pt_cells_suit(const struct pt_columns_view *v)
{
    for (uint32_t k = 0; k < v->class_count; k++) {
        const struct pt_columns_part *c = &v->classes[k];

        if ((c->low >> 12 & 15u) != PT_RECORD_EVENT ||
            (c->low & PT_RECORD_ID_MASK) - 1u >= PT_ID_MAX - 1u)
            return false;
        for (uint32_t i = 0; i < c->records; i++) {
            if (v->length[c->first + i] > PT_MAX_DATA)
                return false;
            if (c->length != PT_COLUMNS_VARIABLE)
                break;
        }
    }
    return !PT_FOREIGN_ORDER;
}

static uint32_t padded(uint32_t length)
{
    return (length + 3u) & ~3u;
}

static uint32_t data_bytes(const struct pt_columns_view *v, const struct pt_columns_part *c)
{
    uint32_t sum = 0;

    if (c->length != PT_COLUMNS_VARIABLE)
        return c->records * padded(c->length);
    for (uint32_t i = 0; i < c->records; i++)
        sum += padded(v->length[c->first + i]);
    return sum;
}

size_t pt_cells_size(const struct pt_columns_view *v)
{
    size_t size = v->class_count * sizeof(struct pt_cell_class);

    for (uint32_t k = 0; k < v->class_count; k++)
        size += data_bytes(v, &v->classes[k]);
    /* address, time, length, class */
    return size + v->count * (sizeof(uint64_t) + 2 * sizeof(uint32_t) + 1);
}

/* Where the next part of the buffer begins. */
static void *part(uint8_t **at, size_t size)
{
    uint8_t *from = *at;

    *at += size;
    return from;
}

static void make_addresses(struct pt_cell_class *to, struct pt_columns_view *v, uint32_t n,
                           const uint8_t **at, uint8_t **buffer)
{
    uint32_t low, high;
    uint64_t *address = (uint64_t *)(void *)*buffer;
    const uint8_t *from = *at;

    if (pt_columns_constant(at, &low) && pt_columns_constant(at, &high)) {
        to->address = (uint64_t)high << 32 | low;
        return;
    }
    *at = from;
    pt_columns_word(at, n, v->value);
    pt_columns_word(at, n, v->second);
    for (uint32_t i = 0; i < n; i++)
        address[i] = (uint64_t)v->second[i] << 32 | v->value[i];
    to->addresses = part(buffer, n * sizeof *address);
}

/* Two columns at a time: they are mostly the halves of a number. */
static void put_pair(struct pt_columns_view *v, uint32_t n, uint32_t stride, uint8_t *to)
{
    const uint32_t *low = v->value, *high = v->second;

    if (stride == 8) {
        for (uint32_t i = 0; i < n; i++) {
            uint64_t both = (uint64_t)high[i] << 32 | low[i];

            memcpy(to + (size_t)i * 8, &both, sizeof both);
        }
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t both = (uint64_t)high[i] << 32 | low[i];

        memcpy(to + (size_t)i * stride, &both, sizeof both);
    }
}

static void put_single(const uint32_t *value, uint32_t n, uint32_t stride, uint8_t *to)
{
    if (stride == 4) {
        memcpy(to, value, n * sizeof *value);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        memcpy(to + (size_t)i * stride, &value[i], sizeof value[i]);
}

/* The data of a class of one length. */
static void make_data(struct pt_columns_view *v, const struct pt_columns_part *c, const uint8_t *at,
                      uint8_t *to)
{
    uint32_t n = c->records, stride = padded(c->length), words = c->words - 2, word = 0;
    uint32_t rest = pt_columns_rest(c, c->length);

    for (; word + 2 <= words; word += 2) {
        pt_columns_word(&at, n, v->value);
        pt_columns_word(&at, n, v->second);
        put_pair(v, n, stride, to + 4 * (size_t)word);
    }
    if (word < words) {
        pt_columns_word(&at, n, v->value);
        put_single(v->value, n, stride, to + 4 * (size_t)word);
    }
    for (uint32_t i = 0; rest && i < n; i++, at += rest)
        memcpy(to + (size_t)i * stride + 4 * (size_t)words, at, rest);
}

/* The same of a class whose length differs; v->second: where the data of each event is. */
static void make_variable(struct pt_columns_view *v, const struct pt_columns_part *c,
                          const uint8_t *at, uint8_t *to)
{
    const uint32_t *length = v->length + c->first;
    uint32_t *place = v->second, next = 0;

    for (uint32_t i = 0; i < c->records; i++) {
        place[i] = next;
        next += padded(length[i]);
    }
    for (uint32_t word = 0; word < c->words - 2; word++) {
        pt_columns_word(&at, c->records, v->value);
        for (uint32_t i = 0; i < c->records; i++)
            memcpy(to + place[i] + 4 * (size_t)word, &v->value[i], sizeof v->value[i]);
    }
    for (uint32_t i = 0; i < c->records; i++) {
        uint32_t rest = pt_columns_rest(c, length[i]);

        memcpy(to + place[i] + length[i] - rest, at, rest);
        at += rest;
    }
}

static void make_class(struct pt_cell_class *to, struct pt_columns_view *v,
                       const struct pt_columns_part *c, const uint8_t *at, uint8_t **buffer)
{
    uint8_t *data;

    to->length = c->length;
    to->stride = padded(c->length);
    if (c->length == PT_COLUMNS_VARIABLE)
        to->lengths = memcpy(part(buffer, c->records * sizeof(uint32_t)), v->length + c->first,
                             c->records * sizeof(uint32_t));
    to->data = data = part(buffer, data_bytes(v, c));
    if (c->length == PT_COLUMNS_VARIABLE)
        make_variable(v, c, at, data);
    else
        make_data(v, c, at, data);
}

void pt_cells_make(struct pt_cells *cells, struct pt_columns_view *v, void *buffer, uint64_t base)
{
    const uint8_t *columns[PT_COLUMNS_CLASSES];
    uint8_t *at = buffer;
    struct pt_cell_class *classes = part(&at, v->class_count * sizeof *classes);

    *cells = (struct pt_cells){ .classes = classes, .left = v->count, .base = base };
    for (uint32_t k = 0; k < v->class_count; k++) {
        classes[k] = (struct pt_cell_class){ .low = v->classes[k].low };
        columns[k] = v->classes[k].at;
        make_addresses(&classes[k], v, v->classes[k].records, &columns[k], &at);
    }
    cells->time = memcpy(part(&at, v->count * sizeof *v->time), v->time,
                         v->count * sizeof *v->time);
    for (uint32_t k = 0; k < v->class_count; k++)
        make_class(&classes[k], v, &v->classes[k], columns[k], &at);
    cells->sequence = memcpy(part(&at, v->count), v->sequence, v->count);
    pt_assert(at <= (uint8_t *)buffer + pt_cells_size(v));
}
