/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* pt_seg_part(), see segment.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "base/sys.h"
#include "shm/onlook.h"

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

/* A private mapping in the place of the segment's.  A process that has as many mappings as the
 * kernel allows gets no other one: the segment's becomes inaccessible, which takes none. */
static void *hide(struct pt_seg *seg)
{
    void *own = mmap(seg->h, seg->size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

    if (own == MAP_FAILED)
        mprotect(seg->h, seg->size, PROT_NONE);
    return own;
}

/* Parts that cannot be copied stay inaccessible: the half event must not write into the shared
 * memory, even if that ends the child. */
int pt_seg_part(struct pt_seg *seg, struct pt_seg *shared, const struct pt_author *author)
{
    int saved = errno, r = -ENOMEM;
    void *again = mremap(seg->h, 0, seg->size, MREMAP_MAYMOVE);
    void *own = hide(seg);

    *shared = *seg;
    shared->older = NULL;
    shared->h = again == MAP_FAILED ? NULL : again;
    if (own != MAP_FAILED && shared->h && copy_for(shared, own)) {
        copy_heads(shared, own, author);
        r = 0;
    }
    errno = saved;
    return r;
}
