/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See reap.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/sys.h"
#include "process/list.h"
#include "process/reap.h"
#include "ring/dir.h"
#include "ring/liveness.h"
#include "ring/page_left.h"
#include "ring/place.h"
#include "ring/segment.h"
#include "stream/owner.h"
#include "stream/recover.h"

#define FRESH_S  10         /* seconds */
#define QUICK_NS 10000000u  /* for files of one kind, in a quick pass */

/* Opens the log of a dead stream if it is still the file that it was. */
static int open_its_log(const struct pt_seg_header *h)
{
    struct stat st;
    int fd;

    if (!memchr(h->log_path, '\0', sizeof h->log_path) || h->log_path[0] != '/')
        return -1;
    fd = open(h->log_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_dev != h->log_dev || st.st_ino != h->log_ino ||
                    !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Nobody has ever taken a chunk: its owner died before the first start. */
static bool is_blank(const struct pt_seg_header *h)
{
    return h->next_gen == 1;
}

/* May the dead stream's segment go?  Completes its log first if need be. */
static bool settle_log(const struct pt_seg_header *h, enum pt_reap_how how)
{
    struct posixtrace_recover_report report;
    int fd, r;

    if (!h->has_log || h->log_complete)
        return true;
    if (how == PT_REAP_QUICK)
        return is_blank(h);
    fd = open_its_log(h);
    if (fd < 0)
        return is_blank(h);
    r = pt_stream_recover(fd, &report);
    close(fd);
    return r == 0 || is_blank(h);
}

static void count(unsigned *n)
{
    if (n)
        ++*n;
}

struct reaping {
    int dir;
    enum pt_reap_how how;
    unsigned *removed, *kept;
    uint64_t until;   /* of CLOCK_MONOTONIC; quickly */
};

/* Files that a living process may be about to refer to are left alone. */
static bool is_fresh(int dir, const char *name)
{
    struct timespec now;
    struct stat st;

    clock_gettime(CLOCK_REALTIME, &now);
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || now.tv_sec - st.st_ctime < FRESH_S;
}

/* Left by a process that was killed while it made the stream: the magic number,
 * which comes last, is missing. */
static bool is_unfinished(int dir, const char *file, const struct pt_seg_header *h,
                          const struct stat *st)
{
    if (!S_ISREG(st->st_mode) || st->st_uid != pt_place_uid() || h->magic != 0)
        return false;
    if (h->layout == PT_SEG_LAYOUT)
        return pt_owner_liveness(h, st->st_dev, 0) == PT_DEAD;
    return h->layout == 0 && !is_fresh(dir, file);
}

/* Another file that is not a segment of this layout is left alone: it may belong
 * to another version of the library, or to nobody we know. */
static void reap_segment(const struct reaping *r, const char *file)
{
    struct pt_seg_header *h = calloc(1, sizeof *h);
    struct stat st = { 0 };
    int e = h ? pt_seg_read_header(r->dir, pt_place_uid(), file, h, &st) : -ENOMEM;
    bool go;

    if (e == 0 && pt_owner_liveness(h, st.st_dev, st.st_ino) == PT_DEAD) {
        pt_owner_clear(file, false);
        go = settle_log(h, r->how) || r->how == PT_REAP_FORCE;
        if (go)
            pt_seg_remove(r->dir, file);
        count(go ? r->removed : r->kept);
    } else if (e == -EINVAL && is_unfinished(r->dir, file, h, &st)) {
        pt_seg_remove(r->dir, file);
        count(r->removed);
    } else if (e != 0 && e != -ENOENT) {
        count(r->kept);
    }
    free(h);
}

/* A segment's link to its names, without the segment. */
static bool is_stray_link(int dir, const char *name)
{
    char segment[64];

    if (strlen(name) >= sizeof segment || !strrchr(name, '.') ||
        strcmp(strrchr(name, '.'), ".names") != 0)
        return false;
    strcpy(segment, name);
    strcpy(strrchr(segment, '.'), ".seg");
    return faccessat(dir, segment, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* A name map that no page and no segment names, and whose maker cannot be about
 * to put it into a page any more. */
static bool is_left_map(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct pt_names n = { 0 };
    unsigned asks = UINT_MAX;
    struct stat st;
    bool left;

    if (fd < 0)
        return false;
    left = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
           pread(fd, &n, offsetof(struct pt_names, entry), 0) > 0 && n.magic == PT_NAMES_MAGIC &&
           n.maker != 0 && pt_page_process_is_gone(n.maker, n.maker_start, &asks);
    close(fd);
    return (left || !is_fresh(dir, name)) && !pt_page_names_in_use(dir, name);
}

static bool may_go(int dir, const char *name)
{
    unsigned asks = UINT_MAX;

    switch (name[0]) {
    case 'p':
        return pt_page_is_left(name, pt_pid_namespace(), &asks);
    case 'n':
        return is_left_map(dir, name);
    case 't':
        return !is_fresh(dir, name);
    default:
        return is_stray_link(dir, name);
    }
}

static bool remove_file(int dir, const char *name)
{
    if (name[0] != 'p')
        return unlinkat(dir, name, 0) == 0;
    pt_page_remove(dir, name, NULL);
    return true;
}

static bool is_late(const struct reaping *r)
{
    return r->how == PT_REAP_QUICK && pt_clock_ns(CLOCK_MONOTONIC) > r->until;
}

/* Files of the kind from the first-th on, or those before it; how many there are. */
static unsigned reap_part(const struct reaping *r, DIR *d, char kind, unsigned first, bool before)
{
    struct dirent *entry;
    unsigned n = 0;

    rewinddir(d);
    while ((entry = readdir(d))) {
        const char *name = entry->d_name;

        if (name[0] != kind || name[1] != '-' || (n++ < first) != before || is_late(r))
            continue;
        if (pt_seg_is_name(name))
            reap_segment(r, name);
        else if (may_go(r->dir, name) && remove_file(r->dir, name))
            count(r->removed);
    }
    return n;
}

/*
 * A quick pass has little time.  It begins anywhere, so that in a directory full
 * of what has to stay each file has its turn in some pass.
 */
static void reap_kind(struct reaping *r, char kind)
{
    int copy = openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    uint32_t any = 0;
    unsigned n;

    if (!d) {
        if (copy >= 0)
            close(copy);
        return;
    }
    n = r->how == PT_REAP_QUICK ? reap_part(r, d, kind, UINT32_MAX, false) : 0;
    r->until = pt_clock_ns(CLOCK_MONOTONIC) + QUICK_NS;
    if (n)
        pt_sys_random(&any, sizeof any);
    reap_part(r, d, kind, n ? any % n : 0, false);
    if (n)
        reap_part(r, d, kind, any % n, true);
    closedir(d);
}

int pt_reap_dead(enum pt_reap_how how, unsigned *removed, unsigned *kept)
{
    struct reaping r = { pt_dir_open(false), how, removed, kept, 0 };

    if (removed)
        *removed = 0;
    if (kept)
        *kept = 0;
    if (r.dir < 0)
        return r.dir == -ENOENT ? 0 : r.dir;
    /* Segments first, then pages: the names they refer to can go last. */
    for (const char *kind = "spnt"; *kind; kind++)
        reap_kind(&r, *kind);
    close(r.dir);
    return 0;
}

void pt_reap_once(void)
{
    static uint32_t done;
    uint32_t no = 0;

    if (pt_cas_seqcst(&done, &no, 1u))
        pt_reap_dead(PT_REAP_QUICK, NULL, NULL);
}
