/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Colours of text, the same for every verb: --color=WHEN, NO_COLOR, FORCE_COLOR, the terminal.
 * They are off until colour_begin() was called, so that jsonl and csv never have any.
 */
#ifndef COLOUR_H
#define COLOUR_H

#include <stdbool.h>

enum colour {
    COLOUR_PLAIN,
    COLOUR_FAINT,  /* headings, and what can be derived */
    COLOUR_THREAD, /* the name of a thread */
    COLOUR_NAME,   /* of an event type or a metric */
    COLOUR_MARK,   /* of a predefined event type */
    COLOUR_ALARM   /* lost events, damage */
};

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* The value of --color: EXIT_DONE, or EXIT_USAGE after a message. */
int colour_option(const char *value, enum colour_when *when);

/* For text on standard output.  AUTO: on if FORCE_COLOR is set, or if standard output is a
 * terminal that is not dumb; off in both cases if NO_COLOR is set.  Empty variables count as
 * not set. */
void colour_begin(enum colour_when when);
bool colour_is_on(void);

/* What a terminal gets for it; "" where colours are off. */
const char *colour_code(enum colour colour);

#endif
