/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A signal handler forks while its thread is in a control call: posix_trace_create(), start,
 * stop, filter, clear, shutdown.  Parent and child both return into the call.  The parent's
 * takes effect; the child, which comes to it after the parent has made further calls, changes
 * nothing of the parent's, and waits for nothing that is not there.
 *
 *   test_stream_fork_control [ROUNDS]
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <posixtrace/event.h>
#include <posixtrace/info.h>
#include <trace.h>
#include "support/need.h"

/* The child ends with the call that was interrupted, or with the first one after the fork. */
#define HOLDS(condition)           \
    do {                           \
        bool holds_ = (condition); \
        if (getpid() != parent)    \
            _exit(0);              \
        NEED(holds_);              \
    } while (0)

enum { HANG_S = 300, CHILD_S = 120, BATCH = 10, SHORT = 60, LONG = 500, LATER = 13 };

static trace_event_id_t tick, other;
static int go[2];
static volatile sig_atomic_t armed;
static volatile pid_t child;
static pid_t parent;
static unsigned since; /* calls that the parent has returned from since the fork */
static timer_t timer;

static void on_signal(int sig)
{
    int saved = errno;
    char c;

    (void)sig;
    if (armed) {
        armed = 0;
        child = _Fork(); /* fork() may wait for the lock of a malloc() that was interrupted */
        if (child == 0) {
            alarm(CHILD_S);
            NEED(read(go[0], &c, 1) == 1);
        }
    }
    errno = saved;
}

static void reap(void)
{
    int status;

    NEED(waitpid(child, &status, 0) == child);
    if (status != 0)
        dprintf(2, "the child: wait status %#x\n", (unsigned)status);
    NEED(status == 0);
    child = 0;
}

/* r: of a call that cannot fail in the parent. */
static void done(int r)
{
    HOLDS(r == 0);
    if (!child || ++since != LATER)
        return;
    NEED(write(go[1], "", 1) == 1);
    if (child % 2) /* else both continue at once */
        reap();
}

static void arm(unsigned long ns)
{
    struct itimerspec when = { .it_value = { .tv_sec = (time_t)(ns / 1000000000),
                                             .tv_nsec = (long)(ns % 1000000000) } };

    HOLDS(true);
    if (child || armed)
        return;
    since = 0;
    armed = 1;
    HOLDS(timer_settime(timer, 0, &when, NULL) == 0); /* a child does not have the timer */
}

static trace_id_t create(int fd)
{
    trace_attr_t attr;
    trace_id_t trid;
    int r;

    HOLDS(posix_trace_attr_init(&attr) == 0);
    HOLDS(posix_trace_attr_setstreamsize(&attr, 64 << 10) == 0);
    HOLDS(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL) == 0);
    r = fd < 0 ? posix_trace_create(0, &attr, &trid)
               : posix_trace_create_withlog(0, &attr, fd, &trid);
    done(r);
    HOLDS(posix_trace_attr_destroy(&attr) == 0);
    return trid;
}

/* Undisturbed: a child that _Fork() makes inside an event must not return into it. */
static unsigned trace(void)
{
    sigset_t mask, before;

    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_BLOCK, &mask, &before);
    for (uint64_t i = 0; i < BATCH; i++)
        posix_trace_event(tick, &i, sizeof i);
    posix_trace_event(other, NULL, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return BATCH;
}

static unsigned count(trace_id_t trid, bool log)
{
    struct posix_trace_event_info event;
    int none, r;
    uint64_t data;
    size_t length;
    unsigned n = 0;

    for (;;) {
        r = log ? posix_trace_getnext_event(trid, &event, &data, sizeof data, &length, &none)
                : posix_trace_trygetnext_event(trid, &event, &data, sizeof data, &length, &none);
        HOLDS(r == 0);
        if (none)
            return n;
        if (event.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
            continue;
        HOLDS(event.posix_event_id == tick);
        n++;
    }
}

static int log_file(void)
{
    int fd = memfd_create("log", MFD_CLOEXEC);

    HOLDS(fd >= 0);
    return fd;
}

static void check_log(int fd, unsigned made)
{
    struct posixtrace_info info;
    trace_id_t trid;

    HOLDS(lseek(fd, 0, SEEK_SET) == 0);
    HOLDS(posix_trace_open(fd, &trid) == 0);
    HOLDS(count(trid, true) == made);
    HOLDS(posixtrace_get_info(trid, &info, sizeof info) == 0);
    for (unsigned c = 0; c < POSIXTRACE_LOSS_CAUSES; c++)
        HOLDS(info.lost[c] == 0);
    HOLDS(posix_trace_close(trid) == 0);
}

/* One stream from its creation to its shutdown. */
static void live(unsigned round, unsigned long ns)
{
    int fd = round % 3 == 0 ? log_file() : -1;
    struct posix_trace_status_info status;
    trace_event_set_t set;
    unsigned made = 0;
    trace_id_t trid;

    arm(ns);
    trid = create(fd);
    HOLDS(posix_trace_eventset_empty(&set) == 0);
    HOLDS(posix_trace_eventset_add(other, &set) == 0);
    done(posix_trace_start(trid));
    done(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
    made += trace();
    done(posix_trace_stop(trid));
    trace();
    if (round % 2) {
        done(posix_trace_clear(trid));
        done(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
        made = 0;
    }
    done(posix_trace_start(trid));
    if (fd >= 0)
        done(posix_trace_flush(trid));
    made += trace();
    HOLDS(posix_trace_get_status(trid, &status) == 0);
    HOLDS(status.posix_stream_status == POSIX_TRACE_RUNNING);
    done(posix_trace_stop(trid));
    HOLDS(posix_trace_get_status(trid, &status) == 0);
    HOLDS(status.posix_stream_status == POSIX_TRACE_SUSPENDED);
    if (fd < 0)
        HOLDS(count(trid, false) == made);
    done(posix_trace_shutdown(trid));
    if (fd < 0)
        return;
    check_log(fd, made);
    close(fd);
}

/* How long a stream takes, so that forks fall everywhere into it. */
static unsigned long measure(void)
{
    struct timespec a, b;

    armed = 1; /* no timer */
    clock_gettime(CLOCK_MONOTONIC, &a);
    live(0, 0);
    live(1, 0);
    clock_gettime(CLOCK_MONOTONIC, &b);
    armed = 0;
    return (unsigned long)((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1                          ? (unsigned)atoi(argv[1])
                      : getenv("POSIXTRACE_TEST_SHORT") ? SHORT
                                                        : LONG;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    unsigned long most, seed = 1;

    alarm(HANG_S);
    parent = getpid();
    NEED(pipe(go) == 0);
    NEED(sigaction(SIGUSR1, &action, NULL) == 0);
    NEED(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    NEED(posix_trace_eventid_open("tick", &tick) == 0);
    NEED(posix_trace_eventid_open("other", &other) == 0);
    most = measure();
    for (unsigned i = 0; i < rounds; i++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        live(i, 1 + (seed >> 20) % most);
        if (child && since >= LATER)
            reap();
    }
    armed = 0;
    HOLDS(true);
    if (child) {
        NEED(write(go[1], "", 1) == 1);
        reap();
    }
    return 0;
}
