/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The worker's side; see apart.h.
 *
 * Before it takes the target's ids it gives up root's descriptors, environment, working
 * directory and session.  Afterwards its own output goes into pipes of its own making, and a
 * thread makes frames of their bytes, and a frame of no bytes when there are none.  Only that
 * thread, and the function that sends counts, write to root.
 */
#include "apart/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <posixtrace/attach.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/stdout_buffer.h"
#include "common/tool.h"

enum { TO_ROOT = 3, SOURCES = 3 };

static struct {
    bool is, relays;
    int fds[SOURCES]; /* read ends: text, results, log; -1: ended */
    int log;          /* the log's other end */
    pthread_t relay;
    pthread_mutex_t sending;
} worker = { .fds = { -1, -1, -1 }, .sending = PTHREAD_MUTEX_INITIALIZER };

bool apart_is_worker(void)
{
    return worker.is;
}

static bool write_all(const void *from, size_t length)
{
    const char *at = from;

    while (length > 0) {
        ssize_t n = write(TO_ROOT, at, length);

        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool send_frame(enum apart_kind kind, const void *bytes, size_t length)
{
    struct apart_head head = { kind, (uint32_t)length };
    bool done;

    pthread_mutex_lock(&worker.sending);
    done = write_all(&head, sizeof head) && write_all(bytes, length);
    pthread_mutex_unlock(&worker.sending);
    return done;
}

void apart_send_counts(const struct apart_counts *counts)
{
    if (worker.is)
        send_frame(APART_COUNTS, counts, sizeof *counts);
}

int apart_log_file(int fd)
{
    static uint8_t bytes[APART_MOST];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        if (!send_frame(APART_LOG, bytes, (size_t)n))
            return errno;
        at += n;
    }
    return n < 0 ? errno : 0;
}

int apart_log_pipe(void)
{
    return worker.log;
}

/* ---- the relay ---- */

/* Relays the bytes from one source; false: its end. */
static bool relay_one(int source, uint8_t *buffer)
{
    static const enum apart_kind kinds[SOURCES] = { APART_TEXT, APART_RESULT, APART_LOG };
    ssize_t n = read(worker.fds[source], buffer, APART_MOST);

    if (n < 0)
        return errno == EINTR;
    return n > 0 && send_frame(kinds[source], buffer, (size_t)n);
}

static void *relay(void *unused)
{
    static uint8_t buffer[APART_MOST];
    struct pollfd p[SOURCES];
    bool open = true;
    int n;

    while (open) {
        open = false;
        for (int i = 0; i < SOURCES; i++)
            p[i] = (struct pollfd){ .fd = worker.fds[i], .events = POLLIN };
        n = poll(p, SOURCES, APART_BEAT);
        if (n < 0 && errno != EINTR)
            break;
        if (n == 0)
            send_frame(APART_TEXT, NULL, 0);
        for (int i = 0; i < SOURCES; i++) {
            if (p[i].fd >= 0 && p[i].revents && !relay_one(i, buffer)) {
                close(worker.fds[i]);
                worker.fds[i] = -1;
            }
            open |= worker.fds[i] >= 0;
        }
    }
    return unused;
}

/* At exit: what was written last goes out.  The ends are closed by taking their places. */
static void drain(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    fflush(NULL);
    if (!worker.relays || null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    dup2(null, worker.log);
    pthread_join(worker.relay, NULL);
}

/* The write end of a source; -1: errno. */
static int open_source(int source)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    worker.fds[source] = ends[0];
    return ends[1];
}

/* ---- the beginning ---- */

/* What the library reads; the rest is root's. */
static void keep_variables(void)
{
    static const char *const kept[] = { "POSIXTRACE_DIR", "POSIXTRACE_CLOCK", "LC_ALL", "TZ" };
    char *values[sizeof kept / sizeof kept[0]];

    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const char *value = getenv(kept[i]);

        values[i] = value ? strdup(value) : NULL;
    }
    for (char **e = environ; e && *e; e++)
        explicit_bzero(*e, strlen(*e));
    clearenv();
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        if (values[i])
            setenv(kept[i], values[i], 1);
        free(values[i]);
    }
}

/* Nothing of root's is left but the pipe, in its place. */
static int leave_root(int pipe)
{
    struct rlimit none = { 0, 0 };

    if ((pipe != TO_ROOT && dup2(pipe, TO_ROOT) < 0) ||
        syscall(SYS_close_range, TO_ROOT + 1, ~0u, 0) < 0)
        return errno;
    for (int fd = 0; fd < TO_ROOT; fd++)
        close(fd);
    keep_variables();
    setsid();
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGPIPE, SIG_IGN);
    return chdir("/") < 0 ? errno : 0;
}

static int begin_output(void)
{
    sigset_t all, before;
    int error;

    for (int fd = 0; fd < TO_ROOT; fd++)
        if (open("/dev/null", O_RDWR) != fd)
            return EBADF;
    for (int source = 0; source < 2; source++) {
        int end = open_source(source), fd = source == 0 ? STDERR_FILENO : STDOUT_FILENO;

        if (end < 0 || dup2(end, fd) < 0 || close(end) < 0)
            return errno;
    }
    worker.log = open_source(SOURCES - 1);
    if (worker.log < 0)
        return errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&worker.relay, NULL, relay, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    worker.relays = error == 0;
    return error;
}

static int refuse(pid_t target, const char *what, int error)
{
    char line[APART_LINE];
    int n = snprintf(line, sizeof line, "posixtrace: %s: cannot %s of process %d: %s\n",
                     tool_verb(), what, (int)target,
                     error == ESRCH ? "there is no such process" : strerror(error));

    send_frame(APART_TEXT, line, (size_t)n);
    _exit(EXIT_FAILED);
}

int apart_begin(int pipe, pid_t target)
{
    int error = leave_root(pipe);

    worker.is = true;
    if (error)
        return refuse(target, "give up root's files and session for the worker", error);
    error = posixtrace_take_ids_of(target);
    if (error)
        return refuse(target, "take the user and group ids", error);
    /* Afterwards: a change of ids undoes it. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    error = begin_output();
    if (error)
        return refuse(target, "begin to write about the memory", error);
    atexit(drain);
    return EXIT_DONE;
}
