/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * What export and import share: the formats' own options beside the verb's, and how a
 * conversion (posixtrace/format.h) speaks and shows how far it is.
 */
#ifndef CONVERT_H
#define CONVERT_H

#include <posixtrace/format.h>
#include "common/options.h"

enum { CONVERT_OPTION = 900, CONVERT_OPTIONS = 128, CONVERT_WORDS = 64 };

struct convert {
    struct option_spec specs[CONVERT_OPTIONS];
    char *words[CONVERT_WORDS + 1]; /* "name=value" */
    size_t word_count;
    size_t replaced; /* the number of the word of convert_replace_option(); 0: there is none */
    struct posixtrace_conversion c;
};

/* The verb's options, and those of all formats; EXIT_DONE, or there are too many for this
 * program, which was said. */
int convert_init(struct convert *convert, const struct option_spec *own);
void convert_deinit(struct convert *convert);

/* The spec that code, CONVERT_OPTION or more, belongs to was given. */
int convert_take_option(struct convert *convert, int code, const char *value);
/* As if --name=value was given.  EXIT_USAGE, and it was said: it was, with another value. */
int convert_set_option(struct convert *convert, const char *name, const char *value);
/* The same, unless --name was given. */
int convert_default_option(struct convert *convert, const char *name, const char *value);

/* The same, in the place of what this function has given before; what the user gave stays. */
int convert_replace_option(struct convert *convert, const char *name, const char *value);

/* Has the format the option that word names, alone or before '='? */
bool convert_has_option(const struct posixtrace_format *f, const char *word);

/* Were only options of that format given?  EXIT_USAGE, and it was said: another one was. */
int convert_check_options(const struct convert *convert, const struct posixtrace_format *format);

/* What -o gives: *path, once by its place (placed, or NULL) or by option; of two options the last
 * one counts.  operands: "one LOG and one OUT".  EXIT_DONE or EXIT_USAGE. */
int convert_set_output(const char **path, const char *placed, const char *operands,
                       const char *value);

/* The format of that name that can be exported (imported), or NULL and an error said,
 * *status what to return. */
const struct posixtrace_format *convert_format(const char *name, bool export, int *status);

/* Prints the table of formats that can be exported (imported). */
void convert_list(bool export);

/* Says what went wrong, if error, and what was left out.  The exit status. */
int convert_report(struct convert *convert, int error, const char *input);

#endif
