/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See graph.h. */
#include "common/graph.h"

#include "common/stdout_buffer.h"
#include "text/graph.h"

static void put_label(bool mermaid, const char *text)
{
    char shown[PT_GRAPH_BYTE];

    for (; *text; text++)
        out_bytes(shown, (size_t)(pt_graph_byte(shown, *text, mermaid) - shown));
}

void graph_begin(bool mermaid)
{
    out_text(mermaid ? "flowchart LR\n" : "digraph waits {\n  rankdir=LR;\n  node [shape=box];\n");
}

void graph_node(bool mermaid, size_t number, bool round, const char *label)
{
    out_format("  n%zu%s\"", number, !mermaid ? " [label=" : round ? "([" : "[");
    put_label(mermaid, label);
    if (mermaid)
        out_text(round ? "\"])\n" : "\"]\n");
    else
        out_format("\"%s];\n", round ? ", shape=ellipse" : "");
}

void graph_edge(bool mermaid, size_t from, size_t to, bool red, const char *label)
{
    if (mermaid)
        out_format("  n%zu -->|\"", from);
    else
        out_format("  n%zu -> n%zu [label=\"", from, to);
    put_label(mermaid, label);
    if (mermaid)
        out_format("\"| n%zu\n", to);
    else
        out_format("\"%s];\n", red ? ", color=red" : "");
}

void graph_end(bool mermaid)
{
    out_text(mermaid ? "" : "}\n");
}
