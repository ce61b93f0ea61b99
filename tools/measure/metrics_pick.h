/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Which metrics a verb takes: a set (one that is built in, or a file), those of its
 * metrics that were named, and metrics of the user's own.
 */
#ifndef METRICS_PICK_H
#define METRICS_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <posixtrace/metrics.h>
#include <posixtrace/pair.h>

struct metrics_picked {
    const posixtrace_metric_t *metric;
    posixtrace_metric_t *own;       /* the same, if it is ours to free */
    enum posixtrace_user_time time; /* that it measures, if it is ours */
    bool named;                     /* asked for, not only a part of the set */
};

struct metrics_pick {
    posixtrace_metric_set_t *set;
    struct metrics_picked *list;
    const posixtrace_metric_t **metrics; /* those of list, for posixtrace_metric_run_create() */
    size_t count, users;                 /* users: how many are the user's own */
    const char *set_word;
    const char **wanted; /* names that the set does not have: of pairs, perhaps */
    size_t wanted_count;
    posixtrace_pair_t **pairs; /* by place of their metrics, which are all; pair_count 0: none */
    size_t pair_count;
    bool all;     /* of the set, because none was named */
    bool has_own; /* of the user's, or of pairs of events */
};

/* "linux", "marte" or a file.  EXIT_DONE, or it was said: a wrong text with its place. */
int metrics_set_load(const char *word, posixtrace_metric_set_t **set);

/* How long a text may be. */
enum { METRICS_TEXT_MAX = 1 << 20 };

/* All of a text file, or of standard input for "-"; *text is for free(). */
int metrics_text_load(const char *path, char **text, size_t *length);

/* Finds the metric of the set.  EXIT_DONE, or another status after a message with similar
 * names. */
int metrics_find(const posixtrace_metric_set_t *set, const char *set_word, const char *name,
                 const posixtrace_metric_t **metric);

/*
 * names: metrics of the set; users: NAME:INITIAL:FINAL[:TIME], TIME being elapsed,
 * cpu or nosystem; both end with NULL.  None of both: all of the set.  A name that the set does
 * not have can be that of a pair of the log: metrics_pairs_add() knows.
 */
int metrics_pick(struct metrics_pick *p, const char *set_word, const char *const *names,
                 const char *const *users);
/* One more at the end, which belongs to p then if it is one's own. */
void metrics_pick_put(struct metrics_pick *p, const struct metrics_picked *picked);
void metrics_pick_free(struct metrics_pick *p);

#endif
