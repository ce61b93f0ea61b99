/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See pieces.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/open_above.h"
#include "consumer/checkpoint.h"
#include "flush/state.h"
#include "log/writer/writer.h"
#include "page/log_folder.h"

#define AGAIN_NS    1000000000u /* after a failure */
#define END         ".ptl"
#define PART        ".part"
#define MOST_DIGITS 10
#define DIGITS      "0123456789"
#define TIME        DIGITS "TZ."

/* ---- names ---- */

/* Splits GROUP-TIME-NUMBER.ptl.  False: it is another name. */
static bool split_name(const char *name, size_t length, size_t *group, size_t *stem)
{
    size_t end = sizeof END - 1, at;

    if (length <= end || length > NAME_MAX || memcmp(name + length - end, END, end) != 0)
        return false;
    at = length -= end;
    while (at > 0 && strchr(DIGITS, name[at - 1]))
        at--;
    if (at == length || at == 0 || name[at - 1] != '-')
        return false;
    *stem = at--;
    length = at;
    while (at > 0 && strchr(TIME, name[at - 1]))
        at--;
    *group = at;
    return at != length && at > 1 && name[at - 1] == '-';
}

static void make_name(const struct pt_pieces *p, uint32_t number, const char *end,
                      char name[NAME_MAX + 1])
{
    snprintf(name, NAME_MAX + 1, "%s%0*u" END "%s", p->stem, p->digits, number, end);
}

/* Takes the name of the first file. */
static int take_name(struct pt_pieces *p, const char *name)
{
    size_t length = strlen(name), part = sizeof PART - 1, stem;

    if (length <= part || strcmp(name + length - part, PART) != 0 ||
        !split_name(name, length - part, &p->group, &stem) || stem >= sizeof p->stem ||
        length - stem > MOST_DIGITS + part + sizeof END || strtoul(name + stem, NULL, 10) != 1)
        return -EINVAL;
    memcpy(p->stem, name, stem);
    p->stem[stem] = '\0';
    p->digits = (int)(length - part - (sizeof END - 1) - stem);
    return 0;
}

/* ---- a request ---- */

/* Opens the folder of the log in the thread's own table, and checks that it is that folder. */
static int open_folder(struct pt_flusher *f, const char **name, char path[PT_LOG_PATH])
{
    const struct pt_seg_header *h = f->stream->seg->h;
    int folder, dir = -1;

    if (h->log_path[0] != '/' || h->log_ino == 0)
        return -EINVAL;
    folder = pt_log_folder_open(h, path, name);
    if (folder < 0)
        return -errno;
    if (pt_log_folder_is(h, folder))
        dir = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(folder);
    return dir < 0 ? -EINVAL : dir;
}

static int begin_pieces(struct pt_flusher *f)
{
    struct pt_pieces *p = &f->pieces;
    const struct pt_attr *attr = &f->stream->seg->g.attr;
    char path[PT_LOG_PATH];
    const char *name;
    struct stat st;
    int e;

    if (attr->log_policy != POSIX_TRACE_APPEND || attr->stream_policy != POSIX_TRACE_FLUSH ||
        fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode) || (fcntl(f->fd, F_GETFL) & O_APPEND))
        return -EINVAL;
    p->dir = open_folder(f, &name, path);
    if (p->dir < 0)
        return p->dir;
    e = take_name(p, name);
    if (e == 0)
        e = pt_log_first_piece(f->writer, st.st_ino);
    if (e < 0) {
        close(p->dir);
        return e;
    }
    p->mode = st.st_mode & 0777;
    p->number = 1;
    pt_store_seqcst(&p->on, 1u);
    return 0;
}

int pt_pieces_set(struct pt_flusher *f)
{
    struct pt_pieces *p = &f->pieces;
    int e = p->on ? 0 : begin_pieces(f);

    if (e < 0)
        return e;
    p->limits = p->asked;
    p->due_ns = 0;
    pt_pieces_look(f);
    return 0;
}

void pt_pieces_deinit(struct pt_flusher *f)
{
    if (f->pieces.base)
        pt_piece_base_deinit(f->pieces.base);
    free(f->pieces.base);
}

/* ---- when ---- */

void pt_pieces_look(struct pt_flusher *f)
{
    struct pt_pieces *p = &f->pieces;

    if (p->on && !p->gone && p->limits.ns && !p->due_ns && pt_log_events(f->writer))
        p->due_ns = pt_clock_ns(CLOCK_MONOTONIC) + p->limits.ns;
}

bool pt_pieces_is_due(const struct pt_flusher *f)
{
    const struct pt_pieces *p = &f->pieces;
    bool is_long, is_old;
    uint64_t now;

    if (!p->on || p->gone)
        return false;
    is_long = p->limits.bytes && pt_log_events(f->writer) &&
              pt_log_bytes(f->writer) >= p->limits.bytes;
    if (!is_long && !p->due_ns)
        return false;
    now = pt_clock_ns(CLOCK_MONOTONIC);
    is_old = p->due_ns && now >= p->due_ns;
    return (is_long || is_old) && now >= p->not_before_ns;
}

/* ---- finished pieces that are too many ---- */

struct finished {
    char *name;
    size_t stem;
    uint32_t number;
    int64_t seconds;
    long ns;
};

/* A time to come is one from before the clock was set back: earlier than all others. */
static void take_time(struct finished *one, const struct timespec *written)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    one->seconds = written->tv_sec;
    one->ns = written->tv_nsec;
    if (written->tv_sec > now.tv_sec ||
        (written->tv_sec == now.tv_sec && written->tv_nsec > now.tv_nsec))
        one->seconds = INT64_MIN / 2 + one->seconds / 2;
}

static bool is_piece(int dir, const char *name, struct finished *one)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct pt_log_header h;
    struct stat st;
    bool is;

    if (fd < 0)
        return false;
    is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
         pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && pt_log_header_open(&h) && h.piece;
    close(fd);
    if (is) {
        one->number = h.piece;
        take_time(one, &st.st_mtim);
    }
    return is;
}

static int compare_time(const struct finished *x, const struct finished *y)
{
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static bool is_same_stem(const struct finished *x, const struct finished *y)
{
    return x->stem == y->stem && memcmp(x->name, y->name, x->stem) == 0;
}

static int by_number(const void *a, const void *b)
{
    const struct finished *x = a, *y = b;

    if (!is_same_stem(x, y))
        return strcmp(x->name, y->name);
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_age(const void *a, const void *b)
{
    int order = compare_time(a, b);

    return order ? order : by_number(a, b);
}

/* By time, and those of a recording by number whatever the clock did. */
static void sort_by_age(struct finished *list, size_t count)
{
    qsort(list, count, sizeof *list, by_number);
    for (size_t i = 1; i < count; i++)
        if (is_same_stem(&list[i - 1], &list[i]) && compare_time(&list[i], &list[i - 1]) < 0) {
            list[i].seconds = list[i - 1].seconds;
            list[i].ns = list[i - 1].ns;
        }
    qsort(list, count, sizeof *list, by_age);
}

/* Those of the group.  Without memory, fewer. */
static struct finished *list_finished(const struct pt_pieces *p, size_t *count)
{
    int copy = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    struct finished *list = NULL;
    size_t room = 0, group;
    struct dirent *e;

    *count = 0;
    if (!d) {
        if (copy >= 0)
            close(copy);
        return NULL;
    }
    while ((e = readdir(d))) {
        struct finished one;

        if (!split_name(e->d_name, strlen(e->d_name), &group, &one.stem) || group != p->group ||
            memcmp(e->d_name, p->stem, group) != 0 ||
            pt_array_grow(&list, &room, *count, sizeof *list) < 0 ||
            !is_piece(p->dir, e->d_name, &one) || !(one.name = strdup(e->d_name)))
            continue;
        list[(*count)++] = one;
    }
    closedir(d);
    return list;
}

/* Leaves so many. */
static void remove_oldest(const struct pt_pieces *p, size_t keep)
{
    size_t count;
    struct finished *list = list_finished(p, &count);

    if (count > keep)
        sort_by_age(list, count);
    for (size_t i = 0; i < count; i++) {
        if (i + keep < count)
            unlinkat(p->dir, list[i].name, 0);
        free(list[i].name);
    }
    free(list);
}

/* ---- the seam ---- */

/* Not in place of another file.  NFS cannot promise that in one step. */
static void rename_new(int dir, const char *from, const char *to)
{
    struct stat st;

    if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0 ||
        (errno != EINVAL && errno != ENOSYS))
        return;
    if (fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW) != 0)
        renameat(dir, from, dir, to);
}

/* A complete piece gets its name, in place of the oldest one if there are too many. */
static void name_piece(const struct pt_pieces *p, uint32_t number)
{
    char from[NAME_MAX + 1], to[NAME_MAX + 1];

    if (p->limits.keep)
        remove_oldest(p, p->limits.keep - 1);
    make_name(p, number, PART, from);
    make_name(p, number, "", to);
    rename_new(p->dir, from, to);
}

void pt_pieces_finish(struct pt_flusher *f)
{
    if (f->pieces.on && f->stream->seg->h->log_complete)
        name_piece(&f->pieces, f->pieces.number);
}

static int make_base(struct pt_flusher *f, struct pt_piece_base **base)
{
    const struct pt_pieces *p = &f->pieces;
    struct pt_piece_base *b = calloc(1, sizeof *b);
    int e;

    if (!b)
        return -ENOMEM;
    if (p->base) {
        *b = *p->base;
        b->authors = NULL;
        b->count = b->room = 0;
    }
    b->number = p->number + 1;
    memcpy(b->unknown_lost, p->unknown_lost, sizeof b->unknown_lost);
    pt_log_add_sums(f->writer, b);
    e = pt_collect_base(&f->round, b);
    if (e < 0) {
        pt_piece_base_deinit(b);
        free(b);
        return e;
    }
    *base = b;
    return 0;
}

/* The next file, with a lock of its own and its first round; f->writer writes it then. */
static int begin_file(struct pt_flusher *f, const struct pt_piece_base *base, int *fd,
                      struct pt_log_lock *lock)
{
    const struct pt_pieces *p = &f->pieces;
    char name[NAME_MAX + 1];
    int e;

    make_name(p, base->number, PART, name);
    *fd = pt_open_above(p->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, p->mode);
    if (*fd < 0) {
        /* A new file in a folder that is there cannot give these. */
        f->pieces.gone = errno == ENOENT || errno == ESTALE;
        return -errno;
    }
    *lock = (struct pt_log_lock){ -1, -1 };
    e = pt_log_lock_take(lock, *fd);
    if (e == 0) {
        e = pt_flush_begin_log(f, *fd, lock, base);
        if (e < 0)
            pt_log_lock_release(lock);
    }
    if (e < 0) {
        unlinkat(p->dir, name, 0);
        close(*fd);
    }
    return e;
}

/* The path that other processes are shown, and where a recovery looks first. */
static void note_path(struct pt_flusher *f)
{
    struct pt_seg_header *h = f->stream->seg->h;
    char name[NAME_MAX + 1], *slash = strrchr(h->log_path, '/');

    make_name(&f->pieces, f->pieces.number, PART, name);
    if (slash && (size_t)(slash + 1 - h->log_path) + strlen(name) < sizeof h->log_path)
        strcpy(slash + 1, name);
}

/* From here on the next file is the log. */
static void leave_checkpoint(struct pt_flusher *f)
{
    struct pt_consumer *l = &f->stream->live;
    struct pt_log_books books;

    pt_checkpoint_clear(&l->accounts);
    pt_log_books(f->writer, &books);
    pt_checkpoint_leave(&l->accounts, &l->losses, pt_collect_window(&f->round), &books);
    note_path(f);
}

/* Completes the piece that another one follows. */
static void end_piece(struct pt_flusher *f, struct pt_log_writer *w, int fd,
                      struct pt_log_lock *lock)
{
    const struct pt_pieces *p = &f->pieces;

    if (pt_log_complete_piece(w) == 0)
        name_piece(p, p->number - 1);
    pt_log_writer_free(w);
    pt_log_lock_release(lock);
    close(fd);
}

int pt_pieces_switch(struct pt_flusher *f)
{
    struct pt_pieces *p = &f->pieces;
    struct pt_log_writer *before = f->writer;
    struct pt_piece_base *base, *old = p->base;
    struct pt_log_lock lock, old_lock = f->lock;
    int fd, old_fd = f->fd, e = make_base(f, &base);

    if (e == 0 && (e = begin_file(f, base, &fd, &lock)) < 0) {
        pt_piece_base_deinit(base);
        free(base);
    }
    if (p->gone)
        pt_log_abandon(f->writer, e);
    if (e < 0)
        return p->gone ? e : 0;
    for (unsigned c = 0; c < PT_LOSS_CAUSES; c++)
        p->log_lost[c] += pt_log_lost(before, c);
    f->first_error = 0;
    p->number++;
    p->base = base;
    p->due_ns = 0;
    f->fd = fd;
    f->lock = lock;
    leave_checkpoint(f);
    end_piece(f, before, old_fd, &old_lock);
    if (old)
        pt_piece_base_deinit(old);
    free(old);
    return 0;
}

void pt_pieces_turn(struct pt_flusher *f)
{
    struct pt_pieces *p = &f->pieces;
    uint32_t before = p->number;

    pt_flush_shows(f, true);
    pt_flush_cycle(f, PT_TOTALS_SEAM);
    pt_flush_shows(f, false);
    p->not_before_ns = 0;
    if (p->gone)
        p->due_ns = 0;
    else if (p->number == before)
        p->due_ns = p->not_before_ns = pt_clock_ns(CLOCK_MONOTONIC) + AGAIN_NS;
    else
        pt_pieces_look(f);
}
