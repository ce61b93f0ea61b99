/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* What a forked child does with its parent's mappings, see segment.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "base/sys.h"
#include "shm/onlook.h"
#include "shm/segment_map.h"

static bool is_by(const struct pt_seg *seg, uint64_t word, const struct pt_author *author)
{
    const struct pt_slot *s;

    if (pt_word_state(word) != PT_CHUNK_OWNED || pt_word_slot(word) >= seg->slots_open)
        return false;
    s = pt_seg_slot(seg, pt_word_slot(word));
    return s->author.pid == author->pid && s->author.tid == author->tid;
}

static void copy(const struct pt_seg *seg, char *to, const void *from, size_t bytes)
{
    memcpy(to + ((const char *)from - (const char *)seg->h), from, bytes);
}

/*
 * The accessible bytes of the copy.  The event may have added a chunk that this mapping does not
 * have yet, and not have stored to it.  That can only be the first chunk not in use (grow in
 * pool.c), and the header has the present number.  The rest of the mapping is not accessible,
 * because writable private memory counts for RLIMIT_DATA.
 */
static size_t bytes_of(const struct pt_seg *seg)
{
    uint32_t open = seg->chunks_open, n = pt_seg_chunk_count(seg) + 1;

    if (n > seg->chunk_reach)
        n = seg->chunk_reach;
    return n == 0 ? seg->size
                  : (size_t)((const char *)pt_seg_chunk(seg, open > n ? open : n) -
                             (const char *)seg->h);
}

/*
 * Copies the parts that a writer loads before it writes: all but the chunks, and the heads of its
 * own chunks.  The contents of these chunks are not needed here.  The parent may have filled or
 * closed them since the fork, but a writer that has already found room must still have it.  Only
 * parts of the segment that have memory are read, because reading others would allocate it.  A
 * process that has mapped a part of the segment has the first chunks, or no chunks and no slots.
 */
static bool copy_for(const struct pt_seg *seg, char *to)
{
    uint32_t open = seg->chunks_open, base = seg->g.base_chunks;

    if (mprotect(to, bytes_of(seg), PROT_READ | PROT_WRITE) < 0)
        return false;
    copy(seg, to, seg->h, sizeof *seg->h);
    if (seg->chunk_reach == 0)
        return true;
    copy(seg, to, pt_seg_info(seg, 0), (open > base ? open : base) * sizeof(struct pt_info));
    copy(seg, to, pt_seg_slot(seg, 0), seg->slots_open * sizeof(struct pt_slot));
    return true;
}

/* Where the parent has shut the stream down since the fork, the chunks may have no memory, and no
 * more is loaded from them than from a chunk that was never used.  They keep it while this process
 * is an onlooker.  If it is the last one, they keep it as long as a process maps them: to give
 * memory back takes an allocation, for which this is no place. */
static void copy_heads(struct pt_seg *seg, char *to, const struct pt_author *author)
{
    uint32_t open = seg->chunk_reach == 0 ? 0 : seg->chunks_open;
    struct pt_onlook onlook;

    if (pt_onlook_begin(&onlook, seg) < 0)
        open = 0;
    for (uint32_t i = 0; i < open; i++) {
        const struct pt_chunk *c = pt_seg_chunk(seg, i);

        if (!is_by(seg, pt_load_acquire(&pt_seg_info(seg, i)->word), author))
            continue;
        copy(seg, to, c, sizeof *c);
        ((struct pt_chunk *)(void *)(to + ((const char *)c - (const char *)seg->h)))
            ->commit = sizeof *c;
    }
    pt_onlook_end(&onlook, seg);
}

/* Header and table of processes, a second time. */
static void *map_head(const struct pt_seg *seg)
{
    void *p = mremap(seg->h, 0, pt_seg_page_up(sizeof *seg->h), MREMAP_MAYMOVE);

    return p == MAP_FAILED ? NULL : p;
}

/* The whole, without access: mlockall(MCL_FUTURE) would give memory to all that is accessible. */
static char *map_whole(const struct pt_seg *seg)
{
    size_t head = pt_seg_page_up(sizeof *seg->h);
    void *p = map_head(seg), *whole;

    if (!p)
        return NULL;
    whole = mprotect(p, head, PROT_NONE) < 0 ? MAP_FAILED
                                             : mremap(p, head, seg->size, MREMAP_MAYMOVE);
    if (whole == MAP_FAILED)
        munmap(p, head);
    return whole == MAP_FAILED ? NULL : whole;
}

/* Access to what seg can touch. */
static bool open_parts(const struct pt_seg *seg, char *at)
{
    const struct pt_geometry *g = &seg->g;
    uint64_t slots = g->slots_off + (uint64_t)seg->slots_open * sizeof(struct pt_slot);
    uint64_t from = g->chunks_off & ~(uint64_t)(PT_PAGE - 1);
    uint64_t to = g->chunks_off + (uint64_t)seg->chunks_open * g->chunk_size;

    if (seg->chunk_reach == 0)
        return mprotect(at, seg->size, PROT_READ | PROT_WRITE) == 0;
    return mprotect(at, pt_seg_page_up(slots), PROT_READ | PROT_WRITE) == 0 &&
           (seg->chunks_open == 0 ||
            mprotect(at + from, pt_seg_page_up(to) - from, PROT_READ | PROT_WRITE) == 0);
}

static char *map_open(const struct pt_seg *seg)
{
    char *whole = map_whole(seg);

    if (whole && !open_parts(seg, whole)) {
        munmap(whole, seg->size);
        whole = NULL;
    }
    return whole;
}

/* Not under valgrind. */
static bool can_map_again(const struct pt_seg *seg)
{
    void *p = map_head(seg);

    if (p)
        munmap(p, pt_seg_page_up(sizeof *seg->h));
    return p;
}

/* Infos, slots and chunks. */
static char *shielded(const struct pt_seg *seg)
{
    return (char *)seg->h + seg->g.infos_off;
}

static uint64_t shielded_bytes(const struct pt_seg *seg)
{
    return seg->size - seg->g.infos_off;
}

void pt_seg_shield(struct pt_seg *seg)
{
    int saved = errno;

    if (!seg->shielded && seg->chunk_reach && can_map_again(seg)) {
        seg->shielded = true; /* first: another thread may fork in between */
        seg->shielded = madvise(shielded(seg), shielded_bytes(seg), MADV_DONTFORK) == 0;
    }
    errno = saved;
}

void pt_seg_plug(const struct pt_seg *seg)
{
    int saved = errno;

    if (seg->shielded)
        mmap(shielded(seg), shielded_bytes(seg), PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    errno = saved;
}

void pt_seg_restore(struct pt_seg *seg)
{
    int saved = errno;
    char *whole = seg->shielded ? map_whole(seg) : NULL;

    if (!whole)
        return;
    if (mremap(whole + seg->g.infos_off, shielded_bytes(seg), shielded_bytes(seg),
               MREMAP_MAYMOVE | MREMAP_FIXED, shielded(seg)) != MAP_FAILED) {
        munmap(whole, seg->g.infos_off);
        open_parts(seg, (char *)seg->h);
        pt_seg_avoid_huge_pages(seg);
        seg->shielded = false;
    } else {
        munmap(whole, seg->size);
    }
    errno = saved;
}

/* What the parent could touch has memory.  By its file where memory is locked, and too little may
 * be. */
int pt_seg_map_again(struct pt_seg *again, const struct pt_seg *seg)
{
    int saved = errno;

    *again = *seg;
    again->older = NULL;
    again->shielded = false;
    again->h = (void *)map_open(seg);
    if (again->h)
        pt_seg_avoid_huge_pages(again);
    errno = saved;
    if (again->h)
        return 0;
    return seg->file[0] ? pt_seg_open_to_write(again, seg->file) : -ENOMEM;
}

/* Parts that cannot be copied stay inaccessible: the half event must not write into the shared
 * memory, even if that ends the child. */
int pt_seg_part(struct pt_seg *seg, struct pt_seg *shared, const struct pt_author *author)
{
    int saved = errno, r = -ENOMEM;
    void *again = map_open(seg);
    void *own = mmap(seg->h, seg->size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

    *shared = *seg;
    shared->older = NULL;
    shared->shielded = false;
    shared->h = again;
    if (own != MAP_FAILED && shared->h && copy_for(shared, own)) {
        copy_heads(shared, own, author);
        r = 0;
    }
    errno = saved;
    return r;
}
