/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Ways to a stream: a log by its path, a stream by a process, a snapshot of a stream that is
 * read and records on, and the words for what went wrong.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <posixtrace/attach.h>
#include <posixtrace/filter.h>
#include <posixtrace/log.h>
#include "support/run_suite.h"
#include "support/trace_helpers.h"

enum { EVENTS = 100 };

static uint32_t next_number;

static void record(trace_id_t trid, unsigned n)
{
    trace_event_id_t id = th_id("ways");

    ck_ok(posix_trace_start(trid));
    while (n-- > 0) {
        posix_trace_event(id, &next_number, sizeof next_number);
        next_number++;
    }
}

/* How many events of ours are left; their numbers follow each other up to the last. */
static unsigned read_all(trace_id_t trid)
{
    struct posixtrace_event e;
    uint32_t number, expected = 0;
    unsigned n = 0;
    int none;

    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none) {
        if (strcmp(e.name, "ways") != 0)
            continue;
        memcpy(&number, e.data, sizeof number);
        ck_assert(n == 0 || number == expected);
        expected = number + 1;
        n++;
    }
    ck_assert_uint_eq(expected, next_number);
    return n;
}

static unsigned read_log(const char *path)
{
    trace_id_t log;
    unsigned n;

    ck_ok(posixtrace_open_path(path, &log));
    n = read_all(log);
    ck_ok(posix_trace_close(log));
    return n;
}

START_TEST(snapshot_of_own_stream)
{
    struct posixtrace_snapshot_report report;
    trace_id_t trid = th_stream();
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);

    record(trid, EVENTS);
    ck_ok(posixtrace_snapshot(trid, fd, &report, sizeof report));
    ck_assert_uint_ge(report.events, EVENTS);
    ck_assert_uint_eq(read_log(path), EVENTS);
    /* The stream records on, and its reader has missed nothing. */
    record(trid, EVENTS);
    ck_assert_uint_eq(read_all(trid), 2 * EVENTS);
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
}
END_TEST

/* What was overwritten is lost in the log, too. */
START_TEST(snapshot_of_loop)
{
    struct posixtrace_snapshot_report report;
    struct posixtrace_info info;
    trace_id_t trid = th_stream(.policy = POSIX_TRACE_LOOP), log;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);

    record(trid, 200000);
    ck_ok(posix_trace_stop(trid));
    ck_ok(posixtrace_snapshot(trid, fd, &report, sizeof report));
    ck_assert_uint_gt(report.lost_before[POSIXTRACE_LOST_OVERWRITTEN], 0);
    ck_ok(posixtrace_open_path(path, &log));
    ck_ok(posixtrace_get_info(log, &info, sizeof info));
    ck_assert_uint_eq(info.lost[POSIXTRACE_LOST_OVERWRITTEN],
                      report.lost_before[POSIXTRACE_LOST_OVERWRITTEN] +
                          report.lost_during[POSIXTRACE_LOST_OVERWRITTEN]);
    ck_assert_uint_eq(read_all(log) + info.lost[POSIXTRACE_LOST_OVERWRITTEN], 200000);
    ck_ok(posix_trace_close(log));
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
}
END_TEST

enum { SNAPSHOT_EVENTS = 20000, SNAPSHOT_LIMIT = 5000 };

static int make_limited_snapshot(trace_id_t trid, int fd)
{
    struct rlimit before, limit;
    int error;

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = SNAPSHOT_LIMIT;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    error = posixtrace_snapshot(trid, fd, NULL, 0);
    setrlimit(RLIMIT_FSIZE, &before);
    return error;
}

/* A snapshot that fails leaves no log that counts as complete. */
START_TEST(snapshot_fails)
{
    struct posixtrace_log_report report;
    trace_id_t trid = th_stream();
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), error;

    record(trid, SNAPSHOT_EVENTS);
    ck_fails(make_limited_snapshot(trid, fd), EFBIG);
    error = posixtrace_log_check(fd, NULL, NULL, &report, sizeof report);
    ck_assert(error == EILSEQ || (error == 0 && !report.complete));
    ck_ok(posix_trace_shutdown(trid));
    close(fd);
}
END_TEST

static void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;

    while (d && (e = readdir(d)))
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(path);
}

/* A line of the child's that failed, or 0. */
static int look_from_another_directory(void)
{
    char dir[] = "/tmp/ways.XXXXXX";
    trace_id_t trid, attached;
    FILE *file = tmpfile();
    int bad = 0;

    if (!file || !mkdtemp(dir) || setenv("POSIXTRACE_DIR", dir, 1) != 0 ||
        posix_trace_create(0, NULL, &trid) != 0)
        return __LINE__;
    if (posixtrace_attach_pid(getpid(), &attached) != ENOTSUP ||
        posixtrace_snapshot(trid, fileno(file), NULL, 0) != ENOTSUP)
        bad = __LINE__;
    if (posix_trace_shutdown(trid) != 0)
        bad = __LINE__;
    remove_folder(dir);
    return bad;
}

/* The names of the process have no file where its streams are. */
START_TEST(names_without_file)
{
    trace_id_t trid = th_stream();
    int status;
    pid_t pid;

    record(trid, EVENTS);
    pid = fork();
    if (pid == 0)
        _exit(look_from_another_directory() != 0);
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(snapshot_of_attached)
{
    trace_id_t trid = th_stream(), attached, other;
    struct posixtrace_event e;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR), none;

    ck_fails(posixtrace_attach_pid(getpid() + 1, &attached), ESRCH);
    record(trid, EVENTS);
    ck_ok(posixtrace_attach_pid(getpid(), &attached));
    ck_ok(posixtrace_next_event(attached, &e, sizeof e, &none));
    ck_ok(posixtrace_snapshot(attached, fd, NULL, 0));
    ck_assert_uint_eq(read_log(path), EVENTS);
    ck_assert_uint_eq(read_all(attached), EVENTS);
    ck_ok(posixtrace_detach(attached));
    other = th_stream();
    ck_fails(posixtrace_attach_pid(getpid(), &attached), ENOTUNIQ);
    ck_ok(posix_trace_shutdown(other));
    ck_ok(posix_trace_shutdown(trid));
    ck_fails(posixtrace_attach_pid(getpid(), &attached), ESRCH);
    close(fd);
}
END_TEST

static struct posixtrace_field_value field_of(trace_id_t trid, const struct posixtrace_event *e,
                                              const char *name)
{
    struct posixtrace_field_value value;

    ck_ok(posixtrace_event_field(trid, e, name, &value, sizeof value));
    ck_assert_str_eq(value.field->name, name);
    return value;
}

static bool matches(trace_id_t trid, const struct posixtrace_event *e, const char *text)
{
    posixtrace_expression_t *expression;
    bool is;

    ck_ok(posixtrace_expression_parse(text, &expression, NULL));
    is = posixtrace_event_match(trid, e, expression);
    posixtrace_expression_free(expression);
    return is;
}

static void next_of_thread(trace_id_t trid, struct posixtrace_event *e)
{
    int none;

    do {
        ck_ok(posixtrace_next_event(trid, e, sizeof *e, &none));
        ck_assert_int_eq(none, 0);
    } while (e->id <= POSIX_TRACE_ERROR);
}

START_TEST(fields)
{
    struct __attribute__((packed)) {
        int16_t below;
        float half;
        uint8_t side;
        uint8_t count;
        uint16_t list[2];
        char code[3], text[4];
    } data = { -2, 0.5f, 1, 2, { 7, 8 }, { 'x', 'y', 'z' }, "abc" };
    struct posixtrace_field_value value;
    trace_id_t trid = th_stream();
    struct posixtrace_event e;
    trace_event_id_t id;

    ck_ok(posixtrace_event_describe(
        "fields", "i16 below; f32 half; u8 side {buy, sell}; u16:u8 list; str[3] code; str text",
        &id));
    ck_ok(posix_trace_start(trid));
    posix_trace_event(id, &data, sizeof data);
    posix_trace_event(id, &data, sizeof data - 1);
    posix_trace_event(th_id("bare"), &data, sizeof data);
    next_of_thread(trid, &e);
    value = field_of(trid, &e, "below");
    ck_assert(value.number == -2 && (int64_t)value.integer == -2 && !value.text);
    value = field_of(trid, &e, "half");
    ck_assert(value.number == 0.5 && value.integer == 0);
    ck_assert_str_eq(field_of(trid, &e, "side").text, "sell");
    value = field_of(trid, &e, "list");
    ck_assert(value.count == 2 && value.integer == 7);
    ck_assert_mem_eq(value.at, data.list, sizeof data.list);
    value = field_of(trid, &e, "code");
    ck_assert(value.text_len == 3 && memcmp(value.text, "xyz", 3) == 0);
    ck_assert_str_eq(field_of(trid, &e, "text").text, "abc");
    ck_assert_uint_eq(field_of(trid, &e, "side").text_len, 4);
    ck_fails(posixtrace_event_field(trid, &e, "other", &value, sizeof value), ENOENT);
    ck_fails(posixtrace_event_field(trid, NULL, "text", &value, sizeof value), EINVAL);
    ck_fails(posixtrace_event_field(trid, &e, NULL, &value, sizeof value), EINVAL);
    ck_fails(posixtrace_event_field(trid, &e, "text", NULL, sizeof value), EINVAL);
    ck_fails(posixtrace_event_field(trid, &e, "text", &value, 0), EINVAL);
    ck_fails(posixtrace_event_field(trid + 1000, &e, "text", &value, sizeof value), EINVAL);
    ck_assert(matches(trid, &e, "below == -2 and side == sell"));
    ck_assert(!matches(trid, &e, "below == 2") && !matches(trid + 1000, &e, "below == -2"));
    next_of_thread(trid, &e);
    ck_assert(field_of(trid, &e, "half").number == 0.5);
    ck_fails(posixtrace_event_field(trid, &e, "text", &value, sizeof value), EMSGSIZE);
    next_of_thread(trid, &e);
    ck_fails(posixtrace_event_field(trid, &e, "text", &value, sizeof value), ENOENT);
    ck_assert(matches(trid, &e, "event \"bare\"") && !matches(trid, &e, "below == -2"));
}
END_TEST

static int end_check(void *count, const struct posixtrace_log_finding *f)
{
    ck_assert_ptr_nonnull(f->text);
    return ++*(int *)count == 1 ? -7 : 0;
}

/* The first finding ends the check: its result is returned as it is. */
START_TEST(check_ends)
{
    struct posixtrace_log_report report;
    trace_id_t trid = th_stream();
    char path[TH_PATH], byte = 'x';
    int fd = th_file(path, O_RDWR), count = 0;
    off_t size;

    record(trid, EVENTS);
    ck_ok(posixtrace_snapshot(trid, fd, NULL, 0));
    size = lseek(fd, 0, SEEK_END);
    ck_ok(posixtrace_log_check(fd, end_check, &count, &report, sizeof report));
    ck_assert_int_eq(count, 0);
    for (off_t at = 4096; at < size; at += 256)
        ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
    ck_assert_int_eq(posixtrace_log_check(fd, end_check, &count, &report, sizeof report), -7);
    ck_assert_int_eq(count, 1);
    close(fd);
}
END_TEST

START_TEST(errors)
{
    trace_id_t trid = th_stream(), log;
    char path[TH_PATH];
    int fd = th_file(path, O_RDWR);

    ck_fails(posixtrace_open_path(NULL, &log), EINVAL);
    ck_fails(posixtrace_open_path(path, NULL), EINVAL);
    ck_fails(posixtrace_open_path("/", &log), EISDIR);
    ck_fails(posixtrace_open_path("there is none", &log), ENOENT);
    ck_assert_int_eq(write(fd, "this is no log\n", 15), 15);
    ck_fails(posixtrace_open_path(path, &log), EILSEQ);
    ck_fails(posixtrace_attach_pid(0, &log), EINVAL);
    ck_fails(posixtrace_attach_pid(getpid(), NULL), EINVAL);
    ck_fails(posixtrace_snapshot(trid, -1, NULL, 0), EBADF);
    ck_fails(posixtrace_snapshot(trid + 1000, fd, NULL, 0), EINVAL);
    ck_fails(posixtrace_snapshot(trid, fd, &(struct posixtrace_snapshot_report){ 0 }, 0), EINVAL);
    ck_assert_str_eq(posixtrace_error_text(EILSEQ), "not in the expected format");
    ck_assert_str_eq(posixtrace_error_text(ESRCH),
                     "there is no such process, or no stream records it");
    ck_assert_str_eq(posixtrace_error_text(ERANGE),
                     "the text does not fit into the memory given for it");
    ck_assert_str_eq(posixtrace_error_text(ENOENT), "No such file or directory");
    ck_assert_str_eq(posixtrace_error_text(-1), "unknown error");
    close(fd);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, snapshot_of_own_stream);
    tcase_add_test(tc, snapshot_of_loop);
    tcase_add_test(tc, snapshot_fails);
    tcase_add_test(tc, names_without_file);
    tcase_add_test(tc, snapshot_of_attached);
    tcase_add_test(tc, fields);
    tcase_add_test(tc, check_ends);
    tcase_add_test(tc, errors);
}

int main(void)
{
    return th_main("ways_in", add);
}
