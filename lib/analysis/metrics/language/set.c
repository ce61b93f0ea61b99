/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See set.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/language/parse.h"
#include "analysis/metrics/language/set.h"

/* Fills the text in with names that no set has. */
static int try_user(struct pt_parser *p, const char *text)
{
    static const char *const values[] = { "any name", "any initial event", "any final event" };
    struct posixtrace_metric_fault fault;
    posixtrace_metric_t *m;
    int error = pt_metric_fill(text, values, &m, &fault);
    bool complete;

    if (error == EINVAL)
        pt_parse_fails(p, "filled in, the metric $NAME is none: %.140s", fault.text);
    if (error)
        return error;
    complete = pt_machine_looks_at(m, values[1]) && pt_machine_looks_at(m, values[2]);
    posixtrace_metric_free(m);
    if (!complete)
        pt_parse_fails(p, "the metric $NAME needs the events $INITIAL and $FINAL, not in "
                          "quotation marks");
    return complete ? 0 : EINVAL;
}

/* Keeps the text from start to the current word, which is that of m, and frees m: metrics of
 * the user's are made of it. */
static int keep_user(struct pt_parser *p, posixtrace_metric_set_t *set, posixtrace_metric_t *m,
                     const char *start)
{
    unsigned of_metric = m->line, line = p->words.word.line, column = p->words.word.column;
    const char *end;
    int error;

    posixtrace_metric_free(m);
    if (p->words.word.kind != PT_WORD_END && !pt_lexer_is(&p->words, "metric"))
        return 0; /* which is an error */
    p->words.word.line = of_metric;
    p->words.word.column = 1;
    if (set->user) {
        pt_parse_fails(p, "there is a metric $NAME already");
        return p->error;
    }
    end = p->words.at - strlen(p->words.word.text);
    set->user = strndup(start, (size_t)(end - start));
    error = set->user ? try_user(p, set->user) : ENOMEM;
    p->words.word.line = line;
    p->words.word.column = column;
    return error;
}

/* Is the current word followed by $NAME, and not in quotes? */
static bool is_user(const struct pt_lexer *words)
{
    struct pt_lexer next = *words;

    pt_lexer_next(&next);
    return pt_lexer_is(&next, "$NAME");
}

static int add_metric(struct pt_parser *p, posixtrace_metric_set_t *set)
{
    bool user = is_user(&p->words);
    const char *start = p->words.at - strlen(p->words.word.text);
    posixtrace_metric_t **all, *m;

    if (set->count == PT_METRICS_MAX) {
        pt_parse_fails(p, "a set has at most %d metrics", PT_METRICS_MAX);
        return p->error;
    }
    all = realloc(set->metrics, (set->count + 1) * sizeof *all);
    if (!all)
        return ENOMEM;
    set->metrics = all;
    m = calloc(1, sizeof *m);
    if (!m)
        return ENOMEM;
    if (!pt_parse_metric(p, m)) {
        free(m);
        return p->error;
    }
    if (user)
        return keep_user(p, set, m, start);
    if (posixtrace_metric_set_find(set, m->name)) {
        p->words.word.line = m->line;
        p->words.word.column = 1;
        pt_parse_fails(p, "there is a metric '%.100s' already", m->name);
        posixtrace_metric_free(m);
        return p->error;
    }
    all[set->count++] = m;
    return 0;
}

static int parse_all(struct pt_parser *p, posixtrace_metric_set_t *set)
{
    while (p->words.word.kind != PT_WORD_END) {
        int error = EINVAL;

        if (pt_lexer_is(&p->words, "metric"))
            error = add_metric(p, set);
        else
            pt_parse_fails(p, "\"metric\" is expected");
        if (error)
            return error;
    }
    return 0;
}

int posixtrace_metric_set_parse(const char *text, size_t len, posixtrace_metric_set_t **set,
                                struct posixtrace_metric_fault *fault)
{
    posixtrace_metric_set_t *made;
    struct pt_parser p = { .fault = fault };
    int error;

    if (fault)
        *fault = (struct posixtrace_metric_fault){ 0 };
    if ((!text && len) || !set)
        return EINVAL;
    made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    pt_lexer_begin(&p.words, text, len);
    error = parse_all(&p, made);
    if (error)
        posixtrace_metric_set_free(made);
    else
        *set = made;
    return error;
}

const char *posixtrace_metric_set_text(const char *name)
{
    for (const struct pt_set_text *t = pt_set_texts; name && t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t->text;
    return NULL;
}

int posixtrace_metric_set_open(const char *name, posixtrace_metric_set_t **set)
{
    const char *text = posixtrace_metric_set_text(name);

    if (!set)
        return EINVAL;
    return text ? posixtrace_metric_set_parse(text, strlen(text), set, NULL) : ENOENT;
}

void posixtrace_metric_set_free(posixtrace_metric_set_t *set)
{
    for (size_t i = 0; set && i < set->count; i++)
        posixtrace_metric_free(set->metrics[i]);
    if (set) {
        free(set->metrics);
        free(set->user);
    }
    free(set);
}

size_t posixtrace_metric_set_count(const posixtrace_metric_set_t *set)
{
    return set ? set->count : 0;
}

const posixtrace_metric_t *posixtrace_metric_set_get(const posixtrace_metric_set_t *set, size_t i)
{
    return set && i < set->count ? set->metrics[i] : NULL;
}

const posixtrace_metric_t *posixtrace_metric_set_find(const posixtrace_metric_set_t *set,
                                                      const char *name)
{
    for (size_t i = 0; set && name && i < set->count; i++)
        if (pt_same_name(set->metrics[i]->name, name))
            return set->metrics[i];
    return NULL;
}

/* How many letters have to be changed, added or left out; more than bound: some more. */
static size_t distance(const char *a, const char *b, size_t bound)
{
    size_t row[PT_NAME_MAX + 1], n = strlen(b), least = 0;

    for (size_t i = 0; i <= n; i++)
        row[i] = i;
    for (; *a && least <= bound; a++) {
        size_t corner = row[0]++;

        least = row[0];
        for (size_t i = 1; i <= n; i++) {
            size_t change = corner + ((*a | 32) != (b[i - 1] | 32));

            corner = row[i];
            row[i] = row[i] < row[i - 1] ? row[i] + 1 : row[i - 1] + 1;
            row[i] = change < row[i] ? change : row[i];
            least = row[i] < least ? row[i] : least;
        }
    }
    return least > bound ? least : row[n];
}

const posixtrace_metric_t *posixtrace_metric_set_near(const posixtrace_metric_set_t *set,
                                                      const char *name)
{
    size_t best = name ? strlen(name) / 3 + 1 : 0;
    const posixtrace_metric_t *near = NULL;

    for (size_t i = 0; set && name && i < set->count; i++) {
        size_t d = distance(name, set->metrics[i]->name, best);

        if (d <= best && (!near || d < best)) {
            best = d;
            near = set->metrics[i];
        }
    }
    return near;
}
