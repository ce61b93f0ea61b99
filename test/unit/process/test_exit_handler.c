/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * exit() in a signal handler that has interrupted a call of the library, which then does not
 * return: the program ends, its streams are shut down, and where the call holds a lock of the
 * stream, the log is left as a killed program leaves it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "base/atomics.h"
#include "place/dir.h"
#include "stream/handle.h"
#include "support/asleep.h"
#include "support/run_suite.h"

enum { HANG_S = 60, EVENTS = 100, STATUS = 7 };

static trace_id_t trid;
static trace_event_id_t tick;

static void leave(int number)
{
    (void)number;
    exit(STATUS);
}

/* fd: of the log, -1: none. */
static void create(int fd)
{
    trace_attr_t attr;
    int r;

    ck_assert_ptr_ne(signal(SIGUSR1, leave), SIG_ERR);
    ck_assert_int_eq(posix_trace_attr_init(&attr), 0);
    r = fd < 0 ? posix_trace_create(0, &attr, &trid)
               : posix_trace_create_withlog(0, &attr, fd, &trid);
    ck_assert_int_eq(r, 0);
    ck_assert_int_eq(posix_trace_eventid_open("tick", &tick), 0);
    ck_assert_int_eq(posix_trace_start(trid), 0);
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(tick, &i, sizeof i);
}

static void run_in_child(void (*run)(int), int fd)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(HANG_S);
        run(fd);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == STATUS, "status %x", status);
}

/* Of segments in the directory of streams. */
static unsigned count_segments(void)
{
    int dir = pt_dir_open(false);
    struct dirent *entry;
    unsigned n = 0;
    DIR *d;

    ck_assert_int_ge(dir, 0);
    d = fdopendir(dir);
    ck_assert_ptr_nonnull(d);
    while ((entry = readdir(d)))
        n += strncmp(entry->d_name, "s-", 2) == 0;
    closedir(d);
    return n;
}

static unsigned read_all(int fd)
{
    struct posix_trace_event_info event;
    trace_id_t log;
    unsigned n = 0;
    int none, value;
    size_t length;

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_eq(posix_trace_open(fd, &log), 0);
    for (;;) {
        ck_assert_int_eq(
            posix_trace_getnext_event(log, &event, &value, sizeof value, &length, &none), 0);
        if (none)
            break;
        n += length == sizeof value && (unsigned)value == n;
    }
    ck_assert_int_eq(posix_trace_close(log), 0);
    return n;
}

/* ---- a reader that waits ---- */

static struct pt_stream *waited_for;

/* The reader looks at the stream again and again, under its lock; the program ends in its sleep. */
static void leave_unlocked(int number)
{
    if (pthread_mutex_trylock(&waited_for->reading) != 0)
        return;
    pthread_mutex_unlock(&waited_for->reading);
    leave(number);
}

static void *interrupt_reader(void *reader)
{
    struct pt_seg_header *h = waited_for->seg->h;

    while (!(pt_load_seqcst(pt_attention(h)) & PT_WAIT_READER))
        sched_yield();
    for (;;) {
        wait_asleep(getpid());
        pthread_kill(*(pthread_t *)reader, SIGUSR1);
    }
    return NULL;
}

static void wait_for_event(int fd)
{
    pthread_t self = pthread_self(), other;
    struct posix_trace_event_info event;
    size_t length;
    int none;

    create(fd);
    waited_for = pt_handle_get(trid, ~0u);
    pt_handle_put(waited_for);
    ck_assert_ptr_ne(signal(SIGUSR1, leave_unlocked), SIG_ERR);
    ck_assert_int_eq(pthread_create(&other, NULL, interrupt_reader, &self), 0);
    for (;;)
        posix_trace_getnext_event(trid, &event, NULL, 0, &length, &none);
}

START_TEST(reader_waits)
{
    unsigned before = count_segments();

    run_in_child(wait_for_event, -1);
    ck_assert_uint_eq(count_segments(), before);
}
END_TEST

/* ---- calls that have a reference, and a hazard pointer, and a lock ---- */

static void hold_references(int fd)
{
    create(fd);
    ck_assert_ptr_nonnull(pt_handle_get(trid, ~0u));
    ck_assert_ptr_nonnull(pt_handle_get(trid, ~0u));
    ck_assert_ptr_nonnull(pt_handle_get(trid, ~0u));
    raise(SIGUSR1);
}

static int open_log(void)
{
    char path[] = "/tmp/test_exit_handler_XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    unlink(path);
    return fd;
}

START_TEST(calls_have_references)
{
    unsigned before = count_segments();
    int fd = open_log();

    run_in_child(hold_references, fd);
    ck_assert_uint_eq(count_segments(), before);
    ck_assert_uint_eq(read_all(fd), EVENTS);
    close(fd);
}
END_TEST

static void hold_lock(int fd)
{
    struct pt_stream *s;

    create(fd);
    s = pt_handle_get(trid, ~0u);
    pt_stream_lock_reading(s);
    raise(SIGUSR1);
}

START_TEST(call_has_lock)
{
    int fd = open_log();

    run_in_child(hold_lock, fd);
    ck_assert_uint_eq(read_all(fd), EVENTS);
    close(fd);
}
END_TEST

/* ---- a lock that another thread has for a while, as the flush thread may ---- */

static volatile bool locked;

static void *lock_for_a_while(void *unused)
{
    struct pt_stream *s = pt_handle_get(trid, ~0u);

    pt_handle_put(s);
    pt_stream_lock_reading(s);
    locked = true;
    while (!pt_load_seqcst(&s->closing))
        sched_yield();
    nanosleep(&(struct timespec){ .tv_sec = 2, .tv_nsec = 400000000 }, NULL);
    pthread_mutex_unlock(&s->reading);
    return unused;
}

static void exit_meanwhile(int fd)
{
    pthread_t other;

    create(fd);
    ck_assert_int_eq(pthread_create(&other, NULL, lock_for_a_while, NULL), 0);
    while (!locked)
        sched_yield();
    exit(STATUS);
}

START_TEST(other_thread_has_lock)
{
    unsigned before = count_segments();
    int fd = open_log();

    run_in_child(exit_meanwhile, fd);
    ck_assert_uint_eq(count_segments(), before);
    ck_assert_uint_eq(read_all(fd), EVENTS);
    close(fd);
}
END_TEST

static void set_up(void)
{
    ck_assert_int_eq(posix_trace_eventid_open("parent", &tick), 0);
}

static void add(TCase *t)
{
    tcase_set_timeout(t, 2 * HANG_S);
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, reader_waits);
    tcase_add_test(t, calls_have_references);
    tcase_add_test(t, call_has_lock);
    tcase_add_test(t, other_thread_has_lock);
}

int main(void)
{
    return run_suite("exit handler", "exit() in a handler that has interrupted a call", NULL, add);
}
