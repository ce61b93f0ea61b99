/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Measurements gathered by metric and thread: statistics of those that are known,
 * and how many are not.
 *
 * Memory is bounded: beyond METRICS_GROUPS_MAX the measurements of further threads go
 * to one more group for each metric, "others".
 */
#ifndef METRICS_GROUPS_H
#define METRICS_GROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include <posixtrace/metrics.h>

enum { METRICS_GROUPS_MAX = 4096, METRICS_THREAD_NAME = 16 };

/* The places of its logs among all: that where it ends; from: that where it begins, another one
 * only of a pair of events of two logs. */
struct metrics_where {
    uint32_t log, from;
};

struct metrics_group {
    size_t metric; /* its place among those of the run */
    struct metrics_where where;
    uint64_t thread_id;
    pid_t pid, tid;
    bool others;
    posixtrace_statistics_t *statistics;
    posixtrace_statistics_t *apart; /* begins of one after the other, of the metric "begins" */
    int64_t begin_ns;               /* of the last one, if has_begun */
    bool has_begun;
    uint64_t bounds;      /* measurements with only bounds known */
    int64_t least_max_ns; /* of all, were each as short as it can have been: the longest, */
    double least_sum_ns;  /* the sum, */
    uint64_t least_count; /* and how many they are */
    uint64_t object;      /* of_object: the group is of an object of a process, not of a thread */
    bool of_object;
    int64_t longest_ns;    /* of all, if longest_tid or longest_thread_id is not 0: */
    int64_t longest_at_ns; /* when it began */
    pid_t longest_tid;
    uint64_t longest_thread_id;
    char longest_thread[METRICS_THREAD_NAME]; /* as thread */
    struct metrics_where longest_where;
    struct posixtrace_measurement *worst; /* the longest ones, the longest first */
    size_t worst_count;
    uint64_t unknown;   /* places where events were lost, and measurements with them */
    int64_t at_most_ns; /* the longest of those, at most */
    char thread[METRICS_THREAD_NAME]; /* its name, after metrics_groups_name() */
};

struct metrics_groups {
    struct metrics_group *rows;
    size_t count, room;
    uint16_t *index; /* hash table of places in rows, from 1 */
    size_t begins;   /* the place of the metric whose begins matter; SIZE_MAX: none */
    bool by_object;  /* metrics by object have a group for each object of a process */
    size_t worst;    /* so many of the longest measurements are kept for each group */
    double cost_ns;  /* of an event, taken off each measurement; 0: nothing */
};

void metrics_groups_init(struct metrics_groups *g);
void metrics_groups_free(struct metrics_groups *g);

/* A measurement of the metric at that place; 0 or an error number. */
int metrics_groups_add(struct metrics_groups *g, size_t metric, struct metrics_where where,
                       const struct posixtrace_measurement *m);

/* Adds the measurements of one group to those of another, which began as zeros; 0 or ENOMEM.  Not
 * the longest ones. */
int metrics_groups_merge(struct metrics_group *to, const struct metrics_group *from);

/* Its length without what its events cost; not below 0 unless it was. */
int64_t metrics_groups_length(const struct metrics_groups *g,
                              const struct posixtrace_measurement *m);

/* The least that it can have been: the same where it is no bound. */
int64_t metrics_groups_least(const struct metrics_groups *g,
                             const struct posixtrace_measurement *m);

/* The names of threads, as the stream of the log at that place knows them now. */
void metrics_groups_name_threads(struct metrics_groups *g, uint32_t log, trace_id_t trid);
/* Sorts the groups by metric, log, process and thread.  Nothing is added any more. */
void metrics_groups_sort(struct metrics_groups *g);
/* Both, of one log. */
void metrics_groups_name(struct metrics_groups *g, trace_id_t trid);

/* The first group of that thread and the metric, or NULL; after metrics_groups_name(). */
const struct metrics_group *metrics_groups_find(const struct metrics_groups *g, size_t metric,
                                                const struct metrics_group *thread);

/* By process and thread, as qsort() wants it; the group of the others comes last. */
int metrics_groups_compare_threads(const struct metrics_group *x, const struct metrics_group *y);

/* Do both tell of the same thread? */
bool metrics_groups_same_thread(const struct metrics_group *a, const struct metrics_group *b);

#endif
