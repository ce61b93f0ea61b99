/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See lexer.h. */
#include <ctype.h>
#include <string.h>
#include "analysis/metrics/language/lexer.h"

void pt_lexer_begin(struct pt_lexer *w, const char *text, size_t len)
{
    memset(w, 0, sizeof *w);
    w->at = text;
    w->end = text + len;
    w->line = w->column = 1;
    pt_lexer_next(w);
}

static void step(struct pt_lexer *w)
{
    if (*w->at++ == '\n') {
        w->line++;
        w->column = 1;
    } else {
        w->column++;
    }
}

static void skip_blanks(struct pt_lexer *w)
{
    while (w->at < w->end && (isspace((unsigned char)*w->at) || *w->at == '#')) {
        if (*w->at == '#')
            while (w->at < w->end && *w->at != '\n')
                step(w);
        else
            step(w);
    }
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_.:/+@%&$!?=~^|<>[]{}()", c));
}

static void bad(struct pt_lexer *w, const char *what)
{
    w->word.kind = PT_WORD_BAD;
    strcpy(w->word.text, what);
}

/* A "-" inside a name is part of it, unless it begins an arrow. */
static void take_name(struct pt_lexer *w)
{
    size_t n = 0;

    w->word.kind = PT_WORD_NAME;
    while (w->at < w->end && (in_name(*w->at) || (*w->at == '-' && w->at + 1 < w->end &&
                                                  in_name(w->at[1]) && w->at[1] != '>'))) {
        if (n + 1 == sizeof w->word.text) {
            bad(w, "this name is longer than 255 characters");
            return;
        }
        w->word.text[n++] = *w->at;
        step(w);
    }
    w->word.text[n] = '\0';
}

static void take_quoted(struct pt_lexer *w)
{
    size_t n = 0;

    w->word.kind = PT_WORD_QUOTED;
    for (step(w); w->at < w->end && *w->at != '"'; step(w)) {
        if (*w->at == '\\' && w->at + 1 < w->end)
            step(w);
        if (*w->at == '\n' || *w->at == '\0') {
            bad(w, "the quotation mark of this name is not closed in its line");
            return;
        }
        if (n + 1 == sizeof w->word.text) {
            bad(w, "this name is longer than 255 characters");
            return;
        }
        w->word.text[n++] = *w->at;
    }
    if (w->at == w->end) {
        bad(w, "the quotation mark of this name is not closed");
        return;
    }
    step(w);
    w->word.text[n] = '\0';
}

void pt_lexer_next(struct pt_lexer *w)
{
    skip_blanks(w);
    w->word.line = w->line;
    w->word.column = w->column;
    w->word.text[0] = '\0';
    if (w->at == w->end) {
        w->word.kind = PT_WORD_END;
    } else if (*w->at == '"') {
        take_quoted(w);
    } else if (*w->at == ',' || *w->at == '*') {
        w->word.kind = *w->at == ',' ? PT_WORD_COMMA : PT_WORD_STAR;
        step(w);
    } else if (*w->at == '-' && w->at + 1 < w->end && w->at[1] == '>') {
        w->word.kind = PT_WORD_ARROW;
        step(w);
        step(w);
    } else if (in_name(*w->at)) {
        take_name(w);
    } else {
        bad(w, "this character begins no word; names with it are put in quotation marks");
        step(w);
    }
}

bool pt_lexer_is(const struct pt_lexer *w, const char *name)
{
    return w->word.kind == PT_WORD_NAME && strcmp(w->word.text, name) == 0;
}
