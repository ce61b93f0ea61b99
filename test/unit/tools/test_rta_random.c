/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Response-time analysis against schedules that are played time unit by time unit, of random task
 * sets: where all tasks are released together, each as late as its jitter allows, the longest
 * response is R; with other offsets and jitters none is longer.
 */
#include <check.h>
#include <string.h>
#include "rta/rta.h"
#include "support/run_suite.h"

enum { SETS = 300, MOST = 5, PATTERNS = 4, JOBS_MAX = 64, END = 6000 };

static uint64_t state;

/* xorshift64 (Marsaglia 2003). */
static int64_t below(int64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)limit);
}

static struct rta_task tasks[MOST];
static size_t count;
static int64_t switch_ns;

static double utilization(void)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)(tasks[i].value[RTA_C] + 2 * switch_ns) / (double)tasks[i].period;
    return sum;
}

static void make_set(void)
{
    do {
        count = 1 + (size_t)below(MOST);
        switch_ns = below(2) ? 0 : 1 + below(4);
        for (size_t i = 0; i < count; i++) {
            struct rta_task *t = &tasks[i];

            memset(t, 0, sizeof *t);
            t->priority = (int)(count - i);
            t->period = 4 + below(30) + 4 * switch_ns;
            t->deadline = 100000;
            t->jitter = below(2) ? below(2 * t->period) : 0;
            for (int v = 0; v < RTA_VALUES; v++)
                t->value[v] = 0;
            t->value[RTA_C] = 1 + below(t->period / 2);
            t->value[RTA_B] = below(3) ? 0 : below(8);
        }
    } while (utilization() > 0.97);
}

struct job {
    int64_t nominal, released, left; /* left: with both switches */
};

struct queue {
    struct job jobs[JOBS_MAX];
    size_t first, count;
    int64_t next; /* the nominal release of the next job */
};

static struct queue queues[MOST];

/* A job is released at its nominal time and so much later, not before the one before it. */
static int64_t delay_of(const struct rta_task *t, bool critical, int64_t nominal)
{
    if (critical)
        return nominal < 0 ? -nominal : 0;
    return t->jitter > 0 ? below(t->jitter + 1) : 0;
}

static void release(size_t i, bool critical)
{
    struct queue *q = &queues[i];
    struct job *job;

    ck_assert_uint_lt(q->count, JOBS_MAX);
    job = &q->jobs[(q->first + q->count++) % JOBS_MAX];
    job->nominal = q->next;
    job->released = q->next + delay_of(&tasks[i], critical, q->next);
    job->left = tasks[i].value[RTA_C] + 2 * switch_ns;
    q->next += tasks[i].period;
}

/* The job of task i that may run at that time, or NULL. */
static struct job *ready(size_t i, int64_t now)
{
    struct queue *q = &queues[i];
    struct job *best = NULL;

    for (size_t k = 0; k < q->count; k++) {
        struct job *job = &q->jobs[(q->first + k) % JOBS_MAX];

        if (job->left > 0)
            best = best || job->released > now ? best : job;
        if (job->left > 0)
            break; /* in the order of their nominal releases */
    }
    while (q->count > 0 && q->jobs[q->first].left == 0) {
        q->first = (q->first + 1) % JOBS_MAX;
        q->count--;
    }
    return best;
}

/* Plays the schedule; the longest response of each task.  blocked: for so long a lower critical
 * section has the processor at first. */
static void play(bool critical, int64_t blocked, int64_t longest[MOST])
{
    memset(queues, 0, sizeof queues);
    memset(longest, 0, MOST * sizeof *longest);
    for (size_t i = 0; i < count; i++)
        queues[i].next = critical ? -tasks[i].jitter : below(2 * tasks[i].period);
    for (int64_t now = 0; now < END; now++) {
        struct job *job = NULL;
        size_t i;

        for (i = 0; i < count; i++)
            while (queues[i].next <= now)
                release(i, critical);
        for (i = 0; now >= blocked && i < count && !(job = ready(i, now)); i++)
            continue;
        if (!job)
            continue;
        job->left--;
        if (job->left == switch_ns && now + 1 - job->nominal > longest[i])
            longest[i] = now + 1 - job->nominal;
    }
}

static void check_critical(void)
{
    int64_t longest[MOST];

    for (size_t i = 0; i < count; i++) {
        play(true, tasks[i].value[RTA_B], longest);
        ck_assert_msg(longest[i] == tasks[i].r, "task %zu of %zu: %lld, analysed %lld", i, count,
                      (long long)longest[i], (long long)tasks[i].r);
        ck_assert(tasks[i].exact && tasks[i].verdict == RTA_SCHEDULABLE);
    }
}

START_TEST(schedules_are_within_the_analysis)
{
    state = UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)_i;
    for (int set = 0; set < SETS / 10; set++) {
        int64_t longest[MOST];

        make_set();
        rta_analyse(tasks, count, switch_ns);
        check_critical();
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            play(false, 0, longest);
            for (size_t i = 0; i < count; i++)
                ck_assert_int_le(longest[i], tasks[i].r);
        }
    }
}
END_TEST

/* With the largest C that is found all is schedulable, and with 1 ns more it is not. */
START_TEST(growth_ends_where_it_says)
{
    static struct rta_growth g;

    state = UINT64_C(0xd1b54a32d192ed03) + (uint64_t)_i;
    for (int set = 0; set < SETS / 10; set++) {
        make_set();
        for (size_t i = 0; i < count; i++)
            tasks[i].deadline = tasks[i].period + below(tasks[i].period);
        rta_grow(tasks, count, switch_ns, &g);
        for (size_t i = 0; i < count; i++) {
            struct rta_task other[MOST];

            memcpy(other, tasks, sizeof other);
            other[i].value[RTA_C] = g.c_max[i] >= 0 ? g.c_max[i] : 0;
            ck_assert_int_eq(rta_is_schedulable(other, count, switch_ns), g.c_max[i] >= 0);
            other[i].value[RTA_C]++;
            ck_assert(!rta_is_schedulable(other, count, switch_ns));
        }
    }
}
END_TEST

static void add(TCase *t)
{
    tcase_add_loop_test(t, schedules_are_within_the_analysis, 0, 10);
    tcase_add_loop_test(t, growth_ends_where_it_says, 0, 10);
}

int main(void)
{
    return run_suite("tools", "rta random", NULL, add);
}
