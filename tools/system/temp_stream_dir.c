/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Streams and folders of our own; see temp_stream_dir.h.  The library looks at
 * POSIXTRACE_DIR whenever it opens the directory, so setting it is enough.
 */
#include "system/temp_stream_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/environment.h>

#include "common/tool.h"

char *own_folder(const char *parent, const char *name)
{
    size_t size = strlen(parent) + strlen(name) + 2;
    char *path = tool_grow(NULL, size, 1);

    snprintf(path, size, "%s/%s", parent, name);
    if (mkdtemp(path))
        return path;
    free(path);
    return NULL;
}

void own_folder_remove(char *path)
{
    DIR *d = path ? opendir(path) : NULL;
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
    if (path && rmdir(path) < 0 && errno != ENOENT)
        tool_note("%s: cannot remove %s: %s", tool_verb(), quote(path), strerror(errno));
    free(path);
}

bool temp_stream_dir_enter(struct temp_stream_dir *o)
{
    struct posixtrace_environment e;

    *o = (struct temp_stream_dir){ NULL, NULL };
    /* trials are not programs that a user wants recorded */
    unsetenv("POSIXTRACE_RECORD");
    posixtrace_get_environment(&e, sizeof e);
    /* as the library makes it for the first stream */
    if (e.directory_error == ENOENT && mkdir(e.directory, 0700) == 0)
        posixtrace_get_environment(&e, sizeof e);
    if (e.directory_error == 0)
        o->path = own_folder(e.directory, "posixtrace-tool-XXXXXX");
    if (!o->path)
        return false;
    if (getenv("POSIXTRACE_DIR"))
        o->before = strdup(getenv("POSIXTRACE_DIR"));
    setenv("POSIXTRACE_DIR", o->path, 1);
    return true;
}

void temp_stream_dir_leave(struct temp_stream_dir *o)
{
    if (!o->path)
        return;
    if (o->before)
        setenv("POSIXTRACE_DIR", o->before, 1);
    else
        unsetenv("POSIXTRACE_DIR");
    own_folder_remove(o->path);
    free(o->before);
    *o = (struct temp_stream_dir){ NULL, NULL };
}
