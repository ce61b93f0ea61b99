/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * JSON values on standard output, for --format=jsonl: a line each, without white space.
 * Commas are kept here; key is NULL inside of an array.  Text from outside is escaped as in utf8.h,
 * so that a line is valid for any bytes in a name.
 */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

/* bracket is '{' or '['. */
void json_open(const char *key, char bracket);
/* Closes the last opened object or array; the outermost one ends the line. */
void json_close(void);

void json_text(const char *key, const char *text);
void json_truth(const char *key, bool value);
void json_none(const char *key); /* null */
void json_count(const char *key, uint64_t value);
void json_integer(const char *key, int64_t value);
/* With that many decimals; null for infinity and no number. */
void json_number(const char *key, double value, int decimals);
struct posixtrace_statistics;
/* An array of the bars that are not empty. */
void json_bars(const char *key, const struct posixtrace_statistics *statistics);

#endif
