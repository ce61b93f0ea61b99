/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * --format, which all verbs have that print data: text for people, the default; jsonl, a JSON
 * value a line; and where the data is a table csv.
 */
#ifndef FORMAT_OPTION_H
#define FORMAT_OPTION_H

#include <stdbool.h>

enum output_format { OUTPUT_TEXT, OUTPUT_JSONL, OUTPUT_CSV };

/* The value of the option: EXIT_DONE, or EXIT_USAGE after a message. */
int format_option(const char *value, bool has_csv, enum output_format *format);

/* How the option calls it. */
const char *format_option_name(enum output_format format);

#endif
