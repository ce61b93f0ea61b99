/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Group J, first part: creating logs, and their contents.
 */
#include "support/trace_helpers.h"

#include <fcntl.h>
#include <sys/stat.h>

static void log_on(int flags)
{
    char path[TH_PATH];
    int fd = th_file(path, flags);
    trace_id_t trid;

    ck_ok(posix_trace_create_withlog(0, NULL, fd, &trid));
    ck_ok(posix_trace_start(trid));
    th_put_run(th_id("u"), 0, 100, 30);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    th_expect_made_log(path, 100);
}

START_TEST(test_194_read_write)
{
    log_on(O_RDWR);
}
END_TEST

START_TEST(test_195_write_only)
{
    log_on(O_WRONLY);
}
END_TEST

START_TEST(test_196_bad_descriptor)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDONLY);
    trace_id_t trid = 4711;

    ck_fails(posix_trace_create_withlog(0, NULL, fd, &trid), EBADF);
    close(fd);
    ck_fails(posix_trace_create_withlog(0, NULL, fd, &trid), EBADF);
    ck_fails(posix_trace_create_withlog(0, NULL, -1, &trid), EBADF);
    ck_assert_uint_eq(trid, 4711);
}
END_TEST

/* LOOP and UNTIL_FULL write at offsets, so they need a regular file that
 * is not opened O_APPEND; APPEND takes a pipe, too. */
START_TEST(test_197_file_types)
{
    static const int needs_offsets[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
    char path[TH_PATH];
    int pipe_fd[2], append = th_file(path, O_WRONLY | O_APPEND);
    trace_id_t trid = 4711;
    trace_attr_t attr;

    ck_assert_int_eq(pipe(pipe_fd), 0);
    ck_ok(posix_trace_attr_init(&attr));
    for (size_t i = 0; i < TH_COUNT(needs_offsets); i++) {
        ck_ok(posix_trace_attr_setlogfullpolicy(&attr, needs_offsets[i]));
        ck_fails(posix_trace_create_withlog(0, &attr, pipe_fd[1], &trid), EINVAL);
        ck_fails(posix_trace_create_withlog(0, &attr, append, &trid), EINVAL);
        ck_assert_uint_eq(trid, 4711);
    }
    ck_ok(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
    ck_ok(posix_trace_create_withlog(0, &attr, pipe_fd[1], &trid));
    ck_ok(posix_trace_shutdown(trid));
    ck_ok(posix_trace_attr_destroy(&attr));
    close(append);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
}
END_TEST

static void expect_policies(trace_id_t trid, int stream_policy, int log_policy)
{
    trace_attr_t attr;
    int value;

    ck_ok(posix_trace_get_attr(trid, &attr));
    ck_ok(posix_trace_attr_getstreamfullpolicy(&attr, &value));
    ck_assert_int_eq(value, stream_policy);
    ck_ok(posix_trace_attr_getlogfullpolicy(&attr, &value));
    ck_assert_int_eq(value, log_policy);
    ck_ok(posix_trace_attr_destroy(&attr));
}

START_TEST(test_198_default_policies)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid;

    ck_ok(posix_trace_create_withlog(0, NULL, fd, &trid));
    expect_policies(trid, POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    fd = th_file(path, O_RDWR);
    trid = th_stream_log(fd, .name = "policy not set");
    expect_policies(trid, POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
}
END_TEST

START_TEST(test_199_explicit_policies)
{
    static const int stream[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
    static const int log[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

    for (size_t i = 0; i < 3; i++) {
        char path[TH_PATH];
        int fd = th_file(path, O_RDWR);
        trace_id_t trid = th_stream_log(fd, .policy = stream[i], .log_policy = log[i]);

        expect_policies(trid, stream[i], log[i]);
        ck_ok(posix_trace_shutdown(trid));
        close(fd);
    }
}
END_TEST

START_TEST(test_200_all_in_order)
{
    char path[TH_PATH];

    for (uint32_t n = 0; n < 5000; n = n * 4 + 1) {
        th_make_log(path, n, 4 + n % 100);
        th_expect_made_log(path, n);
    }
}
END_TEST

START_TEST(test_201_fields)
{
    trace_event_id_t id = th_id("cut"), whole = th_id("whole");
    char path[TH_PATH], name[TRACE_EVENT_NAME_MAX + 1];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd, .max_data = 10), live = th_stream(.max_data = 10);
    struct th_list in_log, in_stream;

    ck_ok(posix_trace_start(trid));
    ck_ok(posix_trace_start(live));
    th_put(whole, 1, 10);
    th_put(id, 2, 11);
    posix_trace_event(whole, NULL, 0);
    ck_ok(posix_trace_stop(live));
    ck_ok(posix_trace_stop(trid));
    in_stream = th_drain(live);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    trid = th_open(path);
    in_log = th_without_flush_marks(th_read_log(trid));
    th_expect(in_stream, POSIX_TRACE_START, whole, id, whole, POSIX_TRACE_STOP);
    ck_assert_uint_eq(in_log.n, in_stream.n);
    for (size_t i = 1; i < 4; i++) {
        const struct th_event *l = &in_log.at[i], *s = &in_stream.at[i];

        ck_ok(posix_trace_eventid_get_name(trid, l->info.posix_event_id, name));
        ck_assert_str_eq(name, s->info.posix_event_id == id ? "cut" : "whole");
        ck_assert_int_eq(l->info.posix_pid, getpid());
        ck_assert(pthread_equal(l->info.posix_thread_id, pthread_self()));
        ck_assert_ptr_eq(l->info.posix_prog_address, s->info.posix_prog_address);
        ck_assert_int_eq(l->info.posix_truncation_status, s->info.posix_truncation_status);
        ck_assert_uint_eq(l->len, s->len);
        if (l->len > 0)
            ck_assert_mem_eq(l->data, s->data, l->len);
    }
    ck_assert_int_eq(in_log.at[2].info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
    th_close(trid);
    ck_ok(posix_trace_shutdown(live));
}
END_TEST

/* All that the getters say about a stream. */
struct told {
    char name[TRACE_NAME_MAX + 1], version[TRACE_NAME_MAX + 1];
    int inherit, policy, log_policy;
    size_t stream_size, max_data, log_size, max_user, max_system;
    struct timespec created, resolution;
};

static struct told told_by(trace_id_t trid)
{
    struct told t;
    trace_attr_t a;

    memset(&t, 0, sizeof t);
    ck_ok(posix_trace_get_attr(trid, &a));
    ck_ok(posix_trace_attr_getname(&a, t.name));
    ck_ok(posix_trace_attr_getgenversion(&a, t.version));
    ck_ok(posix_trace_attr_getinherited(&a, &t.inherit));
    ck_ok(posix_trace_attr_getstreamfullpolicy(&a, &t.policy));
    ck_ok(posix_trace_attr_getlogfullpolicy(&a, &t.log_policy));
    ck_ok(posix_trace_attr_getstreamsize(&a, &t.stream_size));
    ck_ok(posix_trace_attr_getmaxdatasize(&a, &t.max_data));
    ck_ok(posix_trace_attr_getlogsize(&a, &t.log_size));
    ck_ok(posix_trace_attr_getmaxusereventsize(&a, 9, &t.max_user));
    ck_ok(posix_trace_attr_getmaxsystemeventsize(&a, &t.max_system));
    ck_ok(posix_trace_attr_getcreatetime(&a, &t.created));
    ck_ok(posix_trace_attr_getclockres(&a, &t.resolution));
    ck_ok(posix_trace_attr_destroy(&a));
    return t;
}

START_TEST(test_202_attributes)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = th_stream_log(fd, .name = "kept in log", .policy = POSIX_TRACE_UNTIL_FULL,
                                    .log_policy = POSIX_TRACE_APPEND,
                                    .inherit = POSIX_TRACE_INHERITED, .stream_size = 54321,
                                    .max_data = 123, .log_size = 765432);
    struct told live = told_by(trid), recorded;

    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    trid = th_open(path);
    recorded = told_by(trid);
    ck_assert_str_eq(recorded.name, "kept in log");
    ck_assert_mem_eq(&recorded, &live, sizeof live);
    th_close(trid);
}
END_TEST

/* "id name" of each type of a stream, one a line. */
static char *type_list(trace_id_t trid)
{
    char *text = NULL, name[TRACE_EVENT_NAME_MAX + 1];
    size_t size;
    FILE *f = open_memstream(&text, &size);
    trace_event_id_t id;
    int unavailable;

    ck_assert_ptr_nonnull(f);
    ck_ok(posix_trace_eventtypelist_rewind(trid));
    for (;;) {
        ck_ok(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
        if (unavailable)
            break;
        ck_ok(posix_trace_eventid_get_name(trid, id, name));
        fprintf(f, "%u %s\n", id, name);
    }
    fclose(f);
    return text;
}

START_TEST(test_203_names)
{
    char path[TH_PATH], name[40], *live, *recorded;
    int fd = th_file(path, O_RDWR);
    trace_event_id_t used = th_id("used");
    trace_id_t trid = th_stream_log(fd);

    ck_ok(posix_trace_start(trid));
    th_put(used, 0, 4);
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "never recorded %d", i);
        th_id(name);
    }
    live = type_list(trid);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
    trid = th_open(path);
    recorded = type_list(trid);
    ck_assert_ptr_nonnull(strstr(recorded, "never recorded 49\n"));
    ck_assert_str_eq(recorded, live);
    th_close(trid);
    free(live);
    free(recorded);
}
END_TEST

START_TEST(test_204_status)
{
    struct posix_trace_status_info first, second;
    char path[TH_PATH];
    trace_id_t trid;

    th_make_log(path, 10, 10);
    trid = th_open(path);
    first = th_status(trid);
    second = th_status(trid);
    ck_assert_int_eq(first.posix_stream_status, POSIX_TRACE_SUSPENDED);
    ck_assert_int_eq(first.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
    ck_assert_int_eq(first.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
    ck_assert_int_eq(first.posix_stream_flush_error, 0);
    ck_assert_int_eq(first.posix_log_full_status, POSIX_TRACE_NOT_FULL);
    ck_assert_mem_eq(&first, &second, sizeof first);
    th_close(trid);
}
END_TEST

/* Opens the first size bytes of a log; whatever can be read is a prefix. */
static void open_cut(const char *path, off_t size)
{
    int fd = open(path, O_RDWR | O_CLOEXEC), error;
    trace_id_t trid;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, size), 0);
    error = posix_trace_open(fd, &trid);
    ck_assert_msg(error == 0 || error == EINVAL, "%ld bytes: %d", (long)size, error);
    if (error == 0) {
        trace_event_id_t id = th_id_named(trid, "u");
        th_expect_run(th_only(th_read_log(trid), id), 0);
        ck_ok(posix_trace_close(trid));
    }
    close(fd);
}

START_TEST(test_205_not_a_log)
{
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);
    trace_id_t trid = 4711;
    struct stat st;
    unsigned seed = 7;

    ck_fails(posix_trace_open(fd, &trid), EINVAL);
    for (int i = 0; i < 20000; i++) {
        unsigned char byte = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
        ck_assert_int_eq(write(fd, &byte, 1), 1);
    }
    ck_fails(posix_trace_open(fd, &trid), EINVAL);
    ck_assert_uint_eq(trid, 4711);
    close(fd);
    th_make_log(path, 1000, 50);
    ck_assert_int_eq(stat(path, &st), 0);
    for (off_t size = st.st_size - 1; size > 0; size -= 1 + size / 40)
        open_cut(path, size);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, test_194_read_write);
    tcase_add_test(tc, test_195_write_only);
    tcase_add_test(tc, test_196_bad_descriptor);
    tcase_add_test(tc, test_197_file_types);
    tcase_add_test(tc, test_198_default_policies);
    tcase_add_test(tc, test_199_explicit_policies);
    tcase_add_test(tc, test_200_all_in_order);
    tcase_add_test(tc, test_201_fields);
    tcase_add_test(tc, test_202_attributes);
    tcase_add_test(tc, test_203_names);
    tcase_add_test(tc, test_204_status);
    tcase_add_test(tc, test_205_not_a_log);
}

int main(void)
{
    return th_main("J making logs", add);
}
