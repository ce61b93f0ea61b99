/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Automata made at random, over traces made at random: what an event does with all the
 * lambdas that follow it in one transition (lib/analysis/metrics/engine/transitions.c) is what
 * entering state by state does.  For that each automaton has a twin with one more state, which
 * nothing leads to and which another thread's event would leave: such ones make no transitions.
 */
#include <stdarg.h>
#include <string.h>
#include "scene.h"
#include "support/run_suite.h"

enum { THREADS = 3, EVENTS = 1000, STATES = 7, TEXT = 8192 };

static const char *const names[] = { "a", "b", "c", "d", "e" };

#define NAMES (sizeof names / sizeof names[0])

static unsigned pick(size_t below)
{
    return (unsigned)(random() % (long)below);
}

struct text {
    char at[TEXT];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    t->length += (size_t)vsnprintf(t->at + t->length, TEXT - t->length, format, args);
    va_end(args);
    ck_assert_uint_lt(t->length, TEXT);
}

/* Lambdas lead forward only: none may go round. */
static void add_state(struct text *t, unsigned state, unsigned states)
{
    static const char *const kinds[] = {
        "begin", "end", "in", "in", "cond", "cond", "out", "cancel"
    };
    unsigned first = pick(NAMES), ways = 2 + pick(3);

    add(t, "  state s%u %s\n", state, state == 0 ? "out" : kinds[pick(8)]);
    if (state > 0 && state + 1 < states && pick(2)) {
        add(t, "    lambda -> s%u%s\n", state + 1 + pick(states - state - 1),
            pick(3) ? "" : " at event");
        return;
    }
    for (unsigned i = 0; i < ways; i++)
        add(t, "    %s, i%s -> s%u%s\n", names[(first + i) % NAMES], pick(4) ? "" : ", ok",
            pick(5) ? pick(states) : state, pick(5) ? "" : " at due");
}

static void end_texts(struct text *one, struct text *twin)
{
    *twin = *one;
    add(one, "end\n");
    add(twin, "  state nowhere out\n    nobody, not i -> s0\nend\n");
}

/* A metric and its twin. */
static void make_metric(struct text *one, struct text *twin)
{
    unsigned states = 3 + pick(STATES - 2);

    one->length = 0;
    add(one, "metric \"m\" \"made at random\"\n%s%s%s", pick(5) ? "" : "  report change\n",
        pick(5) ? "" : "  keep positive\n", pick(5) ? "" : "  count all\n");
    for (unsigned s = 0; s < states; s++)
        add_state(one, s, states);
    end_texts(one, twin);
}

static void add_loss(struct scene_trace *t, int64_t ns)
{
    scene_trace_add(t, ns, 0, "posix_trace_overflow", 0, 0, false);
    scene_trace_add(t, ns + 5, 0, "posix_trace_resume", 0, 0, false);
}

static trace_id_t make_trace(bool lossy)
{
    struct scene_trace *t = scene_trace_begin();
    int64_t ns = 1000;

    for (int i = 0; i < EVENTS; i++) {
        int64_t value = pick(2) ? 0 : pick(2) ? SCENE_BASE + ns + 200 - pick(400) : 1;

        if (lossy && pick(60) == 0)
            add_loss(t, ns += 10);
        scene_trace_add(t, ns += 5 + pick(60), 1 + (int)pick(THREADS), names[pick(NAMES)], 7, value,
                        pick(4) != 0);
    }
    return scene_trace_open(t);
}

static char *results(const struct text *text, trace_id_t trid)
{
    struct posixtrace_metric_fault fault;
    const posixtrace_metric_t *metric;
    posixtrace_metric_set_t *set;
    char *found;

    if (posixtrace_metric_set_parse(text->at, text->length, &set, &fault) != 0)
        ck_abort_msg("line %u: %s in\n%s", fault.line, fault.text, text->at);
    metric = posixtrace_metric_set_get(set, 0);
    found = scene_results(&metric, 1, trid);
    posixtrace_metric_set_free(set);
    return found;
}

/* When doubt begins differs: of a metric that looks at others all threads are stepped. */
static void drop_unknown(char *text)
{
    char *to = text;

    for (char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n') + 1;
        if (memmem(line, (size_t)(end - line), "unknown", 7))
            continue;
        memmove(to, line, (size_t)(end - line));
        to += end - line;
    }
    *to = '\0';
}

/* How many lines of results both have. */
static int expect_same(const struct text *one, const struct text *twin, trace_id_t trid, bool lossy)
{
    char *moved = results(one, trid), *stepped = results(twin, trid);
    int lines = 0;

    if (lossy) {
        drop_unknown(moved);
        drop_unknown(stepped);
    }
    if (strcmp(moved, stepped) != 0)
        ck_abort_msg("of\n%swas measured\n%.900s\nand with its twin\n%.900s", one->at, moved,
                     stepped);
    for (const char *c = moved; *c; c++)
        lines += *c == '\n';
    free(moved);
    free(stepped);
    return lines;
}

START_TEST(same_as_state_by_state)
{
    int rounds = getenv("POSIXTRACE_TEST_SHORT") ? 3 : 20, lines = 0;
    static struct text one, twin;

    srandom(20261122);
    for (int i = 0; i < rounds; i++) {
        trace_id_t trid = make_trace(i % 3 == 2);

        for (int k = 0; k < 50; k++) {
            make_metric(&one, &twin);
            lines += expect_same(&one, &twin, trid, i % 3 == 2);
        }
        scene_trace_close(trid);
    }
    ck_assert_int_gt(lines, 200 * rounds); /* it is not all about nothing */
}
END_TEST

/* What chance seldom makes: a state of type in that is only passed makes what was
 * conditional count; one of type cond that is come back to changes nothing. */
START_TEST(conditions)
{
    static const char *const from_cond[] = {
        "b, i -> s3\n  state s3 in\n    lambda -> s4\n",
        "b, i -> s3\n  state s3 out\n    lambda -> s4\n",
        "b, i -> s2\n    c, i -> s3\n  state s3 in\n    lambda -> s4\n",
        ("b, i -> s3\n  state s3 cond\n    c, i -> s5\n    d, i -> s4\n"
         "  state s5 in\n    b, i -> s4\n")
    };
    static struct text one, twin;
    trace_id_t trid;

    srandom(7);
    trid = make_trace(false);
    for (size_t i = 0; i < sizeof from_cond / sizeof from_cond[0]; i++) {
        one.length = 0;
        add(&one,
            "metric \"m\"\n  state s0 out\n    a, i -> s1\n  state s1 begin\n"
            "    lambda -> s2\n  state s2 cond\n    %s"
            "  state s4 end\n    lambda -> s0\n",
            from_cond[i]);
        end_texts(&one, &twin);
        ck_assert_int_gt(expect_same(&one, &twin, trid, false), 20);
    }
    scene_trace_close(trid);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_set_timeout(t, 60);
    tcase_add_test(t, same_as_state_by_state);
    tcase_add_test(t, conditions);
}

int main(void)
{
    return run_suite("metrics transitions", "transitions", NULL, add_tests);
}
