/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The effects of a lost event in each state; see uncertainty.h. */
#include <stdlib.h>
#include "analysis/metrics/engine/uncertainty.h"

static struct pt_edge edge_of(const posixtrace_metric_t *m, const struct pt_way *way)
{
    struct pt_edge edge = { .after = PT_AFTER_KEPT };

    for (; way->target != PT_NOWHERE; way = &m->states[way->target].lambda) {
        enum pt_kind kind = m->states[way->target].kind;

        edge.to = way->target;
        if (kind == PT_KIND_END) {
            edge.ends |= edge.after == PT_AFTER_KEPT;
            edge.ends_begun |= edge.after == PT_AFTER_BEGUN;
        }
        if (kind == PT_KIND_BEGIN)
            edge.after = PT_AFTER_BEGUN;
        else if (kind == PT_KIND_END || kind == PT_KIND_CANCEL)
            edge.after = PT_AFTER_NONE;
    }
    return edge;
}

static bool same(const struct pt_edge *a, const struct pt_edge *b)
{
    return a->to == b->to && a->after == b->after && a->ends == b->ends &&
           a->ends_begun == b->ends_begun;
}

/* Room is there for all ways, were they to differ. */
static void add_edge(struct pt_edges *edges, size_t state, const struct pt_edge *edge)
{
    size_t *end = &edges->first[state + 1];

    for (size_t i = edges->first[state]; i < *end; i++)
        if (same(&edges->at[i], edge))
            return;
    edges->at[(*end)++] = *edge;
}

struct pt_edges *pt_edges_new(const posixtrace_metric_t *metric)
{
    size_t states = metric->state_count, ways = pt_machine_rows(metric) * PT_WHO;
    struct pt_edges *edges = calloc(1, sizeof *edges);

    if (!edges)
        return NULL;
    edges->at = calloc(ways * states, sizeof *edges->at);
    edges->first = calloc(states + 1, sizeof *edges->first);
    if (!edges->at || !edges->first) {
        pt_edges_free(edges);
        return NULL;
    }
    for (size_t s = 0; s < states; s++) {
        edges->first[s + 1] = edges->first[s];
        for (size_t i = 0; i < ways; i++) {
            const struct pt_way *way = &metric->ways[i * states + s];
            struct pt_edge edge = edge_of(metric, way);

            if (way->target != PT_NOWHERE)
                add_edge(edges, s, &edge);
        }
    }
    return edges;
}

void pt_edges_free(struct pt_edges *edges)
{
    if (!edges)
        return;
    free(edges->at);
    free(edges->first);
    free(edges);
}
