/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Bytes from outside made into text, for formats that are text and for terminals.  Names and
 * strings of traced programs are arbitrary bytes; most are UTF-8.
 *
 *   PT_ESCAPE_TERMINAL  for people: as TEXT, but a quote passes and ESC is \e
 *   PT_ESCAPE_TEXT  for people: control characters, and characters that reorder or hide
 *                   text, become \n, \t, \xNN or \u{NNNN}; a byte that is not UTF-8
 *                   becomes \xNN; quote and backslash get a backslash
 *   PT_ESCAPE_JSON  controls, quote and backslash are escaped; a byte NN that is not
 *                   UTF-8 becomes the lone surrogate \udcNN, so that it comes back
 *   PT_ESCAPE_CSV   as JSON, but for the quote, which is doubled
 */
#ifndef PT_TEXT_ESCAPE_H
#define PT_TEXT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PT_ESCAPE_MAX = 12 }; /* bytes that one character becomes at most */

enum pt_escape { PT_ESCAPE_TERMINAL, PT_ESCAPE_TEXT, PT_ESCAPE_JSON, PT_ESCAPE_CSV };

/* Is the character written as it is? */
bool pt_escape_passes(uint32_t v, enum pt_escape style, bool ascii);

/* Writes the character at the front of length > 0 bytes to to, which has room for
 * PT_ESCAPE_MAX; returns the end, *taken how many bytes it was made of.  ascii: all
 * other characters are escaped. */
char *pt_escape_one(char *to, const uint8_t *at, size_t length, enum pt_escape style, bool ascii,
                    size_t *taken);

/* The same of all of a string; to has room for PT_ESCAPE_MAX for each of its bytes. */
char *pt_escape_string(char *to, const char *text, enum pt_escape style, bool ascii);

#endif
