/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Bytes from outside made into text.  Names in logs are arbitrary bytes; most
 * are UTF-8.  Two ways to write them:
 *
 *   for people   control characters, and characters that reorder or hide text,
 *                become \n, \t, \xNN or \u{NNNN}; a byte that is not UTF-8
 *                becomes \xNN; a backslash is doubled.
 *   for JSON     valid UTF-8 passes; controls (U+0000-1F, 7F-9F), quote and
 *                backslash are escaped; a byte NN that is not UTF-8 becomes the
 *                lone surrogate \udcNN, as Python's "surrogateescape" does, so
 *                that every byte survives and comes back on import.
 *
 * CSV fields take the JSON escapes except that of the quote, which CSV doubles.
 */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/escape.h"

enum { UTF8_MAX_ESCAPE = PT_ESCAPE_MAX }; /* bytes that one character becomes at most */

enum utf8_style {
    UTF8_TERMINAL,       /* for people, UTF-8 passes */
    UTF8_TERMINAL_ASCII, /* for people, only ASCII passes */
    UTF8_JSON,
    UTF8_JSON_ASCII,
    UTF8_CSV,
    UTF8_CSV_ASCII
};

/* Writes the character at the front of length > 0 bytes to *to and moves *to
 * on; returns how many bytes were taken. */
size_t utf8_show_one(char **to, const uint8_t *at, size_t length, enum utf8_style style);

/* Writes all of text, not terminated; returns the end.  to has room for
 * UTF8_MAX_ESCAPE bytes for each byte of text. */
char *utf8_show(char *to, const char *text, enum utf8_style style);

/* Columns that shown text takes on a terminal: none for a combining character, two for a wide one
 * (CJK, emoji), in any locale. */
size_t utf8_columns(const char *text, size_t length);

/* Bytes of the longest part at the front that takes at most so many columns. */
size_t utf8_fit(const char *text, size_t length, size_t columns);

/* How shown text is cut to width columns: the first 'head' bytes, "..", and the bytes from 'tail'
 * on.  Where all of it fits, head and tail are length.  Returns the columns that are taken. */
size_t utf8_cut(const char *text, size_t length, size_t width, size_t *head, size_t *tail);

/* Cuts the text between the pointers begin and end in place; returns the new end. */
char *utf8_cut_here(char *begin, char *end, size_t width, size_t *columns);

/* True if every character shows as itself in the style. */
bool utf8_are_plain(const uint8_t *at, size_t length, enum utf8_style style);

/* False if fd is a terminal and the locale is not UTF-8: there, bytes of UTF-8
 * could act as control characters. */
bool utf8_is_safe(int fd);

#endif
