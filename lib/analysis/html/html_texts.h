/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Texts of a tile, each once: an index for any bytes.  And JSON of them, in which `<`, `>`, `&` and
 * the line separators of Unicode are escapes, so that it can stand in a script element.
 */
#ifndef PT_HTML_TEXTS_H
#define PT_HTML_TEXTS_H

#include "analysis/html/html_columns.h"

struct pt_html_text {
    size_t at, length;
    uint64_t hash;
};

struct pt_html_texts {
    struct pt_html_bytes bytes;
    struct pt_html_text *items;
    size_t count, room;
    uint32_t *slots; /* index + 1; 0: free */
    size_t slot_room;
    bool failed;
};

uint32_t pt_html_texts_index(struct pt_html_texts *t, const void *bytes, size_t length);
void pt_html_texts_clear(struct pt_html_texts *t);
void pt_html_texts_deinit(struct pt_html_texts *t);
/* A text column of them, in the order of the indexes. */
void pt_html_put_texts(struct pt_html_bytes *b, const struct pt_html_texts *t);

/* A JSON string. */
void pt_html_json_string(struct pt_html_bytes *b, const void *bytes, size_t length);
/* JSON that is valid, made safe. */
void pt_html_json_copy(struct pt_html_bytes *b, const char *json);

#endif
