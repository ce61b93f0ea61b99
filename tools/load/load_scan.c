/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See load_scan.h. */
#include "load/load_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tool.h"
#include "input/folder.h"

enum { DEPTH_MAX = 16, EVENTS_BYTES = 16 * 1024 };

/* IN_CREATE: of folders, and of links. */
static const uint32_t watched = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR;

void load_scan_init(struct load_scan *s, const char **folders, size_t count)
{
    *s = (struct load_scan){ .folders = folders, .folder_count = count };
    s->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

static void clear(struct load_scan *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->found[i].path);
    s->count = 0;
}

void load_scan_free(struct load_scan *s)
{
    clear(s);
    free(s->found);
    if (s->watch >= 0)
        close(s->watch);
}

bool load_identity_is(const struct load_identity *a, const struct load_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Takes over path. */
static void add(struct load_scan *s, char *path, const struct stat *st)
{
    if (s->count == s->room) {
        s->room = 2 * s->room + 64;
        s->found = tool_grow(s->found, s->room, sizeof *s->found);
    }
    s->found[s->count++] = (struct load_found){
        path, { st->st_dev, st->st_ino, st->st_size, ns_of(st->st_mtim), ns_of(st->st_ctim) }
    };
}

static void failed(struct load_scan *s, const char *folder, int error)
{
    s->failed = true;
    if (!s->said)
        tool_error("cannot read folder %s: %s%s", quote(folder), strerror(error),
                   s->is_later ? "; its logs are loaded when it can be read" : "");
    s->said = true;
}

static void scan(struct load_scan *s, const char *folder, unsigned depth);

/* Links to folders are not followed: they may lead back. */
static void take_entry(struct load_scan *s, const char *folder, const struct dirent *e,
                       unsigned depth)
{
    bool is_log = folder_is_log_name(e->d_name);
    struct stat st;
    char *path;

    if (e->d_name[0] == '.' || (!is_log && e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
        return;
    path = folder_join(folder, e->d_name);
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
        scan(s, path, depth + 1);
    else if (is_log && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        add(s, path, &st);
        return;
    }
    free(path);
}

/* The watch is there before the folder is read, so that nothing is missed between. */
static void scan(struct load_scan *s, const char *folder, unsigned depth)
{
    struct dirent *e;
    DIR *dir;

    if (s->watch < 0 || (inotify_add_watch(s->watch, folder, watched) < 0 && errno != ENOENT))
        s->blind = true;
    dir = opendir(folder);
    if (!dir) {
        if (errno != ENOENT || depth == 0) /* else it was removed just now */
            failed(s, folder, errno);
        return;
    }
    for (errno = 0; (e = readdir(dir)); errno = 0)
        take_entry(s, folder, e, depth);
    if (errno)
        failed(s, folder, errno);
    closedir(dir);
}

static int by_path(const void *a, const void *b)
{
    const struct load_found *x = a, *y = b;

    return strcmp(x->path, y->path);
}

/* A folder that was named twice, or with one of its subfolders, has each file twice. */
static void leave_out_twins(struct load_scan *s)
{
    size_t kept = 0;

    if (s->count)
        qsort(s->found, s->count, sizeof *s->found, by_path);
    for (size_t i = 0; i < s->count; i++)
        if (kept > 0 && by_path(&s->found[kept - 1], &s->found[i]) == 0)
            free(s->found[i].path);
        else
            s->found[kept++] = s->found[i];
    s->count = kept;
}

void load_scan_run(struct load_scan *s)
{
    clear(s);
    s->failed = s->blind = false;
    for (size_t i = 0; i < s->folder_count; i++)
        scan(s, s->folders[i], 0);
    leave_out_twins(s);
    if (!s->failed)
        s->said = false;
    s->is_later = true;
}

bool load_scan_is_due(struct load_scan *s)
{
    char buffer[EVENTS_BYTES] __attribute__((aligned(__alignof__(struct inotify_event))));
    bool due = false;
    ssize_t n;

    while (s->watch >= 0 && (n = read(s->watch, buffer, sizeof buffer)) > 0) {
        const struct inotify_event *e;

        for (const char *at = buffer; at < buffer + n; at += sizeof *e + e->len) {
            e = (const void *)at;
            due |= (e->mask & (IN_Q_OVERFLOW | IN_ISDIR)) ||
                   (e->len > 0 && folder_is_log_name(e->name));
        }
    }
    return due;
}
