/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A traced program that gives up the right to write files (RLIMIT_FSIZE 0, as sandboxes do) and
 * has no handler for SIGXFSZ: nothing that the library writes by itself costs it its life.
 *
 * Children have the limit, since check writes into a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>
#include "base/sys.h"
#include "consumer/tombstone.h"
#include "page/stream_quota.h"
#include "page/dir_step.h"
#include "place/dir.h"
#include "place/place.h"
#include "process/self.h"
#include "shm_helpers.h"
#include "startup/self_record_error.h"
#include "support/stream_inside.h"

enum { FILES = 300 }; /* more than a step reads, and than a first look for segments */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
        _exit(101);
    limit.rlim_cur = bytes;
    signal(SIGXFSZ, SIG_DFL);
    if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
        _exit(102);
}

/* What the child of that limit ends with: 0, or the line that failed, or a signal. */
static void in_child(rlim_t bytes, int (*act)(void *), void *context)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        limit_files(bytes);
        _exit(act(context));
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(!WIFSIGNALED(status), "signal %d", WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* Names of segments that are none, in the stream directory. */
static void put_crowd(void)
{
    int dir = pt_dir_open(true);

    for (unsigned i = 0; i < FILES; i++) {
        char name[64];

        snprintf(name, sizeof name, "s-%032x.seg", i);
        close(openat(dir, name, O_RDWR | O_CREAT | O_EXCL, 0600));
    }
    close(dir);
}

static bool has_file(const char *name)
{
    int dir = pt_dir_open(false);
    bool is = faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;

    close(dir);
    return is;
}

static int trace_one(void *id)
{
    return posix_trace_event(*(trace_event_id_t *)id, NULL, 0), 0;
}

/* What others have stored of their way through the directory stays. */
START_TEST(first_event)
{
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;

    put_crowd();
    ck_assert_int_eq(posix_trace_eventid_open("limited", &id), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
    ck_assert_int_eq(posix_trace_create(0, &attr, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    posix_trace_event(id, NULL, 0);
    ck_assert(has_file(PT_DIR_STEP_FILE));
    for (int i = 0; i < 5; i++)
        in_child(0, trace_one, &id);
    ck_assert(has_file(PT_DIR_STEP_FILE));
    ck_assert_uint_eq(info_of(trid).events, 6);
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
}
END_TEST

/* Has this process, which has traced, a page that a controller finds? */
static int has_page(void *nothing)
{
    const struct pt_self *self;

    (void)nothing;
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
    self = pt_self_latest();
    return self && self->page_file[0] && has_file(self->page_file) ? 0 : 1;
}

/* Not large enough for the map of the names, or for the map and the page in one file. */
START_TEST(page_alone)
{
    static const rlim_t limits[] = { 100 << 10, 1255 << 10 };

    in_child(limits[_i], has_page, NULL);
}
END_TEST

static int create_stream(void *nothing)
{
    trace_id_t trid;

    (void)nothing;
    if (posix_trace_create(0, NULL, &trid) != 0 || posix_trace_start(trid) != 0)
        return 1;
    return posix_trace_shutdown(trid) == 0 ? 0 : 2;
}

START_TEST(create)
{
    put_crowd();
    in_child(0, create_stream, NULL);
    ck_assert(!has_file(PT_DIR_STEP_FILE));
}
END_TEST

static int put_tombstone(void *dir)
{
    struct pt_tombstone t = { .events = 1 };

    return pt_tombstone_put(*(int *)dir, &t) == -EFBIG ? 0 : 1;
}

static int ask_census(void *nothing)
{
    (void)nothing;
    return pt_stream_quota_is_full(pt_place_uid(), "s-00000000000000000000000000000001.seg");
}

static int leave_note(void *log)
{
    pt_record_error_leave(log, "not recorded\n", NULL);
    return 0;
}

START_TEST(small_files)
{
    char log[256];
    int dir;

    put_crowd();
    dir = pt_dir_open(false);
    in_child(0, put_tombstone, &dir);
    in_child(100, put_tombstone, &dir);
    close(dir);
    in_child(0, ask_census, NULL);
    ck_assert(!has_file(PT_CENSUS_FILE));
    snprintf(log, sizeof log, "%s/log", getenv("POSIXTRACE_DIR"));
    in_child(0, leave_note, log);
    ck_assert(!has_file("log.error") && !has_file(PT_RECORD_NOTE));
}
END_TEST

/* ---- a stream whose log cannot be written any more ---- */

enum { TICKS = 100 };

static void trace_ticks(trace_event_id_t id)
{
    for (int i = 0; i < TICKS; i++)
        posix_trace_event(id, &i, sizeof i);
}

/* The limit comes after the log's beginning.  by_exit: exit() shuts the stream down.  LOOP: no
 * round of the flush thread's own finds the limit before. */
static void end_barred(int fd, bool by_exit)
{
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;

    if (posix_trace_attr_init(&attr) != 0 ||
        posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) != 0 ||
        posix_trace_create_withlog(0, &attr, fd, &trid) != 0 ||
        posix_trace_eventid_open("limited", &id) != 0 || posix_trace_start(trid) != 0)
        _exit(3);
    trace_ticks(id);
    limit_files(0);
    trace_ticks(id);
    if (by_exit)
        exit(0);
    _exit(posix_trace_shutdown(trid) == EFBIG && posix_trace_shutdown(trid) == EINVAL ? 0 : 4);
}

static void check_ticks(int fd, int end)
{
    struct posixtrace_info info;
    trace_event_id_t id;
    uint64_t count = 0;
    trace_id_t log;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &log), 0);
    ck_assert_int_eq(posixtrace_get_info(log, &info, sizeof info), 0);
    ck_assert_int_eq(info.end, end);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        ck_assert_uint_eq(info.lost[c], 0);
    ck_assert_int_eq(posix_trace_eventtypelist_rewind(log), 0);
    for (int none = 0; posix_trace_eventtypelist_getnext_id(log, &id, &none) == 0 && !none;) {
        char name[TRACE_EVENT_NAME_MAX + 1];

        ck_assert_int_eq(posix_trace_eventid_get_name(log, id, name), 0);
        if (strcmp(name, "limited") == 0)
            ck_assert_int_eq(posixtrace_event_count(log, id, &count), 0);
    }
    ck_assert_uint_eq(count, 2 * TICKS);
    ck_assert_int_eq(posix_trace_close(log), 0);
}

/* It has what the log could not take, for the next process without a limit. */
START_TEST(shutdown_keeps_the_segment)
{
    struct posixtrace_recover_report report;
    FILE *file = tmpfile();
    int fd = fileno(file), status;
    pid_t pid = fork();

    if (pid == 0)
        end_barred(fd, _i == 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    check_ticks(fd, POSIXTRACE_END_TAIL);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posixtrace_log_recover(fd, &report, sizeof report), 0);
    check_ticks(fd, POSIXTRACE_END_RECOVERED);
    fclose(file);
}
END_TEST

static int write_to_limit(void *file)
{
    static const char data[101];
    int fd = *(int *)file;

    return pt_sys_write_at(fd, data, 100, 0) == 0 && pt_sys_write_at(fd, data, 101, 0) == -EFBIG &&
                   pt_sys_write_at(fd, data, 1, 100) == -EFBIG && pt_sys_allows_size(100) &&
                   !pt_sys_allows_size(101)
               ? 0
               : 1;
}

START_TEST(to_the_byte)
{
    FILE *file = tmpfile();
    struct stat st;
    int fd = fileno(file);

    in_child(100, write_to_limit, &fd);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(st.st_size, 100);
    fclose(file);
}
END_TEST

/* Logs that are written by the program's own threads. */
static int build_log(void *file)
{
    posixtrace_log_builder_t *b;
    int error = posixtrace_log_builder_create(*(int *)file, NULL, &b);

    if (error == 0)
        error = posixtrace_log_builder_finish(b);
    return error == EFBIG ? 0 : 1;
}

START_TEST(log_builder)
{
    FILE *file = tmpfile();
    int fd = fileno(file);

    in_child(0, build_log, &fd);
    in_child(100, build_log, &fd);
    fclose(file);
}
END_TEST

static void add(TCase *t)
{
    /* First: where tests share a process, the crowd of the next one stays in the directory. */
    tcase_add_loop_test(t, shutdown_keeps_the_segment, 0, 2);
    tcase_add_test(t, first_event);
    tcase_add_loop_test(t, page_alone, 0, 2);
    tcase_add_test(t, create);
    tcase_add_test(t, small_files);
    tcase_add_test(t, to_the_byte);
    tcase_add_test(t, log_builder);
}

int main(void)
{
    return ring_main("file_limit", add);
}
