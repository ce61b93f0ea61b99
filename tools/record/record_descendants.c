/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The processes that are still running when a recording ends.  The stream knows those that have
 * recorded an event.  A daemon's process, as a rule, has not done so yet when its parent ends.  It
 * is found by POSIXTRACE_FOLLOW in its environment, which names the stream, or, where the program
 * writes over its environment, by its mapping of the page of the program's first process, which
 * a forked child inherits.
 */
#include "record/record.h"
#include "record/record_proc_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <posixtrace/stream.h>

#include "common/tool.h"

enum { FILE_MAX = 1 << 20 };

static int add_alive(void *context, pid_t pid)
{
    struct recording_alive *alive = context;

    for (size_t i = 0; i < alive->count; i++)
        if (alive->pids[i] == pid)
            return 0;
    alive->pids = tool_grow(alive->pids, alive->count + 1, sizeof *alive->pids);
    alive->pids[alive->count++] = pid;
    return 0;
}

/* What a file of /proc has, up to size bytes. */
static size_t read_all(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n = 1;

    while (fd >= 0 && used < size && n > 0) {
        n = read(fd, to + used, size - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return used;
}

/* Of an ended process (a zombie) the files are empty, and another user's cannot be read. */
static bool has_text(pid_t pid, const char *name, const char *text, char *content)
{
    char path[PROC_PATH];
    size_t used;

    record_proc_path(pid, name, path);
    used = read_all(path, content, FILE_MAX);
    return memmem(content, used, text, strlen(text)) != NULL;
}

/* file is unique: it has the random id of the stream. */
static void add_descendants(pid_t program, const char *file, struct recording_alive *alive)
{
    char *content = tool_grow(NULL, FILE_MAX, 1);
    char variable[160], page[40];
    struct dirent *entry;
    DIR *processes = opendir("/proc");

    snprintf(variable, sizeof variable, "POSIXTRACE_FOLLOW=%s", file);
    snprintf(page, sizeof page, "/p-%d-", (int)program);
    while (processes && (entry = readdir(processes)) != NULL) {
        pid_t pid = (pid_t)atoi(entry->d_name);

        if (pid > 0 && pid != getpid() &&
            (has_text(pid, "environ", variable, content) || has_text(pid, "maps", page, content)))
            add_alive(alive, pid);
    }
    if (processes)
        closedir(processes);
    free(content);
}

void recording_alive(const struct recording *r, struct recording_alive *alive)
{
    const char *file = recording_file(r);

    if (!file)
        return;
    posixtrace_stream_traced(file, add_alive, alive);
    add_descendants(r->pid, file, alive);
}
