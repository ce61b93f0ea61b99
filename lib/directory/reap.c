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
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/brief_files.h"
#include "base/sys.h"
#include "consumer/crash_recovery.h"
#include "consumer/tombstone.h"
#include "directory/reap.h"
#include "page/stream_quota.h"
#include "page/dir_step.h"
#include "page/page_left.h"
#include "place/dir.h"
#include "place/place.h"
#include "process/owner.h"
#include "shm/liveness.h"
#include "shm/segment.h"

#define FRESH_S      10     /* seconds */
#define UNFINISHED_S 600    /* the same, of a map that its maker has not finished */
#define STEP_STAY    4u     /* segments that stay, of those that a step examines at most */
#define STEP_GO      16u    /* segments that it removes at most */
#define STEP_LOOKS   64u    /* files of a log's folder, for each of them */
#define LOCK_LOOKS   10000u /* at the lock on the directory, a millisecond apart */

struct reaping {
    int dir;
    uid_t uid; /* whose directory it is */
    int lock;  /* 0: dir is locked, so that tombstones can be put; or why it is not */
    enum pt_reap_how how;
    struct pt_log_look look;
    unsigned *removed, *kept;
    int *error;    /* gets the first reason why a tombstone could not be put */
    uint64_t stay; /* bytes of dead segments that stay */
};

/* No chunk was ever taken: the owner died before the first start. */
static bool is_blank(const struct pt_seg_header *h)
{
    return h->next_gen == 1;
}

/* Completes the log.  0, or why it cannot be completed; fate: whether the log exists. */
static int complete_log(const struct pt_seg_header *h, const struct pt_log_look *look, off_t most,
                        enum pt_log_fate *fate)
{
    struct posixtrace_recover_report report;
    struct stat st;
    int fd, r;

    *fate = pt_log_find(h, look, O_RDWR, &fd);
    if (fd < 0)
        return fd;
    r = fstat(fd, &st) == 0 && st.st_size > most ? -EFBIG : pt_stream_recover(fd, 0, &report);
    close(fd);
    /* Completed, but not with this segment: it is there, so the next one finds it. */
    return r == 0 && !report.was_complete && !report.segment_found ? -EAGAIN : r;
}

/* The files that are out of date when segments are removed. */
static void remove_old_counts(int dir)
{
    unlinkat(dir, PT_DIR_STEP_FILE, 0);
    unlinkat(dir, PT_CENSUS_FILE, 0);
}

static int put_tombstone(const struct reaping *reaping, const struct pt_tombstone *t)
{
    int r = reaping->lock < 0 ? reaping->lock : pt_tombstone_put(reaping->dir, t);

    if (pt_is_no_room(r)) {
        remove_old_counts(reaping->dir);
        r = pt_tombstone_put(reaping->dir, t);
    }
    if (r < 0 && reaping->error && *reaping->error == 0)
        *reaping->error = r;
    return r;
}

/* Counts the events of a segment that is to go.  May it? */
static bool bury(const struct reaping *reaping, const struct pt_seg_header *h)
{
    struct pt_tombstone t;
    int fd, r;

    pt_log_find(h, &reaping->look, O_RDONLY, &fd);
    if (pt_is_shortage(fd))
        return false; /* the events in the log would count as lost */
    r = pt_tombstone_make(&t, h, fd);
    if (fd >= 0)
        close(fd);
    switch (r) {
    case PT_TAIL_NONE: return true;
    case PT_TAIL_FOUND: return put_tombstone(reaping, &t) == 0;
    default: return reaping->how == PT_REAP_FORCE && r < 0 && !pt_is_shortage(r);
    }
}

/* May the dead stream's segment go?  Completes its log first if need be. */
static bool settle_log(const struct reaping *reaping, const struct pt_seg_header *h)
{
    const struct pt_log_look *look = &reaping->look;
    enum pt_reap_how how = reaping->how;
    enum pt_log_fate fate;
    int r = -EAGAIN;

    if (!h->has_log || h->log_complete)
        return true;
    if (how == PT_REAP_EASY)
        return false;
    if (how >= PT_REAP_SMALL)
        r = complete_log(h, look, how == PT_REAP_SMALL ? PT_LOG_SMALL : INT64_MAX, &fate);
    else
        fate = pt_log_find(h, look, O_RDONLY, NULL);
    if (r == 0 || fate == PT_LOG_GONE || is_blank(h))
        return true;
    /* Another process is about to complete it, or there is no descriptor or memory for it now,
     * which does not last: neither is a reason to lose events. */
    if (how < PT_REAP_BURY || r == -EBUSY || pt_is_shortage(r))
        return false;
    return bury(reaping, h);
}

static void count(unsigned *n)
{
    if (n)
        ++*n;
}

/*
 * Files that a living process may be about to refer to are left alone.  Their times are of
 * CLOCK_REALTIME, which can be set.  A time far in the future is older than a step back: the file
 * is not new.  A step at the very moment at which a file is made can make it look old.  Then a
 * page is made again (page/page.c), and a stream or a name map has no file: others do not find
 * it until its process makes the next one.
 */
static bool is_younger(int dir, const char *name, time_t seconds)
{
    struct timespec now;
    struct stat st;

    clock_gettime(CLOCK_REALTIME, &now);
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
           (now.tv_sec - st.st_ctime < seconds && st.st_ctime - now.tv_sec < seconds);
}

static bool is_fresh(int dir, const char *name)
{
    return is_younger(dir, name, FRESH_S);
}

/* Left by a process that was killed while it made the stream: the magic number,
 * which comes last, is missing. */
static bool is_unfinished(const struct reaping *r, const char *file, struct pt_seg_header *h,
                          struct stat *st)
{
    if (!S_ISREG(st->st_mode) || st->st_uid != r->uid || h->magic != 0)
        return false;
    /* It may have finished the stream, and then been killed. */
    if (h->layout == PT_SEG_LAYOUT)
        return pt_owner_liveness(h, st->st_dev, 0) == PT_DEAD &&
               pt_seg_read_header(r->dir, r->uid, file, h, st) == -EINVAL && h->magic == 0;
    return h->layout == 0 && !is_fresh(r->dir, file);
}

static bool is_own(const struct reaping *r)
{
    return r->uid == pt_place_uid();
}

/* Reaps one segment.  Other files, which are not segments of this layout, are left alone: they may
 * belong to another version of the library, or to another program.  True: the segment is dead, and
 * stays. */
static bool reap_segment(const struct reaping *r, const char *file, struct pt_left *left)
{
    struct pt_seg_header *h = pt_seg_new_headers(1);
    struct stat st = { 0 };
    enum pt_liveness is;
    int e = h ? pt_seg_read_header(r->dir, r->uid, file, h, &st) : -ENOMEM;
    bool dead = e == 0 && pt_seg_look_at_owner(r->dir, r->uid, file, h, &st, &is) == 0 &&
                is == PT_DEAD;
    bool go = e == -EINVAL && is_unfinished(r, file, h, &st);

    if (dead) {
        *left = (struct pt_left){ (uint64_t)st.st_blocks * 512, h->attr.create_ns };
        if (is_own(r))
            pt_owner_clear(file, false);
        go = settle_log(r, h);
    }
    if (go)
        pt_seg_remove(r->dir, file);
    if (go || dead || (e != 0 && e != -ENOENT))
        count(go ? r->removed : r->kept);
    free(h);
    return dead && !go;
}

bool pt_reap_one(int dir, const char *file, enum pt_reap_how how, const struct pt_log_look *look,
                 struct pt_left *left)
{
    struct reaping r = { .dir = dir, .uid = pt_place_uid(), .how = how, .look = *look };

    return reap_segment(&r, file, left);
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

/* The users of a name map, as its file has them. */
struct map_use {
    bool unfinished; /* the magic number, which comes last, is missing */
    bool left;       /* its maker has ended */
    uint32_t users;
};

/* The start of a map and the count of its users.  False as in read_map_use(). */
static bool read_map(int fd, struct pt_names *n)
{
    struct stat st;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

    if (good && st.st_size > 0)
        good = pt_names_read(fd, st.st_size, 0, n, offsetof(struct pt_names, entry)) &&
               pt_names_read(fd, st.st_size, offsetof(struct pt_names, users), &n->users,
                             sizeof n->users);
    return good && (n->magic == PT_NAMES_MAGIC || n->magic == 0);
}

/* False: the file cannot be read, or is no map.  The users are counted after it is known whether
 * the maker has ended: it may have been about to put the map into its page, and its children. */
static bool read_map_use(int fd, struct map_use *use)
{
    struct pt_names *n = calloc(1, sizeof *n); /* too large for a small stack */
    unsigned asks = UINT_MAX;
    bool good = n && read_map(fd, n);

    if (good) {
        use->left = n->maker != 0 && pt_page_process_is_gone(n->maker, n->maker_start, &asks);
        good = read_map(fd, n);
        use->unfinished = n->magic == 0;
        use->users = n->users;
    }
    free(n);
    return good;
}

/* A name map that no page names, and whose maker cannot be about to put it into a page any more.
 * Its count of pages may be too high (page/page_left.h), or be that of a maker that was killed: a
 * whole look finds out.  A maker that seems to have ended may live in another pid namespace, and
 * one that has not finished its map may have been stopped. */
static bool is_left_map(int dir, const char *name, bool whole)
{
    int fd = openat(dir, name, O_RDONLY | PT_OPEN_BRIEFLY);
    struct map_use use = { .left = false };
    bool known;

    if (fd < 0)
        return false;
    known = read_map_use(fd, &use);
    close(fd);
    if (!use.left && is_younger(dir, name, use.unfinished && !whole ? UNFINISHED_S : FRESH_S))
        return false;
    if (!whole && (!known || pt_names_is_used(use.users))) {
        if (!use.left || pt_names_is_used_by_others(use.users) || is_younger(dir, name, FRESH_S))
            return false;
        whole = true;
    }
    return !whole || !pt_page_names_in_use(dir, name);
}

static bool may_go(int dir, const char *name, bool whole)
{
    unsigned asks = UINT_MAX;

    switch (name[0]) {
    case 'p': return pt_page_is_left(name, pt_pid_namespace(), &asks);
    case 'n': return is_left_map(dir, name, whole);
    case 't': return !is_fresh(dir, name);
    default: return is_stray_link(dir, name);
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

static void reap_kind(struct reaping *r, char kind)
{
    int copy = openat(r->dir, ".", O_RDONLY | O_DIRECTORY | PT_OPEN_BRIEFLY);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;
    struct pt_left left;

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
            r->stay += reap_segment(r, name, &left) ? left.bytes : 0;
        else if (may_go(r->dir, name, true))
            remove_file(r, name);
    }
    closedir(d);
}

/* Another process that settles streams lets go when it is done; its logs may be on a network
 * that does not answer: -EBUSY. */
static int lock_directory(int dir)
{
    const struct timespec pause = { 0, 1000000 };

    for (unsigned looks = 0; looks < LOCK_LOOKS; looks++) {
        if (flock(dir, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK)
            return -errno;
        nanosleep(&pause, NULL);
    }
    return -EBUSY;
}

static int reap_dead(enum pt_reap_how how, unsigned *removed, unsigned *kept)
{
    int error = 0;
    struct reaping r = { .dir = pt_dir_open(false),
                         .uid = pt_place_uid(),
                         .lock = -EBUSY,
                         .how = how,
                         .look = { .looks = PT_LOG_LOOKS_ALL },
                         .removed = removed,
                         .kept = kept,
                         .error = &error };

    if (removed)
        *removed = 0;
    if (kept)
        *kept = 0;
    if (r.dir < 0)
        return r.dir == -ENOENT ? 0 : r.dir;
    if (how >= PT_REAP_BURY)
        r.lock = lock_directory(r.dir);
    /* Segments first, then pages: the names they refer to can go last. */
    for (const char *kind = "spnt"; *kind; kind++)
        reap_kind(&r, *kind);
    remove_old_counts(r.dir);
    /* A child that was forked meanwhile has the descriptor. */
    if (r.lock == 0)
        flock(r.dir, LOCK_UN);
    close(r.dir);
    return error;
}

int pt_reap_dead(enum pt_reap_how how, unsigned *removed, unsigned *kept)
{
    int r;

    pt_brief_files_enter();
    r = reap_dead(how, removed, kept);
    pt_brief_files_leave();
    return r;
}

/* Of a step.  Of another user's directory only what no log is needed for. */
static struct reaping begin_near(uid_t uid, enum pt_reap_how how, const struct pt_log_look *look,
                                 unsigned *removed)
{
    struct reaping r = { .dir = pt_dir_open_of(uid, false),
                         .uid = uid,
                         .how = uid == pt_place_uid() ? how : PT_REAP_EASY,
                         .look = *look,
                         .removed = removed };

    r.look.looks = STEP_LOOKS;
    r.look.near = true;
    return r;
}

unsigned pt_reap_near(uid_t uid, enum pt_reap_how how, const struct pt_log_look *look,
                      uint64_t *stay)
{
    unsigned removed = 0;
    struct reaping r = begin_near(uid, how, look, &removed);

    *stay = 0;
    if (r.dir < 0)
        return 0;
    for (const char *kind = r.how == PT_REAP_EASY ? "s" : "spnt"; *kind; kind++)
        reap_kind(&r, *kind);
    pt_dir_step_restart(r.dir, PT_WALK_LEFT, r.stay);
    close(r.dir);
    *stay = r.stay;
    return removed;
}

/* Those of the files that a step has read. */
static void reap_names(const struct reaping *r, struct pt_dir_step *step)
{
    const char *kinds = is_own(r) ? "snt" : "s";
    unsigned stay = 0, go = 0, removed;
    struct pt_left left;
    const char *name;

    while (stay < STEP_STAY && go < STEP_GO && (name = pt_dir_step_next(step))) {
        if (!strchr(kinds, name[0]) || name[1] != '-')
            continue;
        if (pt_seg_is_name(name)) {
            removed = *r->removed;
            if (reap_segment(r, name, &left))
                pt_dir_step_add(step, left.bytes);
            go += *r->removed - removed;
            stay += *r->removed == removed;
        } else if (may_go(r->dir, name, false)) {
            remove_file(r, name);
        }
    }
}

struct pt_left_bytes pt_reap_step(uid_t uid, const struct pt_log_look *look, uint64_t bytes)
{
    unsigned removed = 0;
    struct reaping r = begin_near(uid, PT_REAP_QUICK, look, &removed);
    struct pt_left_bytes left = { 0, 0 };
    struct pt_dir_step step;

    if (r.dir < 0)
        return left;
    pt_dir_step_begin(&step, r.dir, PT_WALK_LEFT);
    reap_names(&r, &step);
    left.stay = pt_dir_step_sum(&step);
    left.unseen = pt_dir_step_made(&step);
    pt_dir_step_make(&step, bytes);
    pt_dir_step_end(&step);
    close(r.dir);
    return left;
}
