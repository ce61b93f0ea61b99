/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See html_texts.h. */
#include "analysis/html/html_texts.h"

#include <stdlib.h>
#include <string.h>

#include "text/escape.h"

enum { FIRST_SLOTS = 64 };

/* FNV-1a. */
static uint64_t hash_of(const uint8_t *bytes, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static size_t slot_of(const struct pt_html_texts *t, uint64_t hash, const void *bytes,
                      size_t length)
{
    size_t i = (size_t)(hash ^ hash >> 32) & (t->slot_room - 1);

    for (; t->slots[i]; i = (i + 1) & (t->slot_room - 1)) {
        const struct pt_html_text *text = &t->items[t->slots[i] - 1];

        if (text->hash == hash && text->length == length &&
            (length == 0 || memcmp(t->bytes.at + text->at, bytes, length) == 0))
            break;
    }
    return i;
}

static bool grow_slots(struct pt_html_texts *t)
{
    size_t room = t->slot_room ? 2 * t->slot_room : FIRST_SLOTS;
    uint32_t *slots = calloc(room, sizeof *slots);

    if (!slots)
        return false;
    free(t->slots);
    t->slots = slots;
    t->slot_room = room;
    for (size_t i = 0; i < t->count; i++) {
        size_t place = (size_t)(t->items[i].hash ^ t->items[i].hash >> 32) & (room - 1);

        while (slots[place])
            place = (place + 1) & (room - 1);
        slots[place] = (uint32_t)i + 1;
    }
    return true;
}

static bool make_room(struct pt_html_texts *t)
{
    size_t room = t->room ? 2 * t->room : FIRST_SLOTS;
    struct pt_html_text *items;

    if (2 * (t->count + 1) > t->slot_room && !grow_slots(t))
        return false;
    if (t->count < t->room)
        return true;
    items = realloc(t->items, room * sizeof *items);
    if (!items)
        return false;
    t->items = items;
    t->room = room;
    return true;
}

uint32_t pt_html_texts_index(struct pt_html_texts *t, const void *bytes, size_t length)
{
    uint64_t hash = hash_of(bytes, length);
    size_t slot;

    if (t->failed || !make_room(t)) {
        t->failed = true;
        return 0;
    }
    slot = slot_of(t, hash, bytes, length);
    if (t->slots[slot])
        return t->slots[slot] - 1;
    t->items[t->count] = (struct pt_html_text){ t->bytes.used, length, hash };
    pt_html_put(&t->bytes, bytes, length);
    t->failed = t->bytes.failed;
    t->slots[slot] = (uint32_t)++t->count;
    return (uint32_t)t->count - 1;
}

void pt_html_texts_clear(struct pt_html_texts *t)
{
    t->bytes.used = 0;
    if (t->count > 0)
        memset(t->slots, 0, t->slot_room * sizeof *t->slots);
    t->count = 0;
}

void pt_html_texts_deinit(struct pt_html_texts *t)
{
    pt_html_bytes_deinit(&t->bytes);
    free(t->items);
    free(t->slots);
}

void pt_html_put_texts(struct pt_html_bytes *b, const struct pt_html_texts *t)
{
    uint64_t length;
    size_t head;

    b->failed |= t->failed;
    pt_html_put_number(b, 1, 1);
    pt_html_put_number(b, PT_HTML_TEXT, 1);
    pt_html_put_number(b, 0, 2);
    pt_html_put_number(b, t->count, 4);
    head = b->used;
    pt_html_put_number(b, 0, 8);
    pt_html_put_text(b, "[");
    for (size_t i = 0; i < t->count && !b->failed; i++) {
        if (i > 0)
            pt_html_put_text(b, ",");
        pt_html_json_string(b, t->bytes.at + t->items[i].at, t->items[i].length);
    }
    pt_html_put_text(b, "]");
    if (b->failed)
        return;
    length = b->used - head - 8;
    for (unsigned i = 0; i < 8; i++)
        b->at[head + i] = (uint8_t)(length >> (8 * i));
}

/* ---- JSON ---- */

/* What U+2028 and U+2029 are in UTF-8, but for the last bit. */
static bool is_separator(const uint8_t *at, size_t length)
{
    return length >= 3 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] & 0xfe) == 0xa8;
}

static const char *escape_of(const uint8_t *at, size_t length)
{
    if (is_separator(at, length))
        return at[2] == 0xa8 ? "\\u2028" : "\\u2029";
    return *at == '<' ? "\\u003c" : *at == '>' ? "\\u003e" : *at == '&' ? "\\u0026" : NULL;
}

void pt_html_json_string(struct pt_html_bytes *b, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    char one[PT_ESCAPE_MAX], *end;
    size_t taken;

    pt_html_put(b, "\"", 1);
    for (; length > 0; at += taken, length -= taken) {
        const char *escape = escape_of(at, length);

        taken = is_separator(at, length) ? 3 : 1;
        if (escape) {
            pt_html_put_text(b, escape);
            continue;
        }
        end = pt_escape_one(one, at, length, PT_ESCAPE_JSON, false, &taken);
        pt_html_put(b, one, (size_t)(end - one));
    }
    pt_html_put(b, "\"", 1);
}

void pt_html_json_copy(struct pt_html_bytes *b, const char *json)
{
    size_t length = strlen(json), taken;
    const uint8_t *at = (const uint8_t *)json;

    for (; length > 0; at += taken, length -= taken) {
        const char *escape = escape_of(at, length);

        taken = escape && is_separator(at, length) ? 3 : 1;
        if (escape)
            pt_html_put_text(b, escape);
        else
            pt_html_put(b, at, 1);
    }
}
