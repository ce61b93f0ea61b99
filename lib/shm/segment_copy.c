/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/*
 * Reads the segment of a dead writer into private memory, in its present state.  Its file may be
 * removed afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "place/place.h"
#include "shm/segment_map.h"

#define COPY_MAX ((uint64_t)1 << (sizeof(void *) > 4 ? 40 : 31))

/* Reads the first bytes.  Holes are skipped, so the cost depends on the data in a sparse file. */
static int read_all(int fd, char *to, uint64_t size)
{
    uint64_t done = 0;
    int r = 0;

    while (r == 0 && done < size) {
        off_t data = lseek(fd, (off_t)done, SEEK_DATA), hole;
        ssize_t n;

        if (data < 0 || (uint64_t)data >= size)
            break;
        hole = lseek(fd, data, SEEK_HOLE);
        if ((uint64_t)hole > size)
            hole = (off_t)size;
        n = pread(fd, to + data, (size_t)(hole - data), data);
        if (n <= 0)
            r = n < 0 && errno == EINTR ? 0 : -EIO;
        done = (uint64_t)data + (uint64_t)(n > 0 ? n : 0);
    }
    return r;
}

/* Reads the part that is in use by the header. */
static int copy_used(struct pt_seg *seg, int fd, const struct pt_seg_header *h)
{
    uint32_t n = h->nchunks < seg->g.base_chunks ? seg->g.base_chunks
                 : h->nchunks < seg->g.chunk_max ? h->nchunks
                                                 : seg->g.chunk_max;
    uint64_t size = pt_seg_page_up(seg->g.chunks_off + (uint64_t)n * seg->g.chunk_size);
    void *p;
    int r;

    if (size > COPY_MAX)
        return -EINVAL;
    p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -ENOMEM;
    seg->h = p;
    seg->size = size;
    seg->slots_open = PT_SLOT_MAX;
    seg->chunks_open = seg->chunk_reach = n;
    r = read_all(fd, p, size);
    memcpy(p, h, sizeof *h); /* the one that n is from */
    return r;
}

int pt_seg_copy(struct pt_seg *seg, int dirfd, const char *file)
{
    struct pt_seg_header *h;
    struct stat st;
    int fd, r;

    memset(seg, 0, sizeof *seg);
    seg->copy = true;
    seg->uid = pt_place_uid();
    fd = openat(dirfd, file, O_RDONLY | PT_OPEN_BRIEFLY);
    if (fd < 0)
        return -errno;
    h = pt_seg_new_headers(1);
    r = !h ? -ENOMEM
        : !pt_seg_is_ours(fd, &st) || pread(fd, h, sizeof *h, 0) != (ssize_t)sizeof *h
            ? -EINVAL
            : pt_seg_validate(&seg->g, h, (uint64_t)st.st_size);
    if (r == 0)
        r = copy_used(seg, fd, h);
    if (r == 0)
        strncpy(seg->file, file, sizeof seg->file - 1);
    else
        pt_seg_unmap(seg);
    close(fd);
    free(h);
    return r;
}

int pt_seg_read_procs(int dir, uid_t uid, const char *file, struct pt_proc **procs, uint32_t *count)
{
    struct pt_seg_header *h = pt_seg_new_headers(1);
    int r = h ? pt_seg_read_header(dir, uid, file, h, &(struct stat){ 0 }) : -ENOMEM, fd = -1;
    size_t bytes = 0;

    *procs = NULL;
    if (r == 0) {
        *count = h->nprocs < PT_PROC_MAX ? h->nprocs : PT_PROC_MAX;
        bytes = *count * sizeof **procs;
        *procs = malloc(bytes + 1);
        fd = *procs ? openat(dir, file, O_RDONLY | PT_OPEN_BRIEFLY) : -1;
        if (fd < 0)
            r = *procs ? -errno : -ENOMEM;
        else if (pread(fd, *procs, bytes, h->procs_off) != (ssize_t)bytes)
            r = -EINVAL;
    }
    if (fd >= 0)
        close(fd);
    if (r < 0) {
        free(*procs);
        *procs = NULL;
    }
    free(h);
    return r;
}
