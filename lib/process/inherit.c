/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See inherit.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/sys.h"
#include "place/dir.h"
#include "place/place.h"
#include "process/exec.h"
#include "process/filter_callback.h"
#include "process/inherit.h"
#include "process/join.h"
#include "process/thread.h"
#include "shm/liveness.h"

#define GENERATIONS 32u /* that are looked at */

static bool was_made_before(const struct pt_seg_header *h, uint64_t start)
{
    long ticks = sysconf(_SC_CLK_TCK);

    return ticks > 0 && h->created / (1000000000u / (uint64_t)ticks) <= start;
}

struct heritage {
    struct pt_self *child; /* NULL: only the names are wanted */
    const struct pt_self *parent;
    char *names_file;
    bool found;
    bool alone;   /* no ancestor has a page */
    int shortage; /* 0, or why a stream may not have been found */
};

static void note(struct heritage *w, int r)
{
    if (w->shortage == 0 && pt_is_shortage(r))
        w->shortage = r;
}

/* Two names of one file? */
static bool same_file(struct heritage *w, const char *a, const char *b)
{
    int dir = pt_dir_open(false);
    struct stat x, y;
    bool same = dir >= 0 && fstatat(dir, a, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
                fstatat(dir, b, &y, AT_SYMLINK_NOFOLLOW) == 0 && x.st_dev == y.st_dev &&
                x.st_ino == y.st_ino;

    note(w, dir);
    if (dir >= 0)
        close(dir);
    return same;
}

/* The ids in the stream are those of its map: no other will do. */
static bool has_names_of(struct heritage *w, const struct pt_self *self, const struct pt_seg *seg)
{
    char names[sizeof seg->h->names_file];

    memcpy(names, seg->h->names_file, sizeof names);
    return pt_dir_is_plain(names, sizeof names) && self->names_file[0] &&
           same_file(w, names, self->names_file);
}

/* Which process loaded this image; its forked children have the same. */
static uint32_t loaded_by;

/*
 * Was the stream created by a process that we were forked from, without exec, over any
 * number of generations?  Our memory, in which it is not known, was copied before.
 * Follows our ancestors up to the one whose record our memory has (parent), or else to the one that
 * loaded the image.  For an orphan, which does not get there, the answer is unknown.
 */
static bool was_forked_from_owner(const struct pt_seg *seg, const struct pt_self *parent)
{
    uint32_t pid = (uint32_t)pt_sys_pid(), last = parent ? parent->pid : loaded_by;
    struct pt_process process;
    bool met = false;

    if (pid == last || pt_process_look(pid, &process) < 0)
        return false;
    for (unsigned i = 0; i < GENERATIONS && pt_process_parent(&pid, &process) == 0; i++) {
        met |= pid == seg->g.owner_pid && pt_is_start(process.start, seg->g.owner_start);
        if (pid == last)
            return met;
    }
    return false;
}

/* start: when the branch of the family began that leads to us. UINT64_MAX: any. */
static bool is_for_us(const struct pt_seg *seg, const struct pt_self *parent, uint64_t start)
{
    const struct pt_seg_header *h = seg->h;

    if (seg->g.attr.inheritance != POSIX_TRACE_INHERITED || pt_load_seqcst(&h->closed) ||
        !was_made_before(h, start))
        return false;
    if (was_forked_from_owner(seg, parent))
        return false;
    return pt_owner_liveness(h, seg->dev, seg->ino) != PT_DEAD;
}

static struct pt_seg *open_segment(struct heritage *w, const char *file)
{
    struct pt_seg *seg = pt_sys_pages(sizeof *seg);
    int r = seg ? pt_seg_open_to_write(seg, file) : -ENOMEM;

    if (r == 0)
        return seg;
    note(w, r);
    if (seg)
        munmap(seg, sizeof *seg);
    return NULL;
}

static void close_segment(struct pt_seg *seg)
{
    pt_seg_unmap(seg);
    munmap(seg, sizeof *seg);
}

/* The stream of that file, if it is for us. True: it was. */
static bool consider(struct heritage *w, const char *name, size_t size, uint64_t start)
{
    char file[64];
    struct pt_seg *seg;
    bool use;

    memset(file, 0, sizeof file);
    memcpy(file, name, size < sizeof file ? size : sizeof file - 1);
    if (!pt_dir_is_plain(file, sizeof file) || strncmp(file, "s-", 2) != 0)
        return false;
    seg = open_segment(w, file);
    if (!seg)
        return false;
    use = is_for_us(seg, w->parent, start);
    if (use && !w->child)
        w->found = true;
    if (!use || !w->child || !has_names_of(w, w->child, seg) ||
        pt_join_take(w->child, seg, true) < 0)
        close_segment(seg);
    return use;
}

static bool is_known(const struct pt_self *parent, const struct pt_page *page, unsigned bit)
{
    return parent && parent->page == page && pt_load_acquire(&parent->known[bit].seg) &&
           pt_load_relaxed(&parent->known[bit].epoch) == pt_load_relaxed(&page->epoch[bit]);
}

static void look_at_page(struct heritage *w, const struct pt_page *page, uint64_t start)
{
    for (unsigned bit = 0; bit < PT_STREAMS && !(w->found && !w->child); bit++) {
        char file[PT_PAGE_FILE];

        pt_page_get_file(page, bit, file);
        if ((pt_load_seqcst(&page->used) >> bit & 1) && !is_known(w->parent, page, bit) &&
            consider(w, file, sizeof file, start) && w->names_file) {
            memcpy(w->names_file, page->names_file, sizeof page->names_file);
            w->names_file[sizeof page->names_file - 1] = '\0';
        }
    }
}

/* A new image whose memory has no parent looks for files alone.  No ancestor is younger than its
 * child. */
static bool may_have_pages(const struct heritage *w, const struct pt_page_dir *dir, uint64_t start)
{
    return w->parent || !dir->seen.all || dir->seen.oldest <= start + 1;
}

/* The directory is opened once for all: pages that matter here were in it before we were forked. */
static bool look_in(struct heritage *w, const struct pt_page_dir *dir, struct pt_process *process,
                    uint32_t pid, uint64_t start)
{
    for (unsigned i = 0; i < GENERATIONS && may_have_pages(w, dir, start); i++) {
        struct pt_page *page;
        char file[64];
        bool last;
        int r = pt_process_parent(&pid, process);

        note(w, r);
        if (r < 0)
            return false;
        if (w->parent && pid == w->parent->pid && pt_is_start(process->start, w->parent->start)) {
            look_at_page(w, w->parent->page, start);
            return true;
        }
        r = pt_page_dir_has(dir, pid) ? pt_page_open_in(&page, dir, pid, process->start, file)
                                      : -ENOENT;
        w->alone &= r == -ENOENT;
        note(w, r);
        if (r == 0) {
            look_at_page(w, page, start);
            last = pt_load_acquire(&page->settled) != 0 || (w->found && !w->child);
            pt_page_unmap(page);
            if (last)
                return true;
        }
        start = process->start;
    }
    return false;
}

/* Follows the ancestors up to one whose page has joined all its inherited streams.  True: there was
 * one.  known: the process, if the caller has looked. */
static bool look_at_ancestors(struct heritage *w, const struct pt_page_dir *dir, uint32_t pid,
                              uint64_t start, const struct pt_process *known)
{
    struct pt_process process;
    int r = 0;

    if (!may_have_pages(w, dir, start))
        return false;
    if (known)
        process = *known;
    else
        r = pt_process_look(pid, &process);
    note(w, r);
    if (r < 0)
        return false;
    process.start = start;
    return look_in(w, dir, &process, pid, start);
}

static bool look_again(struct heritage *w, const struct pt_self *child)
{
    struct pt_page_dir dir;
    bool joined;

    pt_page_dir_open(&dir, pt_place_uid());
    joined = look_at_ancestors(w, &dir, child->pid, child->start, NULL);
    pt_page_dir_close(&dir);
    return joined;
}

/* ---- in a forked child ---- */

static void take_known(struct pt_self *child, const struct pt_self *parent)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        struct pt_seg *seg = pt_load_acquire(&parent->known[bit].seg);

        int own;

        if (!seg || !is_known(parent, parent->page, bit) ||
            seg->g.attr.inheritance != POSIX_TRACE_INHERITED)
            continue;
        own = pt_join_take(child, seg, false);
        if (own >= 0)
            child->from_parent |= 1ull << own;
        if (own >= 0 && pt_page_bit_is_of(child->page, (unsigned)own, seg->file))
            pt_filter_callback_inherit(child, (unsigned)own, parent, bit);
    }
}

/* ---- in a new image ---- */

static const char *followed(void)
{
    const char *file = pt_place()->follow;

    return file[0] ? file : NULL;
}

/* The name of the followed stream's map for our page, given to it again if it is gone. */
static bool link_followed(struct heritage *w, char names_file[64])
{
    const char *file = followed();
    struct pt_seg *seg = file ? open_segment(w, file) : NULL;
    char names[sizeof seg->h->names_file];
    int dir = seg ? pt_dir_open(false) : -1;
    bool done = false;

    note(w, dir);
    if (seg && dir >= 0) {
        memcpy(names, seg->h->names_file, sizeof names);
        done = pt_dir_is_plain(names, sizeof names) && is_for_us(seg, NULL, UINT64_MAX) &&
               pt_names_first_file(dir, names, names_file) &&
               (linkat(dir, names, dir, names_file, 0) == 0 ||
                (errno == EEXIST && same_file(w, names, names_file)));
    }
    if (dir >= 0)
        close(dir);
    if (seg)
        close_segment(seg);
    return done;
}

int pt_inherit_names(struct pt_self *self, const struct pt_page_dir *dir,
                     const struct pt_process *process)
{
    char *names_file = self->names_file;
    struct heritage w = { .names_file = names_file, .alone = true };
    struct pt_page *page;
    int saved = errno;
    int r = pt_page_dir_has(dir, self->pid)
                ? pt_page_open_in(&page, dir, self->pid, self->start, names_file)
                : -ENOENT;
    bool found = false, lost = r == 0 && pt_exec_lost_names(page, dir->in.fd);

    note(&w, r);
    self->alone = false;
    if (r == 0) {
        memcpy(names_file, page->names_file, sizeof page->names_file);
        found = !lost && pt_dir_is_plain(names_file, sizeof page->names_file);
        pt_page_unmap(page);
    }
    if (r < 0 || lost) {
        look_at_ancestors(&w, dir, self->pid, self->start, process);
        self->alone = w.alone;
        found = w.found || link_followed(&w, names_file);
    }
    errno = saved;
    return found ? 1 : w.shortage;
}

int pt_inherit(struct pt_self *child, const struct pt_self *parent)
{
    struct heritage w = { .child = child, .parent = parent };
    const char *file = parent ? NULL : followed();
    int saved = errno;

    if (parent)
        take_known(child, parent);
    if (pt_load_acquire(&child->page->settled) == 0) {
        /* Streams that the ancestors of a process that is alone have made since were made after the
         * fork. */
        if (!child->alone && !look_again(&w, child) && parent)
            look_at_page(&w, parent->page, child->start);
        if (file)
            consider(&w, file, strlen(file), UINT64_MAX);
    }
    errno = saved;
    return w.shortage;
}

void pt_inherit_settle(struct pt_self *child)
{
    pt_store_release(&child->page->settled, 1u);
}

void pt_inherit_close(struct pt_self *child)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        struct pt_seg *seg = child->known[bit].seg;

        if (seg && !(child->from_parent >> bit & 1))
            close_segment(seg);
    }
}

bool pt_inherit_at_load(void)
{
    loaded_by = (uint32_t)pt_sys_pid();
    return followed() != NULL;
}
