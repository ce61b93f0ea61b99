/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See room.h.  Async-signal-safe. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>
#include "base/sys.h"
#include "place/room.h"

enum {
    TRIED = 16 << 20, /* so much is not worth a question */
    MEMINFO_BYTES = 2048,
    FEW_FILES = 8
};

/* The number of bytes after key in the text of /proc/meminfo; false: it has none. */
static bool meminfo(const char *text, const char *key, uint64_t *bytes)
{
    const char *at = strstr(text, key);
    uint64_t kib = 0;

    if (!at)
        return false;
    for (at += strlen(key); *at == ' '; at++)
        continue;
    for (; *at >= '0' && *at <= '9'; at++)
        kib = kib * 10 + (uint64_t)(*at - '0');
    *bytes = kib << 10;
    return true;
}

/* Without /proc nothing is known. */
static bool memory_has_room(uint64_t bytes)
{
    char text[MEMINFO_BYTES];
    uint64_t available, swap = 0;

    if (!pt_sys_read_text("/proc/meminfo", text, sizeof text) ||
        !meminfo(text, "\nMemAvailable:", &available))
        return true;
    meminfo(text, "\nSwapFree:", &swap);
    return bytes <= available + swap;
}

static bool has_blocks(const struct statfs *fs, uint64_t bytes)
{
    uint64_t block = (uint64_t)(fs->f_frsize > 0 ? fs->f_frsize : fs->f_bsize);
    /* Root may have what the file system keeps in reserve. */
    uint64_t free_blocks = geteuid() == 0 ? fs->f_bfree : fs->f_bavail;

    /* A file system without a limit has no blocks. */
    return fs->f_blocks == 0 || block == 0 || bytes / block <= free_blocks;
}

static bool has_room(int fd, uint64_t bytes)
{
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return true;
    return has_blocks(&fs, bytes) && (fs.f_type != TMPFS_MAGIC || memory_has_room(bytes));
}

bool pt_room_is_left(int fd, uint64_t bytes)
{
    struct statfs fs;

    return fstatfs(fd, &fs) < 0 ||
           (has_blocks(&fs, bytes) && (fs.f_files == 0 || fs.f_ffree >= FEW_FILES));
}

int pt_room_take(int fd, uint64_t offset, uint64_t bytes)
{
    if (bytes > TRIED && !has_room(fd, bytes))
        return -ENOMEM;
    while (fallocate(fd, 0, (off_t)offset, (off_t)bytes) < 0)
        if (errno != EINTR)
            return pt_is_no_room(-errno) ? -ENOMEM : -errno;
    return 0;
}
