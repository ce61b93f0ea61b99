/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See reap.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "process/reap.h"
#include "ring/dir.h"
#include "ring/liveness.h"
#include "ring/page.h"
#include "ring/segment.h"
#include "stream/postmortem.h"
#include "stream/recover.h"

#define FRESH_S     10    /* seconds */
#define QUICK_FILES 100u  /* of a kind, in a quick pass */

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);

    return n > k && strcmp(name + n - k, suffix) == 0;
}

static bool is_segment(const char *name)
{
    return strncmp(name, "s-", 2) == 0 && has_suffix(name, ".seg") && strlen(name) < 64;
}

/* Reads and checks a segment's header. 0, -EINVAL, -ENOENT, ... */
static int read_header(int dir, const char *file, struct pt_seg_header *h, struct stat *st)
{
    int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), r = -EINVAL;

    if (fd < 0)
        return -errno;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
        pread(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h)
        r = pt_seg_validate(h, (uint64_t)st->st_size);
    close(fd);
    return r;
}

static void copy_text(char *to, size_t size, const char *from, size_t from_size)
{
    size_t n = strnlen(from, from_size < size ? from_size : size - 1);

    memcpy(to, from, n);
    to[n] = '\0';
}

/* How many events of a dead stream no log has. */
static uint64_t count_unsaved(const uint8_t id[16])
{
    struct pt_tail *t = NULL;
    uint64_t n = 0;

    if (pt_tail_open(&t, id) != PT_TAIL_FOUND)
        return 0;
    for (size_t i = 0; i < t->tail.packet_count; i++)
        n += t->tail.packets[i].events;
    pt_tail_close(t);
    return n;
}

static void describe(const struct pt_seg_header *h, const struct stat *st,
                     struct posixtrace_stream *s)
{
    enum pt_liveness live = pt_owner_liveness(h, st->st_dev, st->st_ino);

    copy_text(s->name, sizeof s->name, h->attr.name, sizeof h->attr.name);
    memcpy(s->id, h->id, sizeof s->id);
    s->owner = (pid_t)h->owner_pid;
    s->liveness = live == PT_ALIVE ? POSIXTRACE_ALIVE
                  : live == PT_DEAD ? POSIXTRACE_DEAD : POSIXTRACE_UNKNOWN;
    s->running = pt_state_of(h->state) == PT_RUNNING;
    s->has_log = h->has_log != 0;
    copy_text(s->log_path, sizeof s->log_path, h->log_path, sizeof h->log_path);
    s->created.tv_sec = (time_t)(h->attr.create_ns / 1000000000);
    s->created.tv_nsec = (long)(h->attr.create_ns % 1000000000);
    if (live == PT_DEAD && h->has_log && !h->log_complete)
        s->unsaved = count_unsaved(h->id);
}

int pt_reap_list(int (*each)(void *, const struct posixtrace_stream *), void *context)
{
    struct pt_seg_header *h = malloc(sizeof *h);
    int dir = h ? pt_dir_open(false) : -ENOMEM, r = 0;
    DIR *d = dir >= 0 ? fdopendir(dir) : NULL;
    struct dirent *entry;

    if (!d) {
        r = dir < 0 ? dir : -errno;
        if (dir >= 0)
            close(dir);
    }
    while (d && r == 0 && (entry = readdir(d))) {
        struct posixtrace_stream s;
        struct stat st = { 0 };
        int e;

        if (!is_segment(entry->d_name))
            continue;
        memset(&s, 0, sizeof s);
        copy_text(s.file, sizeof s.file, entry->d_name, sizeof s.file);
        s.liveness = POSIXTRACE_UNKNOWN;
        e = read_header(dirfd(d), entry->d_name, h, &st);
        if (e == -ENOENT)
            continue;   /* shut down since */
        s.bytes = (uint64_t)st.st_blocks * 512;
        if (e == 0)
            describe(h, &st, &s);
        r = each(context, &s);
    }
    if (d)
        closedir(d);
    free(h);
    return r;
}

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

/* May the dead stream's segment go?  Completes its log first if need be. */
static bool settle_log(const struct pt_seg_header *h, enum pt_reap_how how)
{
    struct posixtrace_recover_report report;
    int fd, r;

    if (!h->has_log || h->log_complete)
        return true;
    if (how == PT_REAP_QUICK)
        return false;
    fd = open_its_log(h);
    if (fd < 0)
        return false;
    r = pt_stream_recover(fd, &report);
    close(fd);
    return r == 0;
}

static void remove_segment(int dir, const char *file)
{
    char names[64];

    unlinkat(dir, file, 0);
    strcpy(names, file);
    strcpy(strrchr(names, '.'), ".names");
    unlinkat(dir, names, 0);
}

static void count(unsigned *n)
{
    if (n)
        ++*n;
}

static void reap_segment(int dir, const char *file, enum pt_reap_how how, unsigned *removed,
                         unsigned *kept)
{
    struct pt_seg_header *h = malloc(sizeof *h);
    struct stat st;

    /* A file that is not a segment of this layout is left alone: it may belong
     * to another version of the library, or to nobody we know. */
    if (h && read_header(dir, file, h, &st) < 0) {
        count(kept);
    } else if (h && pt_owner_liveness(h, st.st_dev, st.st_ino) == PT_DEAD) {
        bool go = settle_log(h, how) || how == PT_REAP_FORCE;

        if (go)
            remove_segment(dir, file);
        count(go ? removed : kept);
    }
    free(h);
}

/* "p-<pid>-<start>": is that process gone? */
static bool page_is_dead(const char *file)
{
    char *end;
    unsigned long pid = strtoul(file + 2, &end, 10);
    unsigned long long start = *end == '-' ? strtoull(end + 1, &end, 10) : 0;
    uint64_t now;

    if (*end != '\0' || pid == 0 || pid > UINT32_MAX || access("/proc/self/stat", R_OK) < 0)
        return false;
    now = pt_process_start((uint32_t)pid);
    return now != UINT64_MAX && now != start;
}

/* Files that a living process may be about to refer to are left alone. */
static bool is_fresh(int dir, const char *name)
{
    struct timespec now;
    struct stat st;

    clock_gettime(CLOCK_REALTIME, &now);
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || now.tv_sec - st.st_ctime < FRESH_S;
}

/* A segment's link to its names, without the segment. */
static bool is_stray_link(int dir, const char *name)
{
    char segment[64];

    if (!has_suffix(name, ".names") || strlen(name) >= sizeof segment)
        return false;
    strcpy(segment, name);
    strcpy(strrchr(segment, '.'), ".seg");
    return faccessat(dir, segment, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static bool may_go(int dir, const char *name)
{
    switch (name[0]) {
    case 'p':
        return page_is_dead(name);
    case 'n':
        return !is_fresh(dir, name) && !pt_page_names_in_use(dir, name);
    case 't':
        return !is_fresh(dir, name);
    default:
        return is_stray_link(dir, name) && !is_fresh(dir, name);
    }
}

/* By kind: segments first, then pages, so that the names they refer to can go
 * last.  Quickly: only so many files a time. */
static void reap_kind(int dir, char kind, enum pt_reap_how how, unsigned *removed,
                      unsigned *kept)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;
    unsigned looked = 0;

    while (d && (how != PT_REAP_QUICK || looked < QUICK_FILES) && (entry = readdir(d))) {
        const char *name = entry->d_name;

        if (name[0] != kind || name[1] != '-')
            continue;
        looked++;
        if (is_segment(name))
            reap_segment(dir, name, how, removed, kept);
        else if (may_go(dir, name) && unlinkat(dir, name, 0) == 0)
            count(removed);
    }
    if (d)
        closedir(d);
    else if (copy >= 0)
        close(copy);
}

int pt_reap_dead(enum pt_reap_how how, unsigned *removed, unsigned *kept)
{
    int dir = pt_dir_open(false);

    if (removed)
        *removed = 0;
    if (kept)
        *kept = 0;
    if (dir < 0)
        return dir == -ENOENT ? 0 : dir;
    for (const char *kind = "spnt"; *kind; kind++)
        reap_kind(dir, *kind, how, removed, kept);
    close(dir);
    return 0;
}

void pt_reap_once(void)
{
    static uint32_t done;
    uint32_t no = 0;

    if (pt_cas_seqcst(&done, &no, 1u))
        pt_reap_dead(PT_REAP_QUICK, NULL, NULL);
}
