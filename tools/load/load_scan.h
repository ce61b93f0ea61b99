/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The logs in folders and their subfolders.
 *
 * A scan finds all files each time; inotify only says when the next one is due.  So it does no harm
 * if its queue overflows, or if it reports nothing, as on NFS: a scan is due every few seconds
 * anyway.
 */
#ifndef LOAD_SCAN_H
#define LOAD_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a file is: another one, or one that was written to, has another identity. */
struct load_identity {
    dev_t device;
    ino_t inode;
    off_t size;
    int64_t modified_ns, changed_ns;
};

struct load_found {
    char *path;
    struct load_identity is;
};

struct load_scan {
    int watch; /* inotify; -1: none */
    const char **folders;
    size_t folder_count;
    struct load_found *found; /* by path */
    size_t count, room;
    bool failed;   /* a folder could not be read: found lacks its files */
    bool said;     /* that, since the last scan that did not fail */
    bool is_later; /* not the first scan */
    bool blind;    /* a folder has no watch */
};

void load_scan_init(struct load_scan *s, const char **folders, size_t count);
void load_scan_free(struct load_scan *s);
/* Fills found. */
void load_scan_run(struct load_scan *s);
/* Reads what inotify has reported: is a scan due? */
bool load_scan_is_due(struct load_scan *s);
bool load_identity_is(const struct load_identity *a, const struct load_identity *b);

#endif
