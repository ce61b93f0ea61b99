/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Creates a segment: number and size of its chunks, the offsets of its parts (layout.h), and its
 * file, whose base gets its memory at once, so that no later access can fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/clock.h"
#include "base/open_above.h"
#include "base/sys.h"
#include "place/dir.h"
#include "place/room.h"
#include "place/place.h"
#include "shm/liveness.h"
#include "shm/segment_map.h"

/* A stream that does not fit into the directory's file system gets memory
 * without a name only up to here: tmpfs has a limit for a reason. */
#define NAMELESS_MAX (256u << 20)
#define GROWTH_LEAST (4u << 20) /* where the size of files is limited */
#define OTHER_BYTES  (2u << 20) /* processes, infos, and unused parts of pages */

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
    uint64_t piece = attr->stream_size / 256 < PT_CHUNK_LONG ? attr->stream_size / 256
                                                             : PT_CHUNK_LONG;
    uint64_t payload, n;

    if (want < piece)
        want = piece;
    if (want < PT_CHUNK_USUAL && attr->stream_size >= 4 * PT_CHUNK_USUAL)
        want = PT_CHUNK_USUAL;
    *chunk_size = PT_CHUNK_MIN;
    while (*chunk_size < want && *chunk_size < PT_CHUNK_MAX)
        *chunk_size *= 2;
    payload = *chunk_size - sizeof(struct pt_chunk);
    n = (attr->stream_size + payload - r + 7) / (payload - r + 8);
    *base_chunks = n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
}

static uint64_t for_writers(uint64_t bytes, uint32_t chunk_size)
{
    return bytes / chunk_size < PT_SLOT_MAX ? bytes / chunk_size : PT_SLOT_MAX;
}

uint32_t pt_seg_writers_of(const struct pt_attr *attr)
{
    uint32_t size, base;

    pt_seg_geometry(attr, &size, &base);
    return (uint32_t)for_writers(PT_GROWTH_BYTES, size);
}

static uint32_t next_colour(void)
{
    static uint32_t count;

    return pt_add_relaxed(&count, 1u) % PT_COLOURS;
}

/* Chunks for further writers, one each.  Where files or address space are limited, fewer. */
static uint64_t growth(const struct pt_seg_header *h)
{
    uint64_t bytes = pt_seg_growth_bytes(), own = (uint64_t)h->base_chunks * h->chunk_size;
    uint64_t rest = own + sizeof *h + PT_SLOT_MAX * sizeof(struct pt_slot) + OTHER_BYTES;
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        bytes > GROWTH_LEAST && limit.rlim_cur < rest + bytes)
        bytes = limit.rlim_cur < rest + GROWTH_LEAST ? GROWTH_LEAST : limit.rlim_cur - rest;
    return for_writers(bytes, h->chunk_size);
}

/* Computes the offsets of all parts, with so many chunks for further writers.  -ENOMEM: the segment
 * could never be mapped. */
static int place_parts(struct pt_seg_header *h, uint64_t further)
{
    uint64_t procs = pt_seg_page_up(sizeof *h), infos, slots, chunks;
    uint64_t count = h->base_chunks + further, offset = h->colour * PT_COLOUR_BYTES;

    if (count >= 1u << 26 || count * h->chunk_size > (uint64_t)1 << (sizeof(void *) > 4 ? 40 : 30))
        return -ENOMEM;
    h->chunk_max = (uint32_t)count;
    infos = pt_seg_page_up(procs + PT_PROC_MAX * sizeof(struct pt_proc));
    slots = pt_seg_page_up(infos + count * sizeof(struct pt_info)) + offset;
    chunks = pt_seg_page_up(slots + (uint64_t)PT_SLOT_MAX * sizeof(struct pt_slot)) + offset;
    if (chunks > UINT32_MAX)
        return -ENOMEM;
    h->procs_off = (uint32_t)procs;
    h->infos_off = (uint32_t)infos;
    h->slots_off = (uint32_t)slots;
    h->chunks_off = (uint32_t)chunks;
    h->size = pt_seg_page_up(chunks + count * h->chunk_size);
    pt_assert(h->procs_off % PT_PAGE == 0 && h->infos_off % PT_PAGE == 0 &&
              h->slots_off % PT_COLOUR_BYTES == 0 && h->chunks_off % PT_COLOUR_BYTES == 0);
    pt_assert(procs < infos && infos < slots && slots < chunks && chunks < h->size);
    return 0;
}

/* The creator maps all of the segment, and leaves the same amount of address space to its program;
 * if there is less, it omits growth (segment_room.c). */
static int lay_out(struct pt_seg_header *h, const struct pt_seg_request *q)
{
    uint64_t further;
    int r;

    pt_seg_geometry(&q->attr, &h->chunk_size, &h->base_chunks);
    h->colour = next_colour();
    further = growth(h);
    r = place_parts(h, further);
    while (r == 0 && further > 0 && !pt_seg_has_space(2 * h->size))
        r = place_parts(h, further /= 2);
    return r;
}

static int fill_header(struct pt_seg_header *h, const struct pt_seg_request *q)
{
    struct pt_identity self;
    int64_t boot_offset;
    int r = pt_identity_self(&self);

    if (r < 0)
        return r;
    h->layout = PT_SEG_LAYOUT;
    h->byte_order = PT_BYTE_ORDER;
    h->word_size = sizeof(long);
    h->header_size = sizeof *h;
    h->owner_pid = self.pid;
    h->owner_start = self.start;
    memcpy(h->boot_id, self.boot_id, sizeof h->boot_id);
    h->pid_ns = self.pid_ns;
    h->mnt_ns = pt_mount_namespace();
    h->has_log = q->with_log;
    h->clock = q->clock;
    h->fences = q->fences;
    h->attr = q->attr;
    h->attr.create_ns = q->create_ns;
    pt_time_offset("boottime", &boot_offset);
    h->created = pt_clock_ns(CLOCK_BOOTTIME) - (uint64_t)boot_offset;
    pt_set_empty(&h->filters[0]);
    h->next_gen = 1;
    h->next_close = 1;
    h->next_wid = 2; /* 0: control writer, 1: events made by readers */
    h->lost_first_ts = UINT64_MAX;
    h->nchunks = h->base_chunks;
    return 0;
}

static uint64_t base_reserve(const struct pt_seg_header *h)
{
    return pt_seg_page_up(sizeof *h);
}

/* The base consists of three parts.  Allocates each, so that no later access to the base can
 * fail. */
static int reserve(int fd, const struct pt_seg_header *h)
{
    const struct {
        uint64_t off, len;
    } parts[] = {
        { h->infos_off, pt_seg_infos_end(h->base_chunks) },
        { h->slots_off, (uint64_t)PT_SEG_SLOT_STEP * sizeof(struct pt_slot) },
        { h->chunks_off, (uint64_t)h->base_chunks * h->chunk_size },
    };

    int r = 0;

    for (unsigned i = 0; i < 3 && r == 0; i++)
        r = pt_room_take(fd, parts[i].off, parts[i].len);
    return r;
}

static int create_file(struct pt_seg *seg, const struct pt_seg_header *h, bool allow_named)
{
    bool named = false;
    int fd, r;

    if (allow_named)
        fd = pt_dir_new_file(seg->uid, seg->file, h->size, base_reserve(h), &named);
    else
        fd = pt_memory_above(seg->file, MFD_CLOEXEC);
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

/* head: zeros. */
static int create(struct pt_seg *seg, const struct pt_seg_request *request,
                  struct pt_seg_header *head)
{
    int fd, r;

    r = lay_out(head, request);
    if (r == 0)
        r = fill_header(head, request);
    if (r < 0)
        return r;
    seg->uid = request->for_other ? request->uid : pt_place_uid();
    pt_sys_random(head->id, sizeof head->id);
    pt_dir_hex_name(seg->file, sizeof seg->file, 's', head->id, ".seg");
    fd = create_file(seg, head, true);
    if (request->for_other && fd >= 0 && !seg->file[0]) {
        close(fd);
        fd = -ENOMEM;
    } else if (request->for_other) {
        fd = fd >= 0 || fd == -EMFILE || fd == -ENFILE ? fd : -ENOMEM;
    } else if (fd == -ENOSPC && (uint64_t)head->base_chunks * head->chunk_size <= NAMELESS_MAX)
        fd = create_file(seg, head, false); /* a tiny /dev/shm: memory without a name */
    if (fd == -EFBIG)
        seg->file[0] = '\0';
    r = pt_seg_map(seg, fd, head->size);
    if (r == 0) {
        memcpy(seg->h, head, sizeof *head);
        pt_seg_load_geometry(&seg->g, head);
        seg->chunk_reach = head->chunk_max;
        r = pt_seg_open_base(seg);
    }
    if (r == 0)
        r = pt_seg_reach_slots(seg, PT_SEG_SLOT_STEP);
    if (r == 0)
        r = pt_seg_make_base(seg);
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

int pt_seg_create(struct pt_seg *seg, const struct pt_seg_request *request)
{
    struct pt_seg_header *head = pt_seg_new_headers(1);
    int r = head ? create(seg, request, head) : -ENOMEM;

    free(head);
    return r;
}
