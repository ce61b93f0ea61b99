/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Bytes that grow, and columns of numbers as planes of bytes: docs/report-page.md, "Blocks".  What
 * has no memory sets failed, and stays as it was.
 */
#ifndef PT_HTML_COLUMNS_H
#define PT_HTML_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PT_HTML_DIFFERENCES = 1,
    PT_HTML_ZIGZAG = 2,
    PT_HTML_TEXT = 4,
    PT_HTML_WIDE = 8,
    PT_HTML_SIGNED = 16
};

#define PT_HTML_EXACT ((INT64_C(1) << 53) - 1) /* greatest integer that doubles count to */

struct pt_html_bytes {
    uint8_t *at;
    size_t used, room;
    bool failed;
};

struct pt_html_column {
    uint64_t *values; /* or int64_t, cast */
    size_t count, room;
};

/* Room for so many more bytes; NULL: no memory. */
uint8_t *pt_html_room(struct pt_html_bytes *b, size_t more);
void pt_html_put(struct pt_html_bytes *b, const void *bytes, size_t count);
void pt_html_put_text(struct pt_html_bytes *b, const char *text);
void pt_html_put_number(struct pt_html_bytes *b, uint64_t value, unsigned size);
void pt_html_bytes_deinit(struct pt_html_bytes *b);

bool pt_html_column_grow(struct pt_html_column *c);
static inline bool pt_html_column_add(struct pt_html_column *c, uint64_t value)
{
    if (c->count == c->room && !pt_html_column_grow(c))
        return false;
    c->values[c->count++] = value;
    return true;
}
void pt_html_column_deinit(struct pt_html_column *c);

/* Appends the column, in the form that has the fewest bits. */
void pt_html_put_column(struct pt_html_bytes *b, const struct pt_html_column *c, bool is_signed);

#endif
