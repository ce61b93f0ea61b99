/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See html_columns.h. */
#include "analysis/html/html_columns.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256, HEAD = 16 };

uint8_t *pt_html_room(struct pt_html_bytes *b, size_t more)
{
    size_t room = b->room ? b->room : FIRST_ROOM;
    uint8_t *at;

    if (b->failed)
        return NULL;
    if (more <= b->room - b->used)
        return b->at + b->used;
    while (room - b->used < more)
        room *= 2;
    at = realloc(b->at, room);
    b->failed = !at;
    if (!at)
        return NULL;
    b->at = at;
    b->room = room;
    return at + b->used;
}

void pt_html_put(struct pt_html_bytes *b, const void *bytes, size_t count)
{
    uint8_t *to = pt_html_room(b, count);

    if (!to || count == 0)
        return;
    memcpy(to, bytes, count);
    b->used += count;
}

void pt_html_put_text(struct pt_html_bytes *b, const char *text)
{
    pt_html_put(b, text, strlen(text));
}

void pt_html_put_number(struct pt_html_bytes *b, uint64_t value, unsigned size)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    pt_html_put(b, bytes, size);
}

void pt_html_bytes_deinit(struct pt_html_bytes *b)
{
    free(b->at);
    *b = (struct pt_html_bytes){ .at = NULL };
}

bool pt_html_column_grow(struct pt_html_column *c)
{
    size_t room = c->room ? 2 * c->room : FIRST_ROOM;
    uint64_t *values = realloc(c->values, room * sizeof *values);

    if (!values)
        return false;
    c->values = values;
    c->room = room;
    return true;
}

void pt_html_column_deinit(struct pt_html_column *c)
{
    free(c->values);
    *c = (struct pt_html_column){ .values = NULL };
}

/* ---- the form ---- */

struct form {
    uint64_t base;
    unsigned width, flags;
};

static unsigned bits_of(uint64_t v)
{
    return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

static unsigned bytes_of(uint64_t v)
{
    return (bits_of(v) + 7) / 8;
}

static uint64_t zigzag(uint64_t v)
{
    return v << 1 ^ (uint64_t) - (int64_t)(v >> 63);
}

/* Orders signed numbers as unsigned ones. */
static uint64_t ordered(uint64_t v, bool is_signed)
{
    return is_signed ? v ^ UINT64_C(1) << 63 : v;
}

static bool is_exact(uint64_t v, bool is_signed)
{
    return is_signed ? (int64_t)v >= -PT_HTML_EXACT && (int64_t)v <= PT_HTML_EXACT
                     : v <= (uint64_t)PT_HTML_EXACT;
}

struct extent {
    uint64_t least, most; /* as ordered() has them */
    uint64_t plain,
        different; /* the bits that are set in any value above the least, or difference */
    uint64_t plain_bits, different_bits;
};

static struct extent measure(const struct pt_html_column *c, bool is_signed)
{
    struct extent e = { .least = UINT64_MAX };

    for (size_t i = 0; i < c->count; i++) {
        uint64_t v = ordered(c->values[i], is_signed);

        e.least = v < e.least ? v : e.least;
        e.most = v > e.most ? v : e.most;
    }
    for (size_t i = 0; i < c->count; i++) {
        uint64_t d = i ? zigzag(c->values[i] - c->values[i - 1]) : 0;

        e.different |= d;
        e.different_bits += bits_of(d);
        e.plain_bits += bits_of(ordered(c->values[i], is_signed) - e.least);
    }
    e.plain = e.most - e.least;
    return e;
}

static struct form form_of(const struct pt_html_column *c, bool is_signed)
{
    struct extent e = measure(c, is_signed);
    uint64_t least = ordered(e.least, is_signed), most = ordered(e.most, is_signed);
    struct form f = { .base = least, .width = bytes_of(e.plain) };

    if (c->count == 0)
        return (struct form){ .base = 0 };
    if (!is_exact(least, is_signed) || !is_exact(most, is_signed) ||
        e.plain > (uint64_t)PT_HTML_EXACT)
        f.flags = is_signed ? PT_HTML_WIDE | PT_HTML_SIGNED : PT_HTML_WIDE;
    if (f.width == 0 || e.different_bits >= e.plain_bits ||
        (!(f.flags & PT_HTML_WIDE) && bytes_of(e.different) > 6))
        return f;
    f.base = c->values[0];
    f.width = bytes_of(e.different);
    f.flags |= PT_HTML_DIFFERENCES | PT_HTML_ZIGZAG;
    return f;
}

static void put_planes(uint8_t *to, const struct pt_html_column *c, const struct form *f)
{
    bool differs = f->flags & PT_HTML_DIFFERENCES;
    uint64_t last = f->base;

    for (size_t i = 0; i < c->count; i++) {
        uint64_t v = c->values[i] - (differs ? last : f->base);

        v = differs ? zigzag(v) : v;
        last = c->values[i];
        for (unsigned p = 0; p < f->width; p++)
            to[p * c->count + i] = (uint8_t)(v >> (8 * p));
    }
}

void pt_html_put_column(struct pt_html_bytes *b, const struct pt_html_column *c, bool is_signed)
{
    struct form f = form_of(c, is_signed);
    size_t size = f.width * c->count;

    pt_html_put_number(b, f.width, 1);
    pt_html_put_number(b, f.flags, 1);
    pt_html_put_number(b, 0, 2);
    pt_html_put_number(b, c->count, 4);
    pt_html_put_number(b, f.base, 8);
    if (size == 0 || !pt_html_room(b, size))
        return;
    put_planes(b->at + b->used, c, &f);
    b->used += size;
}
