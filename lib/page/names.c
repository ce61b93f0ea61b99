/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See names.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/atomics.h"
#include "base/clock.h"
#include "base/open_above.h"
#include "base/sys.h"
#include "page/mapping_list.h"
#include "place/dir.h"
#include "place/place.h"
#include "shm/liveness.h"

#define ARENA_BYTES PT_NAMES_NAME_BYTES
#define LAST_OFFSET (ARENA_BYTES - (TRACE_EVENT_NAME_MAX + 1u)) /* of a name that may be long */
#define TEXT_BYTES  PT_NAMES_TEXT_BYTES
#define MAP_BYTES   (PT_NAMES_LIST + PT_MAPPING_LIST_BYTES)
#define LAYOUT      4u
#define TAKE_TRIES  100000u
/* In described: a text found no room, and no shorter one gets it.  A type without a description
 * has none for good, so that no other line describes its data (api/emit.c). */
#define NO_MORE (1u << 31)

#define entry_off(e)  ((uint32_t)(e))
#define entry_len(e)  ((uint32_t)((e) >> 32) & 0xffffu)
#define entry_hash(e) ((uint32_t)((e) >> 48))

static uint32_t hash_name(const char *name, size_t length)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < length; i++)
        h = (h ^ (uint8_t)name[i]) * 16777619u;
    return (h >> 16 ^ h) & 0xffffu;
}

/* Maps the file from a byte on, and a page of zeros after it, private to this process. */
static int map_file(void **all, int fd, uint64_t from, size_t bytes)
{
    int error, saved = errno;
    void *both = mmap(NULL, bytes + PT_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (both == MAP_FAILED) {
        errno = saved;
        return -ENOMEM;
    }
    if (!pt_dir_map_at(both, fd, from, bytes, PROT_READ | PROT_WRITE, &error)) {
        munmap(both, bytes + PT_PAGE);
        errno = saved;
        return error;
    }
    *all = both;
    return 0;
}

static int map_names(struct pt_names **names, int fd, uint64_t from)
{
    void *all;
    int r = map_file(&all, fd, from, MAP_BYTES);

    if (r == 0)
        *names = all;
    return r;
}

/* Both parts can be mapped, and unmapped, by themselves. */
static bool may_have_front(void)
{
    long page = sysconf(_SC_PAGESIZE);

    return page > 0 && PT_NAMES_FRONT % (unsigned long)page == 0;
}

uint64_t pt_names_fronted_bytes(void)
{
    return PT_NAMES_FRONT + MAP_BYTES;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return (x ^ x >> 32) * 0xd6e8feb86659fd93u;
}

/* Ids only have to differ: no other process has that number and start time, and it makes no two
 * maps at one time. */
static void make_id(struct pt_dir *dir, uint32_t maker, uint64_t start, uint8_t id[16])
{
    static uint32_t made;
    uint64_t words[2];

    if (start == 0) {
        pt_dir_id(dir, id);
        return;
    }
    words[0] = pt_clock_ns(CLOCK_REALTIME);
    words[1] = mix(start ^ mix((uint64_t)maker << 32 | pt_add_relaxed(&made, 1u)));
    memcpy(id, words, sizeof words);
}

/* The front and the used part of the map get their memory. */
static int new_map(struct pt_names **names, struct pt_dir *dir, const char *file, size_t before,
                   bool *named)
{
    void *all;
    int fd = pt_dir_new_file_in(dir, file, before + MAP_BYTES, before + sizeof(struct pt_names),
                                named);
    int r = map_file(&all, fd, 0, before + MAP_BYTES);

    if (fd >= 0)
        close(fd);
    if (r < 0 && *named)
        unlinkat(dir->fd, file, 0);
    if (r == 0)
        *names = (void *)((char *)all + before);
    return r;
}

int pt_names_create_in(struct pt_names **names, struct pt_dir *dir, uint32_t maker, uint64_t start,
                       char file[64], void **front)
{
    size_t before = front && may_have_front() ? PT_NAMES_FRONT : 0;
    int saved = errno, r;
    uint8_t id[16];
    bool named;

    make_id(dir, maker, start, id);
    pt_dir_hex_name(file, 64, 'n', id, "");
    r = new_map(names, dir, file, before, &named);
    /* Where there is no room for the map, there may be for the page. */
    if (r == 0 && before && !named && dir->fd >= 0) {
        munmap((char *)*names - before, before + MAP_BYTES + PT_PAGE);
        before = 0;
        r = new_map(names, dir, file, 0, &named);
    }
    if (r == 0) {
        (*names)->layout = LAYOUT;
        (*names)->size = MAP_BYTES;
        memcpy((*names)->id, id, sizeof id);
        (*names)->maker = maker;
        (*names)->maker_start = start;
        pt_store_release(&(*names)->magic, PT_NAMES_MAGIC);
    }
    if (r == 0 && front)
        *front = before ? (char *)*names - before : NULL;
    if (!named)
        file[0] = '\0';
    errno = saved;
    return r;
}

int pt_names_create_of(struct pt_names **names, uid_t uid, char file[64])
{
    uint32_t maker = pt_home_pid();
    uint64_t start = pt_process_start(maker);
    struct pt_dir dir;
    int r;

    pt_dir_begin(&dir, uid, geteuid(), true);
    r = pt_names_create_in(names, &dir, maker, start == UINT64_MAX ? 0 : start, file, NULL);
    pt_dir_end(&dir);
    return r;
}

int pt_names_create(struct pt_names **names, char file[64])
{
    return pt_names_create_of(names, pt_place_uid(), file);
}

static bool valid(const struct pt_names *n, uint64_t size)
{
    return size == MAP_BYTES && n->magic == PT_NAMES_MAGIC && n->layout == LAYOUT &&
           n->size == size;
}

static size_t within(uint32_t used, size_t most)
{
    return used < most ? used : most;
}

/* Reserves memory for the used part: reading a hole in a full file system would end in SIGBUS.  A
 * later allocation reserves its own. */
static int back_names(struct pt_names *n)
{
    int r = pt_names_back(n, sizeof *n);

    if (r == 0)
        r = pt_names_back(n->arena, within(pt_load_acquire(&n->used), ARENA_BYTES));
    if (r == 0)
        r = pt_names_back(n->arena + ARENA_BYTES,
                          within(pt_load_acquire(&n->described) & ~NO_MORE, TEXT_BYTES));
    return r == 0 ? pt_mapping_list_back(n) : r;
}

/* Where the map begins in a file of that size; -1: it is none. */
static int64_t begin_in(int64_t size)
{
    if (size == (int64_t)MAP_BYTES)
        return 0;
    return size == (int64_t)pt_names_fronted_bytes() ? (int64_t)PT_NAMES_FRONT : -1;
}

bool pt_names_read(int fd, int64_t size, size_t at, void *to, size_t bytes)
{
    int64_t from = begin_in(size);

    return from >= 0 && pread(fd, to, bytes, (off_t)(from + (int64_t)at)) == (ssize_t)bytes;
}

static int open_file(int dirfd, uid_t uid, const char *file, int flags, uint64_t *from)
{
    struct stat st;
    int fd = pt_open_above(dirfd, file, flags | PT_OPEN_BRIEFLY, 0);

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == uid &&
        begin_in(st.st_size) >= 0) {
        *from = (uint64_t)begin_in(st.st_size);
        return fd;
    }
    close(fd);
    return -EINVAL;
}

int pt_names_open_in(struct pt_names **names, int dirfd, uid_t uid, const char *file)
{
    uint64_t from;
    int fd = strchr(file, '/') ? -EINVAL : open_file(dirfd, uid, file, O_RDWR, &from), r = fd;

    if (fd < 0)
        return r;
    r = map_names(names, fd, from);
    close(fd);
    if (r < 0)
        return r;
    r = back_names(*names);
    if (r == 0 && !valid(*names, MAP_BYTES))
        r = -EINVAL;
    if (r < 0)
        pt_names_unmap(*names);
    return r;
}

int pt_names_open_of(struct pt_names **names, uid_t uid, const char *file)
{
    int saved = errno, dir = pt_dir_open_of(uid, false), r;

    if (dir < 0)
        return dir;
    r = pt_names_open_in(names, dir, uid, file);
    close(dir);
    errno = saved;
    return r;
}

int pt_names_open(struct pt_names **names, const char *file)
{
    return pt_names_open_of(names, pt_place_uid(), file);
}

int pt_names_copy(struct pt_names **names, int dirfd, const char *file)
{
    struct pt_names *n = malloc(MAP_BYTES + 1);
    uint64_t from = 0;
    int fd = n ? open_file(dirfd, pt_place_uid(), file, O_RDONLY, &from) : -ENOMEM;
    size_t done = 0;
    ssize_t k = 1;

    if (fd < 0) {
        free(n);
        return fd;
    }
    while (done < MAP_BYTES && k > 0) {
        k = pread(fd, (char *)n + done, MAP_BYTES - done, (off_t)(from + done));
        done += k > 0 ? (size_t)k : 0;
    }
    close(fd);
    if (done != MAP_BYTES || !valid(n, MAP_BYTES)) {
        free(n);
        return -EINVAL;
    }
    ((char *)n)[MAP_BYTES] = '\0';
    *names = n;
    return 0;
}

void pt_names_unmap(struct pt_names *names)
{
    if (names)
        munmap(names, MAP_BYTES + PT_PAGE);
}

/* The stored name, if the entry is one that a writer makes.  Another process may have stored where
 * there is no memory, and the NUL may be gone when the caller reads: all that it may read is
 * reserved.  backed: the entry for which that was done before, or NULL. */
static const char *entry_name(const struct pt_names *n, uint64_t e, pt_u64 *backed)
{
    uint32_t off = entry_off(e), len = entry_len(e);

    if (e == 0 || len > TRACE_EVENT_NAME_MAX || off > LAST_OFFSET ||
        off + len >= pt_load_relaxed(&n->used))
        return NULL;
    if (!backed || pt_load_relaxed(backed) != e) {
        if (pt_names_back(n->arena + off, TRACE_EVENT_NAME_MAX + 1u) < 0)
            return NULL;
        if (backed)
            pt_store_relaxed(backed, e);
    }
    return n->arena[off + len] == '\0' ? n->arena + off : NULL;
}

static bool same_name(const struct pt_names *n, uint64_t e, const char *name, size_t length)
{
    const char *stored = entry_len(e) == length ? entry_name(n, e, NULL) : NULL;

    return stored && memcmp(stored, name, length) == 0;
}

int pt_names_take(const struct pt_names_part *part, uint32_t *used, uint32_t bytes, uint32_t *off)
{
    *off = pt_load_relaxed(used);
    for (unsigned i = 0; i < TAKE_TRIES; i++) {
        if (*off > part->last)
            return -ENOSPC;
        if (pt_names_back(part->begin + *off, part->longest) < 0)
            return -ENOMEM;
        if (pt_cas_seqcst(used, off, *off + bytes))
            return 0;
    }
    return -ENOMEM;
}

/* Takes room in the arena and writes the name there. */
static int store_name(struct pt_names *n, const char *name, size_t length, uint64_t *entry)
{
    const struct pt_names_part part = { n->arena, LAST_OFFSET, TRACE_EVENT_NAME_MAX + 1u };
    uint32_t off;

    if (pt_names_take(&part, &n->used, (uint32_t)length + 1, &off) < 0)
        return -ENOMEM;
    memcpy(n->arena + off, name, length + 1);
    *entry = off | (uint64_t)length << 32 | (uint64_t)hash_name(name, length) << 48;
    /* offset 0 with length 0 and hash 0 would be "no entry" */
    if (*entry == 0)
        *entry = 1ull << 48;
    return 0;
}

static uint32_t system_id(const char *name)
{
    for (uint32_t id = 1; id <= PT_ID_USER_FIRST; id++) {
        const char *known = pt_event_system_name(id);

        if (known && strcmp(name, known) == 0)
            return id;
    }
    return 0;
}

int pt_names_id(struct pt_names *n, const char *name, bool create, uint32_t *id)
{
    size_t length = strnlen(name, TRACE_EVENT_NAME_MAX + 1u);
    uint64_t mine = 0;
    uint32_t h = hash_name(name, length);

    if (length > TRACE_EVENT_NAME_MAX)
        return -EINVAL;

    *id = system_id(name);
    if (create && pt_event_is_own(*id))
        pt_names_use_own(n);
    if (*id)
        return 0;
    for (uint32_t i = 0; i < PT_NAMES_COUNT; i++) {
        uint64_t e = pt_load_acquire(&n->entry[i]);

        if (e == 0 && create) {
            int r = mine ? 0 : store_name(n, name, length, &mine);

            if (r < 0)
                return r;
            if (pt_cas_seqcst(&n->entry[i], &e, mine)) {
                *id = PT_ID_NAMED_FIRST + i;
                return 0;
            }
        }
        if (e == 0)
            return 0;
        if (entry_hash(e) == h && same_name(n, e, name, length)) {
            *id = PT_ID_NAMED_FIRST + i;
            return 0;
        }
    }
    *id = create ? PT_ID_USER_FIRST : 0;
    return 0;
}

static const char *get(const struct pt_names *n, uint32_t id, pt_u64 *backed)
{
    if (id < PT_ID_NAMED_FIRST || id >= PT_ID_MAX)
        return id < PT_ID_MAX ? pt_event_system_name(id) : NULL;
    return entry_name(n, pt_load_acquire(&n->entry[id - PT_ID_NAMED_FIRST]), backed);
}

const char *pt_names_get(const struct pt_names *n, uint32_t id)
{
    return get(n, id, NULL);
}

static const char *read_text(const char *from, char *to, size_t most)
{
    size_t length;

    if (!from)
        return NULL;
    length = strnlen(from, most + 1);
    if (length > most)
        return NULL;
    memcpy(to, from, length);
    to[length] = '\0';
    return to;
}

const char *pt_names_read_name(const struct pt_names *n, uint32_t id,
                               char to[TRACE_EVENT_NAME_MAX + 1], pt_u64 *backed)
{
    return read_text(get(n, id, backed), to, TRACE_EVENT_NAME_MAX);
}

const char *pt_names_read_description(const struct pt_names *n, uint32_t id,
                                      char to[PT_DESCRIPTION_MAX + 1])
{
    return read_text(pt_names_description(n, id), to, PT_DESCRIPTION_MAX);
}

uint32_t pt_names_end(const struct pt_names *n)
{
    uint32_t i = 0;

    while (i < PT_NAMES_COUNT && pt_load_acquire(&n->entry[i]) != 0)
        i++;
    return PT_ID_NAMED_FIRST + i;
}

/* Allocates room after the names and writes the description there. */
static int store_description(struct pt_names *n, uint32_t id, const char *text, size_t length,
                             uint64_t *entry)
{
    const struct pt_names_part part = { n->arena + ARENA_BYTES, TEXT_BYTES - ((uint32_t)length + 1),
                                        PT_DESCRIPTION_MAX + 1u };
    uint32_t off;
    int r = pt_names_take(&part, &n->described, (uint32_t)length + 1, &off);

    if (r == -ENOSPC)
        pt_or_seqcst(&n->described, NO_MORE);
    if (r < 0)
        return r;
    memcpy(n->arena + ARENA_BYTES + off, text, length + 1);
    *entry = (ARENA_BYTES + off) | (uint64_t)length << 32 |
             (uint64_t)(id - PT_ID_NAMED_FIRST) << 48;
    return 0;
}

static const char *description_text(const struct pt_names *n, uint64_t e)
{
    uint32_t off = entry_off(e) - ARENA_BYTES, len = entry_len(e);
    const char *text = n->arena + ARENA_BYTES + off;

    if (entry_off(e) < ARENA_BYTES || len > PT_DESCRIPTION_MAX || off > TEXT_BYTES - (len + 1) ||
        off + len >= pt_load_relaxed(&n->described) ||
        pt_names_back(text, PT_DESCRIPTION_MAX + 1u) < 0 || text[len] != '\0')
        return NULL;
    return text;
}

/* The i-th description, and its type; 0: after the last one. */
static uint32_t described_type(const struct pt_names *n, uint32_t i, uint64_t *e)
{
    *e = i < PT_NAMES_COUNT ? pt_load_acquire(&n->description[i]) : 0;
    return *e ? PT_ID_NAMED_FIRST + entry_hash(*e) : 0;
}

const char *pt_names_description_at(const struct pt_names *n, uint32_t i, uint32_t *id)
{
    uint64_t e;

    *id = described_type(n, i, &e);
    return e && *id < PT_ID_MAX ? description_text(n, e) : NULL;
}

const char *pt_names_find_description(const struct pt_names *n, uint32_t id, uint32_t *looked)
{
    uint32_t of;
    uint64_t e;

    for (*looked = 0; (of = described_type(n, *looked, &e)) != 0; ++*looked) {
        const char *text = of == id && id < PT_ID_MAX ? description_text(n, e) : NULL;

        if (text)
            return text;
    }
    return NULL;
}

const char *pt_names_description(const struct pt_names *n, uint32_t id)
{
    uint32_t looked;

    return pt_names_find_description(n, id, &looked);
}

int pt_names_describe(struct pt_names *n, uint32_t id, const char *text)
{
    uint64_t mine = 0;
    int r = 0;

    if (id < PT_ID_NAMED_FIRST || id >= PT_ID_MAX || strlen(text) > PT_DESCRIPTION_MAX)
        return -EINVAL;
    for (uint32_t i = 0; r == 0 && i < PT_NAMES_COUNT; i++) {
        uint64_t none = 0, e;
        uint32_t of = described_type(n, i, &e);
        const char *is;

        if (of == 0 && !mine)
            r = store_description(n, id, text, strlen(text), &mine);
        if (of == 0 && r == 0 && pt_cas_seqcst(&n->description[i], &none, mine))
            return 0;
        if (of == 0 && r == 0)
            of = described_type(n, i, &e);
        is = of == id ? description_text(n, e) : NULL;
        if (is)
            return strcmp(is, text) == 0 ? 0 : -EEXIST;
    }
    return r < 0 ? r : -ENOSPC;
}
