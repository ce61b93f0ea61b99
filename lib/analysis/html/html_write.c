/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The file: pieces of the skeleton, the head and the blocks, to the caller's function. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/html/html_state.h"
#include "analysis/html/html_web.h"

enum { ENCODE = 3 << 14 }; /* bytes of a block that are encoded together; a multiple of 3 */

static void write_bytes(struct pt_html *h, const void *bytes, size_t length)
{
    if (!h->error && length > 0)
        pt_html_fail(h, h->options.write(h->options.context, bytes, length));
}

static void write_text(struct pt_html *h, const char *text)
{
    write_bytes(h, text, strlen(text));
}

static size_t encode(char *to, const uint8_t *from, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *at = to;

    for (; length >= 3; from += 3, length -= 3) {
        uint32_t v = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];

        for (unsigned shift = 24; shift > 0;) {
            shift -= 6;
            *at++ = digits[v >> shift & 63];
        }
    }
    if (length > 0) {
        uint32_t v = (uint32_t)from[0] << 16 | (length > 1 ? (uint32_t)from[1] << 8 : 0);

        *at++ = digits[v >> 18];
        *at++ = digits[v >> 12 & 63];
        *at++ = length > 1 ? digits[v >> 6 & 63] : '=';
        *at++ = '=';
    }
    return (size_t)(at - to);
}

static void write_block(struct pt_html *h, const struct pt_html_block *b)
{
    static const char open[] = "<script type=\"text/plain\" class=\"block\" id=\"b%" PRIu32 "\">";
    char text[ENCODE / 3 * 4];

    snprintf(text, sizeof text, open, b->number);
    write_text(h, text);
    for (size_t from = 0, part; from < b->size && !h->error; from += part) {
        part = b->size - from < ENCODE ? b->size - from : ENCODE;
        write_bytes(h, text, encode(text, b->at + from, part));
    }
    write_text(h, "</script>\n");
}

/* ---- the order ---- */

enum { FIRST_BYTES = 2000000 }; /* of blocks before the script */

static void number(struct pt_html *h, const struct pt_html_tiles *tiles, uint32_t *next)
{
    for (size_t i = 0; i < tiles->count; i++)
        if (tiles->at[i].block != PT_HTML_NO_BLOCK)
            h->blocks.items[tiles->at[i].block].number = (*next)++;
}

static uint64_t size_of(const struct pt_html *h, const struct pt_html_tiles *tiles)
{
    uint64_t size = 0;

    for (size_t i = 0; i < tiles->count; i++)
        if (tiles->at[i].block != PT_HTML_NO_BLOCK)
            size += pt_html_block_size(h->blocks.items[tiles->at[i].block].size);
    return size;
}

/* Levels and counters, coarse first.  The first blocks are those that are small together, and at
 * least the coarsest level. */
static uint32_t number_levels(struct pt_html *h)
{
    uint64_t size = 0;
    uint32_t next = 0;

    for (unsigned n = PT_HTML_LEVELS; n > 0; n--) {
        const struct pt_html_tiles *level = &h->levels[n - 1].tiles;
        const struct pt_html_tiles *counters = &h->counters[n - 1].tiles;

        size += size_of(h, level) + size_of(h, counters);
        number(h, level, &next);
        number(h, counters, &next);
        if (size <= FIRST_BYTES || h->first_blocks == 0)
            h->first_blocks = next;
    }
    return next;
}

static void number_blocks(struct pt_html *h)
{
    uint32_t next = number_levels(h);

    number(h, &h->long_tiles, &next);
    number(h, &h->detail_tiles, &next);
    number(h, &h->flow_tiles, &next);
    for (size_t i = 0; i < h->now.count; i++) {
        const struct pt_html_event_tile *t = &h->now.tiles[i];

        if (t->block != PT_HTML_NO_BLOCK)
            h->blocks.items[t->block].number = next++;
        if (t->fields != PT_HTML_NO_BLOCK)
            h->blocks.items[t->fields].number = next++;
    }
}

static void write_tiles(struct pt_html *h, const struct pt_html_tiles *tiles, bool first)
{
    for (size_t i = 0; i < tiles->count; i++) {
        uint32_t block = tiles->at[i].block;

        if (block != PT_HTML_NO_BLOCK && (h->blocks.items[block].number < h->first_blocks) == first)
            write_block(h, &h->blocks.items[block]);
    }
}

static void write_levels(struct pt_html *h, bool first)
{
    for (unsigned n = PT_HTML_LEVELS; n > 0; n--) {
        write_tiles(h, &h->levels[n - 1].tiles, first);
        write_tiles(h, &h->counters[n - 1].tiles, first);
    }
}

static void write_detail(struct pt_html *h)
{
    write_tiles(h, &h->long_tiles, false);
    write_tiles(h, &h->detail_tiles, false);
    write_tiles(h, &h->flow_tiles, false);
    for (size_t i = 0; i < h->now.count && !h->error; i++) {
        const struct pt_html_event_tile *t = &h->now.tiles[i];

        if (t->block != PT_HTML_NO_BLOCK)
            write_block(h, &h->blocks.items[t->block]);
        if (t->fields != PT_HTML_NO_BLOCK)
            write_block(h, &h->blocks.items[t->fields]);
    }
    write_text(h, "<script type=\"text/plain\" class=\"block\" id=\"end\"></script>\n");
}

/* ---- the file ---- */

static void write_piece(struct pt_html *h, unsigned n)
{
    write_bytes(h, pt_html_pieces[n].text, pt_html_pieces[n].length);
}

static void write_attributes(struct pt_html *h)
{
    uint64_t lost = 0;
    char text[100];

    for (unsigned i = 0; i < POSIXTRACE_LOSS_CAUSES; i++)
        lost += h->info.lost[i];
    snprintf(text, sizeof text, "lang=\"en\" data-events=\"%" PRIu64 "\" data-lost=\"%" PRIu64 "\"",
             h->events, lost);
    write_text(h, text);
}

/* The plain characters of the name. */
static void write_title(struct pt_html *h)
{
    char text[80] = "";
    size_t used = 0;

    for (const char *at = h->options.name ? h->options.name : ""; *at && used < sizeof text - 1;
         at++)
        text[used++] = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                               (*at >= '0' && *at <= '9') || strchr("._- /+@", *at)
                           ? *at
                           : '?';
    write_text(h, text);
}

void pt_html_write(struct pt_html *h)
{
    struct pt_html_bytes head = { .at = NULL };

    number_blocks(h);
    pt_html_head(h, &head);
    write_piece(h, 0);
    write_attributes(h);
    write_piece(h, 1);
    write_title(h);
    write_piece(h, 2);
    write_bytes(h, head.at, head.used);
    write_piece(h, 3);
    write_levels(h, true);
    write_piece(h, 4);
    write_levels(h, false);
    write_detail(h);
    write_piece(h, 5);
    pt_html_bytes_deinit(&head);
}
