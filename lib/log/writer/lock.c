/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See lock.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/sys.h"
#include "log/writer/holder.h"
#include "log/writer/lock.h"
#include "log/writer/own.h"

#define WRITERS 64 /* streams with a log in one process; more are not compared */
#define CLAIMED UINT32_MAX

/* Number of tries for a lock that is held, a millisecond apart: MOST while a recovery works, which
 * may be stopped by a signal; ALONE without one, since a recovery may start between two tries;
 * BLIND where a recovery cannot be distinguished from a stream. */
enum { LOOKS_MOST = 10000, LOOKS_ALONE = 5, LOOKS_BLIND = 2000 };

static uint32_t given; /* descriptor + 1; 0: none */

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

static bool has_bytes(int fd)
{
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return false;
    switch ((uint32_t)fs.f_type) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC: return false;
    default: return true;
    }
}

static int lock_byte(int fd, int command, short type, enum pt_log_byte byte, struct flock *lock)
{
    *lock = (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_len = 1, .l_start = ((off_t)1 << 62) + (off_t)byte
    };
    return fcntl(fd, command, lock) < 0 ? -errno : 0;
}

static int command_of(enum pt_log_owner owner)
{
    return owner == PT_LOG_OF_PROCESS ? F_SETLK : F_OFD_SETLK;
}

int pt_log_byte_take(int fd, enum pt_log_byte byte, enum pt_log_owner owner)
{
    struct flock lock;
    int e = has_bytes(fd) ? lock_byte(fd, command_of(owner), F_WRLCK, byte, &lock) : -ENOTSUP;

    return e == -EAGAIN || e == -EACCES ? -EBUSY : e;
}

void pt_log_byte_free(int fd, enum pt_log_byte byte, enum pt_log_owner owner)
{
    struct flock lock;

    lock_byte(fd, command_of(owner), F_UNLCK, byte, &lock);
}

bool pt_log_byte_is_taken(int fd, enum pt_log_byte byte)
{
    struct flock lock;

    return has_bytes(fd) && lock_byte(fd, F_OFD_GETLK, F_WRLCK, byte, &lock) == 0 &&
           lock.l_type != F_UNLCK;
}

static bool is_held(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* True: another has the flock(), and it is no recovery. */
static bool stays_held(int own, int most)
{
    const struct timespec pause = { 0, 1000000 };
    int alone = 0;

    for (int looks = 0; is_held(own); looks++) {
        alone = pt_log_byte_is_taken(own, PT_LOG_BYTE_RECOVERY) ? 0 : alone + 1;
        if (alone == most || looks == LOOKS_MOST)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Without its byte a stream cannot tell whether the holder is dead. */
static int lock_file(int own, int fd)
{
    int byte = pt_log_byte_take(own, PT_LOG_BYTE_STREAM, PT_LOG_OF_DESCRIPTION), has;
    uint32_t of = (uint32_t)fd + 1;

    if (byte == -EBUSY)
        return byte;
    has = pt_log_holder_is(fd);
    if (byte == 0 && pt_cas_seqcst(&given, &of, 0u)) {
        /* A stream that takes it in between finds the byte taken. */
        flock(fd, LOCK_UN);
        flock(own, LOCK_EX | LOCK_NB);
        return 0;
    }
    if (has > 0)
        return 0;
    if (!stays_held(own, byte == 0 ? LOOKS_ALONE : LOOKS_BLIND))
        return 0;
    if (byte == 0 && pt_log_holder_is_dead(own))
        return 0;
    /* If /proc does not show the lock, tries to take it. */
    return has < 0 && !is_held(fd) ? 0 : -EBUSY;
}

int pt_log_lock_take(struct pt_log_lock *lock, int fd)
{
    struct stat st;
    int own;

    *lock = (struct pt_log_lock){ -1, -1 };
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    lock->place = claim_place(&st);
    own = pt_log_reopen(fd, false);
    lock->fd = own < 0 ? -1 : own;
    if (!pt_is_shortage(own) && !is_shared(lock->place) &&
        (lock->fd < 0 || lock_file(lock->fd, fd) == 0))
        return 0;
    pt_log_lock_release(lock);
    return pt_is_shortage(own) ? own : -EBUSY;
}

void pt_log_lock_give(int fd)
{
    pt_store_seqcst(&given, (uint32_t)fd + 1);
}

void pt_log_lock_release(struct pt_log_lock *lock)
{
    if (lock->place >= 0)
        pt_store_seqcst(&writers[lock->place].pid, 0u);
    if (lock->fd >= 0)
        close(lock->fd);
    *lock = (struct pt_log_lock){ -1, -1 };
}
