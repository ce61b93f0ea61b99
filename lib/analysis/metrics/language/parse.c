/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See parse.h.  Ways may lead to states that come later, so they are kept as they are
 * written until the metric's end, and then resolved into the tables (machine.h).
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/language/parse.h"
#include "analysis/metrics/language/resolve.h"

enum { WAYS_MAX = 4096, MOST_KEY = 8, MOST_AT = 61440 };

bool pt_parse_fails(struct pt_parser *p, const char *format, ...)
{
    va_list args;

    p->error = EINVAL;
    if (p->fault) {
        p->fault->line = p->words.word.line;
        p->fault->column = p->words.word.column;
        va_start(args, format);
        if (p->words.word.kind == PT_WORD_BAD)
            snprintf(p->fault->text, sizeof p->fault->text, "%.199s", p->words.word.text);
        else
            vsnprintf(p->fault->text, sizeof p->fault->text, format, args);
        va_end(args);
    }
    return false;
}

static bool out_of_memory(struct pt_parser *p)
{
    p->error = ENOMEM;
    return false;
}

static bool is_name(const struct pt_parser *p)
{
    return (p->words.word.kind == PT_WORD_NAME || p->words.word.kind == PT_WORD_QUOTED) &&
           p->words.word.text[0] != '\0';
}

static bool take(struct pt_parser *p, const char *word)
{
    bool is = pt_lexer_is(&p->words, word);

    if (is)
        pt_lexer_next(&p->words);
    return is;
}

static bool expect(struct pt_parser *p, const char *word, const char *behind)
{
    return take(p, word) || pt_parse_fails(p, "\"%s\" is expected after \"%s\"", word, behind);
}

static bool take_copy(struct pt_parser *p, char **to)
{
    *to = strdup(p->words.word.text);
    if (!*to)
        return out_of_memory(p);
    pt_lexer_next(&p->words);
    return true;
}

static bool parse_kind(struct pt_parser *p, enum pt_kind *kind)
{
    for (int k = PT_KIND_BEGIN; k <= PT_KIND_COND; k++)
        if (take(p, pt_kind_name((enum pt_kind)k))) {
            *kind = (enum pt_kind)k;
            return true;
        }
    return pt_parse_fails(p, "a state is begin, end, cancel, in, out or cond");
}

static bool parse_state(struct pt_parser *p, posixtrace_metric_t *m)
{
    struct pt_state *s;

    if (!is_name(p))
        return pt_parse_fails(p, "the name of the state is expected after \"state\"");
    for (size_t i = 0; i < m->state_count; i++)
        if (strcmp(m->states[i].name, p->words.word.text) == 0)
            return pt_parse_fails(p, "there is a state of this name already, in line %u",
                                  m->states[i].line);
    if (m->state_count == PT_STATES_MAX)
        return pt_parse_fails(p, "a metric has at most %d states", PT_STATES_MAX);
    s = realloc(m->states, (m->state_count + 1) * sizeof *s);
    if (!s)
        return out_of_memory(p);
    m->states = s;
    s += m->state_count;
    *s = (struct pt_state){ .lambda.target = PT_NOWHERE,
                            .line = p->words.word.line,
                            .column = p->words.word.column };
    if (!take_copy(p, &s->name))
        return false;
    m->state_count++;
    return parse_kind(p, &s->kind);
}

static bool take_only(struct pt_parser *p, uint8_t *only)
{
    static const char *const words[] = { "ok", "due", "early", "again" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (take(p, words[i])) {
            *only = (uint8_t)(PT_ONLY_OK + i);
            return true;
        }
    return false;
}

/* "EVENT, i" "EVENT, not i" "EVENT", each may have ", ok" or another condition after it. */
static bool parse_label(struct pt_parser *p, struct pt_written *w)
{
    w->of[PT_OWN] = w->of[PT_OTHER] = true;
    w->line = p->words.word.line;
    w->column = p->words.word.column;
    if (p->words.word.kind == PT_WORD_STAR) {
        w->kind = PT_LABEL_STAR;
        pt_lexer_next(&p->words);
        return true;
    }
    if (!is_name(p))
        return pt_parse_fails(p, "an event, lambda, *, \"state\" or \"end\" is expected");
    w->kind = pt_lexer_is(&p->words, "lambda") ? PT_LABEL_LAMBDA : PT_LABEL_EVENT;
    strcpy(w->event, p->words.word.text);
    pt_lexer_next(&p->words);
    while (w->kind == PT_LABEL_EVENT && p->words.word.kind == PT_WORD_COMMA) {
        pt_lexer_next(&p->words);
        if ((pt_lexer_is(&p->words, "i") || pt_lexer_is(&p->words, "not")) &&
            w->of[PT_OWN] != w->of[PT_OTHER])
            return pt_parse_fails(p, "a label says \"i\" or \"not i\" once");
        if (take(p, "i"))
            w->of[PT_OTHER] = false;
        else if (!take_only(p, &w->way.only)) {
            if (!take(p, "not") || !expect(p, "i", "not"))
                return p->error ? false
                                : pt_parse_fails(p, "\"i\", \"not i\", \"ok\", \"due\", "
                                                    "\"early\" or \"again\" is expected "
                                                    "after the comma");
            w->of[PT_OWN] = false;
        }
    }
    return true;
}

static bool parse_way(struct pt_parser *p, struct pt_written *w)
{
    if (!parse_label(p, w))
        return false;
    if (p->words.word.kind != PT_WORD_ARROW)
        return pt_parse_fails(p, "\"->\" and a state are expected after the label");
    pt_lexer_next(&p->words);
    w->target_line = p->words.word.line;
    w->target_column = p->words.word.column;
    if (!is_name(p))
        return pt_parse_fails(p, "the name of a state is expected after \"->\"");
    strcpy(w->target, p->words.word.text);
    pt_lexer_next(&p->words);
    w->way.at = w->kind == PT_LABEL_LAMBDA ? PT_AT_SAME : PT_AT_EVENT;
    if (!take(p, "at"))
        return true;
    if (w->kind != PT_LABEL_LAMBDA && take(p, "due"))
        w->way.at = PT_AT_DUE;
    else if (w->kind != PT_LABEL_LAMBDA && take(p, "past"))
        return (w->way.at = PT_AT_PAST) && expect(p, "due", "past");
    else if (w->kind == PT_LABEL_LAMBDA && take(p, "event"))
        w->way.at = PT_AT_EVENT;
    else
        return pt_parse_fails(p, "an event's way is \"at due\" or \"at past due\", that of "
                                 "lambda \"at event\"");
    return true;
}

/* A number of bytes; false: the word is none, or it is out of these limits. */
static bool take_bytes(struct pt_parser *p, unsigned least, unsigned most, unsigned *value)
{
    const char *text = p->words.word.text;
    size_t digits = strspn(text, "0123456789");

    *value = (unsigned)strtoul(text, NULL, 10);
    if (p->words.word.kind != PT_WORD_NAME || text[digits] || digits == 0 || digits > 5 ||
        *value < least || *value > most)
        return false;
    pt_lexer_next(&p->words);
    return true;
}

/* "object" or "item", how many bytes that is, and from where on. */
static bool parse_by(struct pt_parser *p, posixtrace_metric_t *m)
{
    unsigned bytes = MOST_KEY, at = 0;

    m->by_object = true;
    m->by_item = pt_lexer_is(&p->words, "item");
    if (!take(p, "object") && !take(p, "item"))
        return pt_parse_fails(p, "\"object\" or \"item\" is expected after \"by\"");
    if (isdigit((unsigned char)p->words.word.text[0]) && !take_bytes(p, 1, MOST_KEY, &bytes))
        return pt_parse_fails(p, "an object is 1 to %d bytes of an event's data", MOST_KEY);
    if (take(p, "at") && !take_bytes(p, 0, MOST_AT, &at))
        return pt_parse_fails(p,
                              "where the object begins in an event's data, 0 to %d bytes, is "
                              "expected after \"at\"",
                              MOST_AT);
    m->key_bytes = (uint8_t)bytes;
    m->key_at = (uint16_t)at;
    return true;
}

static bool parse_option(struct pt_parser *p, posixtrace_metric_t *m, bool *was)
{
    *was = true;
    if (take(p, "by"))
        return parse_by(p, m);
    if (take(p, "report"))
        return (m->change = true) && expect(p, "change", "report");
    if (take(p, "keep"))
        return (m->positive = true) && expect(p, "positive", "keep");
    if (take(p, "count")) {
        m->count_all = pt_lexer_is(&p->words, "all");
        return take(p, "all") || take(p, "own") ||
               pt_parse_fails(p, "\"own\" or \"all\" is expected after \"count\"");
    }
    *was = false;
    return true;
}

static bool parse_body(struct pt_parser *p, posixtrace_metric_t *m, struct pt_written_list *list)
{
    bool option = true;

    while (option)
        if (!parse_option(p, m, &option))
            return false;
    while (!take(p, "end")) {
        struct pt_written *w;

        if (p->words.word.kind == PT_WORD_END)
            return pt_parse_fails(p, "\"end\" of the metric '%.100s' is missing", m->name);
        if (take(p, "state")) {
            if (!parse_state(p, m))
                return false;
            continue;
        }
        if (m->state_count == 0)
            return pt_parse_fails(p, "\"state\" or an option is expected");
        if (list->count == WAYS_MAX)
            return pt_parse_fails(p, "a metric has at most %d ways", WAYS_MAX);
        w = pt_written_add(list);
        if (!w)
            return out_of_memory(p);
        w->state = m->state_count - 1;
        if (!parse_way(p, w))
            return false;
    }
    return true;
}

bool pt_parse_metric(struct pt_parser *p, posixtrace_metric_t *m)
{
    struct pt_written_list list = { 0 };
    bool good;

    memset(m, 0, sizeof *m);
    m->line = p->words.word.line;
    pt_lexer_next(&p->words);
    good = is_name(p) || pt_parse_fails(p, "the metric's name is expected after \"metric\"");
    good = good && take_copy(p, &m->name);
    if (good && p->words.word.kind == PT_WORD_QUOTED)
        good = take_copy(p, &m->about);
    good = good && parse_body(p, m, &list) && pt_resolve(p, m, &list);
    free(list.at);
    if (!good)
        pt_machine_deinit(m);
    return good;
}
