/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * File systems; see place.h.
 */
#include "system/place.h"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/statfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

static const struct {
    unsigned long magic;
    const char *name;
} types[] = { { TMPFS_MAGIC, "tmpfs" },     { RAMFS_MAGIC, "ramfs" },
              { EXT4_SUPER_MAGIC, "ext4" }, { BTRFS_SUPER_MAGIC, "btrfs" },
              { XFS_SUPER_MAGIC, "xfs" },   { OVERLAYFS_SUPER_MAGIC, "overlayfs" },
              { NFS_SUPER_MAGIC, "nfs" },   { FUSE_SUPER_MAGIC, "fuse" },
              { PROC_SUPER_MAGIC, "proc" } };

bool place_look(const char *path, struct file_system *place)
{
    struct statfs fs;

    if (statfs(path, &fs) < 0)
        return false;
    snprintf(place->type, sizeof place->type, "type 0x%lx", (unsigned long)fs.f_type);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].magic == (unsigned long)fs.f_type)
            snprintf(place->type, sizeof place->type, "%s", types[i].name);
    }
    place->in_memory = (unsigned long)fs.f_type == TMPFS_MAGIC ||
                       (unsigned long)fs.f_type == RAMFS_MAGIC;
    place->size = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
    place->space = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
    return true;
}
