/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See self_record_error.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "base/sys.h"
#include "place/dir.h"
#include "startup/self_record_error.h"

/* MOST: bytes of a file; one that would be longer starts again. */
enum { TRIES = 16, TURNS = 100, TURN_NS = 1000000, MOST = 1 << 16, SHOWN = 1000 };

/* The lock is held for some microseconds, but the other program may have been stopped meanwhile. */
static void lock(int fd)
{
    const struct timespec turn = { .tv_nsec = TURN_NS };

    for (int i = 0; i < TURNS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return;
        nanosleep(&turn, NULL);
    }
}

/* A child that another thread has forked meanwhile would keep the lock. */
static void close_locked(int fd)
{
    flock(fd, LOCK_UN);
    close(fd);
}

static bool is_file_of(int dir, const char *path, const struct stat *st)
{
    struct stat now;

    return fstatat(dir, path, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == st->st_dev &&
           now.st_ino == st->st_ino;
}

/* In a folder that others can write to, they may have put a link to another file of this user
 * there. */
static bool may_append(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1;
}

static int remove_other(int dir, const char *path)
{
    return unlinkat(dir, path, 0) < 0 && errno != ENOENT ? -errno : -EAGAIN;
}

/* A descriptor of the locked file; -EAGAIN: it has changed meanwhile; or another errno. */
static int open_once(int dir, const char *path)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
    int fd = openat(dir, path, flags | O_CREAT | O_EXCL, 0666), r = 0;
    bool found = fd < 0 && errno == EEXIST;
    struct stat st;

    if (found)
        fd = openat(dir, path, flags);
    if (fd < 0 && (!found || pt_is_shortage(-errno)))
        return -errno;
    if (fd < 0)
        return errno == ENOENT ? -EAGAIN : remove_other(dir, path);
    lock(fd);
    if (fstat(fd, &st) < 0 || !is_file_of(dir, path, &st))
        r = -EAGAIN;
    else if (found && !may_append(&st))
        r = remove_other(dir, path);
    if (r == 0)
        return fd;
    close_locked(fd);
    return r;
}

static int open_locked(int dir, const char *path)
{
    int fd = -EAGAIN;

    for (int i = 0; i < TRIES && fd == -EAGAIN; i++)
        fd = open_once(dir, path);
    return fd;
}

static bool has_text(int fd, size_t size, const char *text)
{
    char *all = malloc(size);
    ssize_t n = all ? pread(fd, all, size, 0) : -1;
    bool found = n > 0 && memmem(all, (size_t)n, text, strlen(text)) != NULL;

    free(all);
    return found;
}

/* The line is of these two. */
static int append(int fd, const char *what, const char *line, const char *unless)
{
    size_t first = strlen(what), rest = strlen(line), size;
    struct stat st;
    int r;

    if (fstat(fd, &st) < 0)
        return -errno;
    size = st.st_size > 0 && st.st_size < MOST ? (size_t)st.st_size : 0;
    if (unless && size > 0 && has_text(fd, size, unless))
        return 0;
    if (size + first + rest > MOST)
        size = 0;
    if ((off_t)size < st.st_size && ftruncate(fd, (off_t)size) < 0)
        return -errno;
    r = pt_sys_write_at(fd, what, first, size);
    if (r == 0)
        r = pt_sys_write_at(fd, line, rest, size + first);
    if (r < 0 && ftruncate(fd, (off_t)size) < 0)
        return -errno;
    return r;
}

static int leave_at(int dir, const char *path, const char *what, const char *line,
                    const char *unless)
{
    int fd = open_locked(dir, path), r;
    struct stat st;

    if (fd < 0)
        return fd;
    r = append(fd, what, line, unless);
    if (r < 0 && fstat(fd, &st) == 0 && st.st_size == 0)
        unlinkat(dir, path, 0);
    close_locked(fd);
    return r;
}

/* Where the log's folder takes no file. */
static void leave_elsewhere(const char *log, const char *line, const char *unless)
{
    char what[SHOWN + 3];
    int dir = pt_dir_open(true);

    if (dir < 0)
        return;
    snprintf(what, sizeof what, "%.*s: ", SHOWN, log);
    leave_at(dir, PT_RECORD_NOTE, what, line, unless);
    close(dir);
}

void pt_record_error_leave(const char *log, const char *line, const char *unless)
{
    char *path;
    int r;

    if (asprintf(&path, "%s.error", log) < 0)
        return;
    r = leave_at(AT_FDCWD, path, "", line, unless);
    if (r < 0)
        leave_elsewhere(log, line, unless);
    free(path);
}

void pt_record_error_look(struct pt_record_error *e, const char *log)
{
    if (asprintf(&e->path, "%s.error", log) < 0)
        e->path = NULL;
    else if (fstatat(AT_FDCWD, e->path, &e->st, AT_SYMLINK_NOFOLLOW) < 0)
        pt_record_error_free(e);
}

static bool is_unchanged(const struct pt_record_error *e)
{
    struct stat now;

    return fstatat(AT_FDCWD, e->path, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_dev == e->st.st_dev && now.st_ino == e->st.st_ino &&
           now.st_size == e->st.st_size && now.st_mtim.tv_sec == e->st.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == e->st.st_mtim.tv_nsec;
}

void pt_record_error_remove(struct pt_record_error *e)
{
    int fd;

    if (!e->path)
        return;
    fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0)
        lock(fd);
    if (is_unchanged(e))
        unlink(e->path);
    if (fd >= 0)
        close_locked(fd);
}

void pt_record_error_free(struct pt_record_error *e)
{
    free(e->path);
    e->path = NULL;
}
