/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* JSON into a file, by its pieces: numbers and strings with any bytes in them. */
#ifndef PT_FORMAT_JSON_H
#define PT_FORMAT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PT_JSON_BYTES = 64 << 10, PT_JSON_PIECE = 256 };

struct pt_json {
    FILE *file;  /* NULL: what has no room in text is not there, and earlier text stays */
    bool failed; /* errno has the reason; without a file, something had no room */
    size_t used;
    char text[PT_JSON_BYTES];
};

void pt_json_flush(struct pt_json *j);

/* Room for a piece of up to PT_JSON_PIECE bytes. */
static inline void pt_json_need(struct pt_json *j)
{
    if (j->used > PT_JSON_BYTES - PT_JSON_PIECE)
        pt_json_flush(j);
}

static inline void pt_json_char(struct pt_json *j, char c)
{
    pt_json_need(j);
    j->text[j->used++] = c;
}

/* Writes a string literal of at most PT_JSON_PIECE bytes. */
#define PT_JSON_TEXT(j, literal) pt_json_piece(j, literal, sizeof literal - 1)

static inline void pt_json_piece(struct pt_json *j, const char *text, size_t length)
{
    pt_json_need(j);
    memcpy(j->text + j->used, text, length);
    j->used += length;
}

void pt_json_text(struct pt_json *j, const char *text, size_t length); /* any length */
void pt_json_unsigned(struct pt_json *j, uint64_t v);
void pt_json_signed(struct pt_json *j, int64_t v);
/* A string "0x1f". */
void pt_json_hex(struct pt_json *j, uint64_t v);
/* A short form that reads back as the same number; NaN and infinities as strings. */
void pt_json_float(struct pt_json *j, double d, unsigned bits);
/* Microseconds with three digits after the point. */
void pt_json_microseconds(struct pt_json *j, int64_t ns);
/* In quotes; a byte that is not UTF-8 becomes the character of that number. */
void pt_json_string(struct pt_json *j, const void *bytes, size_t length);
/* In quotes, two hexadecimal digits a byte. */
void pt_json_bytes(struct pt_json *j, const void *bytes, size_t length);

#endif
