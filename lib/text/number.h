/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Numbers as text, without stdio and without the locale: all write at to and return the
 * end.
 */
#ifndef PT_TEXT_NUMBER_H
#define PT_TEXT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum { PT_NUMBER_MAX = 40 }; /* bytes that any of them takes at most */

extern const char pt_digit_pairs[201]; /* "00" to "99" */
extern const char pt_hex_pairs[513];   /* "00" to "ff" */

unsigned pt_number_digits(uint64_t value); /* how many pt_number_u64() writes */
char *pt_number_u64(char *to, uint64_t value);
char *pt_number_i64(char *to, int64_t value);
char *pt_number_hex(char *to, uint64_t value);                     /* 0x... */
char *pt_number_bytes(char *to, const uint8_t *at, size_t length); /* two digits each */
/* A time in four digits, the rest cut off: 999ns 1.234us 12.34us 123.4us 1.234ms ... 9999s, up to
 * 9999999s, and then days. */
char *pt_number_time(char *to, uint64_t ns);
/* The shortest form that reads back as the same number of 32 or 64 bits, which is finite. */
char *pt_number_float(char *to, double value, unsigned bits);

#endif
