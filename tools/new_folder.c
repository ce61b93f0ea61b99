/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See new_folder.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "new_folder.h"
#include "tool.h"

static bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* The plain files in a folder, and it.  False, and errno: something else is in it, and
 * then nothing is touched. */
static bool remove_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    bool plain = d != NULL;

    for (int pass = 0; plain && pass < 2; pass++) {
        struct dirent *entry;

        rewinddir(d);
        while (plain && (entry = readdir(d))) {
            struct stat st;

            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                continue;
            plain = fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
            if (plain && !S_ISREG(st.st_mode)) {
                errno = ENOTEMPTY;
                plain = false;
            }
            if (plain && pass == 1)
                plain = unlinkat(fd, entry->d_name, 0) == 0;
        }
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return plain && rmdir(path) == 0;
}

int new_folder_open(struct new_folder *f, const char *path, bool replace)
{
    size_t length = strlen(path);
    mode_t mask = umask(0);

    umask(mask);
    memset(f, 0, sizeof *f);
    f->path = path;
    f->replace = replace;
    if (!replace && exists(path))
        return tool_error("%s exists; --force replaces it", quote(path));
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
    chmod(f->temporary, 0777 & ~mask);
    return EXIT_DONE;
}

int new_folder_keep(struct new_folder *f)
{
    if (f->replace && exists(f->path) && !remove_folder(f->path))
        return tool_error("%s is not replaced: %s", quote(f->path),
                          errno == ENOTEMPTY ? "it holds more than plain files" : strerror(errno));
    if (renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_NOREPLACE) != 0)
        return tool_error("cannot name the new folder %s: %s", quote(f->path), strerror(errno));
    free(f->temporary);
    f->temporary = NULL;
    return EXIT_DONE;
}

void new_folder_drop(struct new_folder *f)
{
    if (!f->temporary)
        return;
    remove_folder(f->temporary);
    free(f->temporary);
    f->temporary = NULL;
}
