/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Classes of bytes in the languages of descriptions and expressions.  <ctype.h> is not used,
 * because the languages do not depend on the locale.
 */
#ifndef PT_MODEL_LETTERS_H
#define PT_MODEL_LETTERS_H

#include <stdbool.h>

static inline bool pt_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Steers a terminal, as far as one byte tells. */
static inline bool pt_is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

static inline bool pt_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* In a word, or as its first byte. */
static inline bool pt_is_word_byte(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && pt_is_digit(c));
}

#endif
