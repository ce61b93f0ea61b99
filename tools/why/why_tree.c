/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Sums of segments with the same words; see why.h.
 */
#include "why/why.h"

#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "text/sum.h"

enum { SAME_MOST = 64 }; /* nodes that are compared */

/* The node of the words among those of a list, or a new one at its end. */
static struct why_node *node_of(struct why_node **list, const struct posixtrace_why_segment *s,
                                const char *text)
{
    unsigned count = 0;

    for (; *list && (count++ > SAME_MOST || (*list)->tid != s->tid || strcmp((*list)->text, text));
         list = &(*list)->next)
        ;
    if (!*list) {
        *list = memset(tool_grow(NULL, 1, sizeof **list), 0, sizeof **list);
        (*list)->text = strcpy(tool_grow(NULL, strlen(text) + 1, 1), text);
        (*list)->pid = s->pid;
        (*list)->tid = s->tid;
    }
    return *list;
}

static size_t add_below(const struct why_view *v, size_t instance, size_t i, unsigned depth,
                        struct why_node **list)
{
    const struct posixtrace_why_segment *s;

    while ((s = posixtrace_why_segment(v->why, instance, i)) != NULL && s->depth == depth) {
        struct why_node *node;
        char text[WHY_TEXT];

        why_put_segment(text, v, s);
        node = node_of(list, s, text);
        pt_sum_add(&node->ns, s->end_ns - s->begin_ns);
        node->count++;
        i = add_below(v, instance, i + 1, depth + 1, &node->below);
    }
    return i;
}

struct why_node *why_tree(const struct why_view *v, size_t instance)
{
    struct why_node *list = NULL;

    add_below(v, instance, 0, 0, &list);
    return list;
}

void why_tree_free(struct why_node *node)
{
    while (node) {
        struct why_node *next = node->next;

        why_tree_free(node->below);
        free(node->text);
        free(node);
        node = next;
    }
}
