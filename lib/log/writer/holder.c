/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See holder.h.  A line of /proc/PID/fdinfo/FD or, without "lock:", of /proc/locks:
 *
 *     lock:  1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
 *
 * The device is that of the superblock, which differs from stat()'s for some file systems.  So the
 * name of the file is taken from a lock of our own.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/sys.h"
#include "log/writer/holder.h"

enum { TEXT_MAX = 4096, LINE_MAX_BYTES = 256, FILE_NAME = 64 };

struct line {
    char kind[12], file[FILE_NAME];
    long pid;
};

static bool parse(const char *text, struct line *l)
{
    return sscanf(text, "%*[^:]: %11s %*s %*s %ld %63s", l->kind, &l->pid, l->file) == 3;
}

/* Reads the descriptor's locks from fdinfo; false: it cannot be read. */
static bool read_own(int fd, char text[TEXT_MAX])
{
    char path[48];

    snprintf(path, sizeof path, "/proc/thread-self/fdinfo/%d", fd);
    return pt_sys_read_text(path, text, TEXT_MAX);
}

/* The first lock of that kind. */
static bool find_own(const char *text, const char *kind, struct line *l)
{
    for (const char *at = text; (at = strstr(at, "lock:")); at++)
        if (parse(at + strlen("lock:"), l) && strcmp(l->kind, kind) == 0)
            return true;
    return false;
}

int pt_log_holder_is(int fd)
{
    char text[TEXT_MAX];
    struct line l;

    return read_own(fd, text) ? find_own(text, "FLOCK", &l) : -ENOENT;
}

static bool is_dead(long pid)
{
    return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Is there a flock() on the file, and is each one a dead process's?  Lines longer than the
 * buffer are of no lock on a file. */
static bool all_are_dead(int fd, const char *file)
{
    char text[TEXT_MAX];
    bool seen = false;
    size_t have = 0;
    ssize_t n;

    while ((n = read(fd, text + have, sizeof text - 1 - have)) > 0) {
        char *from = text, *end;
        struct line l;

        have += (size_t)n;
        text[have] = '\0';
        for (; (end = strchr(from, '\n')); from = end + 1) {
            *end = '\0';
            if (!parse(from, &l) || strcmp(l.kind, "FLOCK") != 0 || strcmp(l.file, file) != 0)
                continue;
            if (!is_dead(l.pid))
                return false;
            seen = true;
        }
        have -= (size_t)(from - text);
        memmove(text, from, have);
        if (have > LINE_MAX_BYTES)
            have = 0;
    }
    return n == 0 && seen;
}

/* Its text is not on the stack beside that of all locks. */
static PT_NOINLINE bool own_lock(int fd, struct line *l)
{
    char text[TEXT_MAX];

    return read_own(fd, text) && find_own(text, "OFDLCK", l);
}

bool pt_log_holder_is_dead(int own)
{
    struct line l;
    bool dead;
    int fd;

    if (!own_lock(own, &l))
        return false;
    fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    dead = all_are_dead(fd, l.file);
    close(fd);
    return dead;
}
