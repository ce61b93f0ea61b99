/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that closes all descriptors and opens files of its own: one of them then has the
 * number of the descriptor by which a pre-recorded stream reads its log.  The stream fails; the
 * program's file is neither read nor closed.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/log.h>
#include "support/flush_log.h"
#include "support/log_file.h"
#include "support/run_suite.h"
#include "support/valgrind.h"

enum {
    EVENTS = 20000, /* more than is read at once */
    ROUND = 1000,
    MOST_DESCRIPTORS = 1024,
    OWN = 3 /* lowest of ours */
};

static const char text[64] = "the program's";

static int make_log(const char *type, int policy)
{
    int fd = log_file();
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;

    ck_assert_int_eq(posix_trace_eventid_open(type, &id), 0);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    ck_assert_int_eq(posix_trace_attr_setlogfullpolicy(&attr, policy), 0);
    ck_assert_int_eq(posix_trace_attr_setlogsize(&attr, 4 << 20), 0);
    ck_assert_int_eq(posix_trace_attr_setstreamsize(&attr, 4 << 20), 0);
    ck_assert_int_eq(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
    ck_assert_int_eq(posix_trace_attr_destroy(&attr), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (int i = 1; i <= EVENTS; i++) {
        posix_trace_event(id, text, 32);
        if (i % ROUND == 0)
            flush_log(trid);
    }
    ck_assert_int_eq(posix_trace_shutdown(trid), 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void list_open(bool open[MOST_DESCRIPTORS])
{
    for (int i = 0; i < MOST_DESCRIPTORS; i++)
        open[i] = fcntl(i, F_GETFD) >= 0;
}

/* The stream of the log, and the descriptors that it has beside the test's. */
static trace_id_t open_stream(int fd, bool kept[MOST_DESCRIPTORS])
{
    bool before[MOST_DESCRIPTORS];
    trace_id_t trid;

    list_open(before);
    ck_assert_int_eq(posix_trace_open(fd, &trid), 0);
    list_open(kept);
    for (int i = 0; i < MOST_DESCRIPTORS; i++)
        kept[i] = kept[i] && !before[i];
    return trid;
}

/* What the program has instead, by the same numbers. */
static void replace(const bool kept[MOST_DESCRIPTORS], int own)
{
    unsigned n = 0;

    for (int i = OWN; i < MOST_DESCRIPTORS; i++)
        if (kept[i]) {
            ck_assert_int_eq(dup2(own, i), i);
            n++;
        }
    ck_assert_uint_gt(n, 0);
}

static void expect_open(const bool kept[MOST_DESCRIPTORS], int own)
{
    struct stat st, is;

    ck_assert_int_eq(fstat(own, &st), 0);
    for (int i = OWN; i < MOST_DESCRIPTORS; i++)
        if (kept[i]) {
            ck_assert_int_eq(fstat(i, &is), 0);
            ck_assert(is.st_dev == st.st_dev && is.st_ino == st.st_ino);
            close(i);
        }
}

static int next(trace_id_t trid, trace_event_id_t *id)
{
    struct posixtrace_event e;
    int none, error = posixtrace_next_event(trid, &e, sizeof e, &none);

    *id = error || none ? POSIX_TRACE_UNNAMED_USEREVENT : e.id;
    return error ? error : none ? ENODATA : 0;
}

/* Events until there are no more; what was already in memory may come. */
static int read_rest(trace_id_t trid, unsigned *n)
{
    trace_event_id_t id;
    int error;

    for (*n = 0; (error = next(trid, &id)) == 0; ++*n)
        ;
    return error;
}

static void take_away(int log, int own)
{
    bool kept[MOST_DESCRIPTORS];
    trace_id_t trid = open_stream(log, kept);
    trace_event_id_t id;
    unsigned n;

    close(log);
    ck_assert_int_eq(next(trid, &id), 0);
    replace(kept, own);
    ck_assert_int_eq(read_rest(trid, &n), EBADF);
    ck_assert_uint_lt(n, EVENTS);
    posix_trace_rewind(trid);
    ck_assert_int_eq(read_rest(trid, &n), EBADF);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    expect_open(kept, own);
}

/* Another log, as a program that reads several may have: its events are not this one's. */
START_TEST(another_log)
{
    int own = make_log("theirs", POSIX_TRACE_APPEND);

    take_away(make_log("ours", POSIX_TRACE_APPEND), own);
    ck_assert_int_eq(lseek(own, 0, SEEK_CUR), 0);
    close(own);
}
END_TEST

static int pipe_of(int log, pid_t *child)
{
    char buffer[65536];
    int ends[2];
    ssize_t n;

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    *child = fork();
    ck_assert_int_ge(*child, 0);
    if (*child)
        return close(ends[1]), ends[0];
    signal(SIGPIPE, SIG_DFL);
    close(ends[0]);
    while ((n = read(log, buffer, sizeof buffer)) > 0 && write(ends[1], buffer, (size_t)n) == n)
        ;
    _exit(0);
}

/* The log comes by a pipe, and the program has another pipe then: its bytes stay there. */
static void by_pipe(int policy)
{
    int log = make_log("ours", policy), ends[2];
    char bytes[sizeof text];
    pid_t child;

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ck_assert_int_eq(write(ends[1], text, sizeof text), (ssize_t)sizeof text);
    take_away(pipe_of(log, &child), ends[0]);
    ck_assert_int_eq(read(ends[0], bytes, sizeof bytes), (ssize_t)sizeof text);
    ck_assert_int_eq(memcmp(bytes, text, sizeof text), 0);
    close(ends[0]);
    close(ends[1]);
    close(log);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(another_pipe)
{
    by_pipe(POSIX_TRACE_APPEND);
}
END_TEST

/* Such a log is first copied into a file without a name. */
START_TEST(another_pipe_of_loop)
{
    by_pipe(POSIX_TRACE_LOOP);
}
END_TEST

/* The very same file: the number does not come to the program by itself. */
START_TEST(same_file)
{
    int log = make_log("ours", POSIX_TRACE_APPEND), again;
    bool kept[MOST_DESCRIPTORS];
    trace_id_t trid = open_stream(log, kept);
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", log);
    for (int i = OWN; i < MOST_DESCRIPTORS; i++)
        if (kept[i])
            close(i);
    again = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(again, 0);
    ck_assert_int_eq(posix_trace_close(trid), 0);
    ck_assert_int_ge(fcntl(again, F_GETFD), 0);
    close(again);
    close(log);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, another_log);
    tcase_add_test(tc, another_pipe);
    tcase_add_test(tc, another_pipe_of_loop);
    if (!is_under_valgrind()) /* it has the high numbers */
        tcase_add_test(tc, same_file);
}

int main(void)
{
    return run_suite("descriptors", "descriptors", NULL, add);
}
