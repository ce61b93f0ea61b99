/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Random traces, and the same traces with gaps, measured by all metrics of all sets.  Each known
 * measurement of the trace with gaps is also one of the whole trace.  Each other one of the whole
 * trace lies within an unknown one of its thread, and is not longer than the bound of that; or its
 * thread has no event outside of the gaps, and the bound of the metric holds.
 *
 * A case is one metric over one trace.  Events come in any order, so there are starts inside of
 * measurements, ends without a start, and mutexes locked twice.  The width is printed: the bounds
 * divided by the true lengths.
 */
#include <string.h>
#include <posixtrace/ada_metrics.h>
#include "scene.h"
#include "support/run_suite.h"

enum {
    THREADS = 4,
    OBJECTS = 3,
    EVENTS_MAX = 60000,
    FOUND_MAX = 400000,
    METRICS_MAX = 32,
    VALUE_ERROR = 5
};

struct event {
    int64_t ns, value;
    const char *name;
    uint64_t object;
    int tid;
    bool has_data;
};

struct found {
    struct posixtrace_measurement *m; /* FOUND_MAX */
    size_t count;
    struct posixtrace_doubt doubts[METRICS_MAX];
};

struct loss {
    unsigned gaps;    /* so many, about */
    unsigned longest; /* events of a gap */
    unsigned spare;   /* one in so many events inside is not lost; 0: none */
};

static struct event events[EVENTS_MAX];
static size_t event_count;
static bool kept[EVENTS_MAX];
static struct found truth, part;
static const posixtrace_metric_t *metrics[METRICS_MAX];
static size_t metric_count;
static posixtrace_metric_set_t *sets[3];
static posixtrace_metric_t *own[3];
static const char *names[128];
static size_t name_count;
static uint64_t cases, known, unknown;
static double width_sum;
static uint64_t width_count;
static size_t most_gaps, most_inside; /* of a trace, and kept events of a gap */

/* ---- metrics ---- */

static void add_names(const posixtrace_metric_t *metric)
{
    const char *name;

    for (size_t i = 0; (name = posixtrace_metric_event(metric, i, NULL)) != NULL; i++) {
        size_t k = 0;

        while (k < name_count && strcmp(names[k], name) != 0)
            k++;
        if (k == name_count)
            names[name_count++] = name;
    }
}

/* Of items, which threads hand to each other: one ends what it takes, one restarts it. */
static const char items[] =
    "metric Queue by item state idle out begin -> put state put begin lambda -> waits "
    "state waits in finish -> got state got end lambda -> idle end "
    "metric Change by item report change state idle out begin, ok -> put state put begin "
    "lambda -> waits state waits in begin -> put other -> rest finish -> got "
    "state rest out other -> waits state got end lambda -> idle end";

static void open_metrics(void)
{
    const posixtrace_metric_t *metric;

    ck_assert_int_eq(posixtrace_metric_set_open("linux", &sets[0]), 0);
    ck_assert_int_eq(posixtrace_metric_set_open("marte", &sets[1]), 0);
    ck_assert_int_eq(posixtrace_metric_set_parse(items, strlen(items), &sets[2], NULL), 0);
    ck_assert_int_eq(posixtrace_new_user_metric("a", "begin", "finish", true, &own[0]), 0);
    ck_assert_int_eq(posixtrace_new_user_metric("b", "begin", "finish", false, &own[1]), 0);
    ck_assert_int_eq(posixtrace_new_user_metric("c", "begin", "begin", true, &own[2]), 0);
    for (int s = 0; s < 3; s++)
        for (size_t i = 0; (metric = posixtrace_metric_set_get(sets[s], i)) != NULL; i++)
            metrics[metric_count++] = metric;
    for (int i = 0; i < 3; i++)
        metrics[metric_count++] = own[i];
    for (size_t i = 0; i < metric_count; i++)
        add_names(metrics[i]);
    names[name_count++] = "other";
}

static void close_metrics(void)
{
    for (int i = 0; i < 3; i++)
        posixtrace_metric_free(own[i]);
    for (int i = 0; i < 3; i++)
        posixtrace_metric_set_free(sets[i]);
}

/* ---- traces ---- */

static size_t pick(size_t below)
{
    return (size_t)random() % below;
}

/* Not before the due time before it, or the time at which that one was said. */
static int64_t next_due(int64_t *low, int64_t ns)
{
    int64_t due = ns + 300 - (int64_t)pick(600);

    if (pick(10) == 0)
        return 0;
    if (pick(20) == 0)
        due = ns + 1000000;
    due = due > *low ? due : *low;
    *low = due < ns ? due : ns;
    return SCENE_BASE + due;
}

/* Of some of the names only: what leads on comes often enough then. */
static void make_trace(size_t count)
{
    const char *some[12];
    int64_t low[THREADS + 1], ns = 1000;
    size_t used = 2 + pick(11);

    for (int i = 0; i <= THREADS; i++)
        low[i] = ns;
    for (size_t i = 0; i < used; i++)
        some[i] = names[pick(name_count)];
    for (event_count = 0; event_count < count; event_count++) {
        struct event *e = &events[event_count];

        *e = (struct event){ .ns = ns,
                             .name = some[pick(used)],
                             .tid = 1 + (int)pick(THREADS),
                             .object = pick(OBJECTS),
                             .has_data = true };
        if (pick(200) == 0)
            e->name = "posixtrace_thread_end";
        if (strncmp(e->name, "posixtrace_sleep", 16) == 0)
            e->value = next_due(&low[e->tid], ns);
        else
            e->value = pick(4) ? 0 : VALUE_ERROR;
        ns += 1 + (int64_t)pick(100);
    }
}

/* One job after the other, as a thread of a set of tasks does them. */
static const char *const script[] = { "posixtrace_sleep_done",
                                      "begin",
                                      "posixtrace_mutex_lock",
                                      "posixtrace_mutex_locked",
                                      "posixtrace_switch_preempted",
                                      "posixtrace_switch_in",
                                      "posixtrace_mutex_unlock",
                                      "finish",
                                      "posixtrace_sleep",
                                      "posixtrace_switch_out",
                                      "posixtrace_switch_in" };

enum { LINES = sizeof script / sizeof script[0], PERIOD = 5000 };

static void make_tasks(size_t count)
{
    struct {
        int64_t ns, due;
        unsigned line;
    } t[THREADS];

    for (int i = 0; i < THREADS; i++) {
        t[i].ns = t[i].due = 1000 + i;
        t[i].line = 0;
    }
    for (event_count = 0; event_count < count; event_count++) {
        size_t next = 0;

        for (size_t i = 1; i < THREADS; i++)
            next = t[i].ns < t[next].ns ? i : next;
        if (strcmp(script[t[next].line], "posixtrace_sleep") == 0)
            t[next].due += PERIOD;
        events[event_count] = (struct event){ .ns = t[next].ns,
                                              .name = script[t[next].line],
                                              .tid = 1 + (int)next,
                                              .object = 1,
                                              .has_data = true };
        if (strncmp(script[t[next].line], "posixtrace_sleep", 16) == 0)
            events[event_count].value = SCENE_BASE + t[next].due;
        t[next].line = (t[next].line + 1) % LINES;
        t[next].ns += THREADS * (1 + (int64_t)pick(100)); /* no two at one time */
        if (t[next].line == LINES - 1 && t[next].ns < t[next].due)
            t[next].ns += (t[next].due - t[next].ns) / THREADS * THREADS;
    }
}

static void add_event(struct scene_trace *t, const struct event *e)
{
    scene_trace_add(t, e->ns, e->tid, e->name, e->object, e->value, e->has_data);
}

static struct scene_trace *whole_trace(void)
{
    struct scene_trace *t = scene_trace_begin();

    for (size_t i = 0; i < event_count; i++)
        add_event(t, &events[i]);
    return t;
}

/* Adds a gap from the i-th event on; returns the index of the event after it.  Usually a thread
 * loses all its events there, or none. */
static size_t add_gap(struct scene_trace *t, size_t i, const struct loss *loss)
{
    size_t end = i + 1 + pick(loss->longest), spared = loss->spare ? pick(3) : 0;
    bool stop = pick(2);
    size_t inside = 0;

    if (loss->gaps == 1 && loss->spare) { /* the only one: with events inside */
        spared = 1 + pick(2);
        stop = false;
    }
    end = end < event_count ? end : event_count;
    scene_trace_add(t, events[i].ns, 0, stop ? "posix_trace_stop" : "posix_trace_overflow", 0, 0,
                    false);
    for (size_t k = i; k < end; k++) {
        kept[k] = !stop &&
                  ((spared == 1 && pick(loss->spare) == 0) || (spared == 2 && events[k].tid == 1));
        inside += kept[k];
        if (kept[k])
            add_event(t, &events[k]);
    }
    most_inside = inside > most_inside ? inside : most_inside;
    scene_trace_add(t, events[end - 1].ns, 0, stop ? "posix_trace_start" : "posix_trace_resume", 0,
                    0, false);
    return end;
}

static struct scene_trace *lossy_trace(const struct loss *loss)
{
    struct scene_trace *t = scene_trace_begin();
    size_t every = event_count / loss->gaps + 1, gaps = 0;
    size_t first = loss->gaps == 1 ? pick(event_count / 2) : event_count; /* there is one */

    for (size_t i = 0; i < event_count;) {
        if (i == first || pick(every) == 0) {
            i = add_gap(t, i, loss);
            gaps++;
            continue;
        }
        kept[i] = true;
        add_event(t, &events[i++]);
    }
    most_gaps = gaps > most_gaps ? gaps : most_gaps;
    return t;
}

/* ---- measuring ---- */

static int note(void *context, const struct posixtrace_measurement *m)
{
    struct found *f = context;

    ck_assert_uint_lt(f->count, FOUND_MAX);
    f->m[f->count++] = *m;
    return 0;
}

static int order(const void *a, const void *b)
{
    const struct posixtrace_measurement *x = a, *y = b;

    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->unknown != y->unknown)
        return x->unknown ? 1 : -1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static void measure(struct scene_trace *t, struct found *f)
{
    trace_id_t trid = scene_trace_open(t);
    posixtrace_metric_run_t *run;
    int none;

    f->count = 0;
    ck_assert_int_eq(posixtrace_metric_run_create(metrics, metric_count, trid, note, f, &run), 0);
    ck_assert_int_eq(posixtrace_metric_run_take(run, 0, &none), 0);
    ck_assert_int_eq(posixtrace_metric_run_end(run), 0);
    for (size_t i = 0; i < metric_count; i++)
        posixtrace_metric_run_doubt(run, i, &f->doubts[i], sizeof f->doubts[i]);
    posixtrace_metric_run_free(run);
    scene_trace_close(trid);
    qsort(f->m, f->count, sizeof f->m[0], order);
}

/* ---- the truth lies inside ---- */

static bool same(const struct posixtrace_measurement *a, const struct posixtrace_measurement *b)
{
    return a->metric == b->metric && a->tid == b->tid && a->key == b->key &&
           a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->length_ns == b->length_ns &&
           a->intermediate_events == b->intermediate_events && !a->unknown && !b->unknown;
}

static bool covers(const struct posixtrace_measurement *u, const struct posixtrace_measurement *m)
{
    return u->metric == m->metric && u->tid == m->tid && u->unknown &&
           (u->key == m->key || u->key == 0) && u->begin_ns <= m->begin_ns &&
           u->end_ns >= m->end_ns && u->length_ns >= m->length_ns;
}

/* The first measurement of that metric and thread; *end: the index after the last one. */
static size_t find(const struct found *f, const struct posixtrace_measurement *m, size_t *end)
{
    size_t low = 0, high = f->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct posixtrace_measurement *x = &f->m[middle];

        if (x->metric < m->metric || (x->metric == m->metric && x->tid < m->tid))
            low = middle + 1;
        else
            high = middle;
    }
    for (*end = low; *end < f->count && f->m[*end].metric == m->metric && f->m[*end].tid == m->tid;)
        ++*end;
    return low;
}

/* Is an event of the thread left?  Numbers come again when a thread has ended. */
static bool is_seen(const struct posixtrace_measurement *m)
{
    bool seen = false;

    for (size_t i = 0; i < event_count; i++) {
        if (events[i].tid != m->tid)
            continue;
        seen |= kept[i];
        if (strcmp(events[i].name, "posixtrace_thread_end") != 0)
            continue;
        if (SCENE_BASE + events[i].ns >= m->end_ns)
            return seen;
        seen = false;
    }
    return seen;
}

static void wrong(const char *what, const struct posixtrace_measurement *m, unsigned seed)
{
    ck_abort_msg("seed %u: %s: %s of thread %d, object %llu: %lld..%lld, %lld ns, %llu events",
                 seed, what, posixtrace_metric_name(m->metric), (int)m->tid,
                 (unsigned long long)m->key, (long long)(m->begin_ns - SCENE_BASE),
                 (long long)(m->end_ns - SCENE_BASE), (long long)m->length_ns,
                 (unsigned long long)m->intermediate_events);
}

static void check_unknown(const struct posixtrace_measurement *m, size_t first, size_t end,
                          unsigned seed)
{
    size_t i = first;

    while (i < end && !covers(&part.m[i], m))
        i++;
    if (i < end)
        return;
    if (is_seen(m))
        wrong("within no unknown one", m, seed);
    for (size_t k = 0; k < metric_count; k++)
        if (metrics[k] == m->metric && part.doubts[k].at_most_ns < m->length_ns)
            wrong("of a thread without events, and too long", m, seed);
}

static void check_inside(unsigned seed)
{
    size_t first = 0, end = 0, given = 0, matched = 0;

    for (size_t i = 0; i < part.count; i++)
        given += !part.m[i].unknown;
    for (size_t i = 0; i < truth.count; i++) {
        const struct posixtrace_measurement *m = &truth.m[i];
        size_t k;

        if (i == 0 || m->metric != m[-1].metric || m->tid != m[-1].tid)
            first = find(&part, m, &end);
        ck_assert(!m->unknown);
        /* Both are in the same order: the next known one must be m. */
        for (k = first; k < end && !part.m[k].unknown && order(&part.m[k], m) < 0; k++)
            wrong("not of the whole trace", &part.m[k], seed);
        first = k;
        if (k < end && same(&part.m[k], m)) {
            first++;
            matched++;
        } else {
            check_unknown(m, k, end, seed);
        }
    }
    ck_assert_uint_eq(matched, given);
    known += matched;
}

/* Of each metric and thread, the bound of the longest beside the longest. */
static void add_width(void)
{
    for (size_t i = 0, end; i < truth.count; i = end) {
        int64_t longest = 0, bound = 0;
        size_t first, last;

        for (end = i; end < truth.count && truth.m[end].metric == truth.m[i].metric &&
                      truth.m[end].tid == truth.m[i].tid;
             end++)
            longest = truth.m[end].length_ns > longest ? truth.m[end].length_ns : longest;
        first = find(&part, &truth.m[i], &last);
        for (; first < last; first++)
            bound = part.m[first].length_ns > bound ? part.m[first].length_ns : bound;
        if (longest > 0 && bound >= longest) {
            width_sum += (double)bound / (double)longest;
            width_count++;
        }
    }
}

static void run_case(unsigned seed, void (*make)(size_t), size_t count, const struct loss *loss)
{
    srandom(seed);
    make(count);
    measure(whole_trace(), &truth);
    measure(lossy_trace(loss), &part);
    check_inside(seed);
    add_width();
    for (size_t i = 0; i < part.count; i++)
        unknown += part.m[i].unknown;
    cases += metric_count;
}

static void begin(void)
{
    metric_count = name_count = 0;
    cases = known = unknown = width_count = 0;
    most_gaps = most_inside = 0;
    width_sum = 0;
    truth.m = malloc(FOUND_MAX * sizeof *truth.m);
    part.m = malloc(FOUND_MAX * sizeof *part.m);
    ck_assert(truth.m && part.m);
    open_metrics();
}

static void end(const char *what)
{
    printf("%s: %llu cases, up to %zu gaps and %zu events inside one, %llu measurements known, "
           "%llu unknown ones; bounds are %.2f times the longest on average\n",
           what, (unsigned long long)cases, most_gaps, most_inside, (unsigned long long)known,
           (unsigned long long)unknown, width_sum / (double)width_count);
    ck_assert_uint_gt(known, 0);
    ck_assert_uint_gt(unknown, 0);
    close_metrics();
    free(truth.m);
    free(part.m);
}

START_TEST(few_gaps)
{
    static const struct loss losses[] = { { 1, 30, 0 }, { 3, 30, 3 }, { 10, 10, 2 }, { 30, 3, 2 } };
    unsigned rounds = getenv("POSIXTRACE_TEST_LONG")    ? 50000
                      : getenv("POSIXTRACE_TEST_SHORT") ? 60
                                                        : 700;

    begin();
    for (unsigned i = 0; i < rounds; i++)
        run_case(i + 1, make_trace, 50 + i % 250, &losses[i % 4]);
    if (rounds >= 700)
        ck_assert_uint_ge(cases, 10000);
    end("few gaps");
}
END_TEST

START_TEST(many_gaps)
{
    static const struct loss losses[] = { { 8000, 3, 2 }, { 1, 20000, 2 }, { 200, 100, 0 } };
    unsigned rounds = getenv("POSIXTRACE_TEST_LONG")    ? 200
                      : getenv("POSIXTRACE_TEST_SHORT") ? 3
                                                        : 12;

    begin();
    for (unsigned i = 0; i < rounds; i++)
        run_case(i + 1, make_trace, 30000, &losses[i % 3]);
    if (rounds >= 12) {
        ck_assert_uint_ge(most_gaps, 5000);
        ck_assert_uint_ge(most_inside, 2000);
    }
    end("many gaps");
}
END_TEST

START_TEST(tasks)
{
    static const struct loss losses[] = { { 1, 10, 0 }, { 3, 30, 3 }, { 20, 3, 0 } };
    unsigned rounds = getenv("POSIXTRACE_TEST_LONG")    ? 3000
                      : getenv("POSIXTRACE_TEST_SHORT") ? 9
                                                        : 90;

    begin();
    for (unsigned i = 0; i < rounds; i++)
        run_case(i + 1, make_tasks, 1000, &losses[i % 3]);
    end("tasks");
}
END_TEST

static void add(TCase *tc)
{
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, few_gaps);
    tcase_add_test(tc, many_gaps);
    tcase_add_test(tc, tasks);
}

int main(void)
{
    return run_suite("metrics", "doubt", NULL, add);
}
