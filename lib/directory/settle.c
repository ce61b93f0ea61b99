/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See settle.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/array.h"
#include "base/sys.h"
#include "base/thread.h"
#include "directory/reap.h"
#include "directory/settle.h"
#include "place/dir.h"
#include "shm/segment.h"

#define LIMIT_MOST (1ull << 30)
#define NICE       19
#define PATIENCE_S 10 /* seconds for which a create waits at most */

struct segment {
    char file[64];
    struct pt_left left;
};

struct pass {
    int dir;
    struct segment *list;
    size_t count, room;
    uint64_t bytes;
};

static uint32_t state;       /* 0: no thread; 1: being started or joined; 2: there is one */
static uint32_t stop, owner; /* owner: the process that has started it */
static uint32_t ended;       /* the thread is about to end; its creator waits for that */
static pthread_t thread;
static struct pt_log_look look;

/* As 65536, 64K, 1M or 2G; 0: no such number. */
static uint64_t wanted_limit(void)
{
    static const char units[] = "KMG";
    const char *text = secure_getenv("POSIXTRACE_LEFT_LIMIT"), *unit;
    unsigned long long value;
    unsigned shift;
    char *end;

    if (!text || text[0] < '0' || text[0] > '9')
        return 0;
    value = strtoull(text, &end, 10);
    unit = *end ? strchr(units, *end) : NULL;
    shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    return end[unit != NULL] == '\0' && value <= UINT64_MAX >> 1 >> shift ? value << shift : 0;
}

uint64_t pt_settle_limit(void)
{
    uint64_t limit = wanted_limit();
    struct statvfs fs;
    int dir;

    if (limit)
        return limit;
    limit = LIMIT_MOST;
    dir = pt_dir_open(false);
    if (dir >= 0) {
        if (fstatvfs(dir, &fs) == 0 && fs.f_blocks > 0 &&
            (uint64_t)fs.f_blocks * fs.f_frsize / 4 < limit)
            limit = (uint64_t)fs.f_blocks * fs.f_frsize / 4;
        close(dir);
    }
    return limit;
}

static bool is_stopped(void)
{
    return pt_load_acquire(&stop) != 0;
}

static void take_segments(struct pass *p, DIR *d)
{
    struct dirent *entry;

    while (!is_stopped() && (entry = readdir(d))) {
        struct segment s;

        if (!pt_seg_is_name(entry->d_name))
            continue;
        strcpy(s.file, entry->d_name);
        if (!pt_reap_one(p->dir, s.file, PT_REAP_SMALL, &look, &s.left))
            continue;
        if (pt_array_grow(&p->list, &p->room, p->count, sizeof *p->list) < 0)
            return;
        p->list[p->count++] = s;
        p->bytes += s.left.bytes;
    }
}

static int by_age(const void *a, const void *b)
{
    const struct segment *x = a, *y = b;

    return x->left.created < y->left.created ? -1 : x->left.created > y->left.created;
}

static void bury_oldest(struct pass *p, uint64_t limit)
{
    if (p->bytes <= limit)
        return;
    qsort(p->list, p->count, sizeof *p->list, by_age);
    for (size_t i = 0; i < p->count && p->bytes > limit - limit / 4 && !is_stopped(); i++) {
        uint64_t bytes = p->list[i].left.bytes;

        if (!pt_reap_one(p->dir, p->list[i].file, PT_REAP_BURY, &look, &p->list[i].left))
            p->bytes -= bytes;
    }
}

static void settle_all(void)
{
    struct pass p = { .dir = pt_dir_open(false) };
    int copy = -1;
    DIR *d;

    if (p.dir < 0)
        return;
    if (flock(p.dir, LOCK_EX | LOCK_NB) == 0)
        copy = openat(p.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    d = copy >= 0 ? fdopendir(copy) : NULL;
    if (d) {
        take_segments(&p, d);
        bury_oldest(&p, pt_settle_limit());
        closedir(d);
    } else if (copy >= 0) {
        close(copy);
    }
    free(p.list);
    close(p.dir);
}

static void *settle_thread(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "posixtrace-left", 0, 0, 0);
    setpriority(PRIO_PROCESS, 0, NICE);
    if (pt_thread_own_descriptors(-1) == 0)
        settle_all();
    pt_store_release(&ended, 1u);
    pt_futex_wake_all(&ended);
    return NULL;
}

/* Not for ever: a log may be on a network that does not answer.  By CLOCK_MONOTONIC, which
 * pthread_timedjoin_np() cannot do: with the other clock, a step back would make it longer.
 * True: it has ended. */
static bool wait_for_thread(void)
{
    struct timespec until;
    int e = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    while (pt_load_acquire(&ended) == 0 && (e == 0 || e == -EAGAIN || e == -EINTR))
        e = pt_futex_wait(&ended, 0, CLOCK_MONOTONIC, &until);
    return pt_load_acquire(&ended) != 0 && pthread_join(thread, NULL) == 0;
}

/* A forked child has its parent's words, and no thread. */
static bool has_no_thread(void)
{
    uint32_t self = (uint32_t)getpid(), of = pt_load_acquire(&owner);

    if (of != self && pt_cas_seqcst(&owner, &of, self))
        pt_store_release(&state, 0u);
    return pt_load_acquire(&state) == 0;
}

void pt_settle_start(uint64_t left, const struct pt_log_look *own)
{
    bool wait = left > 0 && left > pt_settle_limit();
    uint32_t none = 0;

    if (left == 0 || (!own->has_own && !wait) || !has_no_thread() ||
        !pt_cas_seqcst(&state, &none, 1u))
        return;
    pt_store_release(&stop, 0u);
    pt_store_release(&ended, 0u);
    look = *own;
    look.looks = PT_LOG_LOOKS_ALL;
    if (pt_thread_start(&thread, settle_thread, NULL) < 0) {
        pt_store_release(&state, 0u);
        return;
    }
    wait = wait && wait_for_thread();
    pt_store_release(&state, wait ? 0u : 2u);
}

void pt_settle_stop(void)
{
    uint32_t there = 2;

    if (pt_load_acquire(&owner) != (uint32_t)getpid() || !pt_cas_seqcst(&state, &there, 1u))
        return;
    pt_store_release(&stop, 1u);
    pthread_join(thread, NULL);
    pt_store_release(&state, 0u);
}
