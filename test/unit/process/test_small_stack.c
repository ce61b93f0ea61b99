/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program whose threads get the smallest stack that there is (pthread_setattr_default_np()),
 * with thread-local variables that take a part of it, beside a stream that a killed program has
 * left: the threads of the library complete that one's log and write the program's own.  And
 * a thread with such a stack that calls what a controller calls.
 */
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
#include <posixtrace/attach.h>
#include <posixtrace/attr.h>
#include <posixtrace/event.h>
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
    *(unsigned *)left += s->liveness == POSIXTRACE_LIVENESS_DEAD;
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

static void read_log(const char *log)
{
    struct posixtrace_event e;
    trace_id_t trid;
    int fd = open(log, O_RDONLY | O_CLOEXEC), none = 0;
    unsigned n = 0;

    NEED(fd >= 0 && posix_trace_open(fd, &trid) == 0);
    while (posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none)
        n++;
    NEED(n >= EVENTS);
    NEED(posix_trace_close(trid) == 0);
    close(fd);
}

static int remember_living(void *file, const struct posixtrace_stream *s)
{
    if (s->liveness == POSIXTRACE_LIVENESS_ALIVE)
        strcpy(file, s->file);
    return 0;
}

static void look_on(void)
{
    static char file[sizeof(((struct posixtrace_stream *)0)->file)];
    trace_id_t onlooker;

    NEED(posixtrace_stream_list(remember_living, file) == 0);
    NEED(posixtrace_attach(file, &onlooker) == 0);
    NEED(posixtrace_detach(onlooker) == 0);
}

static void *call_all(void *unused)
{
    static struct posix_trace_status_info status;
    static struct posixtrace_info info;
    static struct posixtrace_event e;
    static trace_event_set_t set;
    trace_id_t trid;
    int none;

    read_log(logs[0]);
    trid = trace_to(logs[1]);
    look_on();
    NEED(posixtrace_get_info(trid, &info, sizeof info) == 0);
    NEED(posix_trace_flush(trid) == 0);
    NEED(posix_trace_shutdown(trid) == 0);
    NEED(posix_trace_create(getppid(), NULL, &trid) == 0);
    NEED(posix_trace_shutdown(trid) == 0);
    NEED(posix_trace_create(0, NULL, &trid) == 0);
    NEED(posix_trace_start(trid) == 0);
    NEED(posix_trace_get_status(trid, &status) == 0);
    NEED(posixtrace_next_event(trid, &e, sizeof e, &none) == 0 && !none);
    NEED(posix_trace_eventset_empty(&set) == 0);
    NEED(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) == 0);
    NEED(posix_trace_stop(trid) == 0);
    NEED(posix_trace_clear(trid) == 0);
    NEED(posix_trace_shutdown(trid) == 0);
    return unused;
}

/* Thread-local variables take their part of the stack; sanitizers make frames several times as
 * large. */
static void call(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    enum { LARGER = 16 };
#else
    enum { LARGER = 1 };
#endif
    size_t size = LOCAL + LARGER * (size_t)sysconf(_SC_THREAD_STACK_MIN);
    pthread_attr_t attr;
    pthread_t thread;

    alarm(HANG_S);
    NEED(pthread_attr_init(&attr) == 0);
    NEED(pthread_attr_setstacksize(&attr, size) == 0);
    NEED(pthread_create(&thread, &attr, call_all, NULL) == 0);
    NEED(pthread_join(thread, NULL) == 0);
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
    NEED(posixtrace_get_info(trid, &info, sizeof info) == 0);
    NEED(info.events >= EVENTS);
    NEED(posix_trace_close(trid) == 0);
    close(fd);
    NEED(unlink(log) == 0);
}

/* part ends well beside what a killed program has left. */
static void run_beside(void (*part)(void))
{
    int status = run(leave);

    NEED(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    status = run(part);
    if (WIFSIGNALED(status))
        dprintf(2, "signal %d\n", WTERMSIG(status));
    NEED(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const char *base = getenv("POSIXTRACE_DIR");

    snprintf(dir, sizeof dir, "%s/stack.XXXXXX", base ? base : "/tmp");
    NEED(mkdtemp(dir) && setenv("POSIXTRACE_DIR", dir, 1) == 0);
    for (int i = 0; i < 2; i++)
        snprintf(logs[i], sizeof logs[i], "%s/log-%d", dir, i);
    run_beside(live);
    check_log(logs[0]);
    check_log(logs[1]);
    run_beside(call);
    return 0;
}
