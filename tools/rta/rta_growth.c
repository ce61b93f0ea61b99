/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * How much execution times may grow: bisection over rta_is_schedulable().  Each right side of the
 * equations grows with each C, so a schedulable set stays so with smaller ones.
 */
#include <string.h>

#include "rta/rta.h"

struct trial {
    const struct rta_task *tasks;
    size_t count, task; /* task: the one whose C changes; count: that of all */
    int64_t switch_ns;
};

static int64_t execution(const struct rta_task *t)
{
    int64_t sum = t->value[RTA_C] > 0 ? t->value[RTA_C] : 0;

    if (t->value[RTA_JST] > 0 && __builtin_add_overflow(sum, t->value[RTA_JST], &sum))
        return INT64_MAX;
    return sum;
}

/* Rounded up. */
static int64_t scaled(int64_t c, int64_t factor)
{
    int64_t rest = (c % RTA_FACTOR_UNIT * factor + RTA_FACTOR_UNIT - 1) / RTA_FACTOR_UNIT, sum;

    if (__builtin_mul_overflow(c / RTA_FACTOR_UNIT, factor, &sum) ||
        __builtin_add_overflow(sum, rest, &sum))
        return INT64_MAX;
    return sum;
}

/* Is all schedulable with that C of the task, or factor of all? */
static bool holds(const struct trial *trial, int64_t value)
{
    static struct rta_task tasks[RTA_TASKS_MAX];

    memcpy(tasks, trial->tasks, trial->count * sizeof *tasks);
    for (size_t i = 0; i < trial->count; i++) {
        if (trial->task != trial->count && trial->task != i)
            continue;
        tasks[i].value[RTA_C] = trial->task == i ? value : scaled(execution(&tasks[i]), value);
        tasks[i].value[RTA_JST] = 0;
    }
    return rta_is_schedulable(tasks, trial->count, trial->switch_ns);
}

/* The largest value from 0 to most that holds; -1: none does. */
static int64_t largest(const struct trial *trial, int64_t most)
{
    int64_t good = 0, bad = most;

    if (!holds(trial, 0))
        return -1;
    if (holds(trial, most))
        return most;
    while (bad - good > 1) {
        int64_t middle = good + (bad - good) / 2;

        if (holds(trial, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

void rta_grow(const struct rta_task *tasks, size_t count, int64_t switch_ns, struct rta_growth *g)
{
    struct trial trial = { .tasks = tasks, .count = count, .task = count, .switch_ns = switch_ns };

    g->factor = largest(&trial, (int64_t)RTA_FACTOR_MAX * RTA_FACTOR_UNIT);
    for (trial.task = 0; trial.task < count; trial.task++)
        g->c_max[trial.task] = largest(&trial, tasks[trial.task].deadline);
}
