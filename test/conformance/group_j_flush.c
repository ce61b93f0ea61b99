/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group J, third part: flushing, and what happens when the log is full.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>
#include <sys/stat.h>

#define STREAM 65536
#define LOG    200000
#define LEN    100

static struct posix_trace_status_info log_status(const char *path)
{
    trace_id_t trid = th_open(path);
    struct posix_trace_status_info s = th_status(trid);

    th_close(trid);
    return s;
}

/* Records n events in portions that fit into the stream, flushing each. */
static void put_and_flush(trace_id_t trid, trace_event_id_t id, uint32_t n)
{
    uint32_t portion = STREAM / 4 / LEN;

    for (uint32_t done = 0; done < n; done += portion) {
        th_put_run(id, done, n - done < portion ? n - done : portion, LEN);
        th_flush(trid);
    }
}

START_TEST(test_216_flush)
{
    trace_event_id_t id = th_id("u");
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd);
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    for (uint32_t i = 0; i < 5; i++) {
        th_put_run(id, i * 10, 10, LEN);
        th_flush(trid);
        th_flush(trid);
    }
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_RUNNING);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    list = th_only(th_log_events(path), id);
    ck_assert_uint_eq(list.n, 50);
    th_expect_run(list, 0);
}
END_TEST

static void wait_until_running(trace_id_t trid)
{
    int64_t end = th_now_ns() + TH_WATCHDOG_S * INT64_C(1000000000);

    while (th_status(trid).posix_stream_status != POSIX_TRACE_RUNNING) {
        ck_assert_msg(th_now_ns() < end, "the flushed stream does not run again");
        th_sleep_ms(1);
    }
}

START_TEST(test_217_flush_frees_space)
{
    trace_event_id_t id = th_id("u"), after = th_id("after");
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd, .policy = POSIX_TRACE_UNTIL_FULL, .stream_size = STREAM);
    struct th_list list;
    size_t stop;

    ck_ok(posix_trace_start(trid));
    th_put_run(id, 0, (uint32_t)(10 * th_stream_size(trid) / LEN), LEN);
    ck_assert_int_eq(th_status(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
    th_flush(trid);
    wait_until_running(trid);
    ck_assert_int_eq(th_status(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
    th_put(after, 0, LEN);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    list = th_without_flush_marks(th_log_events(path));
    stop = th_find(list, POSIX_TRACE_STOP, 0);
    ck_assert_uint_ge(list.n, stop + 3);
    th_expect_run((struct th_list){ list.at + 1, stop - 1 }, 0);
    ck_assert_int_ne(th_int(&list.at[stop]), 0);
    ck_assert_uint_eq(list.at[stop + 1].info.posix_event_id, POSIX_TRACE_START);
    ck_assert_uint_eq(list.at[stop + 2].info.posix_event_id, after);
}
END_TEST

/* a flush that posix_trace_flush() began on a running stream is marked.  With the policy
 * LOOP there are no others, whose marks could lie within. */
START_TEST(test_218_flush_marks)
{
    trace_event_id_t id = th_id("u");
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), open_flushes = 0;
    trace_id_t trid = th_stream_log(fd, .policy = POSIX_TRACE_LOOP);
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    put_and_flush(trid, id, 300);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    list = th_log_events(path);
    ck_assert_uint_lt(th_find(list, POSIX_TRACE_FLUSH_START, 0), list.n);
    ck_assert_uint_lt(th_find(list, POSIX_TRACE_FLUSH_STOP, 0), list.n);
    for (size_t i = 0; i < list.n; i++) {
        trace_event_id_t type = list.at[i].info.posix_event_id;
        if (type == POSIX_TRACE_FLUSH_START || type == POSIX_TRACE_FLUSH_STOP)
            ck_assert_uint_eq(list.at[i].len, 0);
        open_flushes += (type == POSIX_TRACE_FLUSH_START) - (type == POSIX_TRACE_FLUSH_STOP);
        ck_assert(open_flushes == 0 || open_flushes == 1);
    }
}
END_TEST

static off_t file_size(const char *path)
{
    struct stat st;

    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_size;
}

/* Without being asked, the stream flushes: three portions wait for the log to
 * grow by itself.  The rest asks, so that it need not wait that long. */
START_TEST(test_219_policy_flush)
{
    trace_event_id_t id = th_id("u");
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd, .stream_size = STREAM);
    uint32_t n = (uint32_t)(10 * th_stream_size(trid) / LEN);
    uint32_t portion = STREAM / 4 / LEN, done = 0;
    struct th_list list;

    ck_ok(posix_trace_start(trid));
    for (int i = 0; done < n; i++) {
        int64_t end = th_now_ns() + TH_WATCHDOG_S * INT64_C(1000000000);
        off_t size = file_size(path);

        th_put_run(id, done, portion, LEN);
        done += portion;
        if (i >= 3)
            th_flush(trid);
        while (file_size(path) < size + (off_t)portion * LEN) {
            ck_assert_msg(th_now_ns() < end, "the stream is not flushed");
            th_sleep_ms(1);
        }
    }
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    list = th_only(th_log_events(path), id);
    ck_assert_uint_eq(list.n, done);
    th_expect_run(list, 0);
}
END_TEST

static void *copy_pipe(void *context)
{
    int *fd = context;
    char buffer[4096];
    ssize_t n;

    while ((n = read(fd[0], buffer, sizeof buffer)) > 0) {
        if (write(fd[1], buffer, (size_t)n) != n)
            return "the copy of the log cannot be written";
    }
    return NULL;
}

/* A pipe without a reader blocks the flush, so the stream must overrun. */
START_TEST(test_220_policy_flush_overrun)
{
    trace_event_id_t id = th_id("u");
    char path[TH_PATH];
    int pipe_fd[2], copy = th_file(path, O_RDWR);
    trace_id_t trid;
    struct th_thread t;
    struct th_list list;

    ck_assert_int_eq(pipe(pipe_fd), 0);
    trid = th_stream_log(pipe_fd[1], .log_policy = POSIX_TRACE_APPEND, .stream_size = STREAM);
    ck_ok(posix_trace_start(trid));
    th_put_run(id, 0, (uint32_t)(20 * (th_stream_size(trid) + 65536) / LEN), LEN);
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    ck_assert_int_eq(th_status(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    th_thread_start(&t, copy_pipe, (int[]){ pipe_fd[0], copy });
    ck_ok(posix_trace_shutdown(trid));
    close(pipe_fd[1]);
    ck_assert_ptr_null(th_thread_join(&t));
    close(pipe_fd[0]);
    close(copy);
    list = th_only(th_log_events(path), id);
    ck_assert_uint_gt(list.n, 0);
    for (size_t i = 0; i < list.n; i++)
        ck_assert(th_intact(&list.at[i]));
}
END_TEST

/* Fills the log beyond its size; returns how many events were recorded. */
static uint32_t overfill_log(char path[TH_PATH], int log_policy, trace_event_id_t id)
{
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd, .stream_size = STREAM, .log_size = LOG,
                                    .log_policy = log_policy);
    uint32_t n = 5 * LOG / LEN;

    ck_ok(posix_trace_start(trid));
    put_and_flush(trid, id, n);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    return n;
}

START_TEST(test_221_log_until_full)
{
    trace_event_id_t id = th_id("u");
    char path[TH_PATH];
    uint32_t n = overfill_log(path, POSIX_TRACE_UNTIL_FULL, id);
    struct th_list list = th_log_events(path), user = th_only(list, id);

    ck_assert_int_eq(log_status(path).posix_log_full_status, POSIX_TRACE_FULL);
    ck_assert_uint_gt(user.n, 0);
    ck_assert_uint_lt(user.n, n);
    th_expect_run(user, 0);
    ck_assert_uint_eq(list.at[list.n - 1].info.posix_event_id, POSIX_TRACE_STOP);
    ck_assert_int_ne(th_int(&list.at[list.n - 1]), 0);
}
END_TEST

START_TEST(test_222_log_loop)
{
    trace_event_id_t id = th_id("u");
    char path[TH_PATH];
    uint32_t n = overfill_log(path, POSIX_TRACE_LOOP, id);
    struct th_list user = th_only(th_log_events(path), id);

    ck_assert_int_eq(log_status(path).posix_log_full_status, POSIX_TRACE_FULL);
    ck_assert_uint_gt(user.n, 0);
    ck_assert_uint_lt(user.n, n);
    th_expect_run(user, n - (uint32_t)user.n);
    for (size_t i = 1; i < user.n; i++)
        ck_assert_int_ge(th_ns(user.at[i].info.posix_timestamp),
                         th_ns(user.at[i - 1].info.posix_timestamp));
}
END_TEST

START_TEST(test_223_log_append)
{
    trace_event_id_t id = th_id("u");
    char path[TH_PATH];
    uint32_t n = overfill_log(path, POSIX_TRACE_APPEND, id);
    struct th_list user = th_only(th_log_events(path), id);

    ck_assert_uint_eq(user.n, n);
    th_expect_run(user, 0);
}
END_TEST

/* The data alone are a lower bound of what the records take; and a log that
 * keeps next to nothing would respect the limit, too, but be of no use. */
START_TEST(test_224_log_size_is_kept)
{
    static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
    trace_event_id_t id = th_id("u");

    for (size_t i = 0; i < TH_COUNT(policies); i++) {
        char path[TH_PATH];
        struct th_list user;

        overfill_log(path, policies[i], id);
        user = th_only(th_log_events(path), id);
        ck_assert_uint_le(user.n * LEN, LOG);
        ck_assert_uint_ge(user.n * LEN, LOG / 4);
    }
}
END_TEST

START_TEST(test_225_log_overrun_told_once)
{
    static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
    trace_event_id_t id = th_id("u");

    for (size_t i = 0; i < TH_COUNT(policies); i++) {
        char path[TH_PATH];
        int fd = th_file(path, O_RDWR), overruns = 0;
        trace_id_t trid = th_stream_log(fd, .stream_size = STREAM, .log_size = LOG,
                                        .log_policy = policies[i]);
        struct posix_trace_status_info s;

        ck_ok(posix_trace_start(trid));
        ck_assert_int_eq(th_status(trid).posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
        for (uint32_t done = 0; done < 5 * LOG / LEN; done += 100) {
            th_put_run(id, done, 100, LEN);
            ck_ok(posix_trace_flush(trid));
            do {
                s = th_status(trid);
                overruns += s.posix_log_overrun_status == POSIX_TRACE_OVERRUN;
            } while (s.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
        }
        ck_ok(posix_trace_stop(trid));
        th_flush(trid);
        ck_assert_int_gt(overruns, 0);
        ck_assert_int_eq(th_status(trid).posix_log_full_status, POSIX_TRACE_FULL);
        ck_assert_int_eq(th_status(trid).posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
        ck_ok(posix_trace_shutdown(trid));
        close(fd);
    }
}
END_TEST

/* Unspecified; ours says EINVAL, and the log must not suffer. */
START_TEST(test_228_reading_stream_with_log)
{
    trace_event_id_t id = th_id("u");
    struct posix_trace_event_info info;
    struct timespec now;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), unavailable;
    trace_id_t trid = th_stream_log(fd);
    struct th_list user;
    size_t len;

    ck_ok(posix_trace_start(trid));
    th_put_run(id, 0, 10, LEN);
    clock_gettime(CLOCK_REALTIME, &now);
    ck_fails(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
    ck_fails(posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable, &now),
             EINVAL);
    ck_fails(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    user = th_only(th_log_events(path), id);
    ck_assert_uint_eq(user.n, 10);
    th_expect_run(user, 0);
}
END_TEST

START_TEST(test_229_file_times)
{
    static const struct timespec long_ago[2] = { { 1000, 0 }, { 1000, 0 } };
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd);
    struct stat st;

    ck_ok(posix_trace_start(trid));
    th_flush(trid);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    th_put_run(th_id("u"), 0, 10, LEN);
    th_flush(trid);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_gt(st.st_mtim.tv_sec, 1000);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_216_flush);
    tcase_add_test(tc, test_217_flush_frees_space);
    tcase_add_test(tc, test_218_flush_marks);
    tcase_add_test(tc, test_219_policy_flush);
    tcase_add_test(tc, test_220_policy_flush_overrun);
    tcase_add_test(tc, test_221_log_until_full);
    tcase_add_test(tc, test_222_log_loop);
    tcase_add_test(tc, test_223_log_append);
    tcase_add_test(tc, test_224_log_size_is_kept);
    tcase_add_test(tc, test_225_log_overrun_told_once);
    tcase_add_test(tc, test_228_reading_stream_with_log);
    tcase_add_test(tc, test_229_file_times);
}

int main(void)
{
    return th_main("J flush", add);
}
