/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program whose threads get the smallest stack that there is (pthread_setattr_default_np()),
 * with thread-local variables that take a part of it, beside a stream that a killed program has
 * left: the threads of the library complete that one's log and write the program's own.
 */
#include <errno.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attr.h>
#include <posixtrace/info.h>
#include <posixtrace/stream.h>
#include <trace.h>
#include "support/need.h"

enum { EVENTS = 20000, HANG_S = 60, LOCAL = 4096 };

static char dir[128], logs[2][160];
static _Thread_local volatile char local[LOCAL];

static trace_id_t trace_to(const char *log)
{
    trace_event_id_t id;
    trace_attr_t attr;
    trace_id_t trid;
    int fd = open(log, O_RDWR | O_CREAT | O_CLOEXEC, 0600), e;

    NEED(fd >= 0);
    NEED(posix_trace_attr_init(&attr) == 0);
    NEED(posix_trace_attr_setstreamsize(&attr, 4 << 20) == 0);
    e = posixtrace_attr_setcompression(&attr, POSIXTRACE_COMPRESSION_ZSTD);
    NEED(e == 0 || e == ENOTSUP);
    NEED(posix_trace_create_withlog(0, &attr, fd, &trid) == 0);
    NEED(posix_trace_eventid_open("small stack", &id) == 0);
    NEED(posix_trace_start(trid) == 0);
    for (int i = 0; i < EVENTS; i++)
        posix_trace_event(id, &i, sizeof i);
    return trid;
}

static void leave(void)
{
    trace_to(logs[0]);
    kill(getpid(), SIGKILL);
}

static int count_left(void *left, const struct posixtrace_stream *s)
{
    *(unsigned *)left += s->liveness == POSIXTRACE_DEAD;
    return 0;
}

static unsigned streams_left(void)
{
    unsigned left = 0;

    NEED(posixtrace_stream_list(count_left, &left) == 0);
    return left;
}

static void live(void)
{
    pthread_attr_t attr;
    trace_id_t trid;

    alarm(HANG_S);
    local[LOCAL - 1] = 1;
    NEED(pthread_attr_init(&attr) == 0);
    NEED(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
    NEED(pthread_setattr_default_np(&attr) == 0);
    NEED(streams_left() == 1);
    trid = trace_to(logs[1]);
    while (streams_left() > 0)
        sched_yield();
    NEED(posix_trace_shutdown(trid) == 0);
    _exit(0);
}

static int run(void (*part)(void))
{
    pid_t pid = fork();
    int status;

    NEED(pid >= 0);
    if (pid == 0)
        part();
    NEED(waitpid(pid, &status, 0) == pid);
    return status;
}

/* All events are there. */
static void check_log(const char *log)
{
    struct posixtrace_info info;
    trace_id_t trid;
    int fd = open(log, O_RDONLY | O_CLOEXEC);

    NEED(fd >= 0 && posix_trace_open(fd, &trid) == 0);
    NEED(posixtrace_get_info(trid, &info) == 0);
    NEED(info.events >= EVENTS);
    NEED(posix_trace_close(trid) == 0);
    close(fd);
    NEED(unlink(log) == 0);
}

int main(void)
{
    const char *base = getenv("POSIXTRACE_DIR");
    int status;

    snprintf(dir, sizeof dir, "%s/stack.XXXXXX", base ? base : "/tmp");
    NEED(mkdtemp(dir) && setenv("POSIXTRACE_DIR", dir, 1) == 0);
    for (int i = 0; i < 2; i++)
        snprintf(logs[i], sizeof logs[i], "%s/log-%d", dir, i);
    status = run(leave);
    NEED(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = run(live);
    if (WIFSIGNALED(status))
        dprintf(2, "signal %d\n", WTERMSIG(status));
    NEED(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_log(logs[0]);
    check_log(logs[1]);
    return 0;
}
