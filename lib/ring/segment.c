/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See segment.h and layout.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/annotate.h"
#include "base/clock.h"
#include "base/sys.h"
#include "ring/dir.h"
#include "ring/liveness.h"
#include "ring/segment.h"

#define PAGE PT_PAGE
#define COLOUR_BYTES 128u
#define COLOURS      32u
#define SLOT_STEP 64u    /* slots that are opened at a time: six pages */
#define HUGE_BYTES (4u << 20)
/* A stream that does not fit into the directory's file system gets memory
 * without a name only up to here: tmpfs has a limit for a reason. */
#define NAMELESS_MAX (256u << 20)
#define COPY_MAX ((uint64_t)1 << (sizeof(void *) > 4 ? 40 : 31))

static uint64_t page_up(uint64_t n)
{
    return (n + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* R: the largest record group; see the formula in posixtrace(7). */
static uint64_t largest_group(const struct pt_attr *attr)
{
    uint64_t user = pt_attr_max_user_event(attr, attr->max_data);
    uint64_t system = pt_attr_max_system_event(attr);

    return user > system ? user : system;
}

void pt_seg_geometry(const struct pt_attr *attr, uint32_t *chunk_size, uint32_t *base_chunks)
{
    uint64_t r = largest_group(attr), want = 2 * r + sizeof(struct pt_chunk);
    uint64_t payload, n;

    if (want < attr->stream_size / 256)
        want = attr->stream_size / 256;
    *chunk_size = PT_CHUNK_MIN;
    while (*chunk_size < want && *chunk_size < PT_CHUNK_MAX)
        *chunk_size *= 2;
    payload = *chunk_size - sizeof(struct pt_chunk);
    n = (attr->stream_size + payload - r + 7) / (payload - r + 8);
    *base_chunks = n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}

/*
 * Streams of one process begin their chunks at different places in a page.  An
 * event in several streams stores and loads at the same place of each chunk; a
 * processor that compares the low 12 bits first would hold up a load of one
 * stream behind a store to another.
 */
static uint32_t next_colour(void)
{
    static uint32_t count;

    return pt_add_relaxed(&count, 1u) % COLOURS * COLOUR_BYTES;
}

/* -ENOMEM for what could never be mapped. */
static int lay_out(struct pt_seg_header *h, const struct pt_seg_request *q)
{
    uint64_t infos, slots, chunks, count;

    pt_seg_geometry(&q->attr, &h->chunk_size, &h->base_chunks);
    count = h->base_chunks + (uint64_t)PT_GROWTH_BYTES / h->chunk_size;
    if (count >= 1u << 26 || count * h->chunk_size > (uint64_t)1 << (sizeof(void *) > 4 ? 40 : 30))
        return -ENOMEM;
    h->chunk_max = (uint32_t)count;
    infos = page_up(sizeof *h);
    slots = page_up(infos + count * sizeof(struct pt_info));
    chunks = page_up(slots + (uint64_t)PT_SLOT_MAX * sizeof(struct pt_slot)) + next_colour();
    if (chunks > UINT32_MAX)
        return -ENOMEM;
    h->infos_off = (uint32_t)infos;
    h->slots_off = (uint32_t)slots;
    h->chunks_off = (uint32_t)chunks;
    h->size = page_up(chunks + count * h->chunk_size);
    return 0;
}

static void fill_header(struct pt_seg_header *h, const struct pt_seg_request *q)
{
    struct pt_identity self;

    pt_identity_self(&self);
    h->layout = PT_SEG_LAYOUT;
    h->byte_order = PT_BYTE_ORDER;
    h->word_size = sizeof(long);
    h->header_size = sizeof *h;
    h->owner_pid = self.pid;
    h->owner_start = self.start;
    memcpy(h->boot_id, self.boot_id, sizeof h->boot_id);
    h->pid_ns = self.pid_ns;
    h->has_log = q->with_log;
    h->clock = q->clock;
    h->fences = q->fences;
    h->attr = q->attr;
    h->attr.create_ns = q->create_ns;
    h->created = pt_clock_ns(CLOCK_BOOTTIME);
    pt_set_empty(&h->filters[0]);
    h->next_gen = 1;
    h->next_close = 1;
    h->next_wid = 2;       /* 0: control writer, 1: events made by readers */
    h->lost_first_ts = UINT64_MAX;
    h->nchunks = h->base_chunks;
}

/* Maps all of it without access, then opens what is backed. */
static int map_file(struct pt_seg *seg, int fd, uint64_t size)
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
    /* A huge page would make a 64 KiB stream cost 2 MiB. */
    if (size < HUGE_BYTES + PT_GROWTH_BYTES)
        madvise(p, size, MADV_NOHUGEPAGE);
    error = mprotect(p, page_up(sizeof *seg->h), PROT_READ | PROT_WRITE) < 0 ? -errno
            : pt_sys_populate(p, page_up(sizeof *seg->h));
    if (error < 0) {
        munmap(p, size);
        seg->h = NULL;
    }
    return error;
}

/* Opens the infos in this mapping.  Who made the file has reserved them; in a
 * forged one there may be holes. */
static int open_base(struct pt_seg *seg)
{
    struct pt_seg_header *h = seg->h;
    char *infos = (char *)h + h->infos_off;
    size_t bytes = h->slots_off - h->infos_off;

    if (mprotect(infos, bytes, PROT_READ | PROT_WRITE) < 0)
        return -errno;
    seg->slots_open = seg->chunks_open = 0;
    return pt_sys_populate(infos, page_up((uint64_t)h->chunk_max * sizeof(struct pt_info)));
}

static uint64_t base_reserve(const struct pt_seg_header *h)
{
    return page_up(sizeof *h);
}

/* The base pages lie in three places; fallocate each, so that nothing of the
 * promised size can be missing later. */
static int reserve(int fd, const struct pt_seg_header *h)
{
    const struct { uint64_t off, len; } parts[] = {
        { h->infos_off, h->slots_off - h->infos_off },
        { h->slots_off, (uint64_t)SLOT_STEP * sizeof(struct pt_slot) },
        { h->chunks_off, (uint64_t)h->base_chunks * h->chunk_size },
    };

    for (unsigned i = 0; i < 3; i++)
        while (fallocate(fd, 0, (off_t)parts[i].off, (off_t)parts[i].len) < 0)
            if (errno != EINTR)
                return errno == ENOSPC ? -ENOMEM : -errno;
    return 0;
}

static int create_file(struct pt_seg *seg, const struct pt_seg_header *h, bool allow_named)
{
    bool named = false;
    int fd, r;

    if (allow_named)
        fd = pt_dir_new_file(seg->uid, seg->file, h->size, base_reserve(h), &named);
    else
        fd = memfd_create(seg->file, MFD_CLOEXEC);
    if (fd < 0)
        return allow_named ? fd : -errno;
    r = !allow_named && ftruncate(fd, (off_t)h->size) < 0 ? -errno : reserve(fd, h);
    if (r < 0) {
        if (named)
            pt_seg_unlink(seg);
        close(fd);
        return named && r == -ENOMEM ? -ENOSPC : r;
    }
    if (!named)
        seg->file[0] = '\0';
    return fd;
}

int pt_seg_create(struct pt_seg *seg, const struct pt_seg_request *request)
{
    struct pt_seg_header head;
    int fd, r;

    memset(&head, 0, sizeof head);
    r = lay_out(&head, request);
    if (r < 0)
        return r;
    fill_header(&head, request);
    seg->uid = request->for_other ? request->uid : geteuid();
    pt_sys_random(head.id, sizeof head.id);
    pt_dir_hex_name(seg->file, sizeof seg->file, 's', head.id, ".seg");
    fd = create_file(seg, &head, true);
    if (request->for_other && fd >= 0 && !seg->file[0]) {
        close(fd);
        fd = -ENOMEM;
    } else if (request->for_other) {
        fd = fd >= 0 || fd == -EMFILE || fd == -ENFILE ? fd : -ENOMEM;
    } else if (fd == -ENOSPC && (uint64_t)head.base_chunks * head.chunk_size <= NAMELESS_MAX)
        fd = create_file(seg, &head, false);   /* a tiny /dev/shm: memory without a name */
    if (fd == -EFBIG)
        seg->file[0] = '\0';
    r = map_file(seg, fd, head.size);
    if (r == 0) {
        memcpy(seg->h, &head, sizeof head);
        r = open_base(seg);
    }
    if (r == 0)
        r = pt_seg_reach_slots(seg, SLOT_STEP);
    if (r == 0)
        r = pt_seg_reach_chunks(seg, head.base_chunks);
    if (r < 0) {
        pt_seg_unlink(seg);
        pt_seg_unmap(seg);
    } else {
        pt_store_release(&seg->h->magic, PT_SEG_MAGIC);
    }
    if (fd >= 0)
        close(fd);
    return r;
}

bool pt_seg_is_name(const char *file)
{
    size_t n = strnlen(file, 64);

    return n < 64 && n > 6 && strncmp(file, "s-", 2) == 0 && strcmp(file + n - 4, ".seg") == 0 &&
           !strchr(file, '/');
}

int pt_seg_validate(const struct pt_seg_header *h, uint64_t size)
{
    uint64_t chunks;

    if (size < sizeof *h || h->magic != PT_SEG_MAGIC || h->layout != PT_SEG_LAYOUT ||
        h->byte_order != PT_BYTE_ORDER || (h->word_size != 4 && h->word_size != 8) ||
        h->header_size != sizeof *h || h->size != size)
        return -EINVAL;
    if (h->chunk_size < PT_CHUNK_MIN || h->chunk_size > PT_CHUNK_MAX ||
        (h->chunk_size & (h->chunk_size - 1)) || h->chunk_max >= 1u << 26 ||
        h->base_chunks > h->chunk_max)
        return -EINVAL;
    chunks = (uint64_t)h->chunk_max * h->chunk_size;
    if (h->infos_off % PAGE || h->slots_off % PAGE || h->chunks_off % 64 ||
        h->infos_off < sizeof *h ||
        h->infos_off + (uint64_t)h->chunk_max * sizeof(struct pt_info) > h->slots_off ||
        h->slots_off + (uint64_t)PT_SLOT_MAX * sizeof(struct pt_slot) > h->chunks_off ||
        h->chunks_off + chunks > size)
        return -EINVAL;
    if (h->clock < PT_CLOCK_TSC || h->clock > PT_CLOCK_MONOTONIC ||
        h->attr.magic != PT_ATTR_MAGIC || h->attr.max_data > PT_MAX_DATA)
        return -EINVAL;
    return 0;
}

int pt_seg_read_header(int dir, uid_t uid, const char *file, struct pt_seg_header *h,
                       struct stat *st)
{
    int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), r = -EINVAL;

    if (fd < 0)
        return -errno;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == uid &&
        pread(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h)
        r = pt_seg_validate(h, (uint64_t)st->st_size);
    close(fd);
    return r;
}

int pt_seg_open(struct pt_seg *seg, const char *file)
{
    int saved = errno, dir = pt_dir_open(false), fd = -1, r = 0;
    struct stat st;

    memset(seg, 0, sizeof *seg);
    seg->uid = geteuid();
    if (dir >= 0) {
        fd = openat(dir, file, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        close(dir);
    }
    if (fd < 0) {
        r = dir < 0 ? dir : -errno;
        goto out;
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        st.st_size < (off_t)sizeof *seg->h)
        r = -EINVAL;
    else
        r = map_file(seg, fd, (uint64_t)st.st_size);
    if (r == 0)
        r = pt_seg_validate(seg->h, seg->size);
    if (r == 0)
        r = open_base(seg);
    strncpy(seg->file, file, sizeof seg->file - 1);
    if (r < 0)
        pt_seg_unmap(seg);
    close(fd);
out:
    errno = saved;
    return r;
}

int pt_seg_copy(struct pt_seg *seg, int dirfd, const char *file)
{
    struct stat st;
    uint64_t done = 0, size;
    int fd, r = 0;
    void *p;

    memset(seg, 0, sizeof *seg);
    seg->copy = true;
    seg->uid = geteuid();
    fd = openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        st.st_size < (off_t)sizeof *seg->h || (uint64_t)st.st_size > COPY_MAX) {
        close(fd);
        return -EINVAL;
    }
    size = (uint64_t)st.st_size;
    /* Holes are skipped, so a sparse file costs what it holds. */
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (p == MAP_FAILED)
        r = -ENOMEM;
    while (r == 0 && done < size) {
        off_t data = lseek(fd, (off_t)done, SEEK_DATA), hole;
        ssize_t n;

        if (data < 0)
            break;
        hole = lseek(fd, data, SEEK_HOLE);
        n = pread(fd, (char *)p + data, (size_t)(hole - data), data);
        if (n <= 0)
            r = n < 0 && errno == EINTR ? 0 : -EIO;
        done = (uint64_t)data + (uint64_t)(n > 0 ? n : 0);
    }
    close(fd);
    if (p != MAP_FAILED) {
        seg->h = p;
        seg->size = size;
    }
    if (r == 0)
        r = pt_seg_validate(seg->h, size);
    if (r == 0) {
        strncpy(seg->file, file, sizeof seg->file - 1);
        seg->slots_open = PT_SLOT_MAX;
        seg->chunks_open = seg->h->chunk_max;
    } else {
        pt_seg_unmap(seg);
    }
    return r;
}

void pt_seg_release(struct pt_seg *seg)
{
    const struct pt_seg_header *h = seg->h;
    const struct { uint64_t off, len; } parts[] = {
        { h->infos_off, h->slots_off - h->infos_off },
        { h->slots_off, (uint64_t)seg->slots_open * sizeof(struct pt_slot) },
        { h->chunks_off, (uint64_t)seg->chunks_open * h->chunk_size },
    };

    for (unsigned i = 0; i < 3; i++) {
        uint64_t from = page_up(parts[i].off), to = (parts[i].off + parts[i].len) &
                                                    ~(uint64_t)(PAGE - 1);

        if (from < to)
            madvise((char *)seg->h + from, to - from, MADV_REMOVE);
    }
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

/* The name in the header is not asked: who traces another user's process must
 * not remove a file because that user says so. */
void pt_seg_remove(int dir, const char *segment)
{
    char names[64];

    pt_seg_names_file(segment, names);
    unlinkat(dir, segment, 0);
    unlinkat(dir, names, 0);
}

void pt_seg_unlink(const struct pt_seg *seg)
{
    int dir;

    if (!seg->file[0])
        return;
    dir = pt_dir_open_of(seg->uid, false);
    if (dir < 0)
        return;
    pt_seg_remove(dir, seg->file);
    close(dir);
}

uint32_t pt_seg_reachable(struct pt_seg *seg, uint32_t n)
{
    uint32_t open = pt_load_acquire(&seg->chunks_open);

    return n <= open || pt_seg_reach_chunks(seg, n) == 0 ? n : open;
}

/* Opens and backs [from, to) bytes of the mapping, in whole pages. */
static int reach(struct pt_seg *seg, uint64_t from, uint64_t to)
{
    char *base = (char *)seg->h;
    int saved = errno, r = 0;

    from &= ~(uint64_t)(PAGE - 1);
    to = page_up(to);
    if (to > seg->size)
        return -ENOMEM;
    if (mprotect(base + from, to - from, PROT_READ | PROT_WRITE) < 0)
        r = -ENOMEM;
    if (r == 0)
        r = pt_sys_populate(base + from, to - from);
    errno = saved;
    return r;
}

int pt_seg_reach_slots(struct pt_seg *seg, uint32_t count)
{
    uint32_t open = pt_load_acquire(&seg->slots_open), want;
    int r;

    if (count <= open)
        return 0;
    if (count > PT_SLOT_MAX)
        return -ENOMEM;
    want = (count + SLOT_STEP - 1) / SLOT_STEP * SLOT_STEP;
    r = reach(seg, seg->h->slots_off + (uint64_t)open * sizeof(struct pt_slot),
              seg->h->slots_off + (uint64_t)want * sizeof(struct pt_slot));
    while (r == 0 && open < want && !pt_cas_seqcst(&seg->slots_open, &open, want))
        ;
    return r;
}

int pt_seg_reach_chunks(struct pt_seg *seg, uint32_t count)
{
    uint32_t open = pt_load_acquire(&seg->chunks_open);
    uint64_t size = seg->h->chunk_size;
    int r;

    if (count <= open)
        return 0;
    if (count > seg->h->chunk_max)
        return -ENOMEM;
    r = reach(seg, seg->h->chunks_off + open * size, seg->h->chunks_off + count * size);
    while (r == 0 && open < count && !pt_cas_seqcst(&seg->chunks_open, &open, count))
        ;
    return r;
}
