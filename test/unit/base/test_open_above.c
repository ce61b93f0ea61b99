/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * A program that has closed descriptors 0 to 2, and whose other threads may write to them: no file
 * that the library opens for writing has such a number, not for a moment.  The calls that open go
 * through the test, which looks at the number at once.  The program records itself, creates streams
 * with and without a log, and forks; it also has memory without a name in place of a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trace.h>
#include "base/open_above.h"
#include "support/need.h"

enum { LOUD = 100 }; /* standard error's other number */

static unsigned opened, low;

static int look(int fd, int flags)
{
    if (fd < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return fd;
    opened++;
    low += fd < 3;
    return fd;
}

static mode_t mode_of(int flags, va_list *rest)
{
    return flags & O_CREAT ? va_arg(*rest, mode_t) : 0;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_openat64(int dir, const char *path, int flags, ...);
int __wrap_openat64(int dir, const char *path, int flags, ...);
int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);

int __wrap_open64(const char *path, int flags, ...)
{
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = mode_of(flags, &rest);
    va_end(rest);
    return look(__real_open64(path, flags, mode), flags);
}

int __wrap_openat64(int dir, const char *path, int flags, ...)
{
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = mode_of(flags, &rest);
    va_end(rest);
    return look(__real_openat64(dir, path, flags, mode), flags);
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
    return look(__real_memfd_create(name, flags), O_RDWR);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* NEED's lines go to a standard error that is closed. */
#define WANT(condition)                                                         \
    do {                                                                        \
        if (!(condition)) {                                                     \
            dprintf(LOUD, "%s: line %d: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                           \
        }                                                                       \
    } while (0)

static bool all_are_closed(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (write(fd, "", 1) >= 0 || errno != EBADF || fcntl(fd, F_GETFD) >= 0)
            return false;
    return true;
}

static trace_event_id_t type;

static void trace_in_child(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        posix_trace_event(type, "x", 1);
        _exit(low || !all_are_closed());
    }
    WANT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void use_streams(void)
{
    int fd = open("other.ptl", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int log = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    trace_id_t trid[2];
    trace_attr_t attr;

    close(fd);
    opened = low = 0;
    WANT(posix_trace_attr_init(&attr) == 0);
    WANT(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) == 0);
    WANT(posix_trace_create(0, &attr, &trid[0]) == 0);
    WANT(posix_trace_create_withlog(0, &attr, log, &trid[1]) == 0);
    for (int i = 0; i < 2; i++)
        WANT(posix_trace_start(trid[i]) == 0);
    posix_trace_event(type, "x", 1);
    trace_in_child();
    for (int i = 0; i < 2; i++)
        WANT(posix_trace_shutdown(trid[i]) == 0);
}

static int program(void)
{
    WANT(posix_trace_eventid_open("type", &type) == 0);
    WANT(access("self.ptl", F_OK) == 0);
    WANT(opened > 2 && low == 0 && all_are_closed());
    use_streams();
    WANT(opened > 2 && low == 0 && all_are_closed());
    return 0;
}

static void open_ways(void)
{
    int fd = pt_memory_above("memory", MFD_CLOEXEC);

    WANT(fd >= 3 && all_are_closed());
    close(fd);
    fd = pt_open_above(AT_FDCWD, "no/such", O_RDWR | O_CLOEXEC, 0);
    WANT(fd == -1 && errno == ENOENT && all_are_closed());
    /* One of them is the program's. */
    WANT(open("/dev/null", O_RDWR) == 0);
    low = 0;
    fd = pt_open_above(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
    WANT(fd >= 3 && write(0, "", 1) == 1 && write(1, "", 1) < 0);
    close(fd);
    close(0);
    /* The directory was opened while they were in use. */
    fd = pt_open_above(LOUD, "null", O_RDWR | O_CLOEXEC, 0);
    WANT(fd == -1 && errno == ENOTDIR);
    WANT(low == 0 && all_are_closed());
}

static void run_itself(char *path)
{
    char *const args[] = { path, "program", NULL };

    setenv("POSIXTRACE_RECORD", "self.ptl", 1);
    execv(path, args);
    WANT(false);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/posixtrace-above-XXXXXX", *path;
    int status;
    pid_t child;

    if (argc > 1)
        return program();
    path = realpath(argv[0], NULL);
    NEED(path && dup2(2, LOUD) == LOUD && mkdtemp(folder) && chdir(folder) == 0);
    child = fork();
    if (child == 0) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        open_ways();
        run_itself(path);
    }
    NEED(child > 0 && waitpid(child, &status, 0) == child);
    unlink("self.ptl");
    unlink("other.ptl");
    rmdir(folder);
    free(path);
    return status != 0;
}
