/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See log_left.h. */
#include "input/log_left.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>

#include "input/log_place.h"
#include "common/tool.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEF";

/* An earlier log, open and locked; fd -1: none. */
struct left {
    char *name;
    int fd;
    struct stat st;
};

void log_left_make_suffix(char *suffix)
{
    unsigned char random[LOG_LEFT_SUFFIX];

    if (getrandom(random, sizeof random, 0) != sizeof random)
        memset(random, getpid(), sizeof random);
    for (int i = 0; i < LOG_LEFT_SUFFIX; i++)
        suffix[i] = letters[random[i] % (sizeof letters - 1)];
}

static bool is_left_name(const char *entry, const char *name)
{
    size_t length = strlen(name), infix = strlen(LOG_LEFT_INFIX);

    return strncmp(entry, name, length) == 0 &&
           strncmp(entry + length, LOG_LEFT_INFIX, infix) == 0 &&
           strspn(entry + length + infix, letters) == LOG_LEFT_SUFFIX &&
           strlen(entry + length + infix) == LOG_LEFT_SUFFIX;
}

/* Opens a regular file without a lock and locks it; -1: it is none. */
static int open_unlocked(int folder, const char *name, struct stat *st)
{
    int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);

    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_log(int fd)
{
    trace_id_t trid;

    return posix_trace_open(fd, &trid) == 0 && posix_trace_close(trid) == 0;
}

/* Is the name free, or that of an empty file without a lock?  That one is locked in *empty. */
static bool is_free(int folder, const char *name, int *empty)
{
    struct stat st;

    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    if (!S_ISREG(st.st_mode) || st.st_size != 0)
        return false;
    *empty = open_unlocked(folder, name, &st);
    return *empty >= 0 && st.st_size == 0;
}

static void say(const char *shown, const char *left, const char *name)
{
    char *path = tool_grow(NULL, strlen(shown) + strlen(left) + 1, 1);

    stpcpy(stpcpy(path, shown), left);
    tool_note("%s is an earlier %s, left by a 'posixtrace record' that was killed; "
              "rename or remove it",
              quote(path), quote(name));
    free(path);
}

static bool restore(int folder, const struct left *left, const char *name)
{
    int empty = -1;
    bool done = log_place_trusts(folder, &left->st) && is_free(folder, name, &empty);

    if (done)
        done = renameat2(folder, left->name, folder, name, empty < 0 ? RENAME_NOREPLACE : 0) == 0;
    if (empty >= 0)
        close(empty);
    if (done)
        tool_note("%s is the earlier log again, which a 'posixtrace record' that was killed had "
                  "renamed to %s",
                  quote(name), quote(left->name));
    return done;
}

static void drop(struct left *left)
{
    free(left->name);
    if (left->fd >= 0)
        close(left->fd);
    *left = (struct left){ .fd = -1 };
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* Keeps the newer one in *best, and reports the place of the other. */
static void compare(struct left *best, struct left *next, const char *shown, const char *name)
{
    if (best->fd < 0 || is_newer(&next->st, &best->st)) {
        struct left older = *best;

        *best = *next;
        *next = older;
    }
    if (next->fd >= 0)
        say(shown, next->name, name);
    drop(next);
}

void log_left_look(int folder, const char *shown, const char *name)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct left best = { .fd = -1 };
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        struct left next = { .fd = -1 };

        if (!is_left_name(entry->d_name, name))
            continue;
        next.fd = open_unlocked(folder, entry->d_name, &next.st);
        if (next.fd >= 0 && is_log(next.fd) && (next.name = strdup(entry->d_name)))
            compare(&best, &next, shown, name);
        drop(&next);
    }
    if (best.fd >= 0 && !restore(folder, &best, name))
        say(shown, best.name, name);
    drop(&best);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

void log_left_look_at(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *shown = slash ? strndup(path, (size_t)(name - path)) : strdup("");
    int folder = shown ? open(slash ? shown : ".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

    if (folder >= 0 && *name)
        log_left_look(folder, shown, name);
    if (folder >= 0)
        close(folder);
    free(shown);
}
