/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The name map of an inheritance family: names, ids and descriptions of event types in shared
 * memory, so that parent and children use the same ids.  It is a small file in the stream
 * directory.  Each segment has a hard link of its own to it, so that the names outlive the
 * processes as long as a segment needs them.
 *
 * The map is append-only and lock-free.  Entry i is one word, 0 until one compare-and-exchange
 * publishes it; name i has id PT_ID_NAMED_FIRST + i.  The bytes of a name are written before its
 * entry is published and never change.  A process that dies half-way leaves at most some unused
 * bytes.
 *
 * Descriptions (posixtrace/typed.h) are a second such list, in the order in which they were added.
 * If two are added for one type, the first in the list counts.  Their bytes have a part of the
 * arena of their own, so they never use the room of names.
 *
 * The mappings of the family's processes are a third such list (mapping_list.h).
 *
 * The system types of posixtrace/system.h have fixed ids and names.  The map only has a word that
 * is set when they are in use: one of them was recorded in the family, or a program has opened its
 * name.  From then on streams list them.
 */
#ifndef PT_PAGE_NAMES_H
#define PT_PAGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/atomics.h"
#include "base/sys.h"
#include "model/event.h"
#include "place/dir.h"

#define PT_NAMES_MAGIC 0x31454d414e5850ull
#define PT_NAMES_COUNT (TRACE_USER_EVENT_MAX - 1)

struct pt_names {
    uint64_t magic;
    uint32_t layout, size;
    uint32_t used;  /* bytes of the arena handed out */
    uint32_t maker; /* the process that made it, to check whether an unused map can go */
    uint64_t maker_start;
    uint64_t entry[PT_NAMES_COUNT]; /* offset | length << 32 | hash << 48 */
    uint64_t own_in_use;
    uint64_t description[PT_NAMES_COUNT]; /* offset | length << 32 | id - PT_ID_NAMED_FIRST << 48 */
    uint32_t described;                   /* bytes of the descriptions' part handed out */
    uint32_t users;                       /* pages that name the map, see page_left.h */
    uint8_t id[16];                       /* its file's name is made of it */
    uint32_t mapping_bytes; /* of the list of mappings that were handed out: mapping_list.h */
    uint32_t mappings;      /* how many the list has */
    char arena[];
};
_Static_assert(offsetof(struct pt_names, arena) == 16440, "the same on 32-bit and 64-bit machines");

/* The arena: room for every name at its longest, and for the bytes that racing openers may leave
 * unused; descriptions; the list of mappings, from a page of its own on. */
#define PT_NAMES_NAME_BYTES   ((TRACE_EVENT_NAME_MAX + 1u) * (PT_NAMES_COUNT + 64u))
#define PT_NAMES_TEXT_BYTES   (512u << 10)
#define PT_NAMES_PAGES(bytes) (((bytes) + PT_PAGE - 1) & ~(size_t)(PT_PAGE - 1))
#define PT_NAMES_LIST \
    PT_NAMES_PAGES(sizeof(struct pt_names) + PT_NAMES_NAME_BYTES + PT_NAMES_TEXT_BYTES)

/* A new map, mapped; file gets its name ("" if it has none).  Async-signal-safe. */
int pt_names_create(struct pt_names **names, char file[64]);
int pt_names_create_of(struct pt_names **names, uid_t uid, char file[64]);
#define PT_NAMES_PAGE 16384u
/* The page's mapping by its own name may lie just before one of the map.  valgrind 3.19 would take
 * the two for one if they followed each other in the file, too, and an assertion of its own fails
 * as the names of the file differ; so there is a gap. */
#define PT_NAMES_FRONT (PT_NAMES_PAGE + PT_PAGE)
/* maker: the process that makes it, its start time 0 if unknown.  front, if not NULL, gets memory
 * for a process page in the same file, before the map, or NULL. */
int pt_names_create_in(struct pt_names **names, struct pt_dir *dir, uint32_t maker, uint64_t start,
                       char file[64], void **front);
/* Bytes of a file with such a front. */
uint64_t pt_names_fronted_bytes(void);
/* Maps the map of that name. */
int pt_names_open(struct pt_names **names, const char *file);
int pt_names_open_of(struct pt_names **names, uid_t uid, const char *file);
int pt_names_open_in(struct pt_names **names, int dirfd, uid_t uid, const char *file);
/* A private copy of a file's contents, checked; free() it. */
int pt_names_copy(struct pt_names **names, int dirfd, const char *file);
void pt_names_unmap(struct pt_names *names);

/*
 * names_users.c.  The map counts the pages that name it, and a process while it makes its page.  A
 * count that has fallen to 0 never rises again: the process that decrements it to 0 removes the
 * file, and later ones find PT_NAMES_GONE and use another name.
 *
 * Of the process that has made the map, PT_NAMES_BY_MAKER says that it is counted so.  It appears
 * and goes with its count.  If the maker is killed in between, the count has one without a user;
 * or a page has the map that is not counted yet, as its maker was a controller.
 */
#define PT_NAMES_GONE     0x80000000u
#define PT_NAMES_BY_MAKER 0x40000000u

static inline uint32_t pt_names_count_users(uint32_t users)
{
    return users & ~(PT_NAMES_GONE | PT_NAMES_BY_MAKER);
}

static inline bool pt_names_is_used(uint32_t users)
{
    return pt_names_count_users(users) != 0;
}

/* The same where the maker has ended. */
static inline bool pt_names_is_used_by_others(uint32_t users)
{
    return pt_names_count_users(users) > ((users & PT_NAMES_BY_MAKER) != 0);
}

/* One more; false: the file is gone, or about to go. */
bool pt_names_hold(struct pt_names *names);
/* The same for the process that has just made the map, before its page names it. */
bool pt_names_hold_as_maker(struct pt_names *names);
/* One less; false: that was the last. */
bool pt_names_drop(struct pt_names *names);
/* Decrements the count of the map of that file, and removes the file if it was the last user.
 * Async-signal-safe. */
void pt_names_let_go(int dirfd, const char *file);
/* The same of a map that the caller has; file: in that user's directory, "": it has none; maker: it
 * is counted by pt_names_hold_as_maker(). */
void pt_names_release(struct pt_names *names, uid_t uid, const char *file, bool maker);
/* Reads bytes of the map in a file of that size, from at on. */
bool pt_names_read(int fd, int64_t size, size_t at, void *to, size_t bytes);
/* A new name for a map whose file is gone, and one more user, if link is a name of that map,
 * too.  Async-signal-safe. */
bool pt_names_name_again(struct pt_names *names, const char *link, char file[64]);
/* The name with which the map of that file was made; file may be a link of a segment's. */
bool pt_names_first_file(int dirfd, const char *file, char first[64]);

/*
 * Other processes can write the map.  A text in it may change, but there is always a NUL before the
 * mapping ends, because a private page of zeros follows the map.  A caller that needs the length,
 * or the same bytes twice, takes a copy by these functions; NULL: there is no such text, or it is
 * too long.
 * backed: where the caller keeps, from 0 on, that the memory of this name is reserved, so that the
 * next call for the id makes no system call; or NULL.
 */
const char *pt_names_read_name(const struct pt_names *names, uint32_t id,
                               char to[TRACE_EVENT_NAME_MAX + 1], pt_u64 *backed);
const char *pt_names_read_description(const struct pt_names *names, uint32_t id,
                                      char to[PT_DESCRIPTION_MAX + 1]);

/*
 * Finds the id of a name, and adds the name if create is set.  Predefined names have their
 * predefined ids.  If the map is full: the unnamed id.  *id 0: not found.  -ENOMEM: no memory for
 * the map's file.
 */
int pt_names_id(struct pt_names *names, const char *name, bool create, uint32_t *id);

/* Describes a type that has a name.  -EEXIST: there is another description; -ENOSPC:
 * no room for more; -ENOMEM as above. */
int pt_names_describe(struct pt_names *names, uint32_t id, const char *text);
/* NULL: there is none; checked. */
const char *pt_names_description(const struct pt_names *names, uint32_t id);
/* The same; *looked: how many of the list are not it, all that there were where it is NULL. */
const char *pt_names_find_description(const struct pt_names *names, uint32_t id, uint32_t *looked);
/* The i-th description in the list and its type.  NULL: after the last one, or not usable (then *id
 * is not 0). */
const char *pt_names_description_at(const struct pt_names *names, uint32_t i, uint32_t *id);

/* Has the list an i-th description, usable or not?  Makes no system call. */
static inline bool pt_names_has_description(const struct pt_names *names, size_t i)
{
    return i < PT_NAMES_COUNT && pt_load_acquire(&names->description[i]) != 0;
}

/* Marks the library's own system types as in use.  Async-signal-safe. */
static inline void pt_names_use_own(struct pt_names *names)
{
    if (pt_unlikely(pt_load_relaxed(&names->own_in_use) == 0))
        pt_store_relaxed(&names->own_in_use, (uint64_t)1);
}

static inline bool pt_names_own_in_use(const struct pt_names *names)
{
    return pt_load_relaxed(&names->own_in_use) != 0;
}

/* Reserves memory for the pages that hold these bytes of a map; for no bytes none. */
static inline int pt_names_back(const void *at, size_t bytes)
{
    uintptr_t from = (uintptr_t)at & ~(uintptr_t)(PT_PAGE - 1);
    uintptr_t to = ((uintptr_t)at + bytes + PT_PAGE - 1) & ~(uintptr_t)(PT_PAGE - 1);

    return bytes == 0 ? 0 : pt_sys_populate((void *)from, to - from);
}

/* A part of the map for texts.  Readers reserve memory for a longest text where one begins.  So do
 * writers: else a full file system would hide from all what they have stored. */
struct pt_names_part {
    const char *begin;
    uint32_t last;    /* where a text may begin at most */
    uint32_t longest; /* bytes, with the NUL */
};

/* Hands out bytes of the part from *off on, once there is memory for a longest text: without, a
 * full file system would use the part up.  -ENOSPC; -ENOMEM, also where another process changes
 * *used all the time. */
int pt_names_take(const struct pt_names_part *part, uint32_t *used, uint32_t bytes, uint32_t *off);

/* The name of an id, or NULL; checked, so also of hostile maps. */
const char *pt_names_get(const struct pt_names *names, uint32_t id);
/* One past the last id in use. */
uint32_t pt_names_end(const struct pt_names *names);

#endif
