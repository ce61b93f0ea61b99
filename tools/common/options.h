/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The command line of one verb: long options --name, --name=value and
 * --name value (--name or --name=value where the value may be missing), in any
 * order with the operands; "--" ends the options, "-" is
 * an operand.  An option whose name is one letter is -x, -x value, -xvalue or
 * -x=value.  The error for an unknown word names the nearest known one.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

struct verb;

struct option_spec {
    const char *name; /* without dashes; a NULL name ends the table */
    int takes_value;  /* true, false or OPTION_MAY */
    int code;         /* from 1; the result of options_next() */
};

enum { OPTION_MAY = 2 }; /* as --name=value only; value is NULL where there is none */

enum {
    OPTION_END = 0,       /* all was read */
    OPTION_STOP = -1,     /* a message or the help was printed: return status */
    OPTION_OPERAND = 1000 /* value is an operand */
};

struct options {
    const struct verb *verb;
    char **words;      /* NULL-terminated, after the verb */
    const char *value; /* of the option or operand just returned */
    int status;        /* exit status for OPTION_STOP */
    bool operands_only;
};

/* -h, --help, -V and --version are options of every verb: OPTION_STOP. */
int options_next(struct options *o);

/* The output of --version. */
extern const char options_version[];

/* Takes the only operand, the log: EXIT_DONE, or EXIT_USAGE after an error message. */
int options_set_log(const char **path, const char *value);
/* Handles the command line of a verb without options; returns the result of act for its log. */
int options_one_log(struct options *o, int (*act)(const char *path));

/* The word of the NULL-terminated list that is most like word, or NULL if none
 * is near. */
const char *options_nearest(const char *word, const char *const *list);

/* Reports that value is not one of list; returns EXIT_USAGE. */
int options_bad_word(const char *what, const char *value, const char *const *list);

/* Which entry of the NULL-terminated list word is; -1 for none. */
int options_index(const char *word, const char *const *list);

/* Takes bytes as "65536", "64K" or "1M": EXIT_DONE, or EXIT_USAGE after an error message. */
int options_size(const char *option, const char *text, uint64_t *size);

#endif
