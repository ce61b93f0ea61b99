/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See rta_locks.h.
 */
#include "rta/rta_locks.h"

#include <search.h>
#include <stdlib.h>

#include "common/tool.h"

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_thread(const struct rta_hold *x, const struct rta_hold *y)
{
    int order = by_number((uint64_t)x->pid, (uint64_t)y->pid);

    order = order ? order : by_number((uint64_t)x->tid, (uint64_t)y->tid);
    return order ? order : by_number(x->thread_id, y->thread_id);
}

static int by_mutex(const struct rta_hold *x, const struct rta_hold *y)
{
    int order = by_number((uint64_t)x->pid, (uint64_t)y->pid);

    return order ? order : by_number(x->mutex, y->mutex);
}

static int by_both(const void *a, const void *b)
{
    int order = by_mutex(a, b);

    return order ? order : by_thread(a, b);
}

static struct rta_hold *hold_of(struct rta_locks *l, const struct rta_hold *key)
{
    void *found = tfind(key, &l->tree, by_both);
    struct rta_hold *made;

    if (found)
        return *(struct rta_hold **)found;
    made = tool_grow(NULL, 1, sizeof *made);
    *made = *key;
    made->next = l->first;
    l->first = made;
    if (!tsearch(made, &l->tree, by_both))
        exit(tool_error("no memory for the mutexes of the log"));
    return made;
}

void rta_locks_add(struct rta_locks *l, const struct posixtrace_measurement *m, int64_t length)
{
    struct rta_hold key = {
        .thread_id = m->thread_id, .pid = m->pid, .tid = m->tid, .mutex = m->key, .task = -1
    };
    struct rta_hold *h = hold_of(l, &key);

    h->unknown += m->unknown;
    if (m->unknown && length > h->at_most)
        h->at_most = length;
    else if (!m->unknown && length > h->largest)
        h->largest = length;
}

void rta_locks_free(struct rta_locks *l)
{
    while (l->first) {
        struct rta_hold *h = l->first;

        l->first = h->next;
        tdelete(h, &l->tree, by_both);
        free(h);
    }
}

/* ---- blocking ---- */

static bool is_lower(const struct rta_hold *h, const struct rta_task *tasks, size_t i)
{
    return h->task < 0 || tasks[h->task].priority < tasks[i].priority;
}

static int64_t length_of(const struct rta_hold *h, bool at_most)
{
    return at_most && h->at_most > h->largest ? h->at_most : h->largest;
}

static int of_thread(const void *a, const void *b)
{
    return by_thread(*(struct rta_hold *const *)a, *(struct rta_hold *const *)b);
}

static int of_mutex(const void *a, const void *b)
{
    return by_mutex(*(struct rta_hold *const *)a, *(struct rta_hold *const *)b);
}

/* The sum of the longest of each thread, or of each mutex. */
static int64_t sum_of(struct rta_hold **list, size_t count, bool at_most,
                      int (*order)(const void *, const void *))
{
    int64_t sum = 0, longest = 0;

    qsort(list, count, sizeof *list, order);
    for (size_t i = 0; i < count; i++) {
        int64_t length = length_of(list[i], at_most);

        longest = length > longest ? length : longest;
        if (i + 1 < count && order(&list[i], &list[i + 1]) == 0)
            continue;
        if (__builtin_add_overflow(sum, longest, &sum))
            return INT64_MAX;
        longest = 0;
    }
    return sum;
}

static int64_t longest_of(struct rta_hold **list, size_t count, bool at_most)
{
    int64_t longest = 0;

    for (size_t i = 0; i < count; i++)
        if (length_of(list[i], at_most) > longest)
            longest = length_of(list[i], at_most);
    return longest;
}

static int64_t bound_of(struct rta_hold **list, size_t count, enum rta_protocol protocol,
                        bool at_most)
{
    int64_t threads, mutexes;

    if (protocol == RTA_CEILING)
        return longest_of(list, count, at_most);
    threads = sum_of(list, count, at_most, of_thread);
    mutexes = sum_of(list, count, at_most, of_mutex);
    return threads < mutexes ? threads : mutexes;
}

void rta_locks_block(const struct rta_locks *l, const struct rta_task *tasks, size_t i,
                     enum rta_protocol protocol, struct rta_measure *measure)
{
    struct rta_hold **all, **list;
    size_t total = 0, count = 0;

    for (struct rta_hold *h = l->first; h; h = h->next)
        total++;
    all = tool_grow(NULL, total + 1, sizeof *all);
    list = tool_grow(NULL, total + 1, sizeof *list);
    total = 0;
    for (struct rta_hold *h = l->first; h; h = h->next)
        all[total++] = h;
    if (total > 0)
        qsort(all, total, sizeof *all, of_mutex);
    *measure = (struct rta_measure){ .there = true, .known = true };
    for (size_t from = 0, to; from < total; from = to) {
        bool wanted = all[from]->mutex == 0;

        for (to = from; to < total && by_mutex(all[from], all[to]) == 0; to++)
            wanted |= !is_lower(all[to], tasks, i);
        for (size_t k = from; wanted && k < to; k++) {
            if (!is_lower(all[k], tasks, i))
                continue;
            measure->unknown += all[k]->unknown;
            list[count++] = all[k];
        }
    }
    if (count > 0) {
        measure->largest = bound_of(list, count, protocol, false);
        measure->at_most = bound_of(list, count, protocol, true);
    }
    free(all);
    free(list);
}
