/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The equations; see rta.h.
 *
 * w(q) begins at the least value that it may have and grows from step to step until it stays the
 * same, which is the least solution.  Where tasks of the same and higher priorities ask for more
 * than the processor there is none: that ends when the response exceeds the deadline and the
 * period.  Sums that do not fit stay at INT64_MAX, which exceeds every period (RTA_TIME_MAX).
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

struct busy {
    struct rta_task *t;
    const struct rta_task *tasks;
    size_t count, terms;
    int64_t switch_ns, q, w;
    bool endless, only_if_late; /* only_if_late: a late response ends the analysis */
    int64_t b_activation;
};

/* The right side of w(q); leaves b_activation as it is for it. */
static int64_t step(struct busy *b, int64_t w)
{
    const struct rta_task *t = b->t;
    int64_t sum = add(times(b->q + 1, t->c), times(add(b->q, b->q + 1), b->switch_ns));

    b->b_activation = 0;
    for (const struct rta_task *o = b->tasks; o < b->tasks + b->count; o++) {
        int64_t n = releases(add(w, o->jitter), o->period);

        if (o == t)
            continue;
        if (o->priority >= t->priority)
            sum = add(sum, times(n, add(execution(o), times(2, b->switch_ns))));
        else
            b->b_activation = add(b->b_activation, times(n, known(o, RTA_DUW)));
    }
    b->terms += b->count;
    return add(sum, add(b->b_activation, t->b_critical));
}

/* Of the job q, with w(q) at w. */
static void take_response(struct busy *b, int64_t w)
{
    struct rta_task *t = b->t;
    int64_t response = add(w, t->jitter);

    if (response < INT64_MAX)
        response -= b->q * t->period; /* the busy period has got there: no overflow */
    if (response < t->r)
        return;
    t->r = response;
    t->b_activation = b->b_activation;
    t->b = add(t->b_activation, t->b_critical);
}

static bool is_over(const struct busy *b)
{
    const struct rta_task *t = b->t;

    return b->terms >= RTA_STEPS_MAX || b->w == INT64_MAX ||
           (b->endless && t->r > t->deadline && t->r > t->period) ||
           (b->only_if_late && t->r > t->deadline);
}

/* Solves w(q); false: it was left before. */
static bool solve(struct busy *b, int64_t first)
{
    for (int64_t next = first;;) {
        b->w = next;
        next = step(b, b->w);
        take_response(b, next);
        if (next == b->w)
            return next < INT64_MAX;
        if (is_over(b))
            return false;
    }
}

/* Do the tasks of that and higher priorities ask for more than the processor? */
static bool is_endless(const struct busy *b)
{
    double sum = 0;

    for (const struct rta_task *o = b->tasks; o < b->tasks + b->count; o++)
        sum += o->priority >= b->t->priority
                   ? ((double)execution(o) + 2 * (double)b->switch_ns) / (double)o->period
                   : (double)known(o, RTA_DUW) / (double)o->period;
    return sum > 1;
}

/* Is the job after q released before the busy period ends? */
static bool is_busy_after(const struct busy *b)
{
    return add(b->w, b->switch_ns) > times(b->q + 1, b->t->period) - b->t->jitter;
}

static void analyse_one(struct busy b)
{
    struct rta_task *t = b.t;

    begin(t, b.tasks, b.count);
    b.endless = is_endless(&b);
    t->r = 0;
    t->exact = solve(&b, add(t->c, b.switch_ns));
    while (t->exact && is_busy_after(&b) && !is_over(&b)) {
        b.q++;
        t->exact = solve(&b, add(b.w, t->c));
    }
    t->exact = t->exact && !is_busy_after(&b);
    t->jobs = b.q + 1;
    t->verdict = t->r > t->deadline ? RTA_LATE : t->exact ? RTA_SCHEDULABLE : RTA_UNDECIDED;
}

void rta_analyse(struct rta_task *tasks, size_t count, int64_t switch_ns)
{
    for (size_t i = 0; i < count; i++)
        analyse_one((struct busy){
            .t = &tasks[i], .tasks = tasks, .count = count, .switch_ns = switch_ns });
}

bool rta_is_schedulable(struct rta_task *tasks, size_t count, int64_t switch_ns)
{
    for (size_t i = 0; i < count; i++) {
        analyse_one((struct busy){ .t = &tasks[i],
                                   .tasks = tasks,
                                   .count = count,
                                   .switch_ns = switch_ns,
                                   .only_if_late = true });
        if (tasks[i].verdict != RTA_SCHEDULABLE)
            return false;
    }
    return true;
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
