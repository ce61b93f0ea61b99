/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See list.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/brief_files.h"
#include "consumer/crash_recovery.h"
#include "consumer/tombstone.h"
#include "directory/list.h"
#include "directory/log_fate.h"
#include "place/dir.h"
#include "place/place.h"
#include "shm/liveness.h"
#include "shm/segment.h"

static void copy_text(char *to, size_t size, const char *from, size_t from_size)
{
    size_t n = strnlen(from, from_size < size ? from_size : size - 1);

    memcpy(to, from, n);
    to[n] = '\0';
}

/* How many events of a dead stream its log does not have; those of its last round it may
 * have without the segment's books saying so.  A long log is not read for these, again with each
 * list. */
static uint64_t count_unsaved(const struct pt_seg_header *h)
{
    const struct pt_log_look look = { .looks = PT_LOG_LOOKS_ALL };
    struct pt_tail *t = NULL;
    struct stat st;
    uint64_t n = 0;
    int log = -1;
    bool small;

    if (pt_tail_open(&t, h->id) != PT_TAIL_FOUND)
        return 0;
    pt_log_find(h, &look, O_RDONLY, &log);
    small = log >= 0 && fstat(log, &st) == 0 && st.st_size <= PT_LOG_SMALL;
    if (pt_tail_missing(t, small ? log : -1, &n) != 0)
        n = 0;
    if (log >= 0)
        close(log);
    pt_tail_close(t);
    return n;
}

static void describe(const struct pt_seg_header *h, enum pt_liveness live,
                     struct posixtrace_stream *s)
{
    copy_text(s->name, sizeof s->name, h->attr.name, sizeof h->attr.name);
    memcpy(s->id, h->id, sizeof s->id);
    s->owner = (pid_t)h->owner_pid;
    s->liveness = live == PT_ALIVE  ? POSIXTRACE_LIVENESS_ALIVE
                  : live == PT_DEAD ? POSIXTRACE_LIVENESS_DEAD
                                    : POSIXTRACE_LIVENESS_UNKNOWN;
    s->running = pt_state_of(h->state) == PT_RUNNING;
    s->has_log = h->has_log != 0;
    copy_text(s->log_path, sizeof s->log_path, h->log_path, sizeof h->log_path);
    s->created.tv_sec = (time_t)(h->attr.create_ns / 1000000000);
    s->created.tv_nsec = (long)(h->attr.create_ns % 1000000000);
    if (live == PT_DEAD && h->has_log && !h->log_complete)
        s->unsaved = count_unsaved(h);
}

/* The creator enters the traced process last.  Before that the log has no header yet, and no
 * process can attach. */
static bool is_being_made(const struct pt_seg_header *h, enum pt_liveness live)
{
    return h->nprocs == 0 && live != PT_DEAD;
}

/* Names of segments, one after the other, each with its NUL. */
struct names {
    char *text;
    size_t length, room;
};

static int add_name(struct names *n, const char *name)
{
    size_t bytes = strlen(name) + 1;
    int r = pt_array_grow_to(&n->text, &n->room, n->length + bytes, 4096);

    if (r == 0)
        memcpy(n->text + n->length, name, bytes);
    n->length += r == 0 ? bytes : 0;
    return r;
}

static int read_names(struct names *n)
{
    int dir = pt_dir_open(false), r = dir < 0 ? dir : 0;
    DIR *d = dir >= 0 ? fdopendir(dir) : NULL;
    struct dirent *entry;

    if (!d && r == 0) {
        r = -errno;
        close(dir);
    }
    while (r == 0 && (entry = readdir(d)))
        if (pt_seg_is_name(entry->d_name))
            r = add_name(n, entry->d_name);
    if (d)
        closedir(d);
    return r;
}

/* 1; 0: the stream has been shut down or removed since, or is being made. */
static int look_at(const char *name, struct pt_seg_header *h, struct posixtrace_stream *s)
{
    int dir = pt_dir_open(false), e;
    enum pt_liveness live = PT_UNKNOWN;
    struct stat st = { 0 };

    if (dir < 0)
        return dir == -ENOENT ? 0 : dir;
    memset(s, 0, sizeof *s);
    copy_text(s->file, sizeof s->file, name, sizeof s->file);
    s->liveness = POSIXTRACE_LIVENESS_UNKNOWN;
    e = pt_seg_read_header(dir, pt_place_uid(), name, h, &st);
    if (e == 0)
        e = pt_seg_look_at_owner(dir, pt_place_uid(), name, h, &st, &live);
    close(dir);
    if (e == -ENOENT || (e == 0 && is_being_made(h, live)))
        return 0;
    s->bytes = (uint64_t)st.st_blocks * 512;
    if (e == 0)
        describe(h, live, s);
    return 1;
}

/* No descriptor is open while the caller's function runs, which may close it. */
int pt_list_streams(int (*each)(void *, const struct posixtrace_stream *), void *context,
                    int *value)
{
    struct pt_seg_header *h = pt_seg_new_headers(1);
    struct names names = { 0 };
    int r;

    *value = 0;
    pt_brief_files_enter();
    r = h ? read_names(&names) : -ENOMEM;
    pt_brief_files_leave();
    for (size_t at = 0; r >= 0 && *value == 0 && at < names.length;) {
        const char *name = names.text + at;
        struct posixtrace_stream s;

        pt_brief_files_enter();
        r = look_at(name, h, &s);
        pt_brief_files_leave();
        if (r > 0)
            *value = each(context, &s);
        at += strlen(name) + 1;
    }
    free(names.text);
    free(h);
    return r < 0 ? r : 0;
}

static bool is_living(const struct pt_proc *p)
{
    struct pt_process process;

    return pt_process_look(p->pid, &process) == 0 && pt_is_start(process.start, p->start) &&
           !pt_process_has_ended(&process);
}

/* The contents of the table may be hostile, or change meanwhile. */
int pt_list_traced(const char *file, int (*each)(void *, pid_t), void *context, int *value)
{
    struct pt_proc *procs = NULL;
    uint32_t n = 0;
    int dir, r;

    *value = 0;
    if (!pt_seg_is_name(file))
        return -EINVAL;
    pt_brief_files_enter();
    dir = pt_dir_open(false);
    r = dir < 0 ? dir : pt_seg_read_procs(dir, pt_place_uid(), file, &procs, &n);
    if (dir >= 0)
        close(dir);
    pt_brief_files_leave();
    for (uint32_t i = 0; r == 0 && *value == 0 && i < n; i++) {
        const struct pt_proc *p = &procs[i];

        if (p->pid != 0 && p->pid <= INT32_MAX && is_living(p))
            *value = each(context, (pid_t)p->pid);
    }
    free(procs);
    return r;
}
