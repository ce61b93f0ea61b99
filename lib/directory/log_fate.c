/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See log_fate.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/open_above.h"
#include "base/sys.h"
#include "directory/log_fate.h"
#include "log/format.h"
#include "page/log_folder.h"
#include "shm/liveness.h"

#define OPEN_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static bool is_the_file(const struct pt_seg_header *h, const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_dev == h->log_dev && st->st_ino == pt_seg_log_ino(h);
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
        return pt_log_header_is_cut(&head, h->id) ? PT_LOG_UNKNOWN : PT_LOG_GONE;
    if (!fd)
        return PT_LOG_THERE;
    *fd = pt_open_above(dir, name, flags | OPEN_FLAGS, 0);
    if (*fd < 0) {
        *fd = -errno;
    } else if (fstat(*fd, &st) < 0 || !is_the_file(h, &st)) {
        close(*fd);
        *fd = -ENOENT;
    }
    return PT_LOG_THERE;
}

/* One reading of the folder.  UNKNOWN also where the log's name is there and leads to another
 * file, one that is mounted over it, or cannot be looked at. */
static enum pt_log_fate read_folder(const struct pt_seg_header *h, const struct pt_log_look *look,
                                    DIR *d, int flags, int *fd)
{
    unsigned looks = look->looks;
    bool covered = false;
    struct dirent *e;
    struct stat st;

    for (errno = 0; looks > 0 && (e = readdir(d)); looks--, errno = 0) {
        bool seen = fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;

        if (seen && is_the_file(h, &st))
            return examine(h, look, dirfd(d), e->d_name, flags, fd);
        covered |= e->d_ino == pt_seg_log_ino(h);
    }
    return looks > 0 && errno == 0 && !covered ? PT_LOG_GONE : PT_LOG_UNKNOWN;
}

/* A copy of the log has its name now; or it is the log, on a file system whose inode numbers do
 * not last. */
static bool has_copy(const struct pt_seg_header *h, int dir, const char *name)
{
    int file = openat(dir, name, O_RDONLY | OPEN_FLAGS);
    struct pt_log_header head;
    bool same = file >= 0 && pread(file, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                memcmp(head.magic, PT_LOG_MAGIC, sizeof head.magic) == 0 &&
                memcmp(head.id, h->id, sizeof h->id) == 0;

    if (file < 0)
        return pt_is_shortage(-errno); /* it may be */
    close(file);
    return same;
}

/* Searches the folder for the log under any name.  A file that is renamed while the folder is read
 * may be missed: a log is gone only if two readings in succession do not find it. */
static enum pt_log_fate search(const struct pt_seg_header *h, const struct pt_log_look *look,
                               int folder, const char *name, int flags, int *fd)
{
    int dir = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    DIR *d = dir < 0 ? NULL : fdopendir(dir);
    enum pt_log_fate fate;

    if (!d) {
        if (dir >= 0)
            close(dir);
        return PT_LOG_UNKNOWN;
    }
    fate = read_folder(h, look, d, flags, fd);
    if (fate == PT_LOG_GONE) {
        rewinddir(d);
        fate = read_folder(h, look, d, flags, fd);
    }
    closedir(d);
    return fate == PT_LOG_GONE && has_copy(h, folder, name) ? PT_LOG_UNKNOWN : fate;
}

/* Any folder can have the log; only its own can show that the log is gone. */
static enum pt_log_fate look_in(const struct pt_seg_header *h, const struct pt_log_look *look,
                                int folder, const char *name, int flags, int *fd)
{
    bool own = pt_log_folder_is(h, folder);
    enum pt_log_fate fate = PT_LOG_UNKNOWN;
    struct stat st;

    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_the_file(h, &st))
        fate = examine(h, look, folder, name, flags, fd);
    else if (own)
        fate = search(h, look, folder, name, flags, fd);
    return fate == PT_LOG_GONE && !own ? PT_LOG_UNKNOWN : fate;
}

/* The log was deleted before the stream was created: a program that has it open may still need it
 * complete. */
static bool had_no_name(const char *path)
{
    static const char mark[] = " (deleted)";
    size_t n = strlen(path);

    return n >= sizeof mark && strcmp(path + n - (sizeof mark - 1), mark) == 0;
}

/* An equal number of the mount namespace is no proof, since it may have been reused; but in another
 * namespace the path has no meaning. */
static bool can_look(const struct pt_seg_header *h, const struct pt_log_look *look)
{
    return memchr(h->log_path, '\0', sizeof h->log_path) && h->log_path[0] == '/' &&
           !had_no_name(h->log_path) && pt_seg_log_ino(h) != 0 && h->mnt_ns != 0 &&
           h->mnt_ns == pt_mount_namespace() &&
           (!look->near || (look->has_own && h->log_dev == look->own_dev));
}

enum pt_log_fate pt_log_find(const struct pt_seg_header *h, const struct pt_log_look *look,
                             int flags, int *fd)
{
    char path[PT_LOG_PATH];
    enum pt_log_fate fate;
    const char *name;
    int folder;

    if (fd)
        *fd = -ENOENT;
    if (!can_look(h, look))
        return PT_LOG_UNKNOWN;
    errno = 0;
    folder = pt_log_folder_open(h, path, &name);
    fate = folder < 0 ? PT_LOG_UNKNOWN : look_in(h, look, folder, name, flags, fd);
    /* A later call may find it. */
    if (fd && fate == PT_LOG_UNKNOWN && pt_is_shortage(-errno))
        *fd = -errno;
    if (folder >= 0)
        close(folder);
    return fate;
}
