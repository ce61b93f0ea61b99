/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See dir_step.h. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/dir_names.h"
#include "base/open_above.h"
#include "base/sys.h"
#include "page/dir_step.h"

#define LONGEST 280u /* bytes of an entry */
#define MAGIC   0x324b4c41575850ull

struct position {
    uint64_t magic;
    struct place {
        int64_t at;
        uint64_t sum, last_sum, made, last_made;
    } walk[PT_WALKS];
};

static int open_position(int dir, int flags)
{
    return pt_open_above(dir, PT_DIR_STEP_FILE, flags | PT_OPEN_BRIEFLY, 0600);
}

static bool read_position(int fd, struct position *p)
{
    return pread(fd, p, sizeof *p, 0) == (ssize_t)sizeof *p && p->magic == MAGIC;
}

/* Any number will do: the kernel takes it for a place in the directory, or for none. */
static struct place load_place(int dir, enum pt_dir_walk walk)
{
    static const struct place first;
    struct position p;
    int fd = open_position(dir, O_RDONLY);
    bool good = fd >= 0 && read_position(fd, &p);

    if (fd >= 0)
        close(fd);
    return good && p.walk[walk].at >= 0 ? p.walk[walk] : first;
}

/* For reading and writing; -1: there is none.  Removes another file or link of that name: of a
 * maker that was killed before it wrote, of another version of the library, or of another user.
 * With a folder or socket there, no walk has a place. */
static int open_good_position(int dir)
{
    int fd = open_position(dir, O_RDWR);
    struct position p;

    if (fd >= 0 && read_position(fd, &p))
        return fd;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || errno == EACCES || errno == ELOOP)
        unlinkat(dir, PT_DIR_STEP_FILE, 0);
    return -1;
}

/* Root also makes one for another user, in that user's directory. */
static void make_position(int dir, const struct position *p)
{
    int fd = open_position(dir, O_WRONLY | O_CREAT | O_EXCL);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(dir, &st) < 0 || (st.st_uid != geteuid() && fchown(fd, st.st_uid, (gid_t)-1) < 0) ||
        pt_sys_write_at(fd, p, sizeof *p, 0) < 0)
        unlinkat(dir, PT_DIR_STEP_FILE, 0);
    close(fd);
}

static void store_place(int dir, enum pt_dir_walk walk, const struct place *place)
{
    size_t at = offsetof(struct position, walk) + walk * sizeof *place;
    struct position p = { .magic = MAGIC };
    int fd;

    /* A process that may not write, as in a sandbox, does not change the file. */
    if (!pt_sys_allows_size(sizeof p))
        return;
    fd = open_good_position(dir);
    if (fd < 0) {
        p.walk[walk] = *place;
        make_position(dir, &p);
        return;
    }
    if (pt_sys_write_at(fd, place, sizeof *place, at) < 0)
        unlinkat(dir, PT_DIR_STEP_FILE, 0); /* the next walk starts with the first name */
    close(fd);
}

static long read_names(struct pt_dir_step *s)
{
    return pt_dir_read_names(s->dir, s->names, sizeof s->names);
}

/* A tmpfs hands out names as long as there is room, and its directories have 20 bytes for each.
 * Others are asked for more. */
static bool has_all(struct pt_dir_step *s, int64_t size)
{
    int64_t names = 0;
    char more[64];

    s->has_file = false;
    for (long at = 0; at < s->bytes; at += pt_dir_entry_at(s->names, at)->bytes) {
        names++;
        s->has_file |= strcmp(pt_dir_entry_at(s->names, at)->name, PT_DIR_STEP_FILE) == 0;
    }
    if (s->bytes > 0 && s->bytes <= (long)(sizeof s->names - LONGEST) && names * 20 == size)
        return true;
    return s->bytes >= 0 && pt_dir_read_names(s->dir, more, sizeof more) == 0;
}

bool pt_dir_step_all(struct pt_dir_step *s, int dir, enum pt_dir_walk walk, int64_t size)
{
    s->dir = dir;
    s->walk = walk;
    s->is_all = true;
    s->at = 0;
    s->from = s->next = 0;
    s->sum = s->last_sum = s->made = s->last_made = 0;
    s->bytes = read_names(s);
    return has_all(s, size);
}

void pt_dir_step_begin(struct pt_dir_step *s, int dir, enum pt_dir_walk walk)
{
    struct place place = load_place(dir, walk);

    s->is_all = false;
    s->dir = dir;
    s->walk = walk;
    s->at = 0;
    s->from = s->next = place.at;
    s->sum = place.sum;
    s->last_sum = place.last_sum;
    s->made = place.made;
    s->last_made = place.last_made;
    if (lseek(dir, (off_t)s->from, SEEK_SET) < 0)
        s->from = s->next = 0;
    s->bytes = read_names(s);
    if (s->bytes <= 0 && s->from != 0 && lseek(dir, 0, SEEK_SET) == 0) {
        s->from = s->next = 0;
        s->last_sum = s->sum;
        s->last_made = s->made;
        s->sum = s->made = 0;
        s->bytes = read_names(s);
    }
}

void pt_dir_step_add(struct pt_dir_step *s, uint64_t amount)
{
    s->sum += amount;
}

uint64_t pt_dir_step_sum(const struct pt_dir_step *s)
{
    return s->sum > s->last_sum ? s->sum : s->last_sum;
}

void pt_dir_step_make(struct pt_dir_step *s, uint64_t amount)
{
    s->made += amount;
}

uint64_t pt_dir_step_made(const struct pt_dir_step *s)
{
    return s->made + s->last_made;
}

/* A directory that one step reads whole has no place, and needs none. */
void pt_dir_step_restart(int dir, enum pt_dir_walk walk, uint64_t sum)
{
    if (faccessat(dir, PT_DIR_STEP_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        store_place(dir, walk, &(struct place){ .last_sum = sum });
}

const char *pt_dir_step_next(struct pt_dir_step *s)
{
    const struct pt_dir_entry *e = pt_dir_entry_at(s->names, s->at);

    if (s->at >= s->bytes)
        return NULL;
    s->at += e->bytes;
    s->next = e->next;
    return e->name;
}

void pt_dir_step_end(struct pt_dir_step *s)
{
    bool all = s->at >= s->bytes;
    char more[64];

    if (s->is_all && all) {
        if (s->has_file)
            unlinkat(s->dir, PT_DIR_STEP_FILE, 0);
        return;
    }
    /* Room for no name is an error, and there being no name is none. */
    if (all && s->bytes >= 0 && pt_dir_read_names(s->dir, more, sizeof more) == 0) {
        if (s->from == 0)
            unlinkat(s->dir, PT_DIR_STEP_FILE, 0);
        else
            store_place(s->dir, s->walk,
                        &(struct place){ .last_sum = s->sum, .last_made = s->made });
        return;
    }
    store_place(s->dir, s->walk,
                &(struct place){ s->next, s->sum, s->last_sum, s->made, s->last_made });
}
