/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* Files of a new folder are added to another folder; see new_folder.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "system/new_folder.h"
#include "common/tool.h"

enum { DEPTH_MAX = 4 };

/* The work on a file, and on a folder before its files. */
struct step {
    int (*do_file)(const struct new_folder *f, const char *from, const char *to);
    int (*do_folder)(const char *to);
};

static char *join(const char *folder, const char *name)
{
    char *path = tool_grow(NULL, strlen(folder) + strlen(name) + 2, 1);

    stpcpy(stpcpy(stpcpy(path, folder), "/"), name);
    return path;
}

static int walk(const struct new_folder *f, const struct step *s, const char *from, const char *to,
                unsigned depth);

static int take_entry(const struct new_folder *f, const struct step *s, const char *from,
                      const char *to, unsigned depth)
{
    struct stat st;

    if (lstat(from, &st) != 0)
        return tool_error("cannot look at %s: %s", quote(from), strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return s->do_file(f, from, to);
    return depth < DEPTH_MAX ? walk(f, s, from, to, depth + 1)
                             : tool_error("%s: too many folders inside each other", quote(from));
}

static int walk(const struct new_folder *f, const struct step *s, const char *from, const char *to,
                unsigned depth)
{
    DIR *d = opendir(from);
    int status = d ? s->do_folder(to)
                   : tool_error("cannot read %s: %s", quote(from), strerror(errno));
    struct dirent *entry;

    while (status == EXIT_DONE && (entry = readdir(d))) {
        char *one, *other;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        one = join(from, entry->d_name);
        other = join(to, entry->d_name);
        status = take_entry(f, s, one, other, depth);
        free(one);
        free(other);
    }
    if (d)
        closedir(d);
    return status;
}

/* ---- the steps ---- */

static int check_file(const struct new_folder *f, const char *from, const char *to)
{
    struct stat st;

    (void)from;
    if (lstat(to, &st) != 0)
        return EXIT_DONE;
    if (!S_ISREG(st.st_mode))
        return tool_error("%s is not replaced: it is no plain file", quote(to));
    return f->replace ? EXIT_DONE : tool_error("%s exists; --force replaces it", quote(to));
}

static int check_folder(const char *to)
{
    struct stat st;

    return stat(to, &st) != 0 || S_ISDIR(st.st_mode) ? EXIT_DONE
                                                     : tool_error("%s is no folder", quote(to));
}

static int move_file(const struct new_folder *f, const char *from, const char *to)
{
    (void)f;
    return rename(from, to) == 0
               ? EXIT_DONE
               : tool_error("cannot move a file to %s: %s", quote(to), strerror(errno));
}

static int make_folder(const char *to)
{
    return mkdir(to, 0777) == 0 || errno == EEXIST
               ? EXIT_DONE
               : tool_error("cannot make %s: %s", quote(to), strerror(errno));
}

int new_folder_add(struct new_folder *f)
{
    static const struct step check = { check_file, check_folder },
                             move = { move_file, make_folder };
    int status = walk(f, &check, f->temporary, f->path, 0);

    return status == EXIT_DONE ? walk(f, &move, f->temporary, f->path, 0) : status;
}
