/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See dir_step.h. */
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "ring/dir_step.h"

#define MAGIC 0x314b4c41575850ull

struct position {
    uint64_t magic;
    int64_t at[PT_WALKS];
};

/* As the kernel hands them out. */
struct entry {
    uint64_t ino;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static int open_position(int dir, int flags)
{
    return openat(dir, PT_DIR_STEP_FILE, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

/* Any number will do: the kernel takes it for a place in the directory, or for none. */
static int64_t load_position(int dir, enum pt_dir_walk walk)
{
    struct position p;
    int fd = open_position(dir, O_RDONLY);
    bool good = fd >= 0 && pread(fd, &p, sizeof p, 0) == (ssize_t)sizeof p && p.magic == MAGIC;

    if (fd >= 0)
        close(fd);
    return good && p.at[walk] > 0 ? p.at[walk] : 0;
}

static void store_position(int dir, enum pt_dir_walk walk, int64_t at)
{
    static const struct position first = { .magic = MAGIC };
    int fd = open_position(dir, O_WRONLY);

    if (fd < 0) {
        fd = open_position(dir, O_WRONLY | O_CREAT | O_EXCL);
        if (fd >= 0 && pwrite(fd, &first, sizeof first, 0) != (ssize_t)sizeof first)
            at = 0;
    }
    if (fd < 0)
        return;
    if (pwrite(fd, &at, sizeof at, (off_t)(offsetof(struct position, at) + walk * sizeof at)) < 0)
        unlinkat(dir, PT_DIR_STEP_FILE, 0);   /* the next walk starts with the first name */
    close(fd);
}

static long read_names(struct pt_dir_step *s)
{
    return syscall(SYS_getdents64, s->dir, s->names, sizeof s->names);
}

void pt_dir_step_begin(struct pt_dir_step *s, int dir, enum pt_dir_walk walk)
{
    s->dir = dir;
    s->walk = walk;
    s->at = 0;
    s->wrapped = false;
    s->from = s->next = load_position(dir, walk);
    if (lseek(dir, (off_t)s->from, SEEK_SET) < 0)
        s->from = s->next = 0;
    s->bytes = read_names(s);
    if (s->bytes <= 0 && s->from != 0 && lseek(dir, 0, SEEK_SET) == 0) {
        s->from = s->next = 0;
        s->wrapped = true;
        s->bytes = read_names(s);
    }
}

const char *pt_dir_step_next(struct pt_dir_step *s)
{
    const struct entry *e = (const struct entry *)(s->names + s->at);

    if (s->at >= s->bytes)
        return NULL;
    s->at += e->bytes;
    s->next = e->next;
    return e->name;
}

void pt_dir_step_end(struct pt_dir_step *s)
{
    bool all = s->at >= s->bytes;
    char more[64];

    /* Room for no name is an error, and there being no name is none. */
    if (all && s->bytes >= 0 && syscall(SYS_getdents64, s->dir, more, sizeof more) == 0) {
        if (s->from == 0)
            unlinkat(s->dir, PT_DIR_STEP_FILE, 0);
        else
            store_position(s->dir, s->walk, 0);
        return;
    }
    store_position(s->dir, s->walk, s->next);
}
