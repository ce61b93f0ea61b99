/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The text of a pair:
 *
 *     pair   side ".." side
 *     side   name "by" name { "," name }
 *     name   bytes but blanks, commas, quotes and ".."; or any bytes in quotes, \" and \\ inside
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pair/pair_state.h"

struct parser {
    const char *text, *at;
    struct posixtrace_pair_fault *fault; /* or NULL */
};

__attribute__((format(printf, 2, 3))) static int fails(const struct parser *p, const char *format,
                                                       ...)
{
    va_list args;

    if (!p->fault)
        return EINVAL;
    memset(p->fault, 0, sizeof *p->fault);
    p->fault->column = (size_t)(p->at - p->text) + 1;
    va_start(args, format);
    vsnprintf(p->fault->text, sizeof p->fault->text, format, args);
    va_end(args);
    return EINVAL;
}

static void skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t");
}

static bool ends_plain(const char *at)
{
    return *at == '\0' || strchr(" \t,\"", *at) || strncmp(at, "..", 2) == 0;
}

/* Copies a name without its quotes; the length, or SIZE_MAX: the quote does not end. */
static size_t copy_name(const char **from, char *to)
{
    const char *at = *from;
    size_t length = 0;

    if (*at != '"') {
        while (!ends_plain(at))
            to[length++] = *at++;
        *from = at;
        return length;
    }
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        to[length++] = *at;
    }
    if (*at != '"')
        return SIZE_MAX;
    *from = at + 1;
    return length;
}

static int take_name(struct parser *p, const char *what, char **name)
{
    const char *from;
    size_t length;
    char *made;

    skip_blanks(p);
    made = malloc(strlen(p->at) + 1);
    if (!made)
        return ENOMEM;
    from = p->at;
    length = copy_name(&from, made);
    if (length == 0 || length == SIZE_MAX) {
        free(made);
        return fails(p, length == 0 ? "%s is missing here" : "the quote of %s has no end", what);
    }
    made[length] = '\0';
    p->at = from;
    *name = made;
    return 0;
}

static bool take_word(struct parser *p, const char *word)
{
    size_t length = strlen(word);

    skip_blanks(p);
    if (strncmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static int take_side(struct parser *p, posixtrace_pair_t *pair, bool end)
{
    size_t count = 0;
    int error = take_name(p, "the name of an event", &pair->event[end]);

    if (error)
        return error;
    skip_blanks(p);
    if (strncmp(p->at, "by", 2) != 0 || !strchr(" \t\"", p->at[2]) || p->at[2] == '\0')
        return fails(p, "\"by\" and a field have to follow, as in \"send by id..recv by id\"");
    p->at += 2;
    do {
        if (count == POSIXTRACE_PAIR_FIELDS)
            return fails(p, "a key has %d fields at most", POSIXTRACE_PAIR_FIELDS);
        error = take_name(p, "the name of a field", &pair->field[end][count]);
        count += error == 0;
    } while (error == 0 && take_word(p, ","));
    if (error == 0 && end && count != pair->field_count)
        return fails(p, "both events need as many fields");
    pair->field_count = count;
    return error;
}

static int parse(struct parser *p, posixtrace_pair_t *pair)
{
    int error = take_side(p, pair, false);

    if (error)
        return error;
    if (!take_word(p, ".."))
        return fails(p, "\"..\" and the last event have to follow");
    error = take_side(p, pair, true);
    if (error)
        return error;
    skip_blanks(p);
    if (*p->at)
        return fails(p, "this is after the end of the pair");
    if (strcmp(pair->event[0], pair->event[1]) == 0)
        return fails(p, "both events are the same");
    return 0;
}

int posixtrace_pair_parse(const char *text, posixtrace_pair_t **pair,
                          struct posixtrace_pair_fault *fault)
{
    struct parser p = { text, text, fault };
    posixtrace_pair_t *made;
    int error;

    if (!text || !pair)
        return EINVAL;
    made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    error = parse(&p, made);
    if (error)
        posixtrace_pair_free(made);
    else
        *pair = made;
    return error;
}

void posixtrace_pair_free(posixtrace_pair_t *pair)
{
    if (!pair)
        return;
    for (int end = 0; end < 2; end++) {
        free(pair->event[end]);
        for (size_t i = 0; i < POSIXTRACE_PAIR_FIELDS; i++)
            free(pair->field[end][i]);
    }
    free(pair);
}

const char *posixtrace_pair_event(const posixtrace_pair_t *pair, bool end)
{
    return pair->event[end];
}

const char *posixtrace_pair_field(const posixtrace_pair_t *pair, bool end, size_t i)
{
    return i < pair->field_count ? pair->field[end][i] : NULL;
}
