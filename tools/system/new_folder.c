/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See new_folder.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/at_end.h"
#include "system/new_folder.h"
#include "common/tool.h"

static bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* Are there only plain files in the folder?  If not, errno has the reason. */
static bool is_plain(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    bool plain = d != NULL;
    struct dirent *entry;
    struct stat st;

    while (plain && (entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        plain = fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (plain && !S_ISREG(st.st_mode)) {
            errno = ENOTEMPTY;
            plain = false;
        }
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return plain;
}

enum { DEPTH_MAX = 4 };

static bool remove_entry(int fd, const char *name, unsigned depth);

/* The files in a folder, which is not consumed, and its folders.  Async-signal-safe. */
static void remove_files(int fd, unsigned depth)
{
    struct head {
        uint64_t ino;
        int64_t off;
        unsigned short length;
        unsigned char type;
    };
    char entries[4096] __attribute__((aligned(8)));
    bool any = true;
    long n;

    /* A file system may pass over entries while others are removed: until there are none. */
    while (any) {
        any = false;
        while ((n = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0)
            for (long at = 0; at < n;) {
                const struct head *head = (const void *)(entries + at);

                any |= remove_entry(fd, entries + at + offsetof(struct head, type) + 1, depth);
                at += head->length;
            }
        lseek(fd, 0, SEEK_SET);
    }
}

/* A file, or a folder with its files. */
static bool remove_entry(int fd, const char *name, unsigned depth)
{
    int inner;

    if (unlinkat(fd, name, 0) == 0)
        return true;
    if (errno != EISDIR || depth == DEPTH_MAX || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return false;
    remove_files(inner, depth + 1);
    close(inner);
    return unlinkat(fd, name, AT_REMOVEDIR) == 0;
}

/* The same of a path, and the folder. */
static bool remove_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0)
        remove_files(fd, 0);
    if (fd >= 0)
        close(fd);
    return rmdir(path) == 0;
}

/* For at_end(). */
static const char *to_remove;

static void remove_it(void)
{
    remove_folder(to_remove);
}

static void remember(const char *path)
{
    at_end(NULL);
    to_remove = path;
    if (path)
        at_end(remove_it);
}

int new_folder_open(struct new_folder *f, const char *path, bool replace)
{
    if (!replace && exists(path))
        return tool_error("%s exists; --force replaces it", quote(path));
    return new_folder_open_to_add(f, path, replace);
}

int new_folder_open_to_add(struct new_folder *f, const char *path, bool replace)
{
    size_t length = strlen(path);
    mode_t mask = umask(0);

    umask(mask);
    memset(f, 0, sizeof *f);
    f->path = path;
    f->replace = replace;
    while (length > 1 && path[length - 1] == '/')
        length--;
    f->temporary = tool_grow(NULL, length + sizeof ".XXXXXX", 1);
    stpcpy((char *)mempcpy(f->temporary, path, length), ".XXXXXX");
    if (!mkdtemp(f->temporary)) {
        int status = tool_error("cannot create a folder beside %s: %s", quote(path),
                                strerror(errno));

        free(f->temporary);
        f->temporary = NULL;
        return status;
    }
    remember(f->temporary);
    chmod(f->temporary, 0777 & ~mask);
    return EXIT_DONE;
}

/* At once, so that one of the two folders has the name at each moment; then the earlier
 * one is at the temporary name. */
static int exchange(const struct new_folder *f)
{
    if (renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0) {
        if (!remove_folder(f->temporary))
            tool_error("what %s was is in %s now: %s", quote(f->path), quote(f->temporary),
                       strerror(errno));
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    /* A file system without that. */
    return remove_folder(f->path) ? rename(f->temporary, f->path) : -1;
}

int new_folder_keep(struct new_folder *f)
{
    bool replace = f->replace && exists(f->path);

    if (replace && !is_plain(f->path))
        return tool_error("%s is not replaced: %s", quote(f->path),
                          errno == ENOTEMPTY ? "it holds more than plain files" : strerror(errno));
    if ((replace ? exchange(f)
                 : renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_NOREPLACE)) != 0)
        return tool_error("cannot name the new folder %s: %s", quote(f->path), strerror(errno));
    remember(NULL);
    free(f->temporary);
    f->temporary = NULL;
    return EXIT_DONE;
}

void new_folder_drop(struct new_folder *f)
{
    if (!f->temporary)
        return;
    remove_folder(f->temporary);
    remember(NULL);
    free(f->temporary);
    f->temporary = NULL;
}
