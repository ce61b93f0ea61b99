/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See stream_quota.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>
#include "base/dir_names.h"
#include "base/open_above.h"
#include "base/sys.h"
#include "page/stream_quota.h"
#include "place/dir.h"
#include "shm/liveness.h"
#include "shm/segment.h"

#define MAGIC         0x31534e43585450ull
#define NAMES_BYTES   8192u
#define NAME          48u /* of a segment's file with its NUL */
#define LOCK_TRIES    100u
#define LOCK_PAUSE_NS 100000

struct census {
    uint64_t magic;
    uint32_t next; /* the place that was given away longest ago */
    uint32_t pad;
    char file[TRACE_SYS_MAX][NAME];
};

/* Does the stream belong to a process that may still live?  Without memory: yes.  Large objects are
 * not on the stack here, because threads with a small stack create streams. */
static bool counts(int dir, uid_t uid, const char *file)
{
    struct pt_seg_header *h;
    struct stat st;
    bool alive;

    if (!pt_seg_is_name(file))
        return false;
    h = pt_seg_new_headers(1);
    alive = !h || (pt_seg_read_header(dir, uid, file, h, &st) == 0 &&
                   pt_owner_liveness(h, st.st_dev, st.st_ino) != PT_DEAD);
    free(h);
    return alive;
}

static bool each_in(int dir, bool all, char *names, bool (*each)(void *, const char *),
                    void *context)
{
    long bytes;

    if (lseek(dir, 0, SEEK_SET) < 0)
        return false;
    while ((bytes = pt_dir_read_names(dir, names, NAMES_BYTES)) > 0) {
        for (long at = 0; at < bytes;) {
            const struct pt_dir_entry *e = pt_dir_entry_at(names, at);

            at += e->bytes;
            if (pt_seg_is_name(e->name) && !each(context, e->name))
                return false;
        }
        if (!all)
            return pt_dir_read_names(dir, names, NAMES_BYTES) == 0;
    }
    return bytes == 0;
}

/* Calls back for the names of segments, of all that a directory holds or of the first part
 * only.  False: there are more, or each() has returned false, or there is no memory. */
static bool each_segment(int dir, bool all, bool (*each)(void *, const char *), void *context)
{
    char *names = malloc(NAMES_BYTES);
    bool done = names && each_in(dir, all, names, each, context);

    free(names);
    return done;
}

static bool count_name(void *count, const char *name)
{
    (void)name;
    return ++*(unsigned *)count <= TRACE_SYS_MAX;
}

struct survey {
    int dir;
    uid_t uid;
    struct census *table;
    unsigned count;
};

static bool enter_living(void *context, const char *name)
{
    struct survey *s = context;

    if (strlen(name) >= NAME || !counts(s->dir, s->uid, name))
        return true;
    if (s->count < TRACE_SYS_MAX)
        strcpy(s->table->file[s->count], name);
    return ++s->count <= TRACE_SYS_MAX;
}

/* All that live, once.  Own is among them. */
static bool fill_table(struct census *t, int dir, uid_t uid)
{
    struct survey s = { dir, uid, t, 0 };

    memset(t, 0, sizeof *t);
    t->magic = MAGIC;
    each_segment(dir, true, enter_living, &s);
    return s.count > TRACE_SYS_MAX;
}

/* Puts own into the first place whose stream does not live, from the oldest one on. */
static bool enter(struct census *t, int dir, uid_t uid, const char *own)
{
    for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
        if (strncmp(t->file[i], own, NAME) == 0)
            return false;
    for (unsigned i = 0; i < TRACE_SYS_MAX; i++) {
        unsigned at = (t->next % TRACE_SYS_MAX + i) % TRACE_SYS_MAX;

        t->file[at][NAME - 1] = '\0';
        if (counts(dir, uid, t->file[at]))
            continue;
        strncpy(t->file[at], own, NAME - 1);
        t->next = (at + 1) % TRACE_SYS_MAX;
        return false;
    }
    return true;
}

static bool lock_table(int fd, short type)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

/* A process that is stopped with the lock holds no other up for long: -EAGAIN. */
static int open_table(int dir, uid_t uid)
{
    int flags = O_RDWR | O_CREAT | PT_OPEN_BRIEFLY;
    int fd = pt_open_above(dir, PT_CENSUS_FILE, flags, 0600);
    struct stat st;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        (st.st_uid != uid && fchown(fd, uid, (gid_t)-1) < 0)) {
        close(fd);
        return -EINVAL;
    }
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (lock_table(fd, F_WRLCK))
            return fd;
        nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_NS }, NULL);
    }
    close(fd);
    return -EAGAIN;
}

static bool ask_table(int dir, uid_t uid, const char *own)
{
    int fd = open_table(dir, uid);
    struct census t;
    bool full;

    if (fd < 0)
        return false;
    if (pread(fd, &t, sizeof t, 0) == (ssize_t)sizeof t && t.magic == MAGIC)
        full = enter(&t, dir, uid, own);
    else
        full = fill_table(&t, dir, uid);
    if (pt_sys_write_at(fd, &t, sizeof t, 0) < 0)
        unlinkat(dir, PT_CENSUS_FILE, 0);
    /* A child that was forked meanwhile has the descriptor. */
    lock_table(fd, F_UNLCK);
    close(fd);
    return full;
}

bool pt_stream_quota_is_full(uid_t uid, const char *own)
{
    int dir = own[0] ? pt_dir_open_of(uid, false) : -1;
    unsigned count = 0;
    bool full = false;

    if (dir < 0)
        return false;
    if (each_segment(dir, false, count_name, &count))
        unlinkat(dir, PT_CENSUS_FILE, 0); /* its contents get out of date */
    else
        full = ask_table(dir, uid, own);
    close(dir);
    return full;
}
