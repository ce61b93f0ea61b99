/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The range of a chunk's values.  Order is that of the format: numbers by their meaning, bytes
 * unsigned.  A chunk with a NaN has no range, and a zero at an end of one is -0 or +0, so that
 * readers that skip chunks skip none that they need.  Long texts have no range.
 */
#include "analysis/format/parquet/column.h"

enum { LONGEST = 64 };

static uint64_t integer(const struct pt_parquet_column *c, size_t i)
{
    uint64_t v = pt_parquet_is_wide(c) ? pt_parquet_get64(&c->values, i)
                                       : pt_parquet_get32(&c->values, i);

    if (c->meaning == PT_PARQUET_UNSIGNED)
        return v;
    return pt_parquet_is_wide(c) ? v ^ INT64_MIN : v ^ 0x80000000u;
}

static void store(struct pt_parquet_range *r, uint64_t least, uint64_t greatest, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        r->room[i] = (uint8_t)(least >> 8 * i);
        r->room[8 + i] = (uint8_t)(greatest >> 8 * i);
    }
    r->known = true;
    r->least = r->room;
    r->greatest = r->room + 8;
    r->least_length = r->greatest_length = size;
}

static void of_integers(const struct pt_parquet_column *c, size_t count, struct pt_parquet_range *r)
{
    uint64_t least = integer(c, 0), greatest = least, flip = 0;

    for (size_t i = 1; i < count; i++) {
        uint64_t v = integer(c, i);

        least = v < least ? v : least;
        greatest = v > greatest ? v : greatest;
    }
    if (c->meaning != PT_PARQUET_UNSIGNED)
        flip = pt_parquet_is_wide(c) ? (uint64_t)INT64_MIN : 0x80000000u;
    store(r, least ^ flip, greatest ^ flip, pt_parquet_element(c));
}

static void of_booleans(const struct pt_parquet_column *c, size_t count, struct pt_parquet_range *r)
{
    store(r, memchr(c->values.at, 0, count) == NULL, memchr(c->values.at, 1, count) != NULL, 1);
}

static double number(const struct pt_parquet_column *c, size_t i)
{
    uint64_t wide;
    uint32_t bits;
    double d;
    float f;

    if (pt_parquet_is_wide(c)) {
        wide = pt_parquet_get64(&c->values, i);
        memcpy(&d, &wide, sizeof d);
        return d;
    }
    bits = pt_parquet_get32(&c->values, i);
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static uint64_t bits_of(const struct pt_parquet_column *c, double d)
{
    float f = (float)d;
    uint64_t wide;
    uint32_t bits;

    if (pt_parquet_is_wide(c)) {
        memcpy(&wide, &d, sizeof wide);
        return wide;
    }
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void of_floats(const struct pt_parquet_column *c, size_t count, struct pt_parquet_range *r)
{
    double least = number(c, 0), greatest = least;

    for (size_t i = 0; i < count; i++) {
        double d = number(c, i);

        if (d != d)
            return;
        least = d < least ? d : least;
        greatest = d > greatest ? d : greatest;
    }
    least = least == 0 ? -0.0 : least;
    greatest = greatest == 0 ? 0.0 : greatest;
    store(r, bits_of(c, least), bits_of(c, greatest), pt_parquet_element(c));
}

static int compare(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length)
{
    size_t both = a_length < b_length ? a_length : b_length;
    int order = both ? memcmp(a, b, both) : 0;

    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static void see_text(struct pt_parquet_range *r, const uint8_t *at, size_t length)
{
    if (!r->known || compare(at, length, r->least, r->least_length) < 0) {
        r->least = at;
        r->least_length = length;
    }
    if (!r->known || compare(at, length, r->greatest, r->greatest_length) > 0) {
        r->greatest = at;
        r->greatest_length = length;
    }
    r->known = true;
}

static void of_texts(const struct pt_parquet_column *c, size_t count, const struct pt_texts *names,
                     struct pt_parquet_range *r)
{
    const uint8_t *at = c->text.at ? c->text.at : r->room;
    size_t length;

    for (size_t i = 0; !names && i < count; i++, at += length) {
        length = pt_parquet_get32(&c->values, i);
        see_text(r, at, length);
    }
    for (size_t i = 0; names && i < names->count; i++) {
        at = pt_texts_get(names, i, &length);
        see_text(r, at, length);
    }
    r->known = r->known && r->least_length <= LONGEST && r->greatest_length <= LONGEST;
}

void pt_parquet_column_range(const struct pt_parquet_column *c, size_t count,
                             const struct pt_texts *names, struct pt_parquet_range *r)
{
    r->known = false;
    switch (c->type) {
    case PT_PARQUET_BOOLEAN: of_booleans(c, count, r); break;
    case PT_PARQUET_INT32:
    case PT_PARQUET_INT64: of_integers(c, count, r); break;
    case PT_PARQUET_FLOAT:
    case PT_PARQUET_DOUBLE: of_floats(c, count, r); break;
    case PT_PARQUET_BYTES: of_texts(c, count, names, r); break;
    }
}
