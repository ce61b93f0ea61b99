/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* How long the file of a name map stays; see names.h.  Async-signal-safe. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/sys.h"
#include "page/names.h"
#include "place/dir.h"
#include "place/place.h"

static bool hold(struct pt_names *names, uint32_t mark)
{
    uint32_t users = pt_load_relaxed(&names->users);

    do
        if (users & PT_NAMES_GONE)
            return false;
    while (!pt_cas_seqcst(&names->users, &users, (users + 1) | mark));
    return true;
}

bool pt_names_hold(struct pt_names *names)
{
    return hold(names, 0);
}

bool pt_names_hold_as_maker(struct pt_names *names)
{
    return hold(names, PT_NAMES_BY_MAKER);
}

/* The count may have any value: it is not decremented below 0. */
static bool drop(struct pt_names *names, uint32_t mark)
{
    uint32_t users = pt_load_relaxed(&names->users);

    while (pt_names_is_used(users) &&
           !pt_cas_seqcst(&names->users, &users,
                          pt_names_count_users(users) == 1 ? PT_NAMES_GONE : (users - 1) & ~mark))
        ;
    return pt_names_count_users(users) > 1 && !(users & PT_NAMES_GONE);
}

bool pt_names_drop(struct pt_names *names)
{
    return drop(names, 0);
}

void pt_names_let_go(int dirfd, const char *file)
{
    struct pt_names *names;
    int saved = errno;

    if (pt_names_open_in(&names, dirfd, pt_place_uid(), file) == 0) {
        if (!pt_names_drop(names))
            unlinkat(dirfd, file, 0);
        pt_names_unmap(names);
    }
    errno = saved;
}

void pt_names_release(struct pt_names *names, uid_t uid, const char *file, bool maker)
{
    if (!drop(names, maker ? PT_NAMES_BY_MAKER : 0) && file[0])
        pt_dir_remove(uid, file);
}

bool pt_names_first_file(int dirfd, const char *file, char first[64])
{
    int fd = openat(dirfd, file, O_RDONLY | PT_OPEN_BRIEFLY);
    uint8_t id[16];
    struct stat st;
    bool known = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                 st.st_uid == pt_place_uid() &&
                 pt_names_read(fd, st.st_size, offsetof(struct pt_names, id), id, sizeof id);

    if (fd >= 0)
        close(fd);
    if (known)
        pt_dir_hex_name(first, 64, 'n', id, "");
    return known;
}

/* Called before the map gets a name, because any process may remove an unused map that has one. */
static void hold_again(struct pt_names *names)
{
    uint32_t users = pt_load_relaxed(&names->users);

    while (!pt_cas_seqcst(&names->users, &users, (users & ~PT_NAMES_GONE) + 1))
        ;
}

/* Uses a new name: the process that decremented the count to 0 may be about to remove the old
 * one. */
bool pt_names_name_again(struct pt_names *names, const char *link, char file[64])
{
    int saved = errno, dir = pt_dir_open(false);
    char first[64], mine[64];
    uint8_t id[16];
    bool done = false;

    if (dir < 0)
        return false;
    pt_dir_hex_name(mine, sizeof mine, 'n', names->id, "");
    if (pt_names_first_file(dir, link, first) && strcmp(first, mine) == 0) {
        pt_sys_random(id, sizeof id);
        pt_dir_hex_name(first, sizeof first, 'n', id, "");
        hold_again(names);
        done = linkat(dir, link, dir, first, 0) == 0;
        if (done)
            memcpy(file, first, sizeof first);
        else
            pt_names_drop(names);
    }
    close(dir);
    errno = saved;
    return done;
}
