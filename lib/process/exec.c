/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See exec.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/sys.h"
#include "page/page_left.h"
#include "place/dir.h"
#include "place/place.h"
#include "process/exec.h"
#include "shm/liveness.h"

#define OWNER_BYTES offsetof(struct pt_seg_header, names_file)

/* The owner in a segment's header; without mapping it, and with little stack. */
static bool owner_is(const struct pt_self *s, int dir, const char *file)
{
    int fd = openat(dir, file, O_RDONLY | PT_OPEN_BRIEFLY);
    uint8_t head[OWNER_BYTES];
    bool whole;
    uint64_t start;
    uint32_t pid;

    if (fd < 0)
        return false;
    whole = pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head;
    close(fd);
    memcpy(&pid, head + offsetof(struct pt_seg_header, owner_pid), sizeof pid);
    memcpy(&start, head + offsetof(struct pt_seg_header, owner_start), sizeof start);
    return whole && pid == s->pid && pt_is_start(s->start, start);
}

static uint64_t open_gates(const struct pt_page *page)
{
    uint64_t open = 0;

    for (uint32_t id = 0; id < PT_ID_MAX; id++)
        open |= pt_load_acquire(&page->gates[id]);
    return open;
}

static void leave_old(const struct pt_self *s, const uint64_t epoch[PT_STREAMS], uint64_t used)
{
    int dir = pt_dir_open(false);
    uint64_t open = open_gates(s->page);

    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        char file[PT_PAGE_FILE];
        bool old;

        if (!(used >> bit & 1))
            continue;
        pt_page_get_file(s->page, bit, file);
        if (s->renames)
            old = true;
        else if (file[0] == '\0')
            old = (open >> bit & 1) != 0;
        else
            old = dir >= 0 && pt_dir_is_plain(file, sizeof file) && owner_is(s, dir, file);
        if (old)
            pt_page_revoke_bit(s->page, bit, epoch[bit]);
    }
    if (dir >= 0)
        close(dir);
}

void pt_exec_enter(struct pt_self *s)
{
    struct pt_page *page = s->page;
    uint32_t mine = pt_sys_image(), old = pt_load_seqcst(&page->image);
    uint64_t epoch[PT_STREAMS], used;
    int saved = errno;

    if (old == mine)
        return;
    used = pt_load_seqcst(&page->used) & ~pt_load_seqcst(&page->shadows);
    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        epoch[bit] = pt_load_seqcst(&page->epoch[bit]);
    if (pt_cas_seqcst(&page->image, &old, mine) && old != 0) {
        pt_store_seqcst(&page->copies, 0u);
        leave_old(s, epoch, used);
    }
    errno = saved;
}

/* ---- names ---- */

static bool has_no_file(const struct pt_page *page, int dir)
{
    char file[sizeof page->names_file];
    int saved = errno;
    bool has_none;

    memcpy(file, page->names_file, sizeof file);
    has_none = !pt_dir_is_plain(file, sizeof file) ||
               (dir >= 0 && faccessat(dir, file, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT);
    errno = saved;
    return has_none;
}

bool pt_exec_lost_names(const struct pt_page *page, int dir)
{
    uint32_t image = pt_load_seqcst(&page->image);

    return image != 0 && image != pt_sys_image() && has_no_file(page, dir);
}

/* Another thread of this image may have come so far that the page is already the image's. */
static bool is_namer(struct pt_page *page, int dir)
{
    uint64_t mine = (uint64_t)pt_sys_image() << 32 | (uint32_t)(pt_copy_mark() >> 3);
    uint64_t was = pt_load_seqcst(&page->namer);

    if (was >> 32 == pt_sys_image())
        return was == mine && has_no_file(page, dir);
    return pt_exec_lost_names(page, dir) &&
           (pt_cas_seqcst(&page->namer, &was, mine) || was == mine);
}

bool pt_exec_begin_names(struct pt_self *s, int dir)
{
    s->renames = is_namer(s->page, dir);
    if (s->renames) {
        pt_names_hold(s->names);
        pt_store_seqcst(&s->page->settled, 0u);
    }
    return s->renames;
}

/* The page was counted for the lost map, if it was. */
void pt_exec_give_names(struct pt_self *s)
{
    if (!s->renames)
        return;
    s->renames = false;
    memcpy(s->page->names_file, s->names_file, sizeof s->page->names_file);
    if (!pt_page_is_counted(s->page)) {
        pt_page_hold_names(s->page, s->names);
        pt_names_drop(s->names);
    }
}

void pt_exec_drop_names(struct pt_self *s)
{
    if (s->renames)
        pt_names_release(s->names, pt_place_uid(), s->names_file, false);
}

/* All names of the one map, with the same ids in the other, and the descriptions that find
 * room there; none may be another. */
static bool replay(const struct pt_names *from, struct pt_names *to)
{
    uint32_t end = pt_names_end(from), id;
    const char *text;

    for (id = PT_ID_NAMED_FIRST; id < end; id++) {
        char copy[TRACE_EVENT_NAME_MAX + 1];
        const char *name = pt_names_read_name(from, id, copy, NULL);
        uint32_t got;

        if (!name || pt_names_id(to, name, true, &got) < 0 || got != id)
            return false;
    }
    for (uint32_t i = 0; (text = pt_names_description_at(from, i, &id)) || id; i++)
        if (text && text == pt_names_description(from, id) &&
            pt_names_describe(to, id, text) == -EEXIST)
            return false;
    if (pt_names_own_in_use(from))
        pt_names_use_own(to);
    return true;
}

/* The stream that a child of the parent inherits by that bit, or NULL. */
static const struct pt_seg *inherited(const struct pt_self *parent, unsigned bit)
{
    const struct pt_seg *seg = pt_load_acquire(&parent->known[bit].seg);

    return seg && seg->g.attr.inheritance == POSIX_TRACE_INHERITED &&
                   pt_load_relaxed(&parent->known[bit].epoch) ==
                       pt_load_relaxed(&parent->page->epoch[bit])
               ? seg
               : NULL;
}

static bool inherits(const struct pt_self *parent)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        if (inherited(parent, bit))
            return true;
    return false;
}

static bool name_again(struct pt_self *s, const struct pt_self *parent)
{
    for (unsigned bit = 0; bit < PT_STREAMS; bit++) {
        const struct pt_seg *seg = inherited(parent, bit);
        char link[64];

        if (!seg || !seg->file[0])
            continue;
        pt_seg_names_file(seg->file, link);
        if (pt_names_name_again(s->names, link, s->names_file))
            return true;
    }
    return false;
}

/* Not where the ids are those of a stream that others write into, too. */
static bool copy_names(struct pt_self *s, const struct pt_self *parent)
{
    struct pt_names *fresh;
    char file[64];

    if (inherits(parent) || pt_names_create(&fresh, file) < 0)
        return false;
    if (!pt_names_hold(fresh) || !replay(parent->names, fresh)) {
        pt_names_release(fresh, pt_place_uid(), file, false);
        pt_names_unmap(fresh);
        return false;
    }
    s->names = fresh;
    memcpy(s->names_file, file, sizeof file);
    return true;
}

bool pt_exec_take_names(struct pt_self *s, const struct pt_self *parent)
{
    s->names = parent->names;
    memcpy(s->names_file, parent->names_file, sizeof s->names_file);
    return pt_names_hold(s->names) || name_again(s, parent) || copy_names(s, parent);
}

/* The page is counted among the users of another map. */
static void move_count(struct pt_self *s)
{
    char file[sizeof s->page->names_file];
    int dir = pt_page_is_counted(s->page) ? pt_dir_open(false) : -1;

    if (dir < 0)
        return;
    memcpy(file, s->page->names_file, sizeof file);
    pt_names_hold(s->names);
    if (pt_dir_is_plain(file, sizeof file))
        pt_names_let_go(dir, file);
    close(dir);
}

/* The page is ours from now on, with our names. */
static void insist(struct pt_self *s)
{
    uint64_t used = pt_load_seqcst(&s->page->used) & ~pt_load_seqcst(&s->page->shadows);

    for (unsigned bit = 0; bit < PT_STREAMS; bit++)
        if ((used >> bit & 1) && !s->page->stream[bit].inherited)
            pt_page_revoke_bit(s->page, bit, pt_load_seqcst(&s->page->epoch[bit]));
    move_count(s);
    memcpy(s->page->names_file, s->names_file, sizeof s->page->names_file);
}

void pt_exec_settle_names(struct pt_self *s, const struct pt_self *parent)
{
    char file[sizeof s->page->names_file];
    struct pt_names *theirs;
    int saved = errno;
    bool moved = false;

    memcpy(file, s->page->names_file, sizeof file);
    file[sizeof file - 1] = '\0';
    if (strcmp(file, s->names_file) == 0)
        return;
    if (!inherits(parent) && pt_names_open(&theirs, file) == 0) {
        moved = replay(s->names, theirs);
        if (!moved)
            pt_names_unmap(theirs);
    }
    if (moved) {
        s->names = theirs;
        memcpy(s->names_file, file, sizeof s->names_file);
    } else {
        insist(s);
    }
    errno = saved;
}
