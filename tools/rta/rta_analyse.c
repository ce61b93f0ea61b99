/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The equations; see rta.h.
 *
 * R begins at C and grows from step to step until it stays the same, which is the
 * least solution, or until it exceeds the period, where equation 1 no longer holds.
 * Sums that do not fit stay at INT64_MAX, which exceeds every period (RTA_TIME_MAX).
 */
#include "rta/rta.h"

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Releases of a task of that period in a time that begins with one. */
static int64_t releases(int64_t time, int64_t period)
{
    return time / period + (time % period != 0);
}

static int64_t known(const struct rta_task *t, enum rta_value value)
{
    return t->value[value] > 0 ? t->value[value] : 0;
}

static int64_t execution(const struct rta_task *t)
{
    return add(known(t, RTA_C), known(t, RTA_JST));
}

/* Computes the values that do not depend on R. */
static void begin(struct rta_task *t, const struct rta_task *tasks, size_t count)
{
    t->c = execution(t);
    t->b_critical = known(t, RTA_B);
    t->activations = 0;
    for (const struct rta_task *k = tasks; k < tasks + count; k++) {
        if (k->priority >= t->priority)
            continue;
        if (known(k, RTA_SB) > t->b_critical)
            t->b_critical = known(k, RTA_SB);
        t->activations = add(t->activations, known(k, RTA_DUW));
    }
}

/* The right side of (1) for R = r; leaves b and b_activation as they are for it. */
static int64_t step(struct rta_task *t, const struct rta_task *tasks, size_t count, int64_t r)
{
    int64_t preemption = 0;

    t->b_activation = 0;
    for (const struct rta_task *o = tasks; o < tasks + count; o++) {
        if (o == t)
            continue;
        if (o->priority >= t->priority)
            preemption = add(preemption, times(releases(r, o->period), execution(o)));
        else
            t->b_activation = add(t->b_activation,
                                  times(releases(r, o->period), known(o, RTA_DUW)));
    }
    t->b = add(t->b_activation, t->b_critical);
    return add(add(t->c, t->b), preemption);
}

static void analyse_one(struct rta_task *t, const struct rta_task *tasks, size_t count)
{
    int64_t r, next;

    begin(t, tasks, count);
    next = t->c;
    for (size_t terms = 0; terms < RTA_STEPS_MAX; terms += count) {
        r = next;
        next = step(t, tasks, count, r);
        t->r = next;
        t->exact = next == r;
        t->verdict = next > t->deadline ? RTA_LATE : RTA_SCHEDULABLE;
        if (t->exact || next > t->period)
            return;
    }
    t->verdict = t->verdict == RTA_LATE ? RTA_LATE : RTA_UNDECIDED;
}

void rta_analyse(struct rta_task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        analyse_one(&tasks[i], tasks, count);
}

void rta_compare(struct rta_task *task, int64_t seen)
{
    if (seen > task->deadline)
        task->verdict = RTA_LATE;
    else if (task->verdict == RTA_SCHEDULABLE && seen > task->r)
        task->verdict = RTA_CONTRADICTED;
}

double rta_utilization(const struct rta_task *tasks, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)execution(&tasks[i]) / (double)tasks[i].period;
    return sum;
}

const char *rta_value_name(enum rta_value value)
{
    static const char *const names[RTA_VALUES] = { "C", "JST", "SB", "DUW", "B" };

    return names[value];
}

const char *rta_value_metric(enum rta_value value)
{
    static const char *const metrics[RTA_VALUES] = { "Execution Time", "Job System Time",
                                                     "System Blocking", "Delay Until Wakeup",
                                                     "Mutex Hold" };

    return metrics[value];
}
