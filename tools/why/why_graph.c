/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * why --format=dot, mermaid: a graph with an edge from each thread that waits to the one that it
 * waits for, or to what it waits for.  Without a subject that is where the log ends, else in the
 * instances that are explained, with the time.  Edges of deadlocks are red.
 */
#include "why/why.h"

#include <stdlib.h>
#include <string.h>

#include "common/graph.h"
#include "common/stdout_buffer.h"
#include "common/tool.h"
#include "common/units.h"
#include "text/sum.h"

enum { EDGES_MOST = 4096 };

struct node {
    const struct why_view *view;
    pid_t pid, tid;
    char *object; /* a lock or the like; NULL: a thread */
};

struct edge {
    size_t from, to;
    char *text; /* the lock or the like; since when */
    int64_t ns; /* 0: since then */
    uint64_t count;
    bool deadlock;
};

struct graph {
    const struct why_view *view; /* of the log at hand */
    bool mermaid;
    struct node *nodes;
    struct edge *edges;
    size_t node_count, edge_count;
    uint64_t left_out;
};

/* ---- the graph ---- */

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(tool_grow(NULL, size, 1), text, size);
}

static size_t node_of(struct graph *g, pid_t pid, pid_t tid, const char *object)
{
    for (size_t i = 0; i < g->node_count; i++) {
        const struct node *n = &g->nodes[i];

        if (n->view == g->view && n->pid == pid && n->tid == tid && !n->object == !object &&
            (!object || strcmp(n->object, object) == 0))
            return i;
    }
    g->nodes = tool_grow(g->nodes, g->node_count + 1, sizeof *g->nodes);
    g->nodes[g->node_count] = (struct node){ g->view, pid, tid, object ? copy(object) : NULL };
    return g->node_count++;
}

static struct edge *edge_of(struct graph *g, size_t from, size_t to, const char *text)
{
    struct edge *e;

    for (size_t i = 0; i < g->edge_count; i++) {
        e = &g->edges[i];
        if (e->from == from && e->to == to && strcmp(e->text, text) == 0)
            return e;
    }
    g->edges = tool_grow(g->edges, g->edge_count + 1, sizeof *g->edges);
    e = &g->edges[g->edge_count++];
    *e = (struct edge){ .from = from, .to = to, .text = copy(text) };
    return e;
}

/* since: where the log ends the wait has not. */
static void add_wait(struct graph *g, const struct posixtrace_why_segment *s, bool since,
                     bool deadlock)
{
    char object[WHY_TEXT], text[WHY_TEXT] = "";
    bool other = s->other_tid != 0 && s->relation != POSIXTRACE_WHY_NO_OTHER &&
                 s->relation != POSIXTRACE_WHY_ELSEWHERE;
    size_t from, to;
    struct edge *e;

    if (g->edge_count == EDGES_MOST) {
        g->left_out++;
        return;
    }
    why_put_object(object, g->view, s);
    from = node_of(g, s->pid, s->tid, NULL);
    to = other ? node_of(g, s->other_pid, s->other_tid, NULL) : node_of(g, s->pid, 0, object);
    if (other)
        why_add(text, sizeof text, "%s", object);
    if (since)
        why_add(text, sizeof text, "%ssince %s", other ? ", " : "", why_when(g->view, s->begin_ns));
    e = edge_of(g, from, to, text);
    e->deadlock |= deadlock || s->deadlock;
    e->count++;
    if (!since)
        pt_sum_add(&e->ns, s->end_ns - s->begin_ns);
}

static void add_blocked(struct graph *g)
{
    const struct posixtrace_why_blocked *b;

    for (size_t i = 0; (b = posixtrace_why_blocked(g->view->why, i)) != NULL; i++)
        add_wait(g, &b->wait, true, b->deadlock > 0);
}

static void make(struct graph *g, const struct why_set *set)
{
    const struct posixtrace_why_segment *s;

    for (size_t i = 0; i < set->count; i++) {
        g->view = &set->views[i];
        if (!g->view->subject)
            add_blocked(g);
    }
    for (size_t i = 0; set->views[0].subject && i < set->row_count; i++) {
        g->view = set->rows[i].view;
        for (size_t k = 0;
             (s = posixtrace_why_segment(g->view->why, set->rows[i].index, k)) != NULL; k++)
            if (s->state == POSIXTRACE_WHY_WAIT)
                add_wait(g, s, false, false);
    }
}

static void drop(struct graph *g)
{
    while (g->node_count > 0)
        free(g->nodes[--g->node_count].object);
    while (g->edge_count > 0)
        free(g->edges[--g->edge_count].text);
    free(g->nodes);
    free(g->edges);
}

/* ---- output ---- */

static void put_node(const struct graph *g, size_t i)
{
    const struct node *n = &g->nodes[i];
    const char *label = n->view->label;
    char named[WHY_TEXT + 64] = "";

    if (n->object && label && label[0])
        why_add(named, sizeof named, "%s:", unquoted(label));
    why_add(named, sizeof named, "%s", n->object ? n->object : why_thread(n->view, n->pid, n->tid));
    graph_node(g->mermaid, i, n->object != NULL, named);
}

static void put_edge(const struct graph *g, const struct edge *e)
{
    char text[WHY_TEXT + 64] = "";

    why_add(text, sizeof text, "%s", e->text);
    if (g->view->subject)
        why_add(text, sizeof text, "%s%s", text[0] ? ", " : "", units_time(e->ns));
    if (g->view->subject && e->count > 1)
        why_add(text, sizeof text, " (%s times)", units_count(e->count));
    graph_edge(g->mermaid, e->from, e->to, e->deadlock, text);
}

void why_print_graph(const struct why_set *set, bool mermaid)
{
    struct graph g = { .view = &set->views[0], .mermaid = mermaid };

    make(&g, set);
    graph_begin(mermaid);
    for (size_t i = 0; i < g.node_count; i++)
        put_node(&g, i);
    for (size_t i = 0; i < g.edge_count; i++)
        put_edge(&g, &g.edges[i]);
    for (size_t i = 0; mermaid && i < g.edge_count; i++)
        if (g.edges[i].deadlock)
            out_format("  linkStyle %zu stroke:red\n", i);
    graph_end(mermaid);
    if (g.left_out > 0)
        tool_note("the graph has %d edges; %s more waits are left out", EDGES_MOST,
                  units_count(g.left_out));
    drop(&g);
}
