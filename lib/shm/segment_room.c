/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * The part of a segment that a process maps if its address space is limited.
 *
 * A segment has addresses for one chunk of each possible writer
 * (docs/decisions/0018-growth.md).  RLIMIT_AS counts all of them, and so does
 * RLIMIT_MEMLOCK after mlockall(MCL_FUTURE), although most never get memory.  A process that cannot
 * map the whole segment maps the first chunks, as many as fit twice, so that it leaves the same
 * amount to the program, and to pt_seg_part() in a forked child.  It uses no other chunks.  Events
 * that find no room in these are lost for lack of memory.  If not even one chunk fits, it maps the
 * header and the table of processes, where it counts its losses.
 *
 * A reader has to see every chunk in use.  It maps at least those, or fails.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "base/assert.h"
#include "shm/segment_map.h"

#define LIMIT_PART 8u /* a stream's growth takes up to this part of the address space */

/* Header and table of processes. */
#define LEAN_BYTES \
    (sizeof(struct pt_seg_header) + pt_seg_page_up(PT_PROC_MAX * sizeof(struct pt_proc)))

static uint64_t space_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

uint64_t pt_seg_growth_bytes(void)
{
    uint64_t part = space_limit() / LIMIT_PART;

    return part < PT_GROWTH_BYTES ? part : PT_GROWTH_BYTES;
}

/* Inaccessible private memory counts where a mapping of the file would count. */
bool pt_seg_has_space(uint64_t bytes)
{
    void *p = MAP_FAILED;

    if (bytes <= PTRDIFF_MAX)
        p = mmap(NULL, (size_t)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                 0);
    if (p == MAP_FAILED)
        return false;
    munmap(p, (size_t)bytes);
    return true;
}

static uint64_t bytes_for(const struct pt_geometry *g, uint32_t chunks)
{
    return pt_seg_page_up(g->chunks_off + (uint64_t)chunks * g->chunk_size);
}

/* How many chunks to map, at least so many; least 0: a writer, which leaves as much free. */
static uint32_t chunks_that_fit(const struct pt_geometry *g, uint32_t least)
{
    uint64_t growth = pt_seg_growth_bytes() / g->chunk_size;
    uint32_t base = g->base_chunks, n = g->chunk_max;

    if (n - base > growth)
        n = base + (uint32_t)growth;
    while (n > least && !pt_seg_has_space(bytes_for(g, n) << (least == 0)))
        n = n > base ? base + (n - base) / 2 : n / 2;
    pt_assert(n <= g->chunk_max);
    return n > least ? n : least;
}

/* Maps the header, then the parts that the header describes. */
static int map_some(struct pt_seg *seg, int fd, uint64_t size, bool to_write)
{
    int r = pt_seg_map(seg, fd, LEAN_BYTES < size ? LEAN_BYTES : size);
    struct pt_seg more;
    uint32_t n;

    if (r == 0)
        r = pt_seg_validate(&seg->g, seg->h, size);
    if (r == 0 && seg->g.infos_off > seg->size)
        r = -EINVAL;
    if (r < 0)
        return r;
    n = chunks_that_fit(&seg->g, to_write ? 0 : pt_seg_chunk_count(seg));
    more = *seg;
    r = n ? pt_seg_map(&more, fd, bytes_for(&seg->g, n)) : 0;
    if (r < 0 && !to_write)
        return r;
    if (n && r == 0) {
        pt_seg_unmap(seg);
        *seg = more;
        pt_assert(seg->size >= bytes_for(&seg->g, n));
        seg->chunk_reach = n;
    }
    return 0;
}

int pt_seg_map_file(struct pt_seg *seg, int fd, uint64_t size, bool to_write)
{
    int saved = errno, r = space_limit() == UINT64_MAX ? pt_seg_map(seg, fd, size) : -ENOMEM;

    if (r == -ENOMEM) {
        r = map_some(seg, fd, size, to_write);
    } else if (r == 0) {
        r = pt_seg_validate(&seg->g, seg->h, size);
        seg->chunk_reach = seg->g.chunk_max;
    }
    errno = saved;
    return r;
}
