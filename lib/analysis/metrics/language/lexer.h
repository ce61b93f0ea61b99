/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The words of a metrics text: names, "quoted names", "->", "," and "*", with the
 * place of each.  "#" starts a comment up to the end of the line.
 */
#ifndef PT_METRICS_LEXER_H
#define PT_METRICS_LEXER_H

#include "analysis/metrics/language/machine.h"

enum pt_word_kind {
    PT_WORD_END,
    PT_WORD_NAME,
    PT_WORD_QUOTED,
    PT_WORD_ARROW,
    PT_WORD_COMMA,
    PT_WORD_STAR,
    PT_WORD_BAD
};

struct pt_lexer {
    const char *at, *end;
    unsigned line, column; /* of the next word */
    struct {
        enum pt_word_kind kind;
        char text[PT_NAME_MAX]; /* of a name, without quotes; of BAD, the error */
        unsigned line, column;
    } word; /* the current one */
};

void pt_lexer_begin(struct pt_lexer *w, const char *text, size_t len);
void pt_lexer_next(struct pt_lexer *w);
bool pt_lexer_is(const struct pt_lexer *w, const char *name); /* and not in quotes */

#endif
