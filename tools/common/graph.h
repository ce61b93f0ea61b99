/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Graphs on standard output, in the language of Graphviz or of Mermaid: begin, the nodes, the
 * edges between their numbers, end.  Labels may have any bytes.
 */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>
#include <stddef.h>

void graph_begin(bool mermaid);
/* round: of another shape than the others. */
void graph_node(bool mermaid, size_t number, bool round, const char *label);
void graph_edge(bool mermaid, size_t from, size_t to, bool red, const char *label);
void graph_end(bool mermaid);

#endif
