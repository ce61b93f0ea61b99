/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See top_keys.h. */
#include "top/top_keys.h"

#include <stdio.h>
#include <string.h>

enum { ESCAPE = 27, DELETE = 127, BACKSPACE = 8, KILL = 21, RETURN = '\r', NEWLINE = '\n' };

bool top_filter_parse(const char *text, posixtrace_expression_t **wants,
                      struct posixtrace_expression_fault *fault)
{
    static char made[POSIXTRACE_EXPRESSION_MAX + 1];

    *wants = NULL;
    memset(fault, 0, sizeof *fault);
    return !*text ||
           (posixtrace_expression_from_patterns(&text, 1, made, sizeof made, fault) == 0 &&
            posixtrace_expression_parse(made, wants, fault) == 0);
}

/* ---- typing a filter ---- */

static enum top_action typed_all(struct top_keys *k)
{
    k->typing = false;
    memcpy(k->filter, k->typed, sizeof k->filter);
    return TOP_FILTERED;
}

/* The last character, which may have several bytes. */
static void erase(struct top_keys *k)
{
    while (k->length > 0 && ((unsigned char)k->typed[--k->length] & 0xc0) == 0x80)
        ;
    k->typed[k->length] = '\0';
}

static enum top_action type(struct top_keys *k, unsigned char key)
{
    if (key == RETURN || key == NEWLINE)
        return typed_all(k);
    if (key == ESCAPE)
        k->typing = false;
    else if (key == DELETE || key == BACKSPACE)
        erase(k);
    else if (key == KILL)
        k->length = 0;
    else if (key >= ' ' && k->length < TOP_TYPED)
        k->typed[k->length++] = (char)key;
    k->typed[k->length] = '\0';
    return TOP_REDRAW;
}

/* ---- other keys ---- */

static enum top_action freeze(struct top_keys *k)
{
    k->view.frozen = !k->view.frozen;
    return k->view.frozen ? TOP_REDRAW : TOP_REBUILD;
}

static enum top_action sort(struct top_keys *k)
{
    if (k->view.frozen) {
        snprintf(k->message, sizeof k->message, "the picture is frozen: space ends that");
        return TOP_REDRAW;
    }
    k->sort = (k->sort + 1) % TOP_SORTS;
    return TOP_REBUILD;
}

static enum top_action begin_typing(struct top_keys *k)
{
    k->typing = true;
    memcpy(k->typed, k->filter, sizeof k->typed);
    k->length = strlen(k->typed);
    return TOP_REDRAW;
}

static enum top_action press(struct top_keys *k, unsigned char key)
{
    switch (key) {
    case 'q':
    case 'Q': return TOP_QUIT;
    case 's': return sort(k);
    case 'f':
    case '/': return begin_typing(k);
    case ' ': return freeze(k);
    case 'w': return TOP_SNAPSHOT;
    case 'h':
    case '?': k->view.help = !k->view.help; return TOP_REDRAW;
    case '0': k->view.section = TOP_ALL; return TOP_REDRAW;
    case '1':
    case '2':
    case '3':
    case '4': k->view.section = (unsigned)(key - '1'); return TOP_REDRAW;
    default: return k->message[0] ? TOP_REDRAW : TOP_NO_ACTION;
    }
}

enum top_action top_keys_press(struct top_keys *k, unsigned char key)
{
    enum top_action action;

    if (!k->typing && k->message[0]) {
        k->message[0] = '\0';
        action = press(k, key);
        return action == TOP_NO_ACTION ? TOP_REDRAW : action;
    }
    return k->typing ? type(k, key) : press(k, key);
}
