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
#ifndef CHARS_H
#define CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHARS_MAX_ESCAPE = 12 };   /* bytes that one character becomes at most */

enum chars_style {
    CHARS_TERMINAL,         /* for people, UTF-8 passes */
    CHARS_TERMINAL_ASCII,   /* for people, only ASCII passes */
    CHARS_JSON,
    CHARS_JSON_ASCII,
    CHARS_CSV,
    CHARS_CSV_ASCII
};

/* Writes the character at the front of length > 0 bytes to *to and moves *to
 * on; returns how many bytes were taken. */
size_t chars_show_one(char **to, const uint8_t *at, size_t length, enum chars_style style);

/* Writes all of text, not terminated; returns the end.  to has room for
 * CHARS_MAX_ESCAPE bytes for each byte of text. */
char *chars_show(char *to, const char *text, enum chars_style style);

/* Columns that shown text takes, one for each character. */
size_t chars_columns(const char *text, size_t length);

/* True if every character shows as itself in the style. */
bool chars_are_plain(const uint8_t *at, size_t length, enum chars_style style);

/* False if fd is a terminal and the locale is not UTF-8: there, bytes of UTF-8
 * could act as control characters. */
bool chars_utf8_is_safe(int fd);

#endif
