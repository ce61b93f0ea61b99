/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Kernels that lack what newer ones have: a filter of system calls refuses, in a
 * child, what an old kernel does not know, or a container does not allow.  The
 * library falls back, or create answers an error number; it never loses events
 * silently, dies of SIGBUS, or takes a child for its parent.
 *
 * Where filters cannot be had (an emulator) nothing is tried, and that is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include <unistd.h>
#include "support/need.h"
#include "support/refuse_call.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

enum { EVENTS = 500, THREADS = 24, NOT_TRIED = 77, UNSHARE_TABLE = 2 };

static trace_event_id_t number_id;

/* From here on, or the case is not tried. */
static void refuse(int call, int64_t third, int error)
{
    if (!refuse_call_with(call, third, error))
        _exit(NOT_TRIED);
}

static void *record(void *unused)
{
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(number_id, &i, sizeof i);
    return unused;
}

/* Each thread is a further writer, for which the stream grows. */
static void record_in_threads(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        NEED(pthread_create(&threads[i], NULL, record, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        NEED(pthread_join(threads[i], NULL) == 0);
}

typedef int next_function(trace_id_t, struct posix_trace_event_info *, void *, size_t, size_t *,
                          int *);

/* How many numbered events there are up to the end; of_pid: only that process's. */
static int count_events(trace_id_t trid, next_function *next_event, pid_t of_pid)
{
    struct posix_trace_event_info info;
    size_t length;
    int data, unavailable = 0, n = 0;

    for (;;) {
        NEED(next_event(trid, &info, &data, sizeof data, &length, &unavailable) == 0);
        if (unavailable)
            return n;
        n += info.posix_event_id == number_id && (!of_pid || info.posix_pid == of_pid);
    }
}

static trace_id_t make_stream(int inheritance, size_t size)
{
    trace_attr_t attr;
    trace_id_t trid;

    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setinherited(&attr, inheritance) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, size) == 0);
    NEED(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL) == 0);
    NEED(posix_trace_eventid_open("number", &number_id) == 0);
    NEED(posix_trace_create(0, &attr, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    return trid;
}

static void live_round(void)
{
    trace_id_t trid = make_stream(POSIX_TRACE_CLOSE_FOR_CHILD, 1 << 20);

    NEED(posixtrace_prepare() == 0);
    record_in_threads();
    NEED(count_events(trid, posix_trace_trygetnext_event, 0) == THREADS * EVENTS);
    NEED(posix_trace_shutdown(trid) == 0);
}

/* The application closes the descriptors it knows nothing of, and the log's. */
static void log_round(void)
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0600), copy = dup(fd);
    trace_id_t trid;

    NEED(copy >= 0);
    NEED(posix_trace_eventid_open("number", &number_id) == 0);
    NEED(posix_trace_create_withlog(0, NULL, fd, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    for (int i = 3; i < 64; i++)
        if (i != copy)
            close(i);
    record_in_threads();
    NEED(posix_trace_shutdown(trid) == 0);
    NEED(lseek(copy, 0, SEEK_SET) == 0);
    NEED(posix_trace_open(copy, &trid) == 0);
    NEED(count_events(trid, posix_trace_getnext_event, 0) == THREADS * EVENTS);
    NEED(posix_trace_close(trid) == 0);
}

static void no_populate(void)
{
    refuse(SYS_madvise, MADV_POPULATE_READ, EINVAL);
    refuse(SYS_madvise, MADV_POPULATE_WRITE, EINVAL);
    live_round();
    log_round();
}

static void no_madvise(void)
{
    refuse(SYS_madvise, REFUSE_ANY, EPERM);
    live_round();
    log_round();
}

/* Pages that cannot be had must be noticed before they are touched. */
static void no_populate_no_memory(void)
{
    struct posixtrace_info info;
    struct statvfs fs;
    char path[300];
    uint64_t lost = 0;
    trace_id_t trid;
    int fd, kept;

    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", getenv("POSIXTRACE_DIR"), "tmpfs", 0, "size=4m,mode=0700"))
        _exit(NOT_TRIED);
    refuse(SYS_madvise, MADV_POPULATE_READ, EINVAL);
    refuse(SYS_madvise, MADV_POPULATE_WRITE, EINVAL);
    trid = make_stream(POSIX_TRACE_CLOSE_FOR_CHILD, 1 << 16);
    snprintf(path, sizeof path, "%s/fill", getenv("POSIXTRACE_DIR"));
    fd = open(path, O_RDWR | O_CREAT, 0600);
    NEED(fd >= 0 && statvfs(path, &fs) == 0);
    NEED(fallocate(fd, 0, 0, (off_t)((fs.f_bavail - 2) * fs.f_bsize)) == 0);
    record_in_threads();
    kept = count_events(trid, posix_trace_trygetnext_event, 0);
    NEED(posixtrace_get_info(trid, &info, sizeof info) == 0);
    for (int cause = 0; cause < POSIXTRACE_LOSS_CAUSES; cause++)
        lost += info.lost[cause];
    NEED(lost > 0);
    NEED((uint64_t)kept + lost == THREADS * EVENTS);
    NEED(posix_trace_shutdown(trid) == 0);
}

static void no_close_range(void)
{
    refuse(SYS_close_range, REFUSE_ANY, ENOSYS);
    live_round();
    log_round();
}

static void no_unshare_flag(void)
{
    refuse(SYS_close_range, UNSHARE_TABLE, EINVAL);
    log_round();
}

/* Without a descriptor table of its own the log would be at the application's
 * mercy: there is none, and create says so. */
static void no_own_table(void)
{
    trace_id_t trid = 77;
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);

    NEED(fd >= 0);
    refuse(SYS_close_range, REFUSE_ANY, ENOSYS);
    refuse(SYS_unshare, REFUSE_ANY, EPERM);
    NEED(posix_trace_create_withlog(0, NULL, fd, &trid) == EPERM);
    live_round();
}

static void no_memfd(void)
{
    refuse(SYS_memfd_create, REFUSE_ANY, ENOSYS);
    live_round();
}

/* A child is not its parent: its events carry its pid, or are in no stream. */
static void no_wipe(void)
{
    trace_id_t inherited, closed;
    int status;
    pid_t child;

    refuse(SYS_madvise, MADV_WIPEONFORK, EINVAL);
    inherited = make_stream(POSIX_TRACE_INHERITED, 1 << 20);
    closed = make_stream(POSIX_TRACE_CLOSE_FOR_CHILD, 1 << 20);
    record(NULL);
    child = fork();
    NEED(child >= 0);
    if (child == 0) {
        record(NULL);
        NEED(posix_trace_stop(closed) == EINVAL);
        _exit(0);
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
    record(NULL);
    NEED(count_events(closed, posix_trace_trygetnext_event, 0) == 2 * EVENTS);
    NEED(posix_trace_shutdown(closed) == 0);
    NEED(posix_trace_stop(inherited) == 0);
    NEED(count_events(inherited, posix_trace_trygetnext_event, child) == EVENTS);
    NEED(posix_trace_shutdown(inherited) == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    { "no MADV_POPULATE_WRITE", no_populate },
    { "no MADV_POPULATE_WRITE and no memory", no_populate_no_memory },
    { "no madvise", no_madvise },
    { "no close_range", no_close_range },
    { "no CLOSE_RANGE_UNSHARE", no_unshare_flag },
    { "no descriptor table of its own", no_own_table },
    { "no memfd_create", no_memfd },
    { "no MADV_WIPEONFORK", no_wipe },
};

int main(void)
{
    int failed = 0, tried = 0, count = (int)(sizeof cases / sizeof cases[0]);

    for (int i = 0; i < count; i++) {
        int status = -1;
        pid_t child = fork();

        if (child == 0) {
            alarm(60);
            cases[i].run();
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_TRIED) {
            printf("not possible here, so not tried: %s\n", cases[i].name);
            continue;
        }
        tried++;
        if (status != 0)
            printf("%s: wait status 0x%x\n", cases[i].name, (unsigned)status);
        failed += status != 0;
    }
    printf("%d of %d cases tried, %d failed\n", tried, count, failed);
    return failed ? 1 : tried ? 0 : NOT_TRIED;
}
