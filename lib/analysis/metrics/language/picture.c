/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The automaton of a metric as a graph, in the languages of Graphviz and of Mermaid. */
#include <stdlib.h>
#include "analysis/metrics/language/machine.h"
#include "text/graph.h"

struct picture {
    FILE *to;
    const posixtrace_metric_t *metric;
    bool mermaid;
};

static void put_text(const struct picture *p, const char *text)
{
    char shown[PT_GRAPH_BYTE];

    for (; *text; text++)
        fwrite(shown, 1, (size_t)(pt_graph_byte(shown, *text, p->mermaid) - shown), p->to);
}

static void put_edge(const struct picture *p, size_t from, const struct pt_way *way,
                     const char *label, const char *whose)
{
    static const char *const at[] = { "", "", " at due", " at past due" };
    static const char *const only[] = { "", ", ok", ", due", ", early", ", again" };

    if (p->mermaid)
        fprintf(p->to, "  s%zu -->|\"", from);
    else
        fprintf(p->to, "  s%zu -> s%d [label=\"", from, way->target);
    put_text(p, label);
    fprintf(p->to, "%s%s%s", whose, only[way->only], at[way->at]);
    if (p->mermaid)
        fprintf(p->to, "\"| s%d\n", way->target);
    else
        fputs("\"];\n", p->to);
}

static bool same_way(const struct pt_way *a, const struct pt_way *b)
{
    return a->target == b->target && a->at == b->at && a->only == b->only;
}

static void put_edges(const struct picture *p, size_t state)
{
    const posixtrace_metric_t *m = p->metric;
    const struct pt_way *lambda = &m->states[state].lambda;

    if (lambda->target != PT_NOWHERE)
        put_edge(p, state, lambda, "\xce\xbb", lambda->at == PT_AT_EVENT ? " at event" : "");
    for (size_t row = 0; row < pt_machine_rows(m); row++) {
        const struct pt_way *own = pt_machine_way(m, row, PT_OWN, state);
        const struct pt_way *other = pt_machine_way(m, row, PT_OTHER, state);
        size_t e = row % (m->event_count + 1);
        const char *label = e < m->event_count ? m->events[e] : "*";

        if (own->target != PT_NOWHERE && same_way(own, other)) {
            put_edge(p, state, own, label, "");
            continue;
        }
        if (own->target != PT_NOWHERE)
            put_edge(p, state, own, label, m->by_item ? "" : ", i");
        if (other->target != PT_NOWHERE)
            put_edge(p, state, other, label, ", not i");
    }
}

/* A circle, of an end two. */
static void put_state(const struct picture *p, size_t s)
{
    const struct pt_state *state = &p->metric->states[s];
    bool ends = state->kind == PT_KIND_END;

    fprintf(p->to, "  s%zu%s\"", s, !p->mermaid ? " [label=" : ends ? "(((" : "((");
    put_text(p, state->name);
    if (p->mermaid)
        fprintf(p->to, "<br/>%s\"%s\n", pt_kind_name(state->kind), ends ? ")))" : "))");
    else
        fprintf(p->to, "\\n%s\"%s];\n", pt_kind_name(state->kind),
                ends ? ", shape=doublecircle" : "");
}

static void draw(const struct picture *p)
{
    if (p->mermaid) {
        fputs("flowchart LR\n", p->to);
    } else {
        fputs("digraph \"", p->to);
        put_text(p, p->metric->name);
        fputs("\" {\n  rankdir=LR;\n  node [shape=circle];\n", p->to);
    }
    for (size_t s = 0; s < p->metric->state_count; s++)
        put_state(p, s);
    for (size_t s = 0; s < p->metric->state_count; s++)
        put_edges(p, s);
    if (!p->mermaid)
        fputs("}\n", p->to);
}

static size_t picture(const posixtrace_metric_t *metric, bool mermaid, char *to, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = metric ? open_memstream(&text, &length) : NULL;

    if (!memory)
        return 0;
    draw(&(struct picture){ memory, metric, mermaid });
    if (fclose(memory) != 0)
        length = 0;
    if (length > 0 && size > 0)
        snprintf(to, size, "%s", text);
    free(text);
    return length;
}

size_t posixtrace_metric_dot(const posixtrace_metric_t *metric, char *to, size_t size)
{
    return picture(metric, false, to, size);
}

size_t posixtrace_metric_mermaid(const posixtrace_metric_t *metric, char *to, size_t size)
{
    return picture(metric, true, to, size);
}
