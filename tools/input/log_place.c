/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See log_place.h. */
#include "input/log_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/log_left.h"
#include "common/tool.h"

enum { LINKS = 40, TRIES = 100 };

static bool is_special(const char *path)
{
    return (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) ||
           strncmp(path, "/proc/", 6) == 0;
}

static int cannot_write(const char *path, int error)
{
    return tool_error("cannot write %s: %s", quote(path), strerror(error));
}

/* Replaces path by the target of the link, relative to the folder of the link. */
static int follow(struct log_place *p)
{
    char target[PATH_MAX], *path;
    ssize_t length = readlinkat(p->folder, p->name, target, sizeof target - 1);
    size_t head = (size_t)(p->name - p->path);

    if (length < 0)
        return cannot_write(p->path, errno);
    target[length] = '\0';
    if (target[0] == '/')
        head = 0;
    path = tool_grow(NULL, head + (size_t)length + 1, 1);
    stpcpy((char *)mempcpy(path, p->path, head), target);
    free(p->path);
    p->path = path;
    return EXIT_DONE;
}

/* Opens the folder that path names. */
static int open_folder(struct log_place *p)
{
    char *slash = strrchr(p->path, '/');
    char *folder = slash ? strndup(p->path, (size_t)(slash - p->path) + 1) : strdup(".");

    p->name = slash ? slash + 1 : p->path;
    p->folder = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    return p->folder < 0 ? cannot_write(p->path, errno) : EXIT_DONE;
}

static int refuse_link(const struct log_place *p, const struct stat *st)
{
    return tool_error("%s is a link of user %u; name the file that it leads to with -o",
                      quote(p->path), (unsigned)st->st_uid);
}

int log_place_find(struct log_place *p, const char *path)
{
    struct stat st;

    *p = (struct log_place){ .folder = AT_FDCWD, .path = strdup(path) };
    if (!p->path)
        return cannot_write(path, errno);
    for (int links = 0;; links++) {
        p->name = p->path;
        if (is_special(p->path))
            return EXIT_DONE;
        if (open_folder(p) != EXIT_DONE)
            return EXIT_FAILED;
        if (log_place_stat(p, &st) != 0 || !S_ISLNK(st.st_mode))
            break;
        if (st.st_uid != 0 && st.st_uid != geteuid())
            return refuse_link(p, &st);
        if (links == LINKS)
            return cannot_write(path, ELOOP);
        if (follow(p) != EXIT_DONE)
            return EXIT_FAILED;
        close(p->folder);
        p->folder = AT_FDCWD;
    }
    p->nofollow = O_NOFOLLOW;
    return EXIT_DONE;
}

int log_place_open(const struct log_place *p, int flags, mode_t mode)
{
    return openat(p->folder, p->name, flags | p->nofollow | O_CLOEXEC | O_NOCTTY, mode);
}

int log_place_stat(const struct log_place *p, struct stat *st)
{
    return fstatat(p->folder, p->name, st, p->folder == AT_FDCWD ? 0 : AT_SYMLINK_NOFOLLOW);
}

bool log_place_trusts(int folder, const struct stat *file)
{
    struct stat st;

    return folder == AT_FDCWD || file->st_uid == geteuid() ||
           (fstat(folder, &st) == 0 && st.st_uid == file->st_uid);
}

bool log_place_has(const struct log_place *p, const struct stat *st)
{
    struct stat now;

    return log_place_stat(p, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

static const char *earlier_name(const struct log_place *p)
{
    return p->earlier + (p->name - p->path);
}

static void forget(struct log_place *p)
{
    free(p->earlier);
    p->earlier = NULL;
}

static bool move(const struct log_place *p, const char *from, const char *to, unsigned flags)
{
    return renameat2(p->folder, from, p->folder, to, flags) == 0;
}

int log_place_move(struct log_place *p, const struct stat *st)
{
    size_t length = strlen(p->path) + strlen(LOG_LEFT_INFIX);
    bool moved = false;
    struct stat now;
    char *suffix;

    if (p->folder == AT_FDCWD)
        return -1;
    p->earlier = tool_grow(NULL, length + LOG_LEFT_SUFFIX + 1, 1);
    suffix = stpcpy(stpcpy(p->earlier, p->path), LOG_LEFT_INFIX);
    suffix[LOG_LEFT_SUFFIX] = '\0';
    for (int i = 0; i < TRIES && !moved; i++) {
        log_left_make_suffix(suffix);
        moved = move(p, p->name, earlier_name(p), RENAME_NOREPLACE);
        if (!moved && errno != EEXIST)
            break;
    }
    if (!moved) {
        forget(p);
        return -1;
    }
    if (fstatat(p->folder, earlier_name(p), &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        now.st_dev == st->st_dev && now.st_ino == st->st_ino)
        return EXIT_DONE;
    move(p, earlier_name(p), p->name, RENAME_NOREPLACE);
    forget(p);
    return tool_error("%s was replaced by another file; nothing was written", quote(p->path));
}

void log_place_restore(struct log_place *p)
{
    if (p->earlier && !move(p, earlier_name(p), p->name, 0))
        tool_error("the earlier %s is %s now: %s", quote(p->path), quote(p->earlier),
                   strerror(errno));
    forget(p);
}

void log_place_forget(struct log_place *p)
{
    if (p->earlier)
        unlinkat(p->folder, earlier_name(p), 0);
    forget(p);
}

void log_place_leave(struct log_place *p)
{
    if (p->earlier)
        tool_note("the earlier %s is %s now", quote(p->path), quote(p->earlier));
    forget(p);
}

void log_place_remove(const struct log_place *p)
{
    unlinkat(p->folder, p->name, 0);
}

void log_place_end(struct log_place *p)
{
    if (p->folder >= 0)
        close(p->folder);
    p->folder = AT_FDCWD;
    forget(p);
    free(p->path);
    p->path = p->name = NULL;
}
