/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Lines; see lines.h.  One window of the file is in memory.  Reading in order
 * makes it slide by large steps; a jump begins a new one with a small read, and
 * each further line in order doubles that, so that neither sorted nor shuffled
 * access reads much more than it uses.
 */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

enum { AHEAD_LEAST = 4096, AHEAD_MOST = 1 << 20 };

static int open_spool(const char *folder)
{
    char name[4096];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0)
        return fd;
    if (snprintf(name, sizeof name, "%s/posixtrace-import.XXXXXX", folder) >= (int)sizeof name)
        return -ENAMETOOLONG;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    unlink(name);
    return fd;
}

int lines_open(struct lines *l, int fd, size_t max, const char *spool_folder)
{
    struct stat st;

    memset(l, 0, sizeof *l);
    l->fd = fd;
    l->spool = -1;
    l->max = max;
    l->ahead = AHEAD_MOST;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (S_ISREG(st.st_mode)) {
        l->start = lseek(fd, 0, SEEK_CUR);
        l->start = l->start < 0 ? 0 : l->start;
        l->size = st.st_size > l->start ? (uint64_t)(st.st_size - l->start) : 0;
        l->next = l->window_at = l->start;
        return 0;
    }
    l->piped = true;
    l->spool = open_spool(spool_folder);
    return l->spool < 0 ? l->spool : 0;
}

void lines_close(struct lines *l)
{
    if (l->spool >= 0)
        close(l->spool);
    free(l->window);
}

static int copy_to_spool(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

/* Reads on behind the window: number of bytes, 0 at the end, or -errno. */
static ssize_t fill(struct lines *l)
{
    ssize_t n;
    int error;

    if (l->room - l->filled < l->ahead) {
        l->room = l->filled + l->ahead;
        l->window = tool_grow(l->window, l->room, 1);
    }
    if (l->ended)
        return 0;
    do {
        if (l->piped)
            n = read(l->fd, l->window + l->filled, l->ahead);
        else
            n = pread(l->fd, l->window + l->filled, l->ahead, l->window_at + (off_t)l->filled);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if (l->piped) {
        l->ended = n == 0;
        error = copy_to_spool(l->spool, l->window + l->filled, (size_t)n);
        if (error != 0)
            return error;
    }
    l->filled += (size_t)n;
    return n;
}

/* Makes the window begin at l->next. */
static void slide(struct lines *l)
{
    size_t gone = (size_t)(l->next - l->window_at);

    memmove(l->window, l->window + gone, l->filled - gone);
    l->filled -= gone;
    l->window_at = l->next;
}

/* The line at l->next, which lies in the window or just behind it. */
static int line_here(struct lines *l, const char **line, size_t *length)
{
    size_t begin = (size_t)(l->next - l->window_at), looked = begin;
    const char *newline = NULL;
    ssize_t n = 1;

    while (n > 0) {
        if (l->filled > looked)
            newline = memchr(l->window + looked, '\n', l->filled - looked);
        if (newline || l->filled - begin > l->max)
            break;
        if (begin > 0) {
            slide(l);
            begin = 0;
        }
        looked = l->filled;
        n = fill(l);
    }
    if (n < 0)
        return (int)n;
    *line = l->window + begin;
    *length = newline ? (size_t)(newline - *line) : l->filled - begin;
    if (*length > l->max)
        return -E2BIG;
    if (!newline && *length == 0)
        return 0;
    l->next += (off_t)*length + (newline != NULL);
    return 1;
}

int lines_next(struct lines *l, const char **line, size_t *length)
{
    int got = line_here(l, line, length);

    if (got != 0)
        l->number++;
    return got;
}

int lines_rewind(struct lines *l)
{
    while (l->piped) {
        ssize_t n;

        l->filled = 0;
        n = fill(l);
        if (n < 0)
            return (int)n;
        if (n == 0) {
            l->piped = l->ended = false;
            l->fd = l->spool;
            l->size = (uint64_t)lseek(l->spool, 0, SEEK_END);
        }
    }
    l->filled = 0;
    l->number = 0;
    l->ahead = AHEAD_MOST;
    l->next = l->window_at = l->start;
    return 0;
}

int lines_at(struct lines *l, off_t offset, const char **line, size_t *length)
{
    bool in_order = offset == l->next;

    if (offset < l->window_at || offset >= l->window_at + (off_t)l->filled) {
        if (!in_order) {
            l->filled = 0;
            l->window_at = offset;
        }
        l->ahead = in_order && l->ahead < AHEAD_MOST ? 2 * l->ahead : AHEAD_LEAST;
    }
    l->next = offset;
    return line_here(l, line, length);
}
