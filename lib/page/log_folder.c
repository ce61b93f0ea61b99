/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See log_folder.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "page/log_folder.h"

#ifndef STATX_MNT_ID /* Linux 5.8 */
#define STATX_MNT_ID 0x1000u
#endif
#define WANTED (STATX_TYPE | STATX_INO | STATX_BTIME | STATX_MNT_ID)

/* The status of the name in the directory; "": of the directory itself. */
static bool look(int dir, const char *name, struct statx *s)
{
    memset(s, 0, sizeof *s);
    return statx(dir, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, WANTED, s) == 0;
}

static bool is_on_device(const struct pt_seg_header *h, const struct statx *s)
{
    return makedev(s->stx_dev_major, s->stx_dev_minor) == h->log_dev;
}

/* 0: the file system does not have it. */
static uint64_t born(const struct statx *s)
{
    if (!(s->stx_mask & STATX_BTIME))
        return 0;
    return (uint64_t)s->stx_btime.tv_sec * 1000000000u + s->stx_btime.tv_nsec;
}

static void read_path(struct pt_seg_header *h, int fd)
{
    char link[40];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/thread-self/fd/%d", fd);
    n = readlink(link, h->log_path, sizeof h->log_path);
    if (n < 0 || n == (ssize_t)sizeof h->log_path)
        n = 0;
    h->log_path[n] = '\0';
}

int pt_log_folder_open(const struct pt_seg_header *h, char path[PT_LOG_PATH], const char **name)
{
    char *slash;

    memcpy(path, h->log_path, PT_LOG_PATH);
    slash = strrchr(path, '/');
    *slash = '\0';
    *name = slash + 1;
    return open(slash == path ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The folder that the path leads to, if the log is in it under that name. */
static void note_folder(struct pt_seg_header *h)
{
    struct statx folder, log;
    char path[PT_LOG_PATH];
    const char *name;
    int dir;

    if (h->log_path[0] != '/' || h->log_ino == 0)
        return;
    dir = pt_log_folder_open(h, path, &name);
    if (dir < 0)
        return;
    if (look(dir, "", &folder) && look(dir, name, &log) && is_on_device(h, &log) &&
        log.stx_ino == h->log_ino && is_on_device(h, &folder) &&
        (folder.stx_mask & log.stx_mask & STATX_MNT_ID) && folder.stx_mnt_id == log.stx_mnt_id) {
        h->log_folder = folder.stx_ino;
        h->log_folder_born = born(&folder);
    }
    close(dir);
}

void pt_log_folder_note(struct pt_seg_header *h, int fd)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) &&
        !S_ISCHR(st.st_mode)) {
        h->log_dev = st.st_dev;
        h->log_ino = st.st_ino;
    }
    read_path(h, fd);
    note_folder(h);
}

bool pt_log_folder_is(const struct pt_seg_header *h, int dir)
{
    struct statx s;

    return h->log_folder != 0 && look(dir, "", &s) && S_ISDIR(s.stx_mode) && is_on_device(h, &s) &&
           s.stx_ino == h->log_folder && born(&s) == h->log_folder_born;
}
