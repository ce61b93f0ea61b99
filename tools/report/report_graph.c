/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * report --format=dot, mermaid: which thread waited for which lock, and which threads had it then,
 * with sums and numbers of waits at the edges.
 */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "common/units.h"

struct node {
    const struct report_part *part;
    pid_t pid, tid; /* tid 0: a lock */
    uint64_t object;
    int64_t ns; /* a time in which it was there */
};

struct edge {
    size_t from, to;
    int64_t total_ns;
    uint64_t waits;
};

struct graph {
    struct node *nodes;
    struct edge *edges;
    size_t node_count, edge_count;
};

static size_t node_of(struct graph *g, const struct report_part *part, pid_t pid, pid_t tid,
                      uint64_t object, int64_t ns)
{
    for (size_t i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];

        if (n->part == part && n->pid == pid && n->tid == tid && n->object == object)
            return i;
    }
    g->nodes = tool_grow(g->nodes, g->node_count + 1, sizeof *g->nodes);
    g->nodes[g->node_count] = (struct node){ part, pid, tid, object, ns };
    return g->node_count++;
}

static void add_edge(struct graph *g, size_t from, size_t to,
                     const struct posixtrace_report_contention *c)
{
    size_t i = 0;

    while (i < g->edge_count && (g->edges[i].from != from || g->edges[i].to != to))
        i++;
    if (i == g->edge_count) {
        g->edges = tool_grow(g->edges, ++g->edge_count, sizeof *g->edges);
        g->edges[i] = (struct edge){ .from = from, .to = to };
    }
    g->edges[i].total_ns += c->total_ns;
    g->edges[i].waits += c->waits;
}

static void put_node(const struct node *n, size_t number, bool mermaid)
{
    char named[800];
    const char *label;

    if (n->tid == 0)
        label = sites_data(n->part->sites, n->pid, n->ns, n->object);
    else
        label = report_tid_label(n->part, n->pid, n->tid);
    if (n->part->label[0]) {
        snprintf(named, sizeof named, "%s:%s", unquoted(n->part->label), label);
        label = named;
    }
    graph_node(mermaid, number, n->tid == 0, label);
}

static void put_edge(const struct edge *e, bool mermaid)
{
    char text[100];

    snprintf(text, sizeof text, "%s, %s%s", units_time(e->total_ns), units_count(e->waits),
             e->waits == 1 ? " wait" : " waits");
    graph_edge(mermaid, e->from, e->to, false, text);
}

void report_print_graph(const struct report_view *v, bool mermaid)
{
    struct graph g = { .nodes = NULL };

    for (size_t i = 0; i < report_shown(v, REPORT_CONTENTION); i++) {
        const struct posixtrace_report_contention *c = report_contention(v, i);
        const struct report_part *p = report_part(v, REPORT_CONTENTION, i);
        size_t lock = node_of(&g, p, c->pid, 0, c->object, c->longest_at_ns);

        if (c->tid)
            add_edge(&g, node_of(&g, p, c->pid, c->tid, 0, 0), lock, c);
        if (c->holder_tid)
            add_edge(&g, lock, node_of(&g, p, c->pid, c->holder_tid, 0, 0), c);
    }
    graph_begin(mermaid);
    for (size_t i = 0; i < g.node_count; i++)
        put_node(&g.nodes[i], i, mermaid);
    for (size_t i = 0; i < g.edge_count; i++)
        put_edge(&g.edges[i], mermaid);
    graph_end(mermaid);
    if (report_shown(v, REPORT_CONTENTION) < v->rows[REPORT_CONTENTION].count)
        tool_note("the graph has the first %zu of %s pairs of threads; --top=0 shows all", v->top,
                  units_count(v->rows[REPORT_CONTENTION].count));
    free(g.nodes);
    free(g.edges);
}
