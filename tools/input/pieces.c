/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See pieces.h. */
#include "input/pieces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <posixtrace/info.h>
#include <posixtrace/log.h>

#include "input/log_file.h"
#include "common/tool.h"

static const char end[] = ".ptl" PIECES_PART;

bool pieces_is_part(const char *name)
{
    size_t length = strlen(name);

    return length >= sizeof end && strcmp(name + length - (sizeof end - 1), end) == 0;
}

/* An empty one is removed if another piece comes before it: its writer was killed when it had made
 * it, and all events are in that other one. */
static int name_or_remove(const char *path, bool remove)
{
    size_t length = strlen(path) - strlen(PIECES_PART);
    char *to = tool_grow(NULL, length + 1, 1);
    int error;

    memcpy(to, path, length);
    to[length] = '\0';
    error = (remove ? unlink(path) : renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_NOREPLACE)) < 0
                ? errno
                : 0;
    free(to);
    if (error)
        return tool_error("cannot rename %s, which is complete: %s", quote(path), strerror(error));
    return EXIT_DONE;
}

int pieces_name(const char *path)
{
    return name_or_remove(path, false);
}

/* Has the log on fd nothing, no loss either? */
static bool is_empty(int fd)
{
    struct posixtrace_info info = { .events = 1 };
    trace_id_t trid;

    if (posix_trace_open(fd, &trid) != 0)
        return false;
    posixtrace_get_info(trid, &info, sizeof info);
    posix_trace_close(trid);
    return info.events == 0 && log_file_lost(info.lost) == 0;
}

/* EXIT_DONE also for one whose writer lives. */
static int settle_one(const char *path, size_t *count)
{
    struct posixtrace_recover_report report;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK), error;
    bool empty, begun;
    struct stat st;

    if (fd < 0)
        return errno == ENOENT ? EXIT_DONE
                               : tool_error("cannot open %s: %s", quote(path), strerror(errno));
    error = posixtrace_log_recover(fd, &report, sizeof report);
    empty = error == 0 && is_empty(fd);
    begun = fstat(fd, &st) != 0 || st.st_size > 0;
    close(fd);
    /* A living writer may be about to begin in an empty file. */
    if (error == EBUSY || (error == EILSEQ && !begun))
        return EXIT_DONE;
    if (error)
        return tool_error("cannot complete %s: %s", quote(path), posixtrace_error_text(error));
    ++*count;
    return name_or_remove(path, empty);
}

int pieces_settle(const char *folder, size_t *count)
{
    DIR *dir = opendir(folder);
    int status = EXIT_DONE;
    struct dirent *entry;

    *count = 0;
    if (!dir)
        return tool_error("cannot read folder %s: %s", quote(folder), strerror(errno));
    while ((entry = readdir(dir))) {
        size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        char *path;
        int one;

        if (!pieces_is_part(entry->d_name))
            continue;
        path = tool_grow(NULL, size, 1);
        snprintf(path, size, "%s/%s", folder, entry->d_name);
        one = settle_one(path, count);
        status = status ? status : one;
        free(path);
    }
    closedir(dir);
    return status;
}
