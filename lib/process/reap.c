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
#include "process/log_fate.h"
#include "process/reap.h"
#include "ring/census.h"
#include "ring/dir.h"
#include "ring/dir_step.h"
#include "ring/liveness.h"
#include "ring/page_left.h"
#include "ring/place.h"
#include "ring/segment.h"
#include "stream/owner.h"
#include "stream/recover.h"

#define FRESH_S     10      /* seconds */
#define STEP_FILES  4u      /* segments that a step examines at most */
#define STEP_LOOKS  200u    /* files of a log's folder, for each of them */

/* Nobody has ever taken a chunk: its owner died before the first start. */
static bool is_blank(const struct pt_seg_header *h)
{
    return h->next_gen == 1;
}

static bool complete_log(const struct pt_seg_header *h, enum pt_log_fate *fate)
{
    struct posixtrace_recover_report report;
    int fd, r;

    *fate = pt_log_find(h, PT_LOG_LOOKS_ALL, O_RDWR, &fd);
    if (fd < 0)
        return false;
    r = pt_stream_recover(fd, &report);
    close(fd);
    return r == 0;
}

/* May the dead stream's segment go?  Completes its log first if need be. */
static bool settle_log(const struct pt_seg_header *h, enum pt_reap_how how)
{
    enum pt_log_fate fate;

    if (!h->has_log || h->log_complete)
        return true;
    if (how == PT_REAP_SETTLE || how == PT_REAP_FORCE) {
        if (complete_log(h, &fate))
            return true;
    } else {
        fate = pt_log_find(h, how == PT_REAP_STEP ? STEP_LOOKS : PT_LOG_LOOKS_ALL, O_RDONLY, NULL);
    }
    return fate == PT_LOG_GONE || is_blank(h);
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
 * to another version of the library, or to nobody we know.  Bytes of a dead segment
 * that stays. */
static uint64_t reap_segment(const struct reaping *r, const char *file)
{
    struct pt_seg_header *h = calloc(1, sizeof *h);
    struct stat st = { 0 };
    int e = h ? pt_seg_read_header(r->dir, pt_place_uid(), file, h, &st) : -ENOMEM;
    uint64_t left = 0;

    if (e == 0 && pt_owner_liveness(h, st.st_dev, st.st_ino) == PT_DEAD) {
        bool go;

        pt_owner_clear(file, false);
        go = settle_log(h, r->how) || r->how == PT_REAP_FORCE;
        if (go)
            pt_seg_remove(r->dir, file);
        left = go ? 0 : (uint64_t)st.st_blocks * 512;
        count(go ? r->removed : r->kept);
    } else if (e == -EINVAL && is_unfinished(r->dir, file, h, &st)) {
        pt_seg_remove(r->dir, file);
        count(r->removed);
    } else if (e != 0 && e != -ENOENT) {
        count(r->kept);
    }
    free(h);
    return left;
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

/* A name map that no page names, and whose maker cannot be about to put it into a page any
 * more.  Its count of pages may be too high (ring/page_left.h): a whole look finds out. */
static bool is_left_map(int dir, const char *name, bool whole)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct pt_names n = { 0 };
    unsigned asks = UINT_MAX;
    struct stat st;
    bool good, left;

    if (fd < 0)
        return false;
    good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           pread(fd, &n, offsetof(struct pt_names, entry), 0) > 0 &&
           pread(fd, &n.users, sizeof n.users, offsetof(struct pt_names, users)) > 0 &&
           n.magic == PT_NAMES_MAGIC;
    close(fd);
    left = good && n.maker != 0 && pt_page_process_is_gone(n.maker, n.maker_start, &asks);
    if (!left && is_fresh(dir, name))
        return false;
    return whole ? !pt_page_names_in_use(dir, name) : good && n.users == 0;
}

static bool may_go(int dir, const char *name, bool whole)
{
    unsigned asks = UINT_MAX;

    switch (name[0]) {
    case 'p':
        return pt_page_is_left(name, pt_pid_namespace(), &asks);
    case 'n':
        return is_left_map(dir, name, whole);
    case 't':
        return !is_fresh(dir, name);
    default:
        return is_stray_link(dir, name);
    }
}

static void remove_file(const struct reaping *r, const char *name)
{
    if (name[0] == 'p')
        pt_page_remove(r->dir, name, NULL);
    else if (unlinkat(r->dir, name, 0) < 0)
        return;
    count(r->removed);
}

static void reap_kind(const struct reaping *r, char kind)
{
    int copy = openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;

    if (!d) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while ((entry = readdir(d))) {
        const char *name = entry->d_name;

        if (name[0] != kind || name[1] != '-')
            continue;
        if (pt_seg_is_name(name))
            reap_segment(r, name);
        else if (may_go(r->dir, name, true))
            remove_file(r, name);
    }
    closedir(d);
}

int pt_reap_dead(enum pt_reap_how how, unsigned *removed, unsigned *kept)
{
    struct reaping r = { pt_dir_open(false), how, removed, kept };

    if (removed)
        *removed = 0;
    if (kept)
        *kept = 0;
    if (r.dir < 0)
        return r.dir == -ENOENT ? 0 : r.dir;
    /* Segments first, then pages: the names they refer to can go last. */
    for (const char *kind = "spnt"; *kind; kind++)
        reap_kind(&r, *kind);
    /* What they say of the directory is old now. */
    unlinkat(r.dir, PT_DIR_STEP_FILE, 0);
    unlinkat(r.dir, PT_CENSUS_FILE, 0);
    close(r.dir);
    return 0;
}

uint64_t pt_reap_step(void)
{
    struct reaping r = { pt_dir_open(false), PT_REAP_STEP, NULL, NULL };
    struct pt_dir_step step;
    unsigned segments = 0;
    uint64_t left;
    const char *name;

    if (r.dir < 0)
        return 0;
    pt_dir_step_begin(&step, r.dir, PT_WALK_LEFT);
    while (segments < STEP_FILES && (name = pt_dir_step_next(&step))) {
        if (!strchr("snt", name[0]) || name[1] != '-')
            continue;
        if (pt_seg_is_name(name)) {
            pt_dir_step_add(&step, reap_segment(&r, name));
            segments++;
        } else if (may_go(r.dir, name, false)) {
            remove_file(&r, name);
        }
    }
    left = pt_dir_step_sum(&step);
    pt_dir_step_end(&step);
    close(r.dir);
    return left;
}
