/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See perf_watch.h.  An event that others inherit must belong to one processor, to have a ring
 * (the kernel forbids the other kind).  Threads may be created while these are opened: the list
 * of threads is read until no new one is in it.  A thread that both inherits and is found in the
 * list reports twice, with two origins; the taker of the switches keeps one of them
 * (flush/switches.h).  A short-lived stream of a program with many threads pays for that with
 * threads x processors descriptors, in the table of the flush thread.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/sys.h"
#include "source/perf_watch.h"

#define MOST_LISTS 16 /* lists of the threads: some programs always create new ones */

/* One event. */
struct pt_perf_watch {
    uint64_t id;
    int fd;
    uint32_t origin; /* number of the thread that it was opened for */
    uint32_t ring;   /* where it writes */
};

/* The threads to be watched, and how. */
struct plan {
    const struct pt_perf_rings *rings;
    const struct pt_perf_clock *clock;
    int32_t pid;
    bool children;
};

static int by_id(const void *a, const void *b)
{
    const struct pt_perf_watch *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t pt_perf_watches_origin(const struct pt_perf_watches *w, uint64_t id)
{
    const struct pt_perf_watch key = { .id = id };
    const struct pt_perf_watch *found = bsearch(&key, w->of, w->count, sizeof key, by_id);

    return found ? found->origin : UINT32_MAX;
}

/* One event a processor for a thread; all of them or none.  1; 0: it has gone. */
static int watch_thread(struct pt_perf_watches *w, const struct plan *p, int32_t tid)
{
    size_t before = w->count;
    int e = pt_array_grow(&w->tids, &w->tid_room, w->tid_count, sizeof *w->tids);

    for (size_t i = 0; e >= 0 && i < p->rings->count; i++) {
        struct pt_perf_watch *new;

        e = pt_array_grow(&w->of, &w->room, w->count, sizeof *w->of);
        if (e < 0)
            break;
        new = &w->of[w->count];
        new->origin = (uint32_t)w->tid_count;
        new->ring = (uint32_t)i;
        e = new->fd = pt_perf_watch(&p->rings->of[i], p->clock, tid, p->children, &new->id);
        w->count += e >= 0;
    }
    if (e >= 0) {
        w->tids[w->tid_count++] = tid;
        return 1;
    }
    while (w->count > before)
        close(w->of[--w->count].fd);
    return e == -ESRCH ? 0 : e;
}

static bool is_watched(const struct pt_perf_watches *w, int32_t tid)
{
    for (size_t i = 0; i < w->tid_count; i++)
        if (w->tids[i] == tid)
            return true;
    return false;
}

/* Those of the process's threads that have no event yet; how many. */
static int watch_list(struct pt_perf_watches *w, const struct plan *p)
{
    int32_t own = pt_sys_tid();
    struct dirent *d;
    char path[64];
    int e = 0, n = 0;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", (int)p->pid);
    dir = opendir(path);
    if (!dir)
        return errno == ENOENT ? -ESRCH : -errno;
    while (e >= 0 && (d = readdir(dir))) {
        int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);

        if (tid <= 0 || tid == own || is_watched(w, tid))
            continue;
        e = watch_thread(w, p, tid);
        n += e > 0;
    }
    closedir(dir);
    return e < 0 ? e : n;
}

int pt_perf_watches_open(struct pt_perf_watches *w, const struct pt_perf_rings *rings,
                         const struct pt_perf_clock *clock, int32_t pid, bool children)
{
    const struct plan plan = { rings, clock, pid, children };
    int n = 1;

    for (int i = 0; n > 0 && i < MOST_LISTS; i++)
        n = watch_list(w, &plan);
    if (n < 0)
        return n;
    if (w->count == 0)
        return -ESRCH;
    qsort(w->of, w->count, sizeof *w->of, by_id);
    return 0;
}

void pt_perf_watches_close(struct pt_perf_watches *w)
{
    for (size_t i = 0; i < w->count; i++)
        close(w->of[i].fd);
    free(w->of);
    free(w->tids);
}

void pt_perf_watches_settle(const struct pt_perf_watches *w, uint64_t *lost, size_t rings)
{
    memset(lost, 0, rings * sizeof *lost);
    for (size_t i = 0; i < w->count; i++)
        lost[w->of[i].ring] += pt_perf_settle(w->of[i].fd);
}
