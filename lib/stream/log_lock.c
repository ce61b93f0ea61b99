/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See log_lock.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/atomics.h"
#include "stream/log_lock.h"

#define WRITERS  64        /* streams with a log in one process; more are not compared */
#define CLAIMED  UINT32_MAX

/* A place belongs to the process whose pid it has: a forked child uses those of its
 * parent as free ones.  The pid is stored last and cleared first. */
static struct {
    uint32_t pid;
    pt_u64 device, inode;
} writers[WRITERS];

static int claim_place(const struct stat *st)
{
    uint32_t pid = (uint32_t)getpid();

    for (int i = 0; i < WRITERS; i++) {
        uint32_t other = pt_load_acquire(&writers[i].pid);

        if (other == pid || other == CLAIMED || !pt_cas_seqcst(&writers[i].pid, &other, CLAIMED))
            continue;
        pt_store_relaxed(&writers[i].device, (uint64_t)st->st_dev);
        pt_store_relaxed(&writers[i].inode, (uint64_t)st->st_ino);
        pt_store_seqcst(&writers[i].pid, pid);
        return i;
    }
    return -1;
}

/* Two threads that come at once may both find each other: then neither has the file. */
static bool is_shared(int place)
{
    uint32_t pid = (uint32_t)getpid();

    for (int i = 0; place >= 0 && i < WRITERS; i++)
        if (i != place && pt_load_seqcst(&writers[i].pid) == pid &&
            pt_load_relaxed(&writers[i].device) == pt_load_relaxed(&writers[place].device) &&
            pt_load_relaxed(&writers[i].inode) == pt_load_relaxed(&writers[place].inode))
            return true;
    return false;
}

/* The file of fd once more; -1: not possible.  A file that may be written only is opened
 * for that. */
static int open_again(int fd, const struct stat *st)
{
    static const int modes[] = { O_RDONLY, O_WRONLY };
    struct stat again;
    char path[40];
    int own = -1;

    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
    for (int i = 0; own < 0 && i < 2; i++)
        own = open(path, modes[i] | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (own >= 0 && fstat(own, &again) == 0 && again.st_dev == st->st_dev &&
        again.st_ino == st->st_ino)
        return own;
    if (own >= 0)
        close(own);
    return -1;
}

static bool is_held(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

int pt_log_lock_take(struct pt_log_lock *lock, int fd)
{
    struct stat st;

    *lock = (struct pt_log_lock){ -1, -1 };
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    lock->place = claim_place(&st);
    lock->fd = open_again(fd, &st);
    if (!is_shared(lock->place) && (lock->fd < 0 || !is_held(lock->fd) || !is_held(fd)))
        return 0;
    pt_log_lock_release(lock);
    return -EBUSY;
}

void pt_log_lock_release(struct pt_log_lock *lock)
{
    if (lock->place >= 0)
        pt_store_seqcst(&writers[lock->place].pid, 0u);
    if (lock->fd >= 0)
        close(lock->fd);
    *lock = (struct pt_log_lock){ -1, -1 };
}
