/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The first control call of a process that has so many bytes left to allocate: it says ENOMEM or
 * succeeds, and succeeds when there is memory again.  malloc(), calloc(), realloc() and free() of
 * the whole process, its libraries included, are the test's.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <posixtrace/attach.h>
#include <posixtrace/event.h>
#include <trace.h>
#include "support/valgrind.h"

enum { SKIPPED = 77, MOST = 4 << 20, STEP = 200, DONE = 10, WRONG, NONE_FAILED };

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

static long left; /* bytes */
static bool limited, failed;

static bool take(size_t bytes)
{
    if (!limited || __atomic_sub_fetch(&left, (long)bytes, __ATOMIC_RELAXED) >= 0)
        return true;
    __atomic_add_fetch(&left, (long)bytes, __ATOMIC_RELAXED);
    failed = true;
    errno = ENOMEM;
    return false;
}

static void give(void *block)
{
    __atomic_add_fetch(&left, (long)malloc_usable_size(block), __ATOMIC_RELAXED);
}

/* What was allocated may have more bytes than were asked for. */
static void *settle(void *block, size_t bytes)
{
    if (block)
        __atomic_sub_fetch(&left, (long)(malloc_usable_size(block) - bytes), __ATOMIC_RELAXED);
    return block;
}

void *malloc(size_t bytes)
{
    return take(bytes) ? settle(__libc_malloc(bytes), bytes) : NULL;
}

void *calloc(size_t count, size_t bytes)
{
    return take(count * bytes) ? settle(__libc_calloc(count, bytes), count * bytes) : NULL;
}

void *realloc(void *block, size_t bytes)
{
    if (!take(bytes))
        return NULL;
    if (block)
        give(block);
    return settle(__libc_realloc(block, bytes), bytes);
}

void free(void *block)
{
    if (block)
        give(block);
    __libc_free(block);
}

static int log_fd;
static pid_t owner; /* of a stream to attach */

static int create(void)
{
    trace_id_t trid;
    int r = posix_trace_create(0, NULL, &trid);

    return r ? r : posix_trace_shutdown(trid);
}

static int create_withlog(void)
{
    int fd = memfd_create("log", MFD_CLOEXEC);
    trace_id_t trid;
    int r = posix_trace_create_withlog(0, NULL, fd, &trid);

    r = r ? r : posix_trace_shutdown(trid);
    close(fd);
    return r;
}

static int open_log(void)
{
    trace_id_t trid;
    int r;

    lseek(log_fd, 0, SEEK_SET);
    r = posix_trace_open(log_fd, &trid);
    return r ? r : posix_trace_close(trid);
}

static int attach(void)
{
    trace_id_t trid;
    int r = posixtrace_attach_pid(owner, &trid);

    return r ? r : posixtrace_detach(trid);
}

static const struct {
    const char *name;
    int (*call)(void);
} ways[] = { { "create", create },
             { "create_withlog", create_withlog },
             { "open", open_log },
             { "attach", attach } };

/* In a child of a process that has not called the library. */
static int run(int (*call)(void), long bytes)
{
    int r;

    left = bytes;
    limited = true;
    r = call();
    limited = false;
    if (r != 0 && r != ENOMEM) {
        dprintf(2, "%ld bytes: error %d\n", bytes, r);
        return WRONG;
    }
    if (!failed)
        return NONE_FAILED;
    r = call();
    if (r != 0)
        dprintf(2, "with memory again, after %ld bytes: error %d\n", bytes, r);
    return r == 0 ? DONE : WRONG;
}

static int try_all(unsigned way)
{
    for (long bytes = 0; bytes < MOST; bytes += STEP + bytes / 16) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
            _exit(run(ways[way].call, bytes));
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return 1;
        if (WIFEXITED(status) && WEXITSTATUS(status) == NONE_FAILED)
            return bytes > 0 ? 0 : 1;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != DONE) {
            fprintf(stderr, "%s, %ld bytes: status %x\n", ways[way].name, bytes, (unsigned)status);
            return 1;
        }
    }
    fprintf(stderr, "%s takes more than %d bytes\n", ways[way].name, MOST);
    return 1;
}

static bool make_log(void)
{
    int status;
    pid_t pid;

    log_fd = memfd_create("log", 0);
    pid = fork();
    if (pid == 0) {
        trace_id_t trid;

        _exit(posix_trace_create_withlog(0, NULL, log_fd, &trid) != 0 ||
              posix_trace_shutdown(trid) != 0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool make_owner(void)
{
    int ends[2];
    char byte;

    if (pipe(ends) < 0)
        return false;
    owner = fork();
    if (owner == 0) {
        trace_id_t trid;

        if (posix_trace_create(0, NULL, &trid) == 0 && write(ends[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ends[1]);
    return read(ends[0], &byte, 1) == 1;
}

int main(void)
{
    int wrong = 0;

    if (is_under_valgrind())
        return SKIPPED;
    if (!make_log() || !make_owner())
        return 1;
    for (unsigned way = 0; way < sizeof ways / sizeof ways[0]; way++)
        wrong |= try_all(way);
    kill(owner, SIGKILL);
    return wrong;
}
#else
int main(void)
{
    return SKIPPED;
}
#endif
