/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace why: shows the rows of posixtrace/why.h.
 *
 * Several logs: each is explained by itself, and their results are merged (why_set.c).  why_words.c
 * has the words of a segment, why_tree.c sums segments with the same words, why_text.c and
 * why_json.c show all.
 */
#ifndef WHY_H
#define WHY_H

#include <posixtrace/why.h>

#include "common/sites.h"
#include "input/log_file.h"
#include "input/select.h"

enum { WHY_TEXT = 480 };

struct why_view {
    struct log_file *log;
    const char *label; /* of several logs: how a thread names its log; else "" */
    struct selection *select;
    struct sites *sites;
    posixtrace_why_t *why;
    const struct posixtrace_why_summary *summary;
    const char *subject; /* as on the command line; NULL: the end of the log */
    bool at;             /* one time of a thread */
    bool metric;
    int64_t origin; /* times are shown from here: of each log from its own first event */
};

/* An instance of one of the logs. */
struct why_row {
    const struct why_view *view;
    size_t index;
};

struct why_set {
    struct why_view *views;
    size_t count;
    const char *shown; /* the log or the logs, for messages */
    bool several;
    struct why_row *rows; /* of all logs, in the order of posixtrace_why_instance() */
    size_t row_count;
    /* Of all logs: sums, the first and the last time, and the median.  What the causes are about is
     * of each log. */
    struct posixtrace_why_summary summary;
    posixtrace_statistics_t *statistics;
    char pairs[300]; /* names of the pairs in the logs, as many as fit */
};

/* ---- why_set.c ---- */

/* Makes the rows, worst ones that have ended and as many that are open at most, and the sums.  The
 * views have ended.  EXIT_DONE, or another status after a message. */
int why_set_make(struct why_set *set, size_t worst);
/* Not the views. */
void why_set_free(struct why_set *set);

/* ---- why_words.c: in static buffers, reused in turn ---- */

/* Adds to a text in so many bytes, as far as it fits. */
__attribute__((format(printf, 3, 4))) void why_add(char *text, size_t size, const char *format,
                                                   ...);
/* "name/tid", of several logs "label:name/tid" */
const char *why_thread(const struct why_view *v, pid_t pid, pid_t tid);
/* The place of a call at that time, and a lock or the like, by their addresses; time 0: that of the
 * last event. */
const char *why_code(const struct why_view *v, pid_t pid, int64_t ns, uint64_t address);
const char *why_data(const struct why_view *v, pid_t pid, int64_t ns, uint64_t address);
/* "+1.234567890s", as --from takes it. */
const char *why_when(const struct why_view *v, int64_t ns);
/* "1,234,567 ns" */
const char *why_exact(int64_t ns);
const char *why_percent(int64_t part, int64_t whole);
/* What was waited for, without the thread that it was waited for. */
void why_put_object(char text[WHY_TEXT], const struct why_view *v,
                    const struct posixtrace_why_segment *s);
/* What the thread did; others: with other threads by name, which rows of causes need not have. */
void why_put_segment(char text[WHY_TEXT], const struct why_view *v,
                     const struct posixtrace_why_segment *s);
const char *why_state_word(enum posixtrace_why_state state);
const char *why_reason_word(enum posixtrace_why_reason reason);
const char *why_relation_word(enum posixtrace_why_relation relation);

/* ---- why_tree.c ---- */

/* Segments with the same words, in the order of the first of each. */
struct why_node {
    char *text;
    pid_t pid, tid; /* whose time it is */
    int64_t ns;
    uint64_t count;
    struct why_node *below, *next;
};
struct why_node *why_tree(const struct why_view *v, size_t instance);
void why_tree_free(struct why_node *node);

/* ---- why_text.c, why_json.c ---- */

void why_print_text(const struct why_set *set);
void why_print_json(const struct why_set *set);

/* ---- why_graph.c ---- */

/* In the language of Graphviz, or of Mermaid. */
void why_print_graph(const struct why_set *set, bool mermaid);

#endif
