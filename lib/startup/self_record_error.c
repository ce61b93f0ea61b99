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
#include "base/open_above.h"
#include "base/sys.h"
#include "place/dir.h"
#include "startup/self_record_error.h"

/* MOST: bytes of a file; one that would be longer starts again. */
enum { TRIES = 16, TURNS = 100, TURN_NS = 1000000, MOST = 1 << 16, SHOWN = 1000 };

enum { FLAGS = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK };

/* stays: no program removes it, so that a line may be added without the lock. */
struct place {
    int dir;
    const char *path;
    bool stays;
};

struct file {
    int fd;
    bool locked;
};

/* -EBUSY: the lock is held for some microseconds, but the other program may have been stopped
 * meanwhile; -ENOLCK: the file system has no locks. */
static int lock(int fd)
{
    const struct timespec turn = { .tv_nsec = TURN_NS };

    for (int i = 0; i < TURNS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK)
            return -ENOLCK;
        nanosleep(&turn, NULL);
    }
    return -EBUSY;
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
static bool is_own(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1;
}

/* 0; -EAGAIN: it has changed meanwhile; or another errno. */
static int open_once(const struct place *at, struct file *f)
{
    int flags = FLAGS | O_APPEND, r;
    struct stat st;
    bool found;

    f->fd = pt_open_above(at->dir, at->path, flags | O_CREAT | O_EXCL, 0666);
    found = f->fd < 0 && errno == EEXIST;
    if (found)
        f->fd = pt_open_above(at->dir, at->path, flags, 0);
    if (f->fd < 0)
        return found && errno == ENOENT ? -EAGAIN : -errno;
    r = lock(f->fd);
    f->locked = r == 0;
    if (r == -ENOLCK || at->stays)
        r = 0;
    if (r == 0 && (fstat(f->fd, &st) < 0 || !is_file_of(at->dir, at->path, &st)))
        r = -EAGAIN;
    if (r == 0 && found && !is_own(&st))
        r = -EEXIST;
    if (r < 0)
        close_locked(f->fd);
    return r;
}

static int open_to_append(const struct place *at, struct file *f)
{
    int r = -EAGAIN;

    for (int i = 0; i < TRIES && r == -EAGAIN; i++)
        r = open_once(at, f);
    return r;
}

/* NULL without memory, or where it is longer than MOST. */
static char *read_all(int fd, size_t *size)
{
    struct stat st;
    char *all = NULL;
    ssize_t n = -1;

    if (fstat(fd, &st) == 0 && st.st_size <= MOST && (all = malloc((size_t)st.st_size + 1)))
        n = pread(fd, all, (size_t)st.st_size, 0);
    if (n >= 0) {
        *size = (size_t)n;
        return all;
    }
    free(all);
    return NULL;
}

static bool has_text(int fd, const char *text)
{
    size_t size;
    char *all = read_all(fd, &size);
    bool found = all && memmem(all, size, text, strlen(text)) != NULL;

    free(all);
    return found;
}

/* Where another program may have added a line meanwhile, nothing is taken back. */
static int append(const struct file *f, const char *line, const char *unless)
{
    size_t length = strlen(line), size;
    struct stat st;
    int r;

    if (fstat(f->fd, &st) < 0)
        return -errno;
    size = st.st_size > 0 && st.st_size < MOST ? (size_t)st.st_size : 0;
    if (unless && size > 0 && has_text(f->fd, unless))
        return 0;
    if (size + length > MOST)
        size = 0;
    if ((off_t)size < st.st_size && ftruncate(f->fd, (off_t)size) < 0)
        return -errno;
    r = pt_sys_write_at(f->fd, line, length, size);
    if (r < 0 && f->locked && ftruncate(f->fd, (off_t)size) < 0)
        return -errno;
    return r;
}

static int leave_at(const struct place *at, const char *line, const char *unless)
{
    struct file f = { .fd = -1 };
    struct stat st;
    int r = open_to_append(at, &f);

    if (r < 0)
        return r;
    r = append(&f, line, unless);
    if (r < 0 && f.locked && fstat(f.fd, &st) == 0 && st.st_size == 0)
        unlinkat(at->dir, at->path, 0);
    close_locked(f.fd);
    return r;
}

/* Where the file beside the log takes no line. */
static void leave_elsewhere(const char *log, const char *line, const char *unless)
{
    struct place at = { pt_dir_open(true), PT_RECORD_NOTE, true };
    char *whole;

    if (at.dir < 0)
        return;
    if (asprintf(&whole, "%.*s: %s", SHOWN, log, line) >= 0) {
        leave_at(&at, whole, unless);
        free(whole);
    }
    close(at.dir);
}

void pt_record_error_leave(const char *log, const char *line, const char *unless)
{
    struct place at = { .dir = AT_FDCWD };
    char *path;

    if (asprintf(&path, "%s.error", log) < 0)
        return;
    at.path = path;
    if (leave_at(&at, line, unless) < 0)
        leave_elsewhere(log, line, unless);
    free(path);
}

/* A descriptor, or -1. */
static int open_own(const char *path)
{
    int fd = pt_open_above(AT_FDCWD, path, FLAGS, 0);
    struct stat st;

    if (fd < 0 || (fstat(fd, &st) == 0 && is_own(&st)))
        return fd;
    close(fd);
    return -1;
}

void pt_record_error_look(struct pt_record_error *e, const char *log)
{
    int fd;

    *e = (struct pt_record_error){ .path = NULL };
    if (asprintf(&e->path, "%s.error", log) < 0) {
        e->path = NULL;
        return;
    }
    fd = open_own(e->path);
    if (fd >= 0)
        e->lines = read_all(fd, &e->size);
    if (fd >= 0)
        close(fd);
    if (!e->lines)
        pt_record_error_free(e);
}

/* Of a locked file. */
static void remove_lines(int fd, const struct pt_record_error *e)
{
    size_t size;
    char *all = read_all(fd, &size);

    if (all && size >= e->size && memcmp(all, e->lines, e->size) == 0) {
        size -= e->size;
        if (size == 0)
            unlink(e->path);
        else if (e->size > 0 && pt_sys_write_at(fd, all + e->size, size, 0) == 0)
            (void)!ftruncate(fd, (off_t)size); /* else the last lines are there twice */
    }
    free(all);
}

void pt_record_error_remove(const struct pt_record_error *e)
{
    int fd = e->path ? open_own(e->path) : -1;
    struct stat st;

    if (fd < 0)
        return;
    if (lock(fd) == 0 && fstat(fd, &st) == 0 && is_file_of(AT_FDCWD, e->path, &st))
        remove_lines(fd, e);
    close_locked(fd);
}

void pt_record_error_free(struct pt_record_error *e)
{
    free(e->path);
    free(e->lines);
    *e = (struct pt_record_error){ .path = NULL };
}
