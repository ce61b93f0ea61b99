/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Blocks: columns that are compressed as one piece, by raw deflate.  A block keeps its number until
 * the file is written; then those that are left are numbered again.
 */
#ifndef PT_HTML_BLOCKS_H
#define PT_HTML_BLOCKS_H

#include "analysis/html/html_columns.h"

enum { PT_HTML_NO_BLOCK = UINT32_MAX };

struct pt_html_block {
    uint8_t *at; /* NULL: dropped */
    uint32_t size;
    uint32_t number; /* in the file; html_write.c */
};

struct pt_html_deflater;

struct pt_html_blocks {
    struct pt_html_block *items;
    size_t count, room;
    uint64_t size; /* of all that are left, as base64 with its element */
    struct pt_html_deflater *deflater;
    struct pt_html_bytes raw; /* the one that is being made */
};

/* False: this build has no zlib. */
bool pt_html_can_compress(void);

/* Starts a block of so many columns; returns where they go. */
struct pt_html_bytes *pt_html_block_begin(struct pt_html_blocks *b, uint32_t columns);
/* Compresses it.  0 or ENOMEM; *number: of the block. */
int pt_html_block_end(struct pt_html_blocks *b, uint32_t *number);
void pt_html_block_drop(struct pt_html_blocks *b, uint32_t number);
/* Bytes of such a block in the file. */
uint64_t pt_html_block_size(size_t compressed);
void pt_html_blocks_deinit(struct pt_html_blocks *b);

/* ---- html_deflate.c, or html_no_deflate.c in a build without zlib ---- */

/* Appends the compressed bytes.  0 or ENOMEM. */
int pt_html_deflate(struct pt_html_deflater **d, const struct pt_html_bytes *from,
                    struct pt_html_bytes *to);
void pt_html_deflater_free(struct pt_html_deflater *d);

#endif
