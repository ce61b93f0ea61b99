/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See record_proc_path.h. */
#include "record/record_proc_path.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The link goes with the memory.  False also where it may not be read. */
static bool has_memory(const char *exe, bool *hidden)
{
    char to[2];
    bool has = readlink(exe, to, sizeof to) >= 0;

    *hidden = !has && errno != ENOENT && errno != ESRCH;
    return has;
}

void record_proc_path(pid_t pid, const char *leaf, char path[PROC_PATH])
{
    struct dirent *entry;
    bool found, hidden;
    DIR *tasks = NULL;

    snprintf(path, PROC_PATH, "/proc/%d/exe", (int)pid);
    found = has_memory(path, &hidden);
    if (!found && !hidden) {
        snprintf(path, PROC_PATH, "/proc/%d/task", (int)pid);
        tasks = opendir(path);
    }
    while (!found && tasks && (entry = readdir(tasks)) != NULL) {
        int tid = atoi(entry->d_name);

        if (tid <= 0)
            continue;
        snprintf(path, PROC_PATH, "/proc/%d/task/%d/exe", (int)pid, tid);
        found = has_memory(path, &hidden);
        if (found)
            snprintf(path, PROC_PATH, "/proc/%d/task/%d/%s", (int)pid, tid, leaf);
    }
    if (!tasks || !found)
        snprintf(path, PROC_PATH, "/proc/%d/%s", (int)pid, leaf);
    if (tasks)
        closedir(tasks);
}
