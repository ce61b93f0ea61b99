/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * See dir.h.  Async-signal-safe: the first event of a program may come from a
 * signal handler and has to find its process page.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/open_above.h"
#include "base/sys.h"
#include "place/dir.h"
#include "place/place.h"
#include "place/room.h"

/* The directory that was opened last. */
static struct {
    pt_u64 dev, ino;
} latest;

static char *append(char *to, char *end, const char *text)
{
    while (*text && to < end - 1)
        *to++ = *text++;
    *to = '\0';
    return to;
}

static char *append_number(char *to, char *end, unsigned long n)
{
    char digits[24];
    int i = sizeof digits - 1;

    digits[i] = '\0';
    do
        digits[--i] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    return append(to, end, digits + i);
}

/* The k-th candidate; false after the last.  $XDG_RUNTIME_DIR is the caller's own. */
static bool candidate(uid_t uid, unsigned k, char *to, size_t size)
{
    const struct pt_place *place = pt_place();
    char *end = to + size;

    if (place->variable[0]) {
        append(to, end, place->variable);
        return k == 0;
    }
    if (k == 0) {
        append_number(append(to, end, "/dev/shm/posixtrace-"), end, (unsigned long)uid);
        return true;
    }
    if (k != 1 || uid != place->uid || place->runtime[0] != '/')
        return false;
    append(append(to, end, place->runtime), end, "/posixtrace");
    return true;
}

#define UNKNOWN ((uid_t)-1) /* the effective user id */

/* A directory that we have just made for another user is given to that user.  The owner of an
 * existing one is not changed.  It is made only if there is none: a sandbox may refuse to make
 * any. */
static int open_private(uid_t uid, uid_t maker, const char *path, bool create,
                        struct pt_dir_seen *seen)
{
    const int flags = O_RDONLY | O_DIRECTORY | PT_OPEN_BRIEFLY;
    int fd = open(path, flags);
    bool made = fd < 0 && errno == ENOENT && create && mkdir(path, 0700) == 0;
    struct stat st;

    if (made || (fd < 0 && errno == EEXIST))
        fd = open(path, flags);
    if (fd < 0)
        return errno == ELOOP || errno == ENOTDIR ? -EACCES : -errno;
    if (made && maker == UNKNOWN)
        maker = geteuid();
    if ((made && uid != maker && fchown(fd, uid, (gid_t)-1) < 0) || fstat(fd, &st) < 0 ||
        st.st_uid != uid || (st.st_mode & 077) != 0) {
        close(fd);
        return -EACCES;
    }
    pt_store_relaxed(&latest.dev, (uint64_t)st.st_dev);
    pt_store_relaxed(&latest.ino, (uint64_t)st.st_ino);
    seen->is_new = made;
    seen->size = st.st_size;
    return fd;
}

bool pt_dir_is_latest(const struct stat *st)
{
    return (uint64_t)st->st_dev == pt_load_relaxed(&latest.dev) &&
           (!S_ISDIR(st->st_mode) || (uint64_t)st->st_ino == pt_load_relaxed(&latest.ino));
}

/* *which: the candidate that path is of. */
static int open_first(uid_t uid, uid_t maker, bool create, char *path, size_t size, unsigned *which,
                      struct pt_dir_seen *seen)
{
    const struct pt_place *place = pt_place();
    int saved = errno, first = -ENOENT, fd = -ENOENT;
    bool secure = getauxval(AT_SECURE) != 0;
    unsigned k;

    for (k = 0; candidate(uid, k, path, size); k++) {
        fd = secure         ? -EPERM
             : place->error ? place->error
                            : open_private(uid, maker, path, create, seen);
        if (fd >= 0)
            break;
        if (k == 0)
            first = fd;
    }
    *which = fd < 0 ? 0 : k;
    if (fd < 0)
        candidate(uid, 0, path, size);
    errno = saved;
    return fd >= 0 ? fd : first;
}

int pt_dir_open_of(uid_t uid, bool create)
{
    struct pt_dir_seen seen;
    char path[512];
    unsigned which;

    return open_first(uid, UNKNOWN, create, path, sizeof path, &which, &seen);
}

void pt_dir_begin(struct pt_dir *dir, uid_t uid, uid_t maker, bool create)
{
    char path[512];
    unsigned which;

    *dir = (struct pt_dir){ .uid = uid, .maker = maker };
    dir->fd = open_first(uid, maker, create, path, sizeof path, &which, &dir->seen);
}

void pt_dir_end(struct pt_dir *dir)
{
    int saved = errno;

    if (dir->fd >= 0)
        close(dir->fd);
    errno = saved;
}

/* One call brings two of them. */
void pt_dir_id(struct pt_dir *dir, uint8_t id[16])
{
    if (dir->ids == 0) {
        pt_sys_random(dir->id, sizeof dir->id);
        dir->ids = sizeof dir->id / sizeof *dir->id;
    }
    memcpy(id, dir->id[--dir->ids], sizeof *dir->id);
}

int pt_dir_open(bool create)
{
    return pt_dir_open_of(pt_place_uid(), create);
}

int pt_dir_look(char *to, size_t size, enum pt_dir_choice *choice)
{
    const struct pt_place *place = pt_place();
    struct pt_dir_seen seen;
    unsigned which;
    int fd = open_first(place->uid, UNKNOWN, false, to, size, &which, &seen);

    *choice = place->variable[0] ? PT_DIR_VARIABLE : which == 0 ? PT_DIR_SHM : PT_DIR_RUNTIME;
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

void pt_dir_path(char *to, size_t size)
{
    enum pt_dir_choice choice;

    pt_dir_look(to, size, &choice);
}

/* Reserving makes the file larger, too. */
static int size_file(int fd, uint64_t size, uint64_t reserve)
{
    if (reserve < size && ftruncate(fd, (off_t)size) < 0)
        return -errno;
    return pt_room_take(fd, 0, reserve);
}

void *pt_dir_map(int fd, uint64_t size, int protection, int *error)
{
    return pt_dir_map_at(NULL, fd, 0, size, protection, error);
}

void *pt_dir_map_at(void *at, int fd, uint64_t from, uint64_t size, int protection, int *error)
{
    int flags = MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0) | (at ? MAP_FIXED : 0);
    int saved = errno;
    void *p = MAP_FAILED;

    /* A file of a 64-bit program may be too large for a 32-bit program to map. */
    if (size > PTRDIFF_MAX)
        errno = ENOMEM;
    else if (fd >= 0 || fd == -EFBIG)
        p = mmap(at, size, protection, flags, fd < 0 ? -1 : fd, (off_t)from);
    /* EAGAIN: the process locks all that it maps, and may lock no more. */
    if (p == MAP_FAILED && errno == EAGAIN)
        errno = ENOMEM;
    *error = p != MAP_FAILED ? 0 : fd < 0 && fd != -EFBIG ? fd : -errno;
    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

bool pt_dir_is_plain(const char *name, size_t size)
{
    return memchr(name, '\0', size) && name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

void pt_dir_remove(uid_t uid, const char *name)
{
    int saved = errno, dir = pt_dir_open_of(uid, false);

    if (dir >= 0) {
        unlinkat(dir, name, 0);
        close(dir);
    }
    errno = saved;
}

int pt_dir_publish(const struct pt_dir *dir, const char *name, const char *final_name)
{
    int saved = errno, r;

    if (dir->fd < 0)
        return dir->fd;
    r = linkat(dir->fd, name, dir->fd, final_name, 0) < 0 ? -errno : 0;
    unlinkat(dir->fd, name, 0);
    errno = saved;
    return r;
}

/* A new file, given to the user whose directory it is. */
static int new_file(const struct pt_dir *dir, const char *name, uint64_t size, uint64_t reserve)
{
    int fd = pt_open_above(dir->fd, name, O_RDWR | O_CREAT | O_EXCL | PT_OPEN_BRIEFLY, 0600);
    int r = fd < 0 ? -errno : 0;

    if (r == 0 && dir->uid != dir->maker && fchown(fd, dir->uid, (gid_t)-1) < 0)
        r = -errno;
    if (r == 0)
        r = size_file(fd, size, reserve);
    if (r < 0 && fd >= 0) {
        unlinkat(dir->fd, name, 0);
        close(fd);
    }
    return r < 0 ? r : fd;
}

/* Another process may have removed the directory since it was opened. */
static int new_file_again(struct pt_dir *dir, const char *name, uint64_t size, uint64_t reserve)
{
    int r = dir->fd >= 0 ? new_file(dir, name, size, reserve) : dir->fd;

    if (r != -ENOENT || dir->fd < 0)
        return r;
    pt_dir_end(dir);
    pt_dir_begin(dir, dir->uid, dir->maker, true);
    return dir->fd >= 0 ? new_file(dir, name, size, reserve) : dir->fd;
}

static int new_file_anywhere(struct pt_dir *dir, const char *name, uint64_t size, uint64_t reserve,
                             bool *named)
{
    int r = new_file_again(dir, name, size, reserve), fd = r;

    *named = fd >= 0;
    if (fd >= 0 || r == -EEXIST || r == -EMFILE || r == -ENFILE)
        return r;
    fd = pt_memory_above(name, MFD_CLOEXEC);
    r = fd < 0 ? -errno : size_file(fd, size, reserve);
    if (r < 0 && fd >= 0)
        close(fd);
    return r < 0 ? r : fd;
}

int pt_dir_new_file_in(struct pt_dir *dir, const char *name, uint64_t size, uint64_t reserve,
                       bool *named)
{
    int saved = errno, fd;

    *named = false;
    if (dir->most == 0)
        dir->most = pt_sys_most_size();
    if (size > dir->most)
        return -EFBIG;
    fd = new_file_anywhere(dir, name, size, reserve, named);
    errno = saved;
    return fd;
}

int pt_dir_new_file(uid_t uid, const char *name, uint64_t size, uint64_t reserve, bool *named)
{
    struct pt_dir dir;
    int fd;

    *named = false;
    if (!pt_sys_allows_size(size))
        return -EFBIG;
    pt_dir_begin(&dir, uid, geteuid(), true);
    fd = pt_dir_new_file_in(&dir, name, size, reserve, named);
    pt_dir_end(&dir);
    return fd;
}

void pt_dir_hex_name(char *to, size_t size, char prefix, const uint8_t id[16], const char *suffix)
{
    static const char hex[] = "0123456789abcdef";
    char text[40], *p = text;

    *p++ = prefix;
    *p++ = '-';
    for (int i = 0; i < 16; i++) {
        *p++ = hex[id[i] >> 4];
        *p++ = hex[id[i] & 15];
    }
    *p = '\0';
    append(append(to, to + size, text), to + size, suffix);
}
