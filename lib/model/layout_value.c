/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads event data by its description.  The data is not trusted: each length in it is compared with
 * the bytes that are left.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include "base/assert.h"
#include "model/layout.h"

static uint64_t load(const uint8_t *p, unsigned bits, bool big_endian)
{
    uint16_t half;
    uint32_t word;
    uint64_t v;

    switch (bits) {
    case 8: return *p;
    case 16: memcpy(&half, p, sizeof half); return big_endian ? be16toh(half) : le16toh(half);
    case 32: memcpy(&word, p, sizeof word); return big_endian ? be32toh(word) : le32toh(word);
    default: memcpy(&v, p, sizeof v); return big_endian ? be64toh(v) : le64toh(v);
    }
}

/* Takes one field off the front; false: it is not all there. */
static bool split_field(const struct posixtrace_layout *l, const struct posixtrace_field *f,
                        const uint8_t **p, size_t *left, struct posixtrace_value *v)
{
    size_t size = f->bits / 8, used;

    v->count = f->count;
    if (f->count_bits) {
        if (*left < f->count_bits / 8)
            return false;
        v->count = load(*p, f->count_bits, l->big_endian);
        *p += f->count_bits / 8;
        *left -= f->count_bits / 8;
    } else if (f->count == 0 && f->kind == POSIXTRACE_FIELD_BYTES) {
        v->count = *left;
    } else if (f->count == 0) {
        v->count = strnlen((const char *)*p, *left);
        if (v->count == *left)
            return false;
    }
    pt_assert(size > 0);
    if (v->count > *left / size)
        return false;
    v->at = *p;
    used = v->count * size + (f->kind == POSIXTRACE_FIELD_STRING && !f->count && !f->count_bits);
    if (f->kind == POSIXTRACE_FIELD_STRING && f->count)
        v->count = strnlen((const char *)*p, f->count);
    pt_assert(used <= *left);
    *p += used;
    *left -= used;
    return true;
}

int pt_layout_split(const struct posixtrace_layout *l, const void *data, size_t len,
                    struct posixtrace_value *values, size_t *fields)
{
    const uint8_t *p = len ? data : (const uint8_t *)"";
    size_t left = len, i = 0;

    while (i < l->count && split_field(l, &l->fields[i], &p, &left, &values[i]))
        i++;
    *fields = i;
    return i == l->count && left == 0 ? 0 : -EMSGSIZE;
}

uint64_t pt_value_integer(const struct posixtrace_layout *l, size_t field,
                          const struct posixtrace_value *value, size_t i)
{
    const struct posixtrace_field *f = &l->fields[field];
    uint64_t v = load((const uint8_t *)value->at + i * (f->bits / 8), f->bits, l->big_endian);

    pt_assert_call(field < l->count && i < value->count);
    if (f->kind == POSIXTRACE_FIELD_SIGNED && f->bits < 64 && v >> (f->bits - 1))
        v |= ~(uint64_t)0 << f->bits;
    return v;
}

double pt_value_float(const struct posixtrace_layout *l, size_t field,
                      const struct posixtrace_value *value, size_t i)
{
    const struct posixtrace_field *f = &l->fields[field];
    uint64_t v = load((const uint8_t *)value->at + i * (f->bits / 8), f->bits, l->big_endian);
    uint32_t half = (uint32_t)v;
    double d;
    float s;

    if (f->bits == 32) {
        memcpy(&s, &half, sizeof s);
        return (double)s;
    }
    memcpy(&d, &v, sizeof d);
    return d;
}

/* The first one that has the value or a greater one. */
static size_t first_enumerator(const struct posixtrace_field *f, int64_t value)
{
    size_t low = 0, high = f->enumerator_count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (f->enumerators[mid].value < value)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const char *pt_field_enumerator(const struct posixtrace_field *f, int64_t value)
{
    size_t i = first_enumerator(f, value);

    return i < f->enumerator_count && f->enumerators[i].value == value ? f->enumerators[i].name
                                                                       : NULL;
}

bool pt_field_is_called(const struct posixtrace_field *f, int64_t value, const char *name)
{
    for (size_t i = first_enumerator(f, value);
         i < f->enumerator_count && f->enumerators[i].value == value; i++)
        if (strcmp(f->enumerators[i].name, name) == 0)
            return true;
    return false;
}

bool pt_field_has_name(const struct posixtrace_field *f, const char *name)
{
    for (size_t i = 0; i < f->enumerator_count; i++)
        if (strcmp(f->enumerators[i].name, name) == 0)
            return true;
    return false;
}

size_t pt_layout_find(const struct posixtrace_layout *l, const char *name)
{
    size_t i = 0;

    while (i < l->count && strcmp(l->fields[i].name, name) != 0)
        i++;
    return i;
}
