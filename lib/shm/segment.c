/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See segment.h, layout.h, and segment_map.h for the other files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/annotate.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/open_above.h"
#include "base/sys.h"
#include "place/dir.h"
#include "place/place.h"
#include "shm/onlook.h"
#include "shm/segment_map.h"
#include "shm/slot.h"

#define PAGE       PT_PAGE
#define HUGE_BYTES (4u << 20)

int pt_seg_map(struct pt_seg *seg, int fd, uint64_t size)
{
    int error;
    void *p = pt_dir_map(fd, size, PROT_NONE, &error);
    struct stat st;

    if (!p)
        return error;
    pt_now_accessible(p, size);
    seg->h = p;
    seg->size = size;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        seg->dev = st.st_dev;
        seg->ino = st.st_ino;
    }
    error = mprotect(p, pt_seg_page_up(sizeof *seg->h), PROT_READ | PROT_WRITE) < 0
                ? -errno
                : pt_sys_populate(p, pt_seg_page_up(sizeof *seg->h));
    if (error < 0) {
        munmap(p, size);
        seg->h = NULL;
    }
    return error;
}

/* A huge page would make a 64 KiB stream cost 2 MiB, and each further writer's chunk too. */
static void avoid_huge_pages(const struct pt_seg *seg)
{
    uint64_t bytes = (uint64_t)seg->g.base_chunks * seg->g.chunk_size;
    uint64_t from = bytes < HUGE_BYTES ? 0 : pt_seg_page_up(seg->g.chunks_off + bytes);

    if (from < seg->size)
        madvise((char *)seg->h + from, seg->size - from, MADV_NOHUGEPAGE);
}

/* Opens the processes and the infos in this mapping, and backs the infos of the base.  The
 * creator of the file has reserved those; a forged file may have holes there. */
int pt_seg_open_base(struct pt_seg *seg)
{
    const struct pt_geometry *g = &seg->g;
    char *base = (char *)seg->h;
    uint32_t end = seg->chunk_reach ? g->slots_off : g->infos_off;

    if (mprotect(base + g->procs_off, end - g->procs_off, PROT_READ | PROT_WRITE) < 0)
        return -errno;
    avoid_huge_pages(seg);
    seg->slots_open = seg->chunks_open = 0;
    return seg->chunk_reach ? pt_sys_populate(base + g->infos_off, pt_seg_infos_end(g->base_chunks))
                            : 0;
}

struct pt_seg_header *pt_seg_new_headers(size_t count)
{
    struct pt_seg_header *h = aligned_alloc(_Alignof(struct pt_seg_header), count * sizeof *h);

    if (h)
        memset(h, 0, count * sizeof *h);
    return h;
}

bool pt_seg_is_name(const char *file)
{
    size_t n = strnlen(file, 64);

    return n < 64 && n > 6 && strncmp(file, "s-", 2) == 0 && strcmp(file + n - 4, ".seg") == 0 &&
           !strchr(file, '/');
}

/* Checks the fields that determine the layout, each loaded once. */
static bool is_of_this_layout(const struct pt_seg_header *h, uint64_t size)
{
    uint32_t word_size;

    if (size < sizeof *h || pt_load_acquire(&h->magic) != PT_SEG_MAGIC ||
        pt_load_relaxed(&h->layout) != PT_SEG_LAYOUT ||
        pt_load_relaxed(&h->byte_order) != PT_BYTE_ORDER ||
        pt_load_relaxed(&h->header_size) != sizeof *h || pt_load_relaxed(&h->size) != size)
        return false;
    word_size = pt_load_relaxed(&h->word_size);
    return word_size == 4 || word_size == 8;
}

void pt_seg_load_geometry(struct pt_geometry *g, const struct pt_seg_header *h)
{
    g->procs_off = pt_load_relaxed(&h->procs_off);
    g->infos_off = pt_load_relaxed(&h->infos_off);
    g->slots_off = pt_load_relaxed(&h->slots_off);
    g->chunks_off = pt_load_relaxed(&h->chunks_off);
    g->chunk_size = pt_load_relaxed(&h->chunk_size);
    g->chunk_max = pt_load_relaxed(&h->chunk_max);
    g->base_chunks = pt_load_relaxed(&h->base_chunks);
    g->owner_pid = pt_load_relaxed(&h->owner_pid);
    g->has_log = pt_load_relaxed(&h->has_log);
    g->owner_start = pt_load_relaxed(&h->owner_start);
    g->clock = pt_load_relaxed(&h->clock);
    g->fences = pt_load_relaxed(&h->fences);
    pt_copy_unchecked(&g->attr, &h->attr, sizeof g->attr);
    /* The compiler must not take a value from the header again. */
    __asm__ volatile("" : : "r"(g) : "memory");
}

static bool sizes_fit(const struct pt_geometry *g, uint64_t size)
{
    uint64_t chunks = (uint64_t)g->chunk_max * g->chunk_size;

    if (g->chunk_size < PT_CHUNK_MIN || g->chunk_size > PT_CHUNK_MAX ||
        (g->chunk_size & (g->chunk_size - 1)) || g->chunk_max >= 1u << 26 ||
        g->base_chunks > g->chunk_max)
        return false;
    return g->procs_off % PAGE == 0 && g->procs_off >= sizeof(struct pt_seg_header) &&
           g->procs_off + (uint64_t)PT_PROC_MAX * sizeof(struct pt_proc) <= g->infos_off &&
           g->infos_off % PAGE == 0 && g->slots_off % PT_COLOUR_BYTES == 0 &&
           g->chunks_off % PT_COLOUR_BYTES == 0 &&
           g->infos_off + (uint64_t)g->chunk_max * sizeof(struct pt_info) <= g->slots_off &&
           g->slots_off + (uint64_t)PT_SLOT_MAX * sizeof(struct pt_slot) <= g->chunks_off &&
           g->chunks_off + chunks <= size;
}

int pt_seg_validate(struct pt_geometry *g, const struct pt_seg_header *h, uint64_t size)
{
    if (!is_of_this_layout(h, size))
        return -EINVAL;
    pt_seg_load_geometry(g, h);
    if (!sizes_fit(g, size) || g->clock < PT_CLOCK_TSC || g->clock > PT_CLOCK_MONOTONIC)
        return -EINVAL;
    return pt_attr_check(&g->attr, g->has_log != 0);
}

int pt_seg_read_header(int dir, uid_t uid, const char *file, struct pt_seg_header *h,
                       struct stat *st)
{
    int fd = openat(dir, file, O_RDONLY | PT_OPEN_BRIEFLY), r = -EINVAL;
    struct pt_geometry g;

    if (fd < 0)
        return -errno;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == uid &&
        pread(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h)
        r = pt_seg_validate(&g, h, (uint64_t)st->st_size);
    close(fd);
    return r;
}

int pt_seg_look_at_owner(int dir, uid_t uid, const char *file, struct pt_seg_header *h,
                         struct stat *st, enum pt_liveness *is)
{
    int r = 0;

    *is = pt_owner_liveness(h, st->st_dev, st->st_ino);
    if (*is == PT_DEAD)
        r = pt_seg_read_header(dir, uid, file, h, st);
    if (r < 0)
        *is = PT_UNKNOWN;
    return r;
}

bool pt_seg_is_ours(int fd, struct stat *st)
{
    return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == pt_place_uid() &&
           st->st_size >= (off_t)sizeof(struct pt_seg_header);
}

static int open_file(struct pt_seg *seg, const char *file, bool to_write)
{
    int saved = errno, dir = pt_dir_open(false), fd = -1, r = 0;
    struct stat st;

    memset(seg, 0, sizeof *seg);
    seg->uid = pt_place_uid();
    if (dir >= 0) {
        fd = pt_open_above(dir, file, O_RDWR | PT_OPEN_BRIEFLY, 0);
        close(dir);
    }
    if (fd < 0) {
        r = dir < 0 ? dir : -errno;
        goto out;
    }
    r = pt_seg_is_ours(fd, &st) ? pt_seg_map_file(seg, fd, (uint64_t)st.st_size, to_write)
                                : -EINVAL;
    if (r == 0)
        r = pt_seg_open_base(seg);
    strncpy(seg->file, file, sizeof seg->file - 1);
    if (r < 0)
        pt_seg_unmap(seg);
    close(fd);
out:
    errno = saved;
    return r;
}

int pt_seg_open(struct pt_seg *seg, const char *file)
{
    return open_file(seg, file, false);
}

int pt_seg_open_to_write(struct pt_seg *seg, const char *file)
{
    return open_file(seg, file, true);
}

/* Frees the whole pages in [from, to). */
static void release_bytes(struct pt_seg *seg, uint64_t from, uint64_t to)
{
    from = pt_seg_page_up(from);
    to &= ~(uint64_t)(PAGE - 1);
    if (from < to)
        madvise((char *)seg->h + from, to - from, MADV_REMOVE);
}

/* The counts of our writers, as at a change of chunk (slot.h): they must not be taken from a
 * commit word that is given back. */
static void settle_writers(struct pt_seg *seg, uint32_t pid)
{
    uint32_t slots = pt_slot_count(seg);

    for (uint32_t i = 0; i < slots; i++) {
        struct pt_slot *s = pt_seg_slot(seg, i);

        if ((uint32_t)s->author.pid != pid || pt_load_acquire(&s->chunk) == 0 ||
            !pt_slot_is_live(pt_load_acquire(&s->state))) /* its thread does this just now */
            continue;
        pt_store_release(&s->next_no, pt_slot_recorded(seg, i));
        pt_store_release(&s->chunk, 0u);
    }
}

/* The chunks of writers of other processes, also where who ended the writer was killed. */
static void mark_late(struct pt_seg *seg, uint32_t chunks, bool *late)
{
    uint32_t slots = pt_slot_count(seg);

    for (uint32_t i = 0; i < slots; i++) {
        uint32_t chunk = pt_load_acquire(&pt_seg_slot(seg, i)->chunk);

        if (chunk != 0 && chunk <= chunks)
            late[chunk - 1] = true;
    }
}

/* In this order: a reader that has copied from a chunk finds its word (layout.h). */
static void give_back(struct pt_seg *seg)
{
    uint64_t from = seg->g.chunks_off, at = from;
    uint32_t chunks = pt_seg_reachable(seg, pt_seg_chunk_count(seg));
    bool *late = calloc(chunks + 1, sizeof *late);

    if (!late)
        return;
    mark_late(seg, chunks, late);
    for (uint32_t i = 0; i < chunks; i++)
        pt_store_relaxed(&pt_seg_info(seg, i)->word, 0u);
    pt_fence_seqcst();
    for (uint32_t i = 0; i < chunks; i++, at += seg->g.chunk_size)
        if (late[i]) {
            release_bytes(seg, from, at);
            from = at + seg->g.chunk_size;
        }
    release_bytes(seg, from, at);
    free(late);
}

void pt_seg_release(struct pt_seg *seg, uint32_t pid)
{
    settle_writers(seg, pid);
    if (pt_onlook_give(seg))
        give_back(seg);
}

void pt_seg_end_onlook(struct pt_seg *seg, struct pt_onlook *o)
{
    if (pt_onlook_end(o, seg))
        give_back(seg);
}

void pt_seg_unmap(struct pt_seg *seg)
{
    if (seg->h)
        munmap(seg->h, seg->size);
    seg->h = NULL;
}

void pt_seg_names_file(const char *segment, char file[64])
{
    strcpy(file, segment);
    strcpy(strrchr(file, '.'), ".names");
}

/* Does not use the name in the header: root, when it traces another user's process, must not remove
 * a file that this user chooses. */
void pt_seg_remove(int dir, const char *segment)
{
    char names[64];

    pt_seg_names_file(segment, names);
    unlinkat(dir, segment, 0);
    unlinkat(dir, names, 0);
}

bool pt_seg_unlink(const struct pt_seg *seg)
{
    bool gone;
    int dir;

    if (!seg->file[0])
        return true;
    dir = pt_dir_open_of(seg->uid, false);
    if (dir < 0)
        return dir == -ENOENT;
    pt_seg_remove(dir, seg->file);
    gone = faccessat(dir, seg->file, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
    close(dir);
    return gone;
}

uint32_t pt_seg_reachable(struct pt_seg *seg, uint32_t n)
{
    uint32_t open = pt_load_acquire(&seg->chunks_open);

    if (n > seg->chunk_reach)
        n = seg->chunk_reach;
    return n <= open || pt_seg_reach_chunks(seg, n) == 0 ? n : open;
}

/* Opens [from, to) bytes of the mapping, in whole pages. */
static int open_bytes(struct pt_seg *seg, uint64_t from, uint64_t to)
{
    int saved = errno, r = 0;

    from &= ~(uint64_t)(PAGE - 1);
    to = pt_seg_page_up(to);
    pt_assert_call(from <= to);
    if (to > seg->size || mprotect((char *)seg->h + from, to - from, PROT_READ | PROT_WRITE) < 0)
        r = -ENOMEM;
    errno = saved;
    return r;
}

static int populate_bytes(struct pt_seg *seg, uint64_t from, uint64_t to,
                          int (*populate)(void *, size_t))
{
    int saved = errno, r;

    from &= ~(uint64_t)(PAGE - 1);
    to = pt_seg_page_up(to);
    r = to > seg->size ? -ENOMEM : populate((char *)seg->h + from, to - from);
    errno = saved;
    return r;
}

/* Backs them with memory. */
static int back_bytes(struct pt_seg *seg, uint64_t from, uint64_t to)
{
    return populate_bytes(seg, from, to, pt_sys_populate);
}

static int reach(struct pt_seg *seg, uint64_t from, uint64_t to)
{
    int r = open_bytes(seg, from, to);

    return r == 0 ? back_bytes(seg, from, to) : r;
}

/* The private part: what another process cannot change. */
PT_VALIDATOR bool is_valid(const struct pt_seg *seg)
{
    const struct pt_geometry *g = &seg->g;
    uint32_t chunks = pt_load_acquire(&seg->chunks_open);

    return g->chunk_size >= PT_CHUNK_MIN && (g->chunk_size & (g->chunk_size - 1)) == 0 &&
           g->base_chunks <= g->chunk_max && seg->chunk_reach <= g->chunk_max &&
           chunks <= seg->chunk_reach && pt_load_acquire(&seg->slots_open) <= PT_SLOT_MAX &&
           g->procs_off < g->infos_off && g->infos_off < g->slots_off &&
           g->slots_off < g->chunks_off &&
           (chunks == 0 || g->chunks_off + (uint64_t)chunks * g->chunk_size <= seg->size);
}
int pt_seg_reach_slots(struct pt_seg *seg, uint32_t count)
{
    uint32_t open = pt_load_acquire(&seg->slots_open), want;
    int r;

    if (count <= open)
        return 0;
    if (count > PT_SLOT_MAX)
        return -ENOMEM;
    pt_assert_valid(is_valid(seg));
    want = (count + PT_SEG_SLOT_STEP - 1) / PT_SEG_SLOT_STEP * PT_SEG_SLOT_STEP;
    r = reach(seg, seg->g.slots_off + (uint64_t)open * sizeof(struct pt_slot),
              seg->g.slots_off + (uint64_t)want * sizeof(struct pt_slot));
    while (r == 0 && open < want && !pt_cas_seqcst(&seg->slots_open, &open, want))
        ;
    pt_assert(r < 0 || pt_load_acquire(&seg->slots_open) >= count);
    return r;
}

/* Memory of the base's chunks has been reserved by the creator; populate maps it in. */
static int reach_chunks(struct pt_seg *seg, uint32_t count, int (*populate)(void *, size_t))
{
    const struct pt_geometry *g = &seg->g;
    uint32_t open = pt_load_acquire(&seg->chunks_open), base = g->base_chunks;
    uint64_t at = g->chunks_off, size = g->chunk_size, infos = pt_seg_infos_end(count);
    uint32_t own = count < base ? count : base; /* these have memory of their own */
    int r;

    if (count <= open)
        return 0;
    if (count > g->chunk_max || count > seg->chunk_reach)
        return -ENOMEM;
    r = open_bytes(seg, at + open * size, at + count * size);
    if (r == 0 && open < own)
        r = populate_bytes(seg, at + open * size, at + own * size, populate);
    if (r == 0 && infos > pt_seg_infos_end(open > base ? open : base))
        r = back_bytes(seg, g->infos_off, g->infos_off + infos);
    while (r == 0 && open < count && !pt_cas_seqcst(&seg->chunks_open, &open, count))
        ;
    pt_assert(r < 0 || pt_load_acquire(&seg->chunks_open) >= count);
    pt_assert_valid(is_valid(seg));
    return r;
}

int pt_seg_make_base(struct pt_seg *seg)
{
    return reach_chunks(seg, seg->g.base_chunks, pt_sys_populate);
}

int pt_seg_reach_chunks(struct pt_seg *seg, uint32_t count)
{
    return reach_chunks(seg, count, pt_sys_populate_read);
}

uint32_t pt_seg_backed(const struct pt_seg *seg, uint32_t i)
{
    uint32_t size = seg->g.chunk_size, backed;

    if (i < seg->g.base_chunks)
        return size;
    backed = pt_load_acquire(&pt_seg_chunk(seg, i)->backed);
    return backed < size ? backed : size;
}

/* To the end of a page, or of the chunk.  Of several at once the farthest counts. */
int pt_seg_back_chunk(struct pt_seg *seg, uint32_t i, uint32_t bytes)
{
    uint64_t size = seg->g.chunk_size, at = seg->g.chunks_off + i * size;
    uint64_t end = pt_seg_page_up(at + bytes) - at;
    uint32_t *backed = &pt_seg_chunk(seg, i)->backed, was, now;
    int r;

    now = (uint32_t)(end < size ? end : size);
    pt_assert(now > 0 && now <= size);
    r = back_bytes(seg, at, at + now);
    if (r < 0)
        return r;
    was = pt_load_relaxed(backed);
    while (was < now && !pt_cas_seqcst(backed, &was, now))
        ;
    return 0;
}

int pt_seg_add_proc(struct pt_seg *seg, uint32_t n)
{
    uint64_t at = (uint64_t)n * sizeof(struct pt_proc), from = seg->g.procs_off + at;
    int r = 0;

    if (n >= PT_PROC_MAX)
        return -EAGAIN;
    if (at % PAGE == 0)
        r = back_bytes(seg, from, from + sizeof(struct pt_proc));
    if (r == 0)
        pt_cas_seqcst(&seg->h->nprocs, &n, n + 1);
    return r;
}
