/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See census.h. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <trace.h>
#include <unistd.h>
#include "ring/census.h"
#include "ring/dir.h"
#include "ring/liveness.h"
#include "ring/segment.h"

/* Does the stream belong to a process that may still live? */
static bool counts(int dir, uid_t uid, const char *file)
{
    struct pt_seg_header h;
    struct stat st;

    return pt_seg_read_header(dir, uid, file, &h, &st) == 0 &&
           pt_owner_liveness(&h, st.st_dev, st.st_ino) != PT_DEAD;
}

/* Counts segments, looking at each one or only at the names; stops above the limit. */
static unsigned count(DIR *d, uid_t uid, bool closely)
{
    struct dirent *entry;
    unsigned n = 0;

    rewinddir(d);
    while (n <= TRACE_SYS_MAX && (entry = readdir(d)))
        n += pt_seg_is_name(entry->d_name) && (!closely || counts(dirfd(d), uid, entry->d_name));
    return n;
}

bool pt_census_is_full(uid_t uid, const char *own)
{
    int dir = own[0] ? pt_dir_open_of(uid, false) : -1;
    DIR *d = dir >= 0 ? fdopendir(dir) : NULL;
    bool full;

    if (!d) {
        if (dir >= 0)
            close(dir);
        return false;
    }
    full = count(d, uid, false) > TRACE_SYS_MAX && count(d, uid, true) > TRACE_SYS_MAX;
    closedir(d);
    return full;
}
