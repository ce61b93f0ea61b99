/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Simulated groups of hosts whose true clocks are known: offsets up to 1 s, drifts up to 100 ppm,
 * latencies that differ by direction and by message.  The true clock is inside of every interval,
 * also between the times at which it is known, and no message is received before it was sent.  The
 * model is that of docs/sync.md: trace clocks run evenly.  The median width is printed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/sync/sync_group.h"
#include "support/run_suite.h"

enum {
    HOSTS = 6,
    MESSAGES = 40,
    MOST_CHANNELS = (HOSTS + 1) * (HOSTS + 1),
    PAIRS = 8000,
    GROUPS = 2000
};

#define BASE INT64_C(1700000000000000000)

struct world {
    uint64_t seed;
    size_t hosts;
    double span, offset[HOSTS], drift[HOSTS];
    int64_t begin[HOSTS], end[HOSTS];
    struct pt_sync_channel channels[MOST_CHANNELS];
    size_t channel_count;
    struct pt_sync_message messages[MOST_CHANNELS][MESSAGES];
};

static struct world world;

static double chance(struct world *w)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(w->seed >> 11) / 9007199254740992.0;
}

/* What the clock of a host shows at a time. */
static int64_t shows(const struct world *w, size_t host, double time)
{
    return BASE + llround(time * (1 + w->drift[host]) + w->offset[host]);
}

static void begin_world(struct world *w, uint64_t seed, size_t hosts)
{
    w->seed = seed * 7919 + 13;
    w->hosts = hosts;
    w->channel_count = 0;
    w->span = 1e9 * (1 + chance(w) * 500);
    for (size_t i = 0; i < hosts; i++) {
        w->offset[i] = i ? (chance(w) - 0.5) * 2e9 : 0;
        w->drift[i] = i ? (chance(w) - 0.5) * 2e-4 : 0;
        w->begin[i] = shows(w, i, 0);
        w->end[i] = shows(w, i, w->span);
    }
}

static void add_channel(struct world *w, size_t from, size_t to)
{
    struct pt_sync_message *m = w->messages[w->channel_count];
    double least = 1e4 + chance(w) * 2e5;

    for (size_t i = 0; i < MESSAGES; i++) {
        double at = chance(w) * w->span * 0.99, latency = least - log(1 - chance(w)) * 3e5;

        latency = at + latency > w->span ? w->span - at : latency;
        m[i] = (struct pt_sync_message){ shows(w, from, at), shows(w, to, at + latency) + 1 };
    }
    w->channels[w->channel_count++] = (struct pt_sync_channel){
        .from = from, .to = to, .messages = m, .count = MESSAGES
    };
}

/* What the kernel of a host says: UTC is off from its clock by less than error. */
static void add_kernel(struct world *w, size_t host, double error)
{
    for (int back = 0; back < 2; back++) {
        struct pt_sync_message *m = w->messages[w->channel_count];

        for (size_t i = 0; i < MESSAGES; i++) {
            double at = w->span * (double)i / MESSAGES, real = at + (chance(w) - 0.5) * 1.9 * error;
            int64_t utc = BASE + llround(back ? real + error : real - error);

            m[i] = back ? (struct pt_sync_message){ shows(w, host, at), utc }
                        : (struct pt_sync_message){ utc, shows(w, host, at) };
        }
        w->channels[w->channel_count++] = (struct pt_sync_channel){ .from = back ? host : w->hosts,
                                                                    .to = back ? w->hosts : host,
                                                                    .messages = m,
                                                                    .count = MESSAGES,
                                                                    .kernel = true };
    }
}

static struct pt_sync_group group_of(struct world *w)
{
    return (struct pt_sync_group){ .clocks = w->hosts,
                                   .reference = 0,
                                   .begin = w->begin,
                                   .end = w->end,
                                   .channels = w->channels,
                                   .channel_count = w->channel_count };
}

/* The common clock at a time of an axis, relative to BASE. */
static double common(const struct pt_sync_line *l, int64_t axis)
{
    size_t k = 1;

    while (k + 1 < l->count && l->axis[k] < axis)
        k++;
    return (double)(l->common[k - 1] - BASE) + (double)(axis - l->axis[k - 1]) *
                                                   (double)(l->common[k] - l->common[k - 1]) /
                                                   (double)(l->axis[k] - l->axis[k - 1]);
}

/* The interval of a posixtrace_sync_t with this line. */
static struct posixtrace_interval interval(const struct pt_sync_line *l, int64_t ns)
{
    struct pt_sync_host host = { .bounds = l->bounds,
                                 .bound_count = l->bound_count,
                                 .least_ppb = l->least_ppb,
                                 .most_ppb = l->most_ppb };
    struct posixtrace_sync sync = { .hosts = &host, .host_count = 1 };
    struct posixtrace_interval e;

    ck_assert_int_eq(posixtrace_sync_error(&sync, 0, ns, &e), 0);
    return e;
}

/* The true time is inside, from before the first message to after the last one. */
static void check_host(const struct world *w, const struct pt_sync_solution *s, size_t host)
{
    const struct pt_sync_line *l = &s->lines[host];

    for (int i = -2; i <= 22; i++) {
        double time = w->span * i / 20;
        double ns = common(l, shows(w, host, time));
        struct posixtrace_interval e = interval(l, BASE + llround(ns));

        if ((double)e.least_ns - 2 > time - ns || (double)e.most_ns + 2 < time - ns)
            ck_abort_msg("host %zu of %zu, at %d/20: %g is not from %lld to %lld", host, w->hosts,
                         i, time - ns, (long long)e.least_ns, (long long)e.most_ns);
    }
}

static void check_order(const struct world *w, const struct pt_sync_solution *s)
{
    for (size_t c = 0; c < w->channel_count; c++)
        for (size_t i = 0; !w->channels[c].kernel && i < w->channels[c].count; i++) {
            const struct pt_sync_message *m = &w->channels[c].messages[i];
            double sent = common(&s->lines[w->channels[c].from], m->sent);
            double received = common(&s->lines[w->channels[c].to], m->received);

            if (received < sent - 2)
                ck_abort_msg("a message is received %g ns before it was sent", sent - received);
        }
}

/* The width of the interval of a host in the middle. */
static double solve(struct world *w)
{
    struct pt_sync_group g = group_of(w);
    struct pt_sync_solution s;
    struct posixtrace_interval e;

    ck_assert_int_eq(pt_sync_solve(&g, &s), 0);
    for (size_t i = 0; i < w->hosts; i++)
        check_host(w, &s, i);
    check_order(w, &s);
    e = interval(&s.lines[1], BASE + llround(w->span / 2));
    pt_sync_solution_free(&s, w->hosts);
    return (double)e.most_ns - (double)e.least_ns;
}

static int by_value(const void *a, const void *b)
{
    return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

static void report(const char *what, double *width, size_t n)
{
    qsort(width, n, sizeof *width, by_value);
    printf("%zu %s: the median width of the interval is %.0f ns\n", n, what, width[n / 2]);
}

static size_t runs(size_t full)
{
    return getenv("POSIXTRACE_TEST_SHORT") ? full / 100 : full;
}

START_TEST(pairs)
{
    static double width[PAIRS];
    size_t n = runs(PAIRS);

    for (size_t i = 0; i < n; i++) {
        begin_world(&world, i, 2);
        add_channel(&world, 0, 1);
        add_channel(&world, 1, 0);
        width[i] = solve(&world);
        ck_assert(width[i] < 1e7);
    }
    report("pairs of hosts", width, n);
}
END_TEST

START_TEST(groups)
{
    static double width[GROUPS];
    size_t n = runs(GROUPS);

    for (size_t i = 0; i < n; i++) {
        size_t hosts = 3 + i % 4;

        begin_world(&world, i + 100000, hosts);
        for (size_t k = 0; k < hosts; k++) { /* a ring, or a chain */
            if (k + 1 == hosts && i % 3 == 0)
                break;
            add_channel(&world, k, (k + 1) % hosts);
            add_channel(&world, (k + 1) % hosts, k);
        }
        width[i] = solve(&world);
    }
    report("groups of 3 to 6 hosts", width, n);
}
END_TEST

/* Messages in one direction: the kernel's bounds close the interval.  None: they are the
 * interval. */
START_TEST(kernel)
{
    for (size_t i = 0; i < runs(1000); i++) {
        double width;

        begin_world(&world, i + 200000, 2);
        if (i % 2)
            add_channel(&world, 1, 0);
        add_kernel(&world, 0, 1e6);
        add_kernel(&world, 1, 5e6);
        width = solve(&world);
        ck_assert(width > 1e3 && width < 2.5e7);
    }
}
END_TEST

START_TEST(one_direction)
{
    begin_world(&world, 1, 2);
    add_channel(&world, 0, 1);
    ck_assert(solve(&world) > 1e17); /* one end is open */
    begin_world(&world, 2, 2);
    ck_assert(solve(&world) > 1e17);
}
END_TEST

/* Messages that no clocks fit are named. */
START_TEST(contradiction)
{
    struct pt_sync_group g;
    struct pt_sync_solution s;
    bool found = false;

    begin_world(&world, 3, 3);
    for (size_t i = 0; i < 3; i++) {
        add_channel(&world, i, (i + 1) % 3);
        add_channel(&world, (i + 1) % 3, i);
    }
    world.messages[2][7].received -= INT64_C(50000000);
    g = group_of(&world);
    ck_assert_int_eq(pt_sync_solve(&g, &s), EDOM);
    for (size_t i = 0; i < s.clash_count; i++)
        found |= s.clashes[i].channel == 2;
    ck_assert(found && s.clash_count >= 2 && s.clash_count <= 7);
    pt_sync_solution_free(&s, 3);
}
END_TEST

static void prepare(TCase *t)
{
    tcase_set_timeout(t, 200);
}

static void add(TCase *t)
{
    tcase_add_test(t, pairs);
    tcase_add_test(t, groups);
    tcase_add_test(t, kernel);
    tcase_add_test(t, one_direction);
    tcase_add_test(t, contradiction);
}

int main(void)
{
    return run_suite("sync group", "group", prepare, add);
}
