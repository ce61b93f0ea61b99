/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See metrics_groups.h.
 */
#include "measure/metrics_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <posixtrace/info.h>

#include "common/tool.h"

/* A power of two that is never half full: at most METRICS_GROUPS_MAX and one for each
 * metric; a set has some hundreds of metrics. */
enum { SLOTS = 16384, GROUPS_END = SLOTS / 2 };

void metrics_groups_init(struct metrics_groups *g)
{
    memset(g, 0, sizeof *g);
    g->begins = SIZE_MAX;
    g->index = tool_grow(NULL, SLOTS, sizeof *g->index);
    memset(g->index, 0, SLOTS * sizeof *g->index);
}

void metrics_groups_free(struct metrics_groups *g)
{
    for (size_t i = 0; i < g->count; i++) {
        posixtrace_statistics_free(g->rows[i].statistics);
        posixtrace_statistics_free(g->rows[i].apart);
        free(g->rows[i].worst);
    }
    free(g->rows);
    free(g->index);
    memset(g, 0, sizeof *g);
}

bool metrics_groups_same_thread(const struct metrics_group *a, const struct metrics_group *b)
{
    return a->where.log == b->where.log && a->where.from == b->where.from && a->pid == b->pid &&
           a->tid == b->tid && a->thread_id == b->thread_id && a->others == b->others &&
           a->of_object == b->of_object && a->object == b->object;
}

/* Measurements from before a thread's first event of its own (context switches) have no pthread_t;
 * the row gets it later. */
static bool is_row_of(const struct metrics_group *row, const struct metrics_group *key)
{
    struct metrics_group unnamed = *key;

    if (metrics_groups_same_thread(row, key))
        return true;
    unnamed.thread_id = 0;
    return key->tid != 0 && metrics_groups_same_thread(row, &unnamed);
}

static size_t hash(const struct metrics_group *key)
{
    uint64_t h = (uint64_t)(uint32_t)key->tid << 32 ^ (uint32_t)key->pid;

    h ^= key->tid ? 0 : key->thread_id;
    h ^= key->object * UINT64_C(0xff51afd7ed558ccd);
    h ^= ((uint64_t)key->where.from << 32 | key->where.log) * UINT64_C(0xc4ceb9fe1a85ec53);
    h = (h ^ key->metric * 2 ^ key->others) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 40) % SLOTS;
}

/* The slot of the key, or the free one where it belongs. */
static uint16_t *find_slot(const struct metrics_groups *g, const struct metrics_group *key)
{
    size_t i = hash(key);

    for (; g->index[i] != 0; i = (i + 1) % SLOTS) {
        const struct metrics_group *row = &g->rows[g->index[i] - 1];

        if (row->metric == key->metric && is_row_of(row, key))
            break;
    }
    return &g->index[i];
}

static int add_row(struct metrics_groups *g, uint16_t *slot, const struct metrics_group *key)
{
    struct metrics_group *row;
    int error;

    if (g->count == g->room) {
        g->room = g->room ? 2 * g->room : 64;
        g->rows = tool_grow(g->rows, g->room, sizeof *g->rows);
    }
    row = &g->rows[g->count];
    *row = *key;
    error = posixtrace_statistics_create(&row->statistics);
    if (error == 0)
        *slot = (uint16_t)++g->count;
    return error;
}

static struct metrics_group key_of(const struct metrics_groups *g, size_t metric,
                                   struct metrics_where where,
                                   const struct posixtrace_measurement *m)
{
    if (g->by_object && posixtrace_metric_by_object(m->metric))
        return (struct metrics_group){
            .metric = metric, .where = where, .pid = m->pid, .of_object = true, .object = m->key
        };
    return (struct metrics_group){
        .metric = metric, .where = where, .thread_id = m->thread_id, .pid = m->pid, .tid = m->tid
    };
}

/* The row for a measurement; an error number. */
static int row_of(struct metrics_groups *g, size_t metric, struct metrics_where where,
                  const struct posixtrace_measurement *m, struct metrics_group **row)
{
    struct metrics_group key = key_of(g, metric, where, m);
    uint16_t *slot = find_slot(g, &key);
    int error = 0;

    if (*slot == 0 && g->count >= METRICS_GROUPS_MAX) {
        key = (struct metrics_group){ .metric = metric, .others = true };
        slot = find_slot(g, &key);
    }
    if (*slot == 0)
        error = g->count < GROUPS_END ? add_row(g, slot, &key) : ENOMEM;
    if (error != 0)
        return error;
    *row = &g->rows[*slot - 1];
    if (!(*row)->others && !(*row)->of_object)
        (*row)->thread_id = m->thread_id;
    return 0;
}

static int64_t without_cost(const struct metrics_groups *g, const struct posixtrace_measurement *m,
                            int64_t ns)
{
    double cost = g->cost_ns * (double)m->intermediate_events;

    if (cost <= 0 || ns <= 0)
        return ns;
    return cost < (double)ns ? ns - (int64_t)cost : 0;
}

int64_t metrics_groups_length(const struct metrics_groups *g,
                              const struct posixtrace_measurement *m)
{
    return without_cost(g, m, m->length_ns);
}

int64_t metrics_groups_least(const struct metrics_groups *g, const struct posixtrace_measurement *m)
{
    return without_cost(g, m, m->least_ns);
}

/* Among the longest, after those that are as long. */
static void keep_worst(struct metrics_groups *g, struct metrics_group *row,
                       const struct posixtrace_measurement *m, int64_t length)
{
    size_t place = row->worst_count;

    while (place > 0 && metrics_groups_length(g, &row->worst[place - 1]) < length)
        place--;
    if (place == g->worst)
        return;
    if (row->worst_count < g->worst) {
        row->worst = tool_grow(row->worst, row->worst_count + 1, sizeof *row->worst);
        row->worst_count++;
    }
    memmove(row->worst + place + 1, row->worst + place,
            (row->worst_count - place - 1) * sizeof *row->worst);
    row->worst[place] = *m;
}

static void keep_longest(struct metrics_groups *g, struct metrics_group *row,
                         struct metrics_where where, const struct posixtrace_measurement *m)
{
    int64_t length = metrics_groups_length(g, m);

    if (g->worst > 0)
        keep_worst(g, row, m, length);
    if (row->least_count > 0 && length <= row->longest_ns)
        return;
    row->longest_ns = length;
    row->longest_where = where;
    row->longest_at_ns = m->begin_ns;
    row->longest_tid = m->tid;
    row->longest_thread_id = m->thread_id;
}

static int add_known(struct metrics_group *row, int64_t length, int64_t least, bool bound)
{
    if (row->least_max_ns < least || row->least_count == 0)
        row->least_max_ns = least;
    row->least_count++;
    row->least_sum_ns += (double)least;
    row->bounds += bound;
    return posixtrace_statistics_add(row->statistics, length);
}

/* How far this begin is from the one before, unless events were lost in between. */
static int add_begin(struct metrics_group *row, const struct posixtrace_measurement *m)
{
    int error = row->apart || m->unknown ? 0 : posixtrace_statistics_create(&row->apart);

    if (error == 0 && row->has_begun && !m->unknown)
        error = posixtrace_statistics_add(
            row->apart, (int64_t)((uint64_t)m->begin_ns - (uint64_t)row->begin_ns));
    row->has_begun = !m->unknown;
    row->begin_ns = m->begin_ns;
    return error;
}

int metrics_groups_add(struct metrics_groups *g, size_t metric, struct metrics_where where,
                       const struct posixtrace_measurement *m)
{
    struct metrics_group *row = NULL;
    int error = row_of(g, metric, where, m, &row);

    if (error == 0 && metric == g->begins)
        error = add_begin(row, m);
    if (error != 0)
        return error;
    if (!m->unknown)
        keep_longest(g, row, where, m);
    if (!m->unknown)
        return add_known(row, metrics_groups_length(g, m), metrics_groups_least(g, m), m->bound);
    row->unknown++;
    if (m->length_ns > row->at_most_ns)
        row->at_most_ns = m->length_ns;
    return 0;
}

int metrics_groups_merge(struct metrics_group *to, const struct metrics_group *from)
{
    if (!to->statistics && posixtrace_statistics_create(&to->statistics) != 0)
        return ENOMEM;
    if (from->least_count > 0 && (to->least_count == 0 || from->least_max_ns > to->least_max_ns))
        to->least_max_ns = from->least_max_ns;
    if (from->least_count > 0 && (to->least_count == 0 || from->longest_ns > to->longest_ns)) {
        to->longest_ns = from->longest_ns;
        to->longest_at_ns = from->longest_at_ns;
        to->longest_where = from->longest_where;
        to->longest_tid = from->longest_tid;
        to->longest_thread_id = from->longest_thread_id;
        memcpy(to->longest_thread, from->longest_thread, sizeof to->longest_thread);
    }
    to->least_sum_ns += from->least_sum_ns;
    to->least_count += from->least_count;
    to->bounds += from->bounds;
    to->unknown += from->unknown;
    if (from->at_most_ns > to->at_most_ns)
        to->at_most_ns = from->at_most_ns;
    return posixtrace_statistics_merge(to->statistics, from->statistics);
}

int metrics_groups_compare_threads(const struct metrics_group *x, const struct metrics_group *y)
{
    if (x->others != y->others)
        return x->others ? 1 : -1;
    if (x->where.log != y->where.log)
        return x->where.log < y->where.log ? -1 : 1;
    if (x->where.from != y->where.from)
        return x->where.from < y->where.from ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->of_object != y->of_object)
        return x->of_object ? 1 : -1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->thread_id < y->thread_id ? -1 : x->thread_id > y->thread_id;
}

static int by_metric(const void *a, const void *b)
{
    const struct metrics_group *x = a, *y = b;

    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    return metrics_groups_compare_threads(x, y);
}

/* Is there a row of the same metric for that thread? */
static bool has_row(const struct metrics_groups *g, const struct metrics_group *row,
                    const struct posixtrace_thread_info *t)
{
    struct metrics_group key = *row;

    key.thread_id = t->thread_id;
    for (size_t i = 0; i < g->count; i++)
        if (g->rows[i].metric == key.metric && metrics_groups_same_thread(&g->rows[i], &key))
            return true;
    return false;
}

/* A row whose pthread_t is not known is of the first thread with its numbers. */
static void take_name(struct metrics_groups *g, uint32_t log,
                      const struct posixtrace_thread_info *t)
{
    for (size_t i = 0; i < g->count; i++) {
        struct metrics_group *row = &g->rows[i];

        if (row->longest_where.log == log && row->pid == t->pid && row->longest_tid == t->tid &&
            (row->longest_thread_id == t->thread_id || !row->longest_thread[0]))
            memcpy(row->longest_thread, t->name, sizeof row->longest_thread);
        if (row->where.log != log || row->of_object || row->pid != t->pid || row->tid != t->tid ||
            (row->thread_id != t->thread_id &&
             (t->tid == 0 || row->thread_id != 0 || row->thread[0])))
            continue;
        memcpy(row->thread, t->name, sizeof row->thread);
        if (row->thread_id == 0 && !has_row(g, row, t))
            row->thread_id = t->thread_id;
    }
}

void metrics_groups_name_threads(struct metrics_groups *g, uint32_t log, trace_id_t trid)
{
    struct posixtrace_thread_info t;
    int unavailable = 0;

    posixtrace_threadlist_rewind(trid);
    while (posixtrace_threadlist_getnext(trid, &t, sizeof t, &unavailable) == 0 && !unavailable) {
        t.name[sizeof t.name - 1] = '\0';
        take_name(g, log, &t);
    }
}

void metrics_groups_sort(struct metrics_groups *g)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->rows[i].others)
            strcpy(g->rows[i].thread, "(others)");
    }
    if (g->count > 0)
        qsort(g->rows, g->count, sizeof *g->rows, by_metric);
}

void metrics_groups_name(struct metrics_groups *g, trace_id_t trid)
{
    metrics_groups_name_threads(g, 0, trid);
    metrics_groups_sort(g);
}

const struct metrics_group *metrics_groups_find(const struct metrics_groups *g, size_t metric,
                                                const struct metrics_group *thread)
{
    struct metrics_group key = *thread;

    key.metric = metric;
    return g->count ? bsearch(&key, g->rows, g->count, sizeof *g->rows, by_metric) : NULL;
}
