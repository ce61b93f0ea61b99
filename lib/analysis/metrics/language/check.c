/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What can be said of an automaton that is written well and may be wrong all the same;
 * and its picture. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/metrics/language/machine.h"
#include "analysis/metrics/language/set.h"

struct sayer {
    int (*say)(void *, const struct posixtrace_metric_fault *);
    void *context;
    int ended; /* what say() returned last */
};

__attribute__((format(printf, 4, 5))) static void say(struct sayer *s, unsigned line,
                                                      unsigned column, const char *format, ...)
{
    struct posixtrace_metric_fault fault = { .line = line, .column = column };
    va_list args;

    va_start(args, format);
    vsnprintf(fault.text, sizeof fault.text, format, args);
    va_end(args);
    if (s->say && !s->ended)
        s->ended = s->say(s->context, &fault);
}

static bool has_way_out(const posixtrace_metric_t *m, size_t state)
{
    if (m->states[state].lambda.target != PT_NOWHERE)
        return true;
    for (size_t row = 0; row < pt_machine_rows(m); row++)
        for (int who = 0; who < PT_WHO; who++) {
            int target = pt_machine_way(m, row, (enum pt_who)who, state)->target;

            if (target != PT_NOWHERE && target != (int)state)
                return true;
        }
    return false;
}

static void check_metric(struct sayer *s, const posixtrace_metric_t *m)
{
    bool reached[PT_STATES_MAX], begins = false;

    pt_machine_reach(m, SIZE_MAX, reached);
    for (size_t i = 0; i < m->state_count; i++) {
        const struct pt_state *state = &m->states[i];

        begins |= reached[i] && state->kind == PT_KIND_BEGIN;
        if (!reached[i])
            say(s, state->line, state->column, "state '%.100s' cannot be reached", state->name);
        else if (!has_way_out(m, i))
            say(s, state->line, state->column,
                "no way leads out of state '%.100s': after one "
                "measurement there is no other",
                state->name);
    }
    if (!begins)
        say(s, m->line, 1, "metric '%.100s' has no begin that can be reached", m->name);
    if (!pt_machine_ends(m, SIZE_MAX))
        say(s, m->line, 1, "metric '%.100s' has no end that can be reached", m->name);
}

int posixtrace_metric_set_check(const posixtrace_metric_set_t *set,
                                int (*each)(void *context,
                                            const struct posixtrace_metric_fault *fault),
                                void *context)
{
    struct sayer s = { each, context, 0 };

    for (size_t i = 0; set && i < set->count && !s.ended; i++)
        check_metric(&s, set->metrics[i]);
    if (set && set->count == 0)
        say(&s, 0, 0, "there is no metric in it");
    return s.ended;
}

/* ---- the picture ---- */

static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        fputc((unsigned char)*text < 32 ? '?' : *text, to);
    }
}

static void put_edge(FILE *to, size_t from, const struct pt_way *way, const char *label,
                     const char *whose)
{
    static const char *const at[] = { "", "", " at due", " at past due" };
    static const char *const only[] = { "", ", ok", ", due", ", early", ", again" };

    fprintf(to, "  s%zu -> s%d [label=\"", from, way->target);
    put_text(to, label);
    fprintf(to, "%s%s%s\"];\n", whose, only[way->only], at[way->at]);
}

static bool same_way(const struct pt_way *a, const struct pt_way *b)
{
    return a->target == b->target && a->at == b->at && a->only == b->only;
}

static void put_edges(FILE *to, const posixtrace_metric_t *m, size_t state)
{
    const struct pt_way *lambda = &m->states[state].lambda;

    if (lambda->target != PT_NOWHERE)
        put_edge(to, state, lambda, "\xce\xbb", lambda->at == PT_AT_EVENT ? " at event" : "");
    for (size_t row = 0; row < pt_machine_rows(m); row++) {
        const struct pt_way *own = pt_machine_way(m, row, PT_OWN, state);
        const struct pt_way *other = pt_machine_way(m, row, PT_OTHER, state);
        size_t e = row % (m->event_count + 1);
        const char *label = e < m->event_count ? m->events[e] : "*";

        if (own->target != PT_NOWHERE && same_way(own, other)) {
            put_edge(to, state, own, label, "");
            continue;
        }
        if (own->target != PT_NOWHERE)
            put_edge(to, state, own, label, m->by_item ? "" : ", i");
        if (other->target != PT_NOWHERE)
            put_edge(to, state, other, label, ", not i");
    }
}

static void draw(FILE *to, const posixtrace_metric_t *metric)
{
    fputs("digraph \"", to);
    put_text(to, metric->name);
    fputs("\" {\n  rankdir=LR;\n  node [shape=circle];\n", to);
    for (size_t s = 0; s < metric->state_count; s++) {
        const struct pt_state *state = &metric->states[s];

        fprintf(to, "  s%zu [label=\"", s);
        put_text(to, state->name);
        fprintf(to, "\\n%s\"%s];\n", pt_kind_name(state->kind),
                state->kind == PT_KIND_END ? ", shape=doublecircle" : "");
    }
    for (size_t s = 0; s < metric->state_count; s++)
        put_edges(to, metric, s);
    fputs("}\n", to);
}

size_t posixtrace_metric_dot(const posixtrace_metric_t *metric, char *to, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = metric ? open_memstream(&text, &length) : NULL;

    if (!memory)
        return 0;
    draw(memory, metric);
    if (fclose(memory) != 0)
        length = 0;
    if (length > 0 && size > 0)
        snprintf(to, size, "%s", text);
    free(text);
    return length;
}
