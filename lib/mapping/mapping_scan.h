/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The program and the libraries of this process, from /proc/self/maps; their build ids from
 * their headers in memory, which are read through /proc/self/mem: another thread may unmap them
 * meanwhile.  Async-signal-safe.
 *
 * The two descriptors are in the program's table while a scan runs.  Another thread may close them
 * (closefrom) and open files of its own: each use compares the file first (base/descriptor.h), and
 * reads by position, which takes nothing out of a pipe.  A scan without its descriptors ends.  A
 * child that is forked meanwhile closes its copies (process/fork_files.h).
 */
#ifndef PT_MAPPING_MAPPING_SCAN_H
#define PT_MAPPING_MAPPING_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/descriptor.h"

enum { PT_BUILD_ID_MAX = 32, PT_MAPPING_LINE = 8192 };

/* A file whose code a process runs, from the place of its first byte to the end of its
 * variables. */
struct pt_mapped_object {
    uintptr_t begin, end;
    unsigned build_id_length; /* 0: it has none, or it is not readable */
    uint8_t build_id[PT_BUILD_ID_MAX];
    const char *path; /* as the kernel writes it, valid during the call */
    size_t path_length;
};

/* Memory for a scan; of the caller, because a stack may be small. */
struct pt_mapping_scan {
    char text[PT_MAPPING_LINE]; /* of the file */
    char path[PT_MAPPING_LINE]; /* of the object */
    uint8_t header[2048];       /* of the object */
    struct pt_mapped_object object;
    uintptr_t device, inode;
    bool runs; /* has code */
    struct pt_descriptor maps, memory;
    void (*visit)(void *context, const struct pt_mapped_object *object);
    void *context;
};

/* Calls visit for each object, by address.  False: the file cannot be read, or not to its end.
 * Signals are held. */
bool pt_mapping_scan(struct pt_mapping_scan *s);
/* In a forked child: closes what a scan of a thread of its parent had open.  A copy of the memory
 * with zeros has nothing open. */
void pt_mapping_scan_abandon(struct pt_mapping_scan *s);

#endif
