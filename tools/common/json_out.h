/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * One JSON value on standard output, an item a line, for the verbs that have
 * --json.  Commas and indentation are kept here; key is NULL inside of an
 * array.  Text from outside is escaped as utf8.h says.
 */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <stdbool.h>

/* bracket is '{' or '['. */
void json_open(const char *key, char bracket);
/* Closes what was opened last; the end of the line follows the outermost. */
void json_close(void);

void json_text(const char *key, const char *text);
void json_truth(const char *key, bool value);
/* With that many decimals. */
void json_number(const char *key, double value, int decimals);

#endif
