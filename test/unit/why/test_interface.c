/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The interface of posixtrace/why.h: errors, bounded memory, keys, deep chains.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <posixtrace/system.h>
#include <posixtrace/why.h>
#include "support/run_suite.h"

enum { SECOND = 1000000000, CHAIN = 40, WAITS = 3000 };

static posixtrace_log_builder_t *builder;
static FILE *file;
static int64_t now;

static void begin_log(void)
{
    file = tmpfile();
    now = SECOND;
    ck_assert(file && posixtrace_log_builder_create(fileno(file), NULL, &builder) == 0);
}

/* The next event, 10 ns after the one before. */
static void add(pid_t tid, const char *name, uint64_t first, uint64_t second)
{
    uint64_t data[2] = { first, second };
    struct posixtrace_event e = { .name = name,
                                  .thread_name = "t",
                                  .pid = 1,
                                  .tid = tid,
                                  .ns = now += 10,
                                  .data = data,
                                  .data_len = sizeof data };

    ck_assert_int_eq(posixtrace_log_builder_add(builder, &e, sizeof e), 0);
}

static trace_id_t end_log(void)
{
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(lseek(fileno(file), 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fileno(file), &trid), 0);
    fclose(file);
    return trid;
}

static posixtrace_why_t *explain(trace_id_t trid, const struct posixtrace_why_options *options,
                                 uint64_t step)
{
    posixtrace_why_t *w = NULL;
    int unavailable = 0;

    ck_assert_int_eq(posixtrace_why_create(trid, options, sizeof *options, &w), 0);
    while (!unavailable)
        ck_assert_int_eq(posixtrace_why_take(w, step, &unavailable), 0);
    ck_assert_int_eq(posixtrace_why_end(w), 0);
    return w;
}

static const struct posixtrace_why_options pair = {
    .begin = "x:begin", .end = "x:end", .from_ns = INT64_MIN, .to_ns = INT64_MAX, .worst = 4
};

static trace_id_t make_pair(void)
{
    begin_log();
    add(1, "posixtrace_thread_begin", 1, 0);
    add(1, "x:begin", 5, 0);
    add(1, "x:end", 5, 0);
    return end_log();
}

START_TEST(wrong_arguments_are_einval)
{
    struct posixtrace_why_options o = pair;
    trace_id_t trid = make_pair();
    posixtrace_why_t *w = NULL;
    int unavailable;

    ck_assert_int_eq(posixtrace_why_create(trid, &o, sizeof o, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_why_create(trid, &o, 0, &w), EINVAL);
    ck_assert_int_eq(posixtrace_why_create(trid + 1, &o, sizeof o, &w), EINVAL);
    o.end = NULL;
    ck_assert_int_eq(posixtrace_why_create(trid, &o, sizeof o, &w), EINVAL);
    o = pair;
    o.at_tid = 1;
    ck_assert_int_eq(posixtrace_why_create(trid, &o, sizeof o, &w), EINVAL);
    o = pair;
    o.begin = o.end = NULL;
    o.by = "id";
    ck_assert_int_eq(posixtrace_why_create(trid, &o, sizeof o, &w), EINVAL);
    ck_assert_ptr_null(w);
    ck_assert_int_eq(posixtrace_why_create(trid, &pair, sizeof pair, &w), 0);
    ck_assert_int_eq(posixtrace_why_take(NULL, 0, &unavailable), EINVAL);
    ck_assert_int_eq(posixtrace_why_take(w, 0, NULL), EINVAL);
    ck_assert_int_eq(posixtrace_why_end(w), EINVAL); /* in its first pass */
    ck_assert_int_eq(posixtrace_why_take(w, 0, &unavailable), 0);
    ck_assert_int_eq(unavailable, 1);
    ck_assert_int_eq(posixtrace_why_end(w), 0);
    ck_assert_int_eq(posixtrace_why_end(w), EINVAL);
    ck_assert_int_eq(posixtrace_why_take(w, 0, &unavailable), EINVAL);
    ck_assert_uint_eq(posixtrace_why_events(w), 2 * posixtrace_why_summary(w)->events);
    ck_assert_uint_eq(posixtrace_why_summary(w)->count, 1);
    ck_assert_ptr_null(posixtrace_why_instance(w, 1));
    ck_assert_ptr_null(posixtrace_why_segment(w, 0, 99));
    ck_assert_ptr_null(posixtrace_why_segment(w, 1, 0));
    ck_assert_ptr_null(posixtrace_why_blocked(w, 0));
    ck_assert_str_eq(posixtrace_why_thread_name(w, 1, 1), "t");
    ck_assert_str_eq(posixtrace_why_thread_name(w, 1, 2), "");
    posixtrace_why_free(w);
    posixtrace_why_free(NULL);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

/* What cannot be read twice is refused, unless its end is asked for. */
START_TEST(a_pipe_has_only_an_end)
{
    char bytes[65536];
    int ends[2];
    ssize_t length;
    trace_id_t trid;
    posixtrace_why_t *w = NULL;

    begin_log();
    add(1, "posixtrace_thread_begin", 1, 0);
    add(1, "posixtrace_mutex_lock", 4096, 7);
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    ck_assert_int_eq(pipe(ends), 0);
    length = pread(fileno(file), bytes, sizeof bytes, 0);
    ck_assert(length > 0 && write(ends[1], bytes, (size_t)length) == length);
    close(ends[1]);
    fclose(file);
    ck_assert_int_eq(posix_trace_open(ends[0], &trid), 0);
    ck_assert_int_eq(posixtrace_why_create(trid, &pair, sizeof pair, &w), ESPIPE);
    w = explain(trid, &(struct posixtrace_why_options){ .worst = 1 }, 1);
    ck_assert_int_eq(posixtrace_why_blocked(w, 0)->wait.tid, 1);
    ck_assert_uint_eq(posixtrace_why_blocked(w, 0)->deadlock, 0);
    posixtrace_why_free(w);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(ends[0]);
}
END_TEST

static int64_t sum_of(const posixtrace_why_t *w, size_t instance, enum posixtrace_why_reason reason)
{
    const struct posixtrace_why_segment *s;
    int64_t sum = 0;

    for (size_t i = 0; (s = posixtrace_why_segment(w, instance, i)) != NULL; i++)
        sum += s->depth == 0 && s->reason == reason ? s->end_ns - s->begin_ns : 0;
    return sum;
}

/* Of an instance with more parts than are kept, the oldest are left out, and the sum is exact. */
START_TEST(what_is_not_kept_is_said)
{
    struct posixtrace_why_options o = pair;
    const struct posixtrace_why_instance *row;
    posixtrace_why_t *w;
    trace_id_t trid;
    int64_t length, left_out;

    begin_log();
    add(1, "posixtrace_switch_in", 0, 0);
    add(1, "x:begin", 5, 0);
    for (int i = 0; i < WAITS; i++) {
        add(1, "posixtrace_switch_out", 0, 0);
        add(1, "posixtrace_switch_in", 0, 0);
        add(1, "y", 0, 0);
    }
    add(1, "x:end", 5, 0);
    trid = end_log();
    o.room = 100;
    w = explain(trid, &o, 7);
    row = posixtrace_why_instance(w, 0);
    length = row->end_ns - row->begin_ns;
    left_out = sum_of(w, 0, POSIXTRACE_WHY_LEFT_OUT);
    ck_assert_int_eq(length, 30 * WAITS + 10);
    ck_assert(left_out > length / 2 && left_out < length);
    ck_assert_int_eq(left_out + sum_of(w, 0, POSIXTRACE_WHY_NO_REASON), length);
    posixtrace_why_free(w);
    o.room = 0;
    w = explain(trid, &o, 0);
    ck_assert_int_eq(sum_of(w, 0, POSIXTRACE_WHY_NO_REASON), length);
    posixtrace_why_free(w);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

/* Thread 1 waits for a lock of 2, that for one of 3, and so on; where that ends is said. */
START_TEST(a_long_chain_ends)
{
    const struct posixtrace_why_segment *s, *last = NULL;
    posixtrace_why_t *w;
    trace_id_t trid;

    begin_log();
    for (pid_t tid = 1; tid <= CHAIN; tid++) {
        add(tid, "posixtrace_thread_begin", (uint64_t)tid, 0);
        add(tid, "posixtrace_mutex_lock", 64 * (uint64_t)tid, 7);
        add(tid, "posixtrace_mutex_locked", 64 * (uint64_t)tid, 0);
    }
    for (pid_t tid = CHAIN - 1; tid > 1; tid--)
        add(tid, "posixtrace_mutex_lock", 64 * (uint64_t)(tid + 1), 7);
    add(1, "x:begin", 0, 0);
    add(1, "posixtrace_mutex_lock", 128, 7);
    add(CHAIN, "y", 0, 0);
    trid = end_log();
    w = explain(trid, &pair, 0);
    ck_assert_uint_eq(posixtrace_why_summary(w)->open, 1);
    ck_assert(posixtrace_why_instance(w, 0)->open);
    for (size_t i = 0; (s = posixtrace_why_segment(w, 0, i)) != NULL; i++)
        last = s;
    ck_assert(last && last->depth == 16 && last->details_left_out && last->tid == 17);
    ck_assert_int_eq(last->other_tid, 18);
    posixtrace_why_free(w);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

START_TEST(the_worst_are_in_order)
{
    posixtrace_why_t *w;
    trace_id_t trid;

    begin_log();
    add(1, "posixtrace_thread_begin", 1, 0);
    for (int i = 0; i < 300; i++) {
        add(1, "x:begin", 0, 0);
        now += i * 77 % 300;
        add(1, "x:end", 0, 0);
    }
    trid = end_log();
    w = explain(trid, &pair, 5);
    for (size_t i = 0; i < 4; i++) {
        const struct posixtrace_why_instance *row = posixtrace_why_instance(w, i);

        ck_assert_int_eq(row->end_ns - row->begin_ns, 309 - (int64_t)i);
    }
    ck_assert_ptr_null(posixtrace_why_instance(w, 4));
    ck_assert_int_eq(posixtrace_why_summary(w)->slow_ns, 306);
    ck_assert_uint_eq(posixtrace_why_summary(w)->slow, 4);
    ck_assert_uint_eq(posixtrace_why_cause(w, 0)->instances, 4);
    posixtrace_why_free(w);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

/* Three threads with pairs in pairs, waits for each other and processors; events are lost once. */
static trace_id_t make_several(void)
{
    begin_log();
    for (pid_t tid = 1; tid <= 3; tid++)
        add(tid, "posixtrace_thread_begin", (uint64_t)tid, 0);
    for (unsigned i = 0; i < 400; i++) {
        pid_t tid = 1 + (pid_t)(i * 7 % 3), other = 1 + tid % 3;

        add(tid, "x:begin", i, 0);
        add(other, "posixtrace_mutex_lock", 64, 7);
        add(other, "posixtrace_mutex_locked", 64, 0);
        add(tid, "y:begin", i, 0);
        add(tid, "posixtrace_mutex_lock", 64, 8);
        add(tid, "posixtrace_switch_out", 0, 0);
        now += i * 77 % 300;
        if (i == 200)
            add(tid, "posix_trace_filter", 0, 0);
        add(other, "posixtrace_mutex_unlock", 64, 9);
        add(tid, "posixtrace_switch_in", 0, 0);
        add(tid, "posixtrace_mutex_locked", 64, 0);
        add(tid, "y:end", i, 0);
        now += i * 31 % 200;
        add(tid, "posixtrace_mutex_unlock", 64, 9);
        if (i % 50 != 49)
            add(tid, "x:end", i, 0);
        add(tid, "z:begin", i, 0);
        add(tid, "z:end", i, 0);
    }
    add(2, "y:begin", 0, 0);
    add(2, "w", 0, 0);
    return end_log();
}

static void same_segments(const posixtrace_why_t *a, const posixtrace_why_t *b, size_t instance)
{
    const struct posixtrace_why_segment *x, *y;
    size_t i = 0;

    do {
        x = posixtrace_why_segment(a, instance, i);
        y = posixtrace_why_segment(b, instance, i++);
        ck_assert(!x == !y);
        if (x)
            ck_assert(x->depth == y->depth && x->state == y->state && x->reason == y->reason &&
                      x->begin_ns == y->begin_ns && x->end_ns == y->end_ns && x->tid == y->tid &&
                      x->relation == y->relation && x->other_tid == y->other_tid &&
                      x->other_ns == y->other_ns && x->caller == y->caller);
    } while (x);
    ck_assert(i > 1);
}

static void same_causes(const posixtrace_why_t *a, const posixtrace_why_t *b)
{
    const struct posixtrace_why_cause *x, *y;
    size_t i = 0;

    do {
        x = posixtrace_why_cause(a, i);
        y = posixtrace_why_cause(b, i++);
        ck_assert(!x == !y);
        if (x)
            ck_assert(x->ns == y->ns && x->beyond_ns == y->beyond_ns &&
                      x->instances == y->instances && x->root.state == y->root.state &&
                      x->segment.state == y->segment.state && x->root.tid == y->root.tid);
    } while (x);
}

static void same_rows(const posixtrace_why_t *a, const posixtrace_why_t *b)
{
    const struct posixtrace_why_summary *one = posixtrace_why_summary(a),
                                        *two = posixtrace_why_summary(b);
    const struct posixtrace_why_instance *x, *y;
    size_t i = 0;

    ck_assert_mem_eq(one, two, offsetof(struct posixtrace_why_summary, statistics));
    ck_assert(one->begins == two->begins && one->ends == two->ends && one->gaps == two->gaps);
    do {
        x = posixtrace_why_instance(a, i);
        y = posixtrace_why_instance(b, i);
        ck_assert(!x == !y);
        if (!x)
            break;
        ck_assert(x->begin_ns == y->begin_ns && x->end_ns == y->end_ns && x->tid == y->tid &&
                  x->open == y->open && x->segments == y->segments);
        same_segments(a, b, i);
    } while (++i);
    ck_assert(i > 3);
    same_causes(a, b);
}

/* Pairs that share the passes have the rows that each has alone. */
START_TEST(pairs_share_the_passes)
{
    static const char *const names[] = { "y", "x", "absent", "z" };
    struct posixtrace_why_options o = { .from_ns = INT64_MIN,
                                        .to_ns = INT64_MAX,
                                        .worst = 4,
                                        .pairs = names,
                                        .pair_count = 4 },
                                  alone = pair;
    trace_id_t trid = make_several();
    posixtrace_why_t *all = explain(trid, &o, 1000), *one = explain(trid, &pair, 0);

    ck_assert_int_eq(posixtrace_why_select(all, 4), EINVAL);
    ck_assert_int_eq(posixtrace_why_select(NULL, 0), EINVAL);
    ck_assert_int_eq(posixtrace_why_select(all, 2), 0);
    ck_assert_uint_eq(posixtrace_why_summary(all)->count, 0);
    ck_assert_ptr_null(posixtrace_why_instance(all, 0));
    ck_assert_int_eq(posixtrace_why_select(all, 1), 0);
    ck_assert_uint_gt(posixtrace_why_summary(all)->unknown, 0);
    same_rows(all, one);
    posixtrace_why_free(one);
    alone.begin = "y:begin";
    alone.end = "y:end";
    one = explain(trid, &alone, 0);
    ck_assert_int_eq(posixtrace_why_select(all, 0), 0);
    ck_assert_uint_eq(posixtrace_why_summary(all)->open, 1);
    same_rows(all, one);
    posixtrace_why_free(one);
    posixtrace_why_free(all);
    o.begin = "x:begin";
    o.end = "x:end";
    ck_assert_int_eq(posixtrace_why_create(trid, &o, sizeof o, &all), EINVAL);
    ck_assert_int_eq(posix_trace_close(trid), 0);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, wrong_arguments_are_einval);
    tcase_add_test(tc, a_pipe_has_only_an_end);
    tcase_add_test(tc, what_is_not_kept_is_said);
    tcase_add_test(tc, a_long_chain_ends);
    tcase_add_test(tc, the_worst_are_in_order);
    tcase_add_test(tc, pairs_share_the_passes);
}

int main(void)
{
    return run_suite("why", "interface", NULL, add_tests);
}
