/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Files that are whole or not there; see atomic_file.h.
 */
#include "system/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/at_end.h"
#include "common/tool.h"

/* For at_end(). */
static const char *to_remove;

static void remove_it(void)
{
    unlink(to_remove);
}

static void remember(const char *path)
{
    at_end(NULL);
    to_remove = path;
    if (path)
        at_end(remove_it);
}

static int refuse_existing(const char *path, bool replace)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return EXIT_DONE;
    if (!replace)
        return tool_error("%s exists; --force replaces it", quote(path));
    if (!S_ISREG(st.st_mode))
        return tool_error("%s is not a regular file and is not replaced", quote(path));
    return EXIT_DONE;
}

int atomic_file_open(struct atomic_file *f, const char *path, bool replace)
{
    int status = refuse_existing(path, replace);
    mode_t mask = umask(0);

    umask(mask);
    memset(f, 0, sizeof *f);
    f->path = path;
    f->replace = replace;
    f->fd = -1;
    if (status != EXIT_DONE)
        return status;
    f->temporary = tool_grow(NULL, strlen(path) + sizeof ".XXXXXX", 1);
    stpcpy(stpcpy(f->temporary, path), ".XXXXXX");
    f->fd = mkostemp(f->temporary, O_CLOEXEC);
    if (f->fd < 0) {
        status = tool_error("cannot create a file beside %s: %s", quote(path), strerror(errno));
        free(f->temporary);
        f->temporary = NULL;
        return status;
    }
    remember(f->temporary);
    fchmod(f->fd, 0666 & ~mask);
    return EXIT_DONE;
}

static int give_name(const struct atomic_file *f)
{
    if (f->replace)
        return rename(f->temporary, f->path);
    if (renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    /* A file system without that: link(2) does not replace either. */
    return link(f->temporary, f->path) == 0 ? unlink(f->temporary) : -1;
}

int atomic_file_keep(struct atomic_file *f)
{
    int status = EXIT_DONE;

    if (close(f->fd) != 0)
        status = tool_error("cannot write %s: %s", quote(f->path), strerror(errno));
    f->fd = -1;
    if (status == EXIT_DONE && give_name(f) != 0)
        status = tool_error("cannot name the new file %s: %s", quote(f->path), strerror(errno));
    if (status != EXIT_DONE)
        return status;
    remember(NULL);
    free(f->temporary);
    f->temporary = NULL;
    return EXIT_DONE;
}

void atomic_file_drop(struct atomic_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (!f->temporary)
        return;
    unlink(f->temporary);
    remember(NULL);
    free(f->temporary);
    f->temporary = NULL;
}
