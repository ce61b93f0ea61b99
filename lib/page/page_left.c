/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See page_left.h.  Async-signal-safe: the first event of a process comes here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include "page/dir_step.h"
#include "page/page_left.h"
#include "place/dir.h"
#include "place/place.h"
#include "shm/liveness.h"

#define ASKS 2u /* of /proc, in a step; ten microseconds each */

/* The value of page->counted for a page; a copy of another process's page has another one. */
static uint64_t mark_of(uint32_t pid, uint64_t start)
{
    return ((uint64_t)pid << 40 ^ start) | 1;
}

bool pt_page_is_counted(const struct pt_page *page)
{
    return pt_load_acquire(&page->counted) == mark_of(page->pid, page->start);
}

void pt_page_hold_names(struct pt_page *page, struct pt_names *names)
{
    uint64_t was = pt_load_acquire(&page->counted), mark = mark_of(page->pid, page->start);

    if (was == mark)
        return;
    if (pt_names_hold(names) && !pt_cas_seqcst(&page->counted, &was, mark))
        pt_names_drop(names);
}

static bool read_at(int fd, void *to, size_t bytes, size_t at)
{
    return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/* The map of a page that is counted. */
static bool read_names_file(int dir, const char *file, char names_file[64])
{
    int fd = openat(dir, file, O_RDONLY | PT_OPEN_BRIEFLY);
    uint64_t start, counted;
    uint32_t pid;
    bool is = fd >= 0 && read_at(fd, &pid, sizeof pid, offsetof(struct pt_page, pid)) &&
              read_at(fd, &start, sizeof start, offsetof(struct pt_page, start)) &&
              read_at(fd, &counted, sizeof counted, offsetof(struct pt_page, counted)) &&
              read_at(fd, names_file, 64, offsetof(struct pt_page, names_file)) &&
              counted == mark_of(pid, start) && pt_dir_is_plain(names_file, 64);

    if (fd >= 0)
        close(fd);
    return is;
}

/* If several processes come here for one page, one has removed it.  The map is opened before, as a
 * process that is killed between the two steps leaves the count too high. */
void pt_page_remove(int dir, const char *file, const struct pt_page_names *kept)
{
    char names_file[64] = "";
    bool counted = read_names_file(dir, file, names_file);
    bool is_kept = counted && kept && kept->file && strcmp(kept->file, names_file) == 0;
    struct pt_names *names = is_kept ? kept->names : NULL;

    if (counted && !is_kept && pt_names_open_in(&names, dir, pt_place_uid(), names_file) < 0)
        names = NULL;
    if (unlinkat(dir, file, 0) == 0 && names && !pt_names_drop(names) && !is_kept)
        unlinkat(dir, names_file, 0);
    if (names && !is_kept)
        pt_names_unmap(names);
}

bool pt_page_process_is_gone(uint32_t pid, uint64_t start, unsigned *asks)
{
    struct pt_process p;
    int r;

    if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
        return pt_proc_is_ours();
    if (*asks == 0)
        return false;
    --*asks;
    /* A zombie counts as gone, unless only its first thread has ended. */
    r = pt_process_look(pid, &p);
    return r == -ESRCH ||
           (r == 0 && ((start != 0 && !pt_is_start(p.start, start)) || pt_process_has_ended(&p)));
}

static const char *read_number(const char *p, uint64_t *n)
{
    for (*n = 0; *p >= '0' && *p <= '9'; p++)
        *n = *n * 10 + (uint64_t)(*p - '0');
    return p;
}

/* Is it the name of a page? */
static bool parse(const char *file, uint32_t *pid, uint64_t *start, uint64_t *ns)
{
    uint64_t number = 0;
    const char *p = file[0] == 'p' && file[1] == '-' ? read_number(file + 2, &number) : "?";

    p = *p == '-' ? read_number(p + 1, start) : "?";
    p = *p == '-' ? read_number(p + 1, ns) : "?";
    *pid = (uint32_t)number;
    return *p == '\0' && number != 0 && number <= INT32_MAX;
}

bool pt_page_is_left(const char *file, uint64_t pid_ns, unsigned *asks)
{
    uint64_t start, ns;
    uint32_t pid;

    return parse(file, &pid, &start, &ns) && ns != 0 && ns == pid_ns &&
           pt_page_process_is_gone(pid, start, asks);
}

static void note(struct pt_page_dir *dir, const char *name)
{
    uint64_t start, ns;
    uint32_t pid;

    if (!parse(name, &pid, &start, &ns) || ns != dir->pid_ns)
        return;
    if (dir->seen.count == PT_PAGES_SEEN) {
        dir->seen.all = false;
        return;
    }
    dir->seen.pid[dir->seen.count++] = pid;
    if (start < dir->seen.oldest)
        dir->seen.oldest = start;
}

static void look_at_names(struct pt_page_dir *dir, const struct pt_page_names *kept,
                          struct pt_dir_step *step)
{
    unsigned asks = ASKS;
    const char *name;

    while ((name = pt_dir_step_next(step)))
        if (name[0] == 'p' && name[1] == '-') {
            if (pt_page_is_left(name, dir->pid_ns, &asks))
                pt_page_remove(dir->in.fd, name, kept);
            else
                note(dir, name);
        }
}

/* A look at all names is at no place of the walk. */
void pt_page_sweep_step(struct pt_page_dir *dir, const struct pt_page_names *kept)
{
    struct pt_dir_step step;
    int saved = errno;

    dir->seen.all = dir->in.fd == -ENOENT || (dir->in.fd >= 0 && dir->in.seen.is_new);
    if (dir->in.fd >= 0 && !dir->in.seen.is_new) {
        dir->seen.all = pt_dir_step_all(&step, dir->in.fd, PT_WALK_PAGES, dir->in.seen.size);
        if (!dir->seen.all)
            pt_dir_step_begin(&step, dir->in.fd, PT_WALK_PAGES);
        look_at_names(dir, kept, &step);
        pt_dir_step_end(&step);
    }
    errno = saved;
}
