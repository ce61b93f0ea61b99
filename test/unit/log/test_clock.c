/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * posixtrace/clock.h: readings of the host's clock in logs, and another clock in the place of the
 * log's own, for events, blocks, positions and information.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <posixtrace/block.h>
#include <posixtrace/clock.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include "model/clock_text.h"
#include "log/writer/writer.h"
#include "log_helpers.h"
#include "support/need.h"
#include "support/refuse_call.h"
#include "support/run_suite.h"

enum { EVENTS = 400 };

#define TICKS UINT64_C(3000000000) /* from one event to the next: 1.5 s by the log's own table */
#define FIRST UINT64_C(5000000000000)
#define OTHER INT64_C(1700000000000000000)

static trace_id_t open_fd(int fd)
{
    trace_id_t trid;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    return trid;
}

/* Events at FIRST + i * TICKS; 2 ns a tick, and an hour later from the middle on. */
static int ticking_log(void)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);
    struct pt_sync step = { .ts = FIRST + EVENTS / 2 * TICKS, .mult = 2ull << 32 };
    struct pt_log_author_totals totals;
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    struct maker m;

    step.ns = (int64_t)(2 * step.ts + 1000) + INT64_C(3600000000000);
    ck_assert_int_eq(pt_log_put_sync(w, &step), 0);
    maker_init(&m, 1);
    for (uint64_t i = 0; i < EVENTS; i++)
        maker_add(&m, FIRST + i * TICKS, 16);
    ck_assert_int_eq(pt_log_put_packet(w, maker_take(&m)), 0);
    totals = totals_of(&m);
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, &totals, 1), 0);
    pt_log_writer_free(w);
    return fd;
}

/* What the knots say at that time, in double-width arithmetic. */
static int64_t expected(const struct posixtrace_clock_knot *k, size_t n, uint64_t ticks)
{
    size_t i = 1;

    while (i + 1 < n && ticks >= k[i].ticks)
        i++;
    return k[i - 1].ns + (int64_t)((long double)(int64_t)(ticks - k[i - 1].ticks) *
                                   (long double)(k[i].ns - k[i - 1].ns) /
                                   (long double)(k[i].ticks - k[i - 1].ticks));
}

static const struct posixtrace_clock_knot knots[] = {
    { FIRST - 1000, OTHER },
    { FIRST + 100 * TICKS + 7, OTHER + INT64_C(100000123456) },
    { FIRST + EVENTS * TICKS, OTHER + INT64_C(400001000000) },
};
#define KNOTS (sizeof knots / sizeof knots[0])

static bool is_near(int64_t a, int64_t b)
{
    return a - b <= 4 && b - a <= 4;
}

START_TEST(events_of_another_clock)
{
    int fd = ticking_log(), end = 0;
    trace_id_t trid = open_fd(fd);
    struct posixtrace_event e;
    struct posixtrace_info info;

    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_int_eq(info.first_ns, (int64_t)(2 * FIRST) + 1000);
    ck_assert_int_eq(posixtrace_set_clock_map(trid, knots, KNOTS), 0);
    for (uint64_t i = 0; i < EVENTS; i++) {
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &end), 0);
        if (end || !is_near(e.ns, expected(knots, KNOTS, FIRST + i * TICKS)))
            ck_abort_msg("event %" PRIu64 ": %" PRId64 ", expected %" PRId64, i, e.ns,
                         expected(knots, KNOTS, FIRST + i * TICKS));
    }
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert(is_near(info.first_ns, expected(knots, KNOTS, FIRST)));
    ck_assert(is_near(info.last_ns, expected(knots, KNOTS, FIRST + (EVENTS - 1) * TICKS)));
    /* and the log's own again */
    ck_assert_int_eq(posixtrace_set_clock_map(trid, NULL, 0), 0);
    ck_assert_int_eq(posix_trace_rewind(trid), 0);
    ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &end), 0);
    ck_assert_int_eq(e.ns, (int64_t)(2 * FIRST) + 1000);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

/* Blocks, positions, and that the step of CLOCK_REALTIME is no gap of a steady clock. */
START_TEST(blocks_and_positions)
{
    int fd = ticking_log(), end = 0;
    trace_id_t trid = open_fd(fd);
    struct posixtrace_block b;
    struct posixtrace_event e;
    struct posixtrace_info info;
    size_t sum = 0;
    bool gap = false;

    for (int mapped = 0; mapped < 2; mapped++) {
        ck_assert_int_eq(posixtrace_set_clock_map(trid, mapped ? knots : NULL, mapped ? KNOTS : 0),
                         0);
        ck_assert_int_eq(posix_trace_rewind(trid), 0);
        for (gap = false, sum = 0;; sum += b.count) {
            ck_assert_int_eq(posixtrace_next_block(trid, 0, &b, sizeof b, &end), 0);
            gap |= b.gap;
            if (end)
                break;
            for (size_t i = 0; mapped && i < b.count; i++)
                if (!is_near(b.ns[i], expected(knots, KNOTS, FIRST + (sum + i) * TICKS)))
                    ck_abort_msg("event %zu of a block: %" PRId64, sum + i, b.ns[i]);
        }
        ck_assert_uint_eq(sum, EVENTS);
        ck_assert_int_eq(gap, !mapped);
    }
    for (uint64_t i = 1; i < EVENTS; i += 37) {
        int64_t at = expected(knots, KNOTS, FIRST + i * TICKS);

        ck_assert_int_eq(posixtrace_seek(trid, at - 1000), 0);
        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &end), 0);
        ck_assert(!end && is_near(e.ns, at));
    }
    ck_assert_int_eq(posixtrace_get_info(trid, &info, sizeof info), 0);
    ck_assert_uint_eq(info.set_back, 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

/* An imported log has no trace clock: its times take the place of the ticks. */
START_TEST(imported)
{
    static const struct posixtrace_clock_knot by_time[] = {
        { (uint64_t)OTHER, OTHER + 5000 },
        { (uint64_t)OTHER + 60000000000, OTHER + 5000 + INT64_C(60000600000) },
        { (uint64_t)OTHER + 140000000000, OTHER + 5000 + INT64_C(140000000000) },
    };
    posixtrace_log_builder_t *builder;
    struct posixtrace_event e = { .name = "e", .thread_name = "" };
    int fd = log_file(), end = 0;
    trace_id_t trid;

    ck_assert_int_eq(posixtrace_log_builder_create(fd, NULL, &builder), 0);
    for (int i = 0; i < EVENTS; i++) {
        e.ns = OTHER + i / 3 * INT64_C(1000000000) + i % 3 / 2;
        ck_assert_int_eq(posixtrace_log_builder_add(builder, &e, sizeof e), 0);
    }
    ck_assert_int_eq(posixtrace_log_builder_finish(builder), 0);
    trid = open_fd(fd);
    ck_assert_int_eq(posixtrace_set_clock_map(trid, by_time, 3), 0);
    for (int i = 0; i < EVENTS; i++) {
        int64_t was = OTHER + i / 3 * INT64_C(1000000000) + i % 3 / 2;

        ck_assert_int_eq(posixtrace_next_event(trid, &e, sizeof e, &end), 0);
        if (end || !is_near(e.ns, expected(by_time, 3, (uint64_t)was)))
            ck_abort_msg("event %d: %" PRId64 ", expected %" PRId64, i, e.ns,
                         expected(by_time, 3, (uint64_t)was));
    }
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

START_TEST(wrong_knots)
{
    static const struct posixtrace_clock_knot wrong[][2] = {
        { { 5, 10 }, { 5, 20 } },        { { 5, 10 }, { 4, 20 } },
        { { 5, 10 }, { 6, 10 } },        { { 5, 10 }, { 6, 9 } },
        { { 5, 10 }, { 6, 5000 } },      { { 0, INT64_MIN }, { 1, INT64_MAX } },
        { { 0, 0 }, { UINT64_MAX, 1 } },
    };
    static const struct posixtrace_clock_knot wide[] = { { 0, INT64_MIN },
                                                         { UINT64_MAX, INT64_MAX } };
    int fd = ticking_log();
    trace_id_t trid = open_fd(fd);

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_int_eq(posixtrace_set_clock_map(trid, wrong[i], 2), EINVAL);
    ck_assert_int_eq(posixtrace_set_clock_map(trid, knots, 1), EINVAL);
    ck_assert_int_eq(posixtrace_set_clock_map(trid, NULL, 2), EINVAL);
    ck_assert_int_eq(posixtrace_set_clock_map(trid, wide, 2), 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    ck_assert_int_eq(posixtrace_set_clock_map(trid, knots, KNOTS), EINVAL);
    close(fd);
}
END_TEST

/* ---- readings ---- */

START_TEST(texts)
{
    static const char *const bad[] = { "",
                                       "1",
                                       "1 2 3 4",
                                       "x 2 3 4 5",
                                       "-1 2 3 4 5",
                                       "1 2 -2 4 5",
                                       "1 2 3 4 -2",
                                       "1 2 3 4 5x",
                                       "1  2 3 4 5",
                                       "18446744073709551616 2 3 4 5",
                                       "1 9223372036854775808 3 4 5",
                                       "1 2 1000000000000001 4 5",
                                       "1 2 3 4 2147483648" };
    struct pt_clock_reading r = { UINT64_MAX, INT64_MAX, -1, 999, 64, true }, s = { .ts = 0 };
    char text[PT_CLOCK_TEXT_MAX + 1];

    pt_clock_text_put(text, &r);
    ck_assert(pt_clock_text_get(text, &s));
    ck_assert(s.ts == r.ts && s.ns == r.ns && s.most == -1 && s.estimated == 999 && s.status == 64);
    ck_assert(s.left && pt_clock_text_get("1 -2 3 4 5", &s) && !s.left);
    ck_assert(pt_clock_text_get("1 -2 3 4 5 later members", &s) && s.ns == -2 && !s.left);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!pt_clock_text_get(bad[i], &s), "'%s' is taken", bad[i]);
    ck_assert_int_eq(s.ns, -2);
}
END_TEST

/* A log of a stream of this process: readings at its start and its end, whose times fit. */
static void record(int fd)
{
    trace_id_t trid;

    NEED(posix_trace_create_withlog(0, NULL, fd, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
    NEED(posix_trace_shutdown(trid) == 0);
}

START_TEST(recorded)
{
    struct posixtrace_clock_reading first, last = { .ticks = 0 };
    struct posixtrace_clock_quality q;
    struct timespec now;
    int fd = log_file();
    trace_id_t trid;
    size_t n = 1;

    record(fd);
    trid = open_fd(fd);
    clock_gettime(CLOCK_REALTIME, &now);
    ck_assert_int_eq(posixtrace_clock_reading(trid, 0, &first, sizeof first), 0);
    while (posixtrace_clock_reading(trid, n, &last, sizeof last) == 0)
        n++;
    ck_assert_uint_ge(n, 2);
    ck_assert_uint_gt(last.ticks, first.ticks);
    ck_assert_int_lt(now.tv_sec - last.ns / 1000000000, 3600);
    ck_assert_int_eq(posixtrace_clock_quality(trid, &q, sizeof q), 0);
    ck_assert_uint_eq(q.readings, n);
    if (last.synchronised)
        ck_assert_int_ge(q.most_error_ns, last.most_error_ns);
    ck_assert_int_eq(last.synchronised, last.status >= 0 && !(last.status & STA_UNSYNC));
    ck_assert_int_eq(posixtrace_clock_reading(trid, n, &last, sizeof last), ENOENT);
    ck_assert_int_eq(posixtrace_clock_reading(trid, 0, NULL, 8), EINVAL);
    ck_assert_int_eq(posixtrace_clock_quality(trid, &q, 0), EINVAL);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

/* The clock table had no room for a correction: the reading says so, and how far the log's own
 * times are off. */
START_TEST(left)
{
    struct pt_log_params params = log_params(POSIX_TRACE_APPEND, 1 << 20);
    struct pt_clock_reading r = { FIRST, (int64_t)(2 * FIRST) + 1000, 5, 5, 0, false };
    struct posixtrace_clock_reading reading;
    struct posixtrace_clock_quality q;
    char text[PT_CLOCK_TEXT_MAX + 1];
    int fd = log_file();
    struct pt_log_writer *w = log_writer(fd, &params);
    trace_id_t trid;

    for (uint32_t i = 1; i <= 2; i++) {
        pt_clock_text_put(text, &r);
        ck_assert_int_eq(pt_log_put_text(w, PT_TEXT_CLOCK, i, text), 0);
        r.ts += TICKS;
        r.ns += (int64_t)(2 * TICKS) + INT64_C(3600000000000);
        r.left = true;
    }
    ck_assert_int_eq(pt_log_complete(w, POSIXTRACE_END_SHUTDOWN, NULL, NULL, 0), 0);
    pt_log_writer_free(w);
    trid = open_fd(fd);
    ck_assert_int_eq(posixtrace_clock_quality(trid, &q, sizeof q), 0);
    ck_assert_uint_eq(q.readings, 2);
    ck_assert_uint_eq(q.left, 1);
    ck_assert_int_eq(q.off_ns, -INT64_C(3600000000000));
    ck_assert_int_eq(posixtrace_clock_reading(trid, 0, &reading, sizeof reading), 0);
    ck_assert(!reading.left);
    ck_assert_int_eq(posixtrace_clock_reading(trid, 1, &reading, sizeof reading), 0);
    ck_assert(reading.left);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

/* Where the kernel does not say, or a filter may kill who asks, the log says that it is unknown. */
START_TEST(refused)
{
    static const unsigned actions[] = { SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_KILL_PROCESS };
    struct posixtrace_clock_quality q;
    struct posixtrace_clock_reading r;
    int fd = log_file(), status;
    trace_id_t trid;
    pid_t child = fork();

    if (child == 0) {
        if (!filter_call(SYS_adjtimex, REFUSE_ANY, actions[_i]) ||
            !filter_call(SYS_clock_adjtime, REFUSE_ANY, actions[_i]))
            _exit(77);
        record(fd);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        printf("no filters of system calls here\n");
        close(fd);
        return;
    }
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    trid = open_fd(fd);
    ck_assert_int_eq(posixtrace_clock_quality(trid, &q, sizeof q), 0);
    ck_assert_uint_ge(q.readings, 2);
    ck_assert_uint_eq(q.unknown, q.readings);
    ck_assert_int_eq(q.most_error_ns, -1);
    ck_assert_int_eq(posixtrace_clock_reading(trid, 0, &r, sizeof r), 0);
    ck_assert(r.status == -1 && r.most_error_ns == -1 && !r.synchronised && r.ns > 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    close(fd);
}
END_TEST

static void add(TCase *t)
{
    tcase_add_test(t, events_of_another_clock);
    tcase_add_test(t, blocks_and_positions);
    tcase_add_test(t, imported);
    tcase_add_test(t, wrong_knots);
    tcase_add_test(t, texts);
    tcase_add_test(t, recorded);
    tcase_add_test(t, left);
    tcase_add_loop_test(t, refused, 0, 2);
}

int main(void)
{
    return run_suite("log clock", "clock", NULL, add);
}
