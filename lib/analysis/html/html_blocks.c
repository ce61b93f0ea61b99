/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See html_blocks.h. */
#include "analysis/html/html_blocks.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 64, ELEMENT = 64 }; /* ELEMENT: bytes around the base64 of a block */

uint64_t pt_html_block_size(size_t compressed)
{
    return ((uint64_t)compressed + 2) / 3 * 4 + ELEMENT;
}

struct pt_html_bytes *pt_html_block_begin(struct pt_html_blocks *b, uint32_t columns)
{
    b->raw.used = 0;
    pt_html_put_number(&b->raw, columns, 4);
    return &b->raw;
}

static bool grow(struct pt_html_blocks *b)
{
    size_t room = b->room ? 2 * b->room : FIRST_ROOM;
    struct pt_html_block *items = realloc(b->items, room * sizeof *items);

    if (!items)
        return false;
    b->items = items;
    b->room = room;
    return true;
}

int pt_html_block_end(struct pt_html_blocks *b, uint32_t *number)
{
    struct pt_html_bytes to = { .at = NULL };
    int error = b->raw.failed ? ENOMEM : pt_html_deflate(&b->deflater, &b->raw, &to);
    uint8_t *fits;

    if (error == 0 && b->count == b->room && !grow(b))
        error = ENOMEM;
    if (error) {
        pt_html_bytes_deinit(&to);
        return error;
    }
    fits = realloc(to.at, to.used);
    b->items[b->count] = (struct pt_html_block){ fits ? fits : to.at, (uint32_t)to.used, 0 };
    b->size += pt_html_block_size(to.used);
    *number = (uint32_t)b->count++;
    return 0;
}

void pt_html_block_drop(struct pt_html_blocks *b, uint32_t number)
{
    struct pt_html_block *block;

    if (number == PT_HTML_NO_BLOCK)
        return;
    block = &b->items[number];
    b->size -= pt_html_block_size(block->size);
    free(block->at);
    block->at = NULL;
}

void pt_html_blocks_deinit(struct pt_html_blocks *b)
{
    for (size_t i = 0; i < b->count; i++)
        free(b->items[i].at);
    free(b->items);
    pt_html_bytes_deinit(&b->raw);
    pt_html_deflater_free(b->deflater);
}
