/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See target.h. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/sys.h"
#include "control/target.h"
#include "page/page_left.h"
#include "place/dir.h"
#include "place/place.h"
#include "shm/liveness.h"

#define GENERATIONS 64u /* of ancestors that are looked at */

/* The name in a page, which its process may have changed. */
static bool copy_names_file(const struct pt_page *page, char file[64])
{
    memcpy(file, page->names_file, sizeof page->names_file);
    return pt_dir_is_plain(file, sizeof page->names_file);
}

/* 0; -ENOENT: no ancestor has names; or they may have some: an error of pt_is_shortage(). */
static int names_of_ancestor(const struct pt_target *t, char file[64])
{
    struct pt_process process;
    uint32_t pid = t->pid;
    int r = pt_process_look(pid, &process);

    for (unsigned n = 0; n < GENERATIONS && r == 0; n++) {
        struct pt_page *page;
        char page_file[64];

        r = pt_process_parent(&pid, &process);
        if (r < 0)
            break;
        r = pt_page_open_of(&page, t->uid, pid, process.start, page_file);
        if (r == 0) {
            bool found = copy_names_file(page, file);

            pt_page_unmap(page);
            return found ? 0 : -ENOENT;
        }
        if (!pt_is_shortage(r))
            r = 0;
    }
    return pt_is_shortage(r) ? r : -ENOENT;
}

/* A name map for a page to be made; the caller is counted among its users, *maker: as its maker. */
static int names_for(struct pt_names **names, const struct pt_target *t, char file[64], bool *maker)
{
    int r = names_of_ancestor(t, file);

    if (r == 0)
        r = pt_names_open_of(names, t->uid, file);
    if (r == 0) {
        *maker = false;
        if (pt_names_hold(*names))
            return 0;
        pt_names_unmap(*names);
    }
    /* With names of its own the target would not be traced by streams that it inherits. */
    if (pt_is_shortage(r) && r != -ENOMEM)
        return r;
    r = pt_names_create_of(names, t->uid, file);
    if (r == 0 && !file[0]) {
        pt_names_unmap(*names);
        r = -ENOMEM;
    }
    *maker = r == 0;
    if (r == 0)
        pt_names_hold_as_maker(*names);
    return r;
}

static int make_page(struct pt_page **page, const struct pt_target *t)
{
    char names_file[64], file[64], used[64];
    struct pt_names *names;
    bool maker;
    int r = names_for(&names, t, names_file, &maker);

    if (r < 0)
        return r;
    r = pt_page_create_of(page, t->uid, t->pid, t->start, names_file, file);
    if (r == 0 && !file[0]) {
        pt_page_unmap(*page);
        r = -ENOMEM;
    }
    /* Else the target, or another controller, was faster. */
    if (r == 0 && copy_names_file(*page, used) && strcmp(used, names_file) == 0)
        pt_page_hold_names(*page, names);
    pt_names_release(names, t->uid, names_file, maker);
    pt_names_unmap(names);
    return r;
}

/* Has a process that is another user's now its page in our directory?  It called the
 * library first with our user id, and reaches no directory of streams any more. */
static bool has_page_here(const struct pt_target *t)
{
    struct pt_page *page;
    char file[64];

    if (t->uid == pt_place_uid() || pt_page_open(&page, t->pid, t->start, file) < 0)
        return false;
    pt_page_unmap(page);
    return true;
}

static int open_page(struct pt_page **page, const struct pt_target *t)
{
    int dir = pt_dir_open_of(t->uid, true), r;
    char file[64];
    bool seen;

    if (dir < 0)
        return pt_is_shortage(dir) ? dir : -EACCES;
    seen = pt_target_sees(t, dir);
    close(dir);
    if (!seen)
        return -ENOTSUP;
    r = pt_page_open_of(page, t->uid, t->pid, t->start, file);
    if (r == -ENOENT && has_page_here(t))
        return -EACCES;
    if (r == -ENOENT)
        r = make_page(page, t);
    if (r == 0 || pt_is_shortage(r))
        return r;
    /* Forged, or of another version; a symbolic link; a directory. */
    return r == -EINVAL || r == -ELOOP || r == -EISDIR ? -ENOTSUP : -ENOMEM;
}

int pt_traced_open(struct pt_stream *s, const struct pt_target *target)
{
    char names[64];
    int r;

    if (!target) {
        s->page = s->self->page;
        s->names = s->self->names;
        s->pid = s->self->pid;
        s->start = s->self->start;
        s->uid = pt_place_uid();
        memcpy(s->names_file, s->self->names_file, sizeof s->names_file);
        return 0;
    }
    r = open_page(&s->page, target);
    if (r < 0)
        return r;
    r = copy_names_file(s->page, names) ? pt_names_open_of(&s->names, target->uid, names) : -EINVAL;
    if (r < 0) {
        pt_page_unmap(s->page);
        s->page = NULL;
        return pt_is_shortage(r) ? r : -ENOTSUP;
    }
    pt_page_hold_names(s->page, s->names);
    s->other = true;
    s->pid = target->pid;
    s->start = target->start;
    s->uid = target->uid;
    memcpy(s->names_file, names, sizeof s->names_file);
    return 0;
}

/* Removes a page whose process has ended. */
static void unlink_dead(const struct pt_stream *s)
{
    char file[64];
    uint64_t now = pt_process_start(s->pid);
    struct pt_page *page;
    int dir;

    if (now == UINT64_MAX || pt_is_start(now, s->start))
        return;
    dir = pt_dir_open_of(s->uid, false);
    if (dir < 0)
        return;
    if (pt_page_open_of(&page, s->uid, s->pid, s->start, file) == 0) {
        pt_page_unmap(page);
        pt_page_remove(dir, file, NULL);
    }
    close(dir);
}

void pt_traced_close(struct pt_stream *s)
{
    if (!s->other || !s->page)
        return;
    unlink_dead(s);
    pt_names_unmap(s->names);
    pt_page_unmap(s->page);
    s->page = NULL;
}
