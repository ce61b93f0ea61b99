/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Limits of the process, and of the container that it may be in.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/units.h"
#include "common/tool.h"

#define MIB (1024u * 1024u)

/* Below these a limit is in the way of programs that trace a lot. */
#define FILES_FEW       32u
#define SPACE_SMALL     (1024ull * MIB)
#define CONTAINER_SMALL (256ull * MIB)

static uint64_t soft_limit(int resource)
{
    struct rlimit limit;

    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                               : UINT64_MAX;
}

static void judge_file_size(void)
{
    uint64_t limit = soft_limit(RLIMIT_FSIZE);

    if (limit == UINT64_MAX) {
        doctor_add(FINE, "RLIMIT_FSIZE", "no limit");
        return;
    }
    doctor_add(NOTE, "RLIMIT_FSIZE", "%s", units_bytes(limit));
    doctor_means("a log ends there, its further events are lost; a stream that is larger has "
                 "memory without a name, whose events end with a process that is killed");
    doctor_remedy("ulimit -f unlimited");
}

static void judge_open_files(void)
{
    uint64_t limit = soft_limit(RLIMIT_NOFILE);

    if (limit >= FILES_FEW) {
        doctor_add(FINE, "RLIMIT_NOFILE", "%" PRIu64 " open files", limit);
        return;
    }
    doctor_add(NOTE, "RLIMIT_NOFILE", "only %" PRIu64 " open files", limit);
    doctor_means("making a stream needs a few for a moment, a log one for good; with none free "
                 "the call answers EMFILE or the stream has memory without a name");
    doctor_remedy("ulimit -n 1024");
}

static void judge_address_space(void)
{
    uint64_t limit = soft_limit(RLIMIT_AS);

    if (limit == UINT64_MAX) {
        doctor_add(FINE, "RLIMIT_AS", "no limit");
        return;
    }
    doctor_add(limit < SPACE_SMALL ? NOTE : FINE, "RLIMIT_AS", "%s", units_bytes(limit));
    if (limit >= SPACE_SMALL)
        return;
    doctor_means("a stream maps the room it may grow to, up to an eighth of that: fewer threads "
                 "can record, or the call that makes it answers ENOMEM");
    doctor_remedy("ulimit -v unlimited");
}

static void tell_locked_memory(void)
{
    uint64_t limit = soft_limit(RLIMIT_MEMLOCK);

    if (limit == UINT64_MAX)
        doctor_add(FINE, "RLIMIT_MEMLOCK", "no limit");
    else
        doctor_add(FINE, "RLIMIT_MEMLOCK",
                   "%s; counts for programs that call mlockall() only, and "
                   "then with all that a stream maps",
                   units_bytes(limit));
}

void doctor_limits(void)
{
    judge_file_size();
    judge_open_files();
    judge_address_space();
    tell_locked_memory();
}

static uint64_t read_limit(const char *root, const char *path, const char *file)
{
    char name[600], text[64];
    char *end;
    uint64_t limit;

    snprintf(name, sizeof name, "%s%s/%s", root, path, file);
    if (!doctor_read_line(name, text, sizeof text))
        return UINT64_MAX;
    limit = strtoull(text, &end, 10);
    return end == text || limit >= UINT64_MAX / 4 ? UINT64_MAX : limit;
}

/* The least limit of a group and of those that it is in. */
static uint64_t least_limit(const char *root, char *path, const char *file)
{
    uint64_t least = UINT64_MAX;

    for (;;) {
        uint64_t limit = read_limit(root, path, file);
        char *slash = strrchr(path, '/');

        least = limit < least ? limit : least;
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Version 2 and version 1 of the control groups; UINT64_MAX: no limit seen. */
static uint64_t memory_limit(void)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    uint64_t least = UINT64_MAX, limit;
    char line[600];

    while (f && fgets(line, sizeof line, f)) {
        char *path = strchr(line, ':');

        path = path ? strchr(path + 1, ':') : NULL;
        if (!path)
            continue;
        path[strcspn(path, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0)
            limit = least_limit("/sys/fs/cgroup", path + 1, "memory.max");
        else if (strstr(line, ":memory:"))
            limit = least_limit("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes");
        else
            continue;
        least = limit < least ? limit : least;
    }
    if (f)
        fclose(f);
    return least;
}

static const char *container_kind(void)
{
    if (access("/.dockerenv", F_OK) == 0)
        return "a Docker container";
    if (access("/run/.containerenv", F_OK) == 0)
        return "a Podman container";
    return getenv("container") ? "a container" : NULL;
}

static void judge_proc(void)
{
    char self[32];
    ssize_t n = readlink("/proc/self", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
    if (n > 0 && atoi(self) == getpid() && access("/proc/self/maps", R_OK) == 0)
        return;
    doctor_add(NOTE, "/proc", "%s", n > 0 ? "that of another pid namespace" : "not mounted");
    doctor_means("which streams belong to living processes is not known: what killed ones left "
                 "is neither recovered nor removed");
    doctor_remedy("mount -t proc proc /proc");
}

void doctor_container(void)
{
    const char *kind = container_kind();
    uint64_t limit = memory_limit();

    if (limit == UINT64_MAX)
        doctor_add(FINE, "container", "%s, no limit of memory seen", kind ? kind : "none seen");
    else
        doctor_add(limit < CONTAINER_SMALL ? NOTE : FINE, "container", "%s, memory limited to %s",
                   kind ? kind : "a control group", units_bytes(limit));
    if (limit < CONTAINER_SMALL) {
        doctor_means("streams count against it, those of killed processes too, until they are "
                     "removed; beyond it the kernel kills a process");
        doctor_remedy("smaller streams (posix_trace_attr_setstreamsize), or a larger limit");
    }
    judge_proc();
}
