/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See fork_files.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/brief_files.h"
#include "base/dir_names.h"
#include "base/open_above.h"
#include "base/sys.h"
#include "page/dir_step.h"
#include "page/stream_quota.h"
#include "place/dir.h"
#include "process/fork_files.h"

#define NAME   "/proc/self/fd/"
#define MEMORY "/memfd:"

/* A handler that runs inside fork() may fork. */
static _Thread_local unsigned forks __attribute__((tls_model("initial-exec")));
static _Thread_local uint64_t ended_before __attribute__((tls_model("initial-exec")));

void pt_fork_files_before(void)
{
    if (forks++ == 0)
        ended_before = pt_load_seqcst(&pt_brief_files.ended);
}

void pt_fork_files_in_parent(void)
{
    forks--;
}

static bool starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A file in the stream directory: name maps, pages, segments, and others, which have names.
 * Changes path. */
static bool is_our_file(char *path)
{
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    struct stat st;

    if (!(strchr("npst", name[0]) && name[0] && name[1] == '-') &&
        !starts_with(name, PT_DIR_STEP_FILE) && !starts_with(name, PT_CENSUS_FILE) &&
        !starts_with(name, PT_DIR_LOST_FILE))
        return false;
    if (slash)
        *slash = '\0';
    return slash && stat(path, &st) == 0 && S_ISDIR(st.st_mode) && pt_dir_is_latest(&st);
}

/* A file of the kernel's that such a call opens. */
static bool is_kernel_file(const char *path)
{
    static const char *const names[] = {
        "maps",    "mem",       "stat",      "comm",    "timens_offsets",      "sched",
        "meminfo", "schedstat", "nohz_full", "boot_id", "current_clocksource", "task"
    };
    const char *name = strrchr(path, '/') + 1;

    if (strstr(path, "/fdinfo/"))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Memory without a name in a full directory, which no flag can mark: it has the name that a file
 * with a new id would have, as no memory of the program has. */
static bool is_our_memory(const char *name)
{
    return name[0] && strchr("nst", name[0]) && name[1] == '-' &&
           strspn(name + 2, "0123456789abcdef") == 32;
}

/* link: its name in NAME. */
static bool is_ours(int fd, const char *link)
{
    int flags = fcntl(fd, F_GETFL), mark = PT_OPEN_BRIEFLY & ~O_CLOEXEC;
    bool marked = (flags & mark) == mark;
    char path[512];
    struct stat st;
    ssize_t n;

    if (flags < 0 || (!marked && (flags & O_ACCMODE) != O_RDWR) ||
        !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
        return false;
    n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    if (!marked)
        return starts_with(path, MEMORY) && is_our_memory(path + sizeof MEMORY - 1);
    if (starts_with(path, "/proc/") || starts_with(path, "/sys/"))
        return is_kernel_file(path);
    if (strcmp(path, PT_ABOVE_PLACE) == 0)
        return true;
    return fstat(fd, &st) == 0 && pt_dir_is_latest(&st) &&
           (S_ISDIR(st.st_mode) || is_our_file(path));
}

/* -1: it is none. */
static int number_of(const char *name)
{
    int fd = 0;

    for (; *name >= '0' && *name <= '9' && fd < 100000000; name++)
        fd = fd * 10 + (*name - '0');
    return *name == '\0' ? fd : -1;
}

static void close_if_ours(const char *name, int except)
{
    int fd = number_of(name);
    char link[sizeof NAME + 12] = NAME;

    if (fd < 0 || fd == except || *name == '\0')
        return;
    strcpy(link + sizeof NAME - 1, name);
    if (is_ours(fd, link))
        close(fd);
}

/* The directory is read by numbers, so that closing some of them leaves out none. */
static void close_ours(void)
{
    _Alignas(8) char names[1024];
    int dir = open(NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long bytes;

    if (dir < 0)
        return;
    while ((bytes = pt_dir_read_names(dir, names, sizeof names)) > 0)
        for (long at = 0; at < bytes; at += pt_dir_entry_at(names, at)->bytes)
            close_if_ours(pt_dir_entry_at(names, at)->name, dir);
    close(dir);
}

void pt_fork_files_in_child(void)
{
    uint64_t begun = pt_load_relaxed(&pt_brief_files.begun);
    int saved = errno;

    if (--forks > 0 || begun == ended_before)
        return;
    if (pt_brief_files_own == 0)
        close_ours();
    /* This thread is the only one. */
    pt_store_relaxed(&pt_brief_files.ended, begun - pt_brief_files_own);
    errno = saved;
}
