/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Processes that no other one can trace.  Where RLIMIT_FSIZE is too small for the files of the
 * stream directory when a process first calls the library, it has its page, or its names, in
 * memory of its own for as long as it runs.
 */
#include "record/record.h"
#include "record/record_proc_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <posixtrace/stream.h>

#include "common/tool.h"
#include "common/units.h"

/* The files are smaller, so a limit of so much is not the cause. */
#define FILES_FIT (2u << 20)

/* Is shared memory without a name, of any use, in its address space? */
static bool shares_unnamed_memory(pid_t pid)
{
    char path[PROC_PATH], *line = NULL;
    bool found = false;
    size_t size = 0;
    FILE *f;

    record_proc_path(pid, "maps", path);
    f = fopen(path, "re");
    while (f && !found && getline(&line, &size, f) > 0)
        found = strstr(line, " rw-s ") && strstr(line, " /dev/zero (deleted)");
    free(line);
    if (f)
        fclose(f);
    return found;
}

uint64_t record_unseen_limit(pid_t pid)
{
    struct rlimit limit;

    if (prlimit(pid, RLIMIT_FSIZE, NULL, &limit) < 0 || limit.rlim_cur >= FILES_FIT ||
        !shares_unnamed_memory(pid))
        return RECORD_SEEN;
    return limit.rlim_cur;
}

bool record_unseen_note(const struct recording *r)
{
    uint64_t limit = record_unseen_limit(r->pid);
    char name[32];

    if (limit == RECORD_SEEN)
        return false;
    record_process_name(r->pid, name, sizeof name);
    tool_note("process %d (%s) may write files of %s at most (ulimit -f): if it has called "
              "libposixtrace under that limit, it has no page in %s, and nothing of it is "
              "recorded; start it with a larger limit",
              (int)r->pid, quote(name), units_bytes(limit), quote(posixtrace_stream_directory()));
    return true;
}
