/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See log_fate.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "log/format.h"
#include "process/log_fate.h"
#include "ring/liveness.h"

#define OPEN_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static bool is_the_file(const struct pt_seg_header *h, const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_dev == h->log_dev && st->st_ino == h->log_ino;
}

/* The file is the one that was the log: is it still? */
static enum pt_log_fate examine(const struct pt_seg_header *h, const struct pt_log_look *look,
                                int dir, const char *name, int flags, int *fd)
{
    struct pt_log_header head;
    struct stat st;
    int file = openat(dir, name, O_RDONLY | OPEN_FLAGS);
    ssize_t n = file >= 0 ? pread(file, &head, sizeof head, 0) : -1;
    bool same = file >= 0 && fstat(file, &st) == 0 && is_the_file(h, &st);

    if (file >= 0)
        close(file);
    if (same && look->has_own && st.st_dev == look->own_dev && st.st_ino == look->own_ino)
        return n == 0 ? PT_LOG_GONE : PT_LOG_UNKNOWN;
    if (n != (ssize_t)sizeof head || !same)
        return PT_LOG_UNKNOWN;
    if (memcmp(head.magic, PT_LOG_MAGIC, sizeof head.magic) != 0 ||
        memcmp(head.id, h->id, sizeof h->id) != 0)
        return PT_LOG_GONE;
    if (!fd)
        return PT_LOG_THERE;
    *fd = openat(dir, name, flags | OPEN_FLAGS);
    if (*fd < 0) {
        *fd = -errno;
    } else if (fstat(*fd, &st) < 0 || !is_the_file(h, &st)) {
        close(*fd);
        *fd = -ENOENT;
    }
    return PT_LOG_THERE;
}

/* One reading of the folder. */
static enum pt_log_fate read_folder(const struct pt_seg_header *h, const struct pt_log_look *look,
                                    DIR *d, int flags, int *fd)
{
    unsigned looks = look->looks;
    struct dirent *e;
    struct stat st;

    for (errno = 0; looks > 0 && (e = readdir(d)); looks--, errno = 0)
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_the_file(h, &st))
            return examine(h, look, dirfd(d), e->d_name, flags, fd);
    return looks > 0 && errno == 0 ? PT_LOG_GONE : PT_LOG_UNKNOWN;
}

/* Under whatever name.  A file that gets another name while the folder is read may not come
 * up: what is gone is gone twice. */
static enum pt_log_fate search(const struct pt_seg_header *h, const struct pt_log_look *look,
                               int dir, int flags, int *fd)
{
    DIR *d = fdopendir(dir);
    enum pt_log_fate fate;

    if (!d) {
        close(dir);
        return PT_LOG_UNKNOWN;
    }
    fate = read_folder(h, look, d, flags, fd);
    if (fate == PT_LOG_GONE) {
        rewinddir(d);
        fate = read_folder(h, look, d, flags, fd);
    }
    closedir(d);
    return fate;
}

/* -1: cannot be read, or another file system is there now. */
static int open_folder(const struct pt_seg_header *h)
{
    char path[sizeof h->log_path];
    struct stat st;
    char *slash;
    int dir;

    memcpy(path, h->log_path, sizeof path);
    slash = strrchr(path, '/');
    slash[slash == path] = '\0';
    dir = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    if (dir >= 0 && (fstat(dir, &st) < 0 || st.st_dev != h->log_dev)) {
        close(dir);
        dir = -1;
    }
    return dir;
}

/* Deleted before the stream was made: whoever has it open may still want it whole. */
static bool had_no_name(const char *path)
{
    static const char mark[] = " (deleted)";
    size_t n = strlen(path);

    return n >= sizeof mark && strcmp(path + n - (sizeof mark - 1), mark) == 0;
}

enum pt_log_fate pt_log_find(const struct pt_seg_header *h, const struct pt_log_look *look,
                             int flags, int *fd)
{
    struct stat st;
    int dir;

    if (fd)
        *fd = -ENOENT;
    if (!memchr(h->log_path, '\0', sizeof h->log_path) || h->log_path[0] != '/' ||
        had_no_name(h->log_path) || h->log_ino == 0 || h->mnt_ns == 0 ||
        h->mnt_ns != pt_mount_namespace())
        return PT_LOG_UNKNOWN;
    if (look->near && (!look->has_own || h->log_dev != look->own_dev))
        return PT_LOG_UNKNOWN;
    if (lstat(h->log_path, &st) == 0 && is_the_file(h, &st))
        return examine(h, look, AT_FDCWD, h->log_path, flags, fd);
    dir = open_folder(h);
    return dir < 0 ? PT_LOG_UNKNOWN : search(h, look, dir, flags, fd);
}
