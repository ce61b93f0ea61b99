/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* The names in a directory as the kernel hands them out: no allocation, async-signal-safe. */
#ifndef PT_BASE_DIR_NAMES_H
#define PT_BASE_DIR_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct pt_dir_entry {
    uint64_t ino;
    int64_t next;   /* offset of the next entry in the directory */
    uint16_t bytes; /* of this entry */
    uint8_t type;
    char name[];
};

/* The next names of the directory, in memory aligned to 8: how many bytes, 0: no more, -1. */
static inline long pt_dir_read_names(int dir, void *names, size_t bytes)
{
    return syscall(SYS_getdents64, dir, names, bytes);
}

static inline const struct pt_dir_entry *pt_dir_entry_at(const char *names, long at)
{
    return (const struct pt_dir_entry *)(const void *)(names + at);
}

#endif
