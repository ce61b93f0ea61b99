/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What keys of top do, apart from the terminal. */
#ifndef TOP_KEYS_H
#define TOP_KEYS_H

#include <posixtrace/filter.h>

#include "top/top_screen.h"

enum { TOP_TYPED = 200 };

struct top_keys {
    struct top_view view;
    enum top_sort sort;
    bool typing;
    char typed[TOP_TYPED + 1]; /* of the filter */
    size_t length;
    char filter[TOP_TYPED + 1]; /* the one in force */
    char message[300];
};

enum top_action {
    TOP_NO_ACTION,
    TOP_REDRAW,
    TOP_REBUILD, /* another order */
    TOP_SNAPSHOT,
    TOP_FILTERED, /* filter is another one */
    TOP_QUIT
};

enum top_action top_keys_press(struct top_keys *k, unsigned char key);

/* An expression, or a pattern for names; "": none, *wants is NULL.  False: fault says why. */
bool top_filter_parse(const char *text, posixtrace_expression_t **wants,
                      struct posixtrace_expression_fault *fault);

/* ---- top_snapshot.c ---- */

/* Makes a log of each stream in the current folder; message says what was made or why not. */
void top_snapshot(const struct top_set *set, char *message, size_t size);

#endif
