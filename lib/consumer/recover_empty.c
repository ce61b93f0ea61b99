/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* See recover_empty.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/open_above.h"
#include "base/sys.h"
#include "consumer/recover_empty.h"
#include "log/byteorder.h"
#include "log/format.h"
#include "log/writer/writer.h"
#include "place/dir.h"
#include "place/place.h"
#include "shm/liveness.h"
#include "shm/segment.h"

/* A file that was made after the stream has the inode number of a log that was deleted. */
static bool is_younger(const struct statx *file, const struct pt_seg_header *h)
{
    return (file->stx_mask & STATX_BTIME) &&
           file->stx_btime.tv_sec > h->attr.create_ns / 1000000000;
}

static bool is_log_of(const struct statx *file, const struct pt_seg_header *h)
{
    return h->has_log && !h->log_complete && pt_seg_log_ino(h) == file->stx_ino &&
           h->log_dev == makedev(file->stx_dev_major, file->stx_dev_minor) && !is_younger(file, h);
}

/* Reads its header.  Is the owner dead, and was the file its log to the end? */
static bool is_left_by(const struct statx *file, int dir, const char *segment,
                       struct pt_seg_header *h)
{
    enum pt_liveness is;
    struct stat st;

    return pt_seg_is_name(segment) &&
           pt_seg_read_header(dir, pt_place_uid(), segment, h, &st) == 0 && is_log_of(file, h) &&
           pt_seg_look_at_owner(dir, pt_place_uid(), segment, h, &st, &is) == 0 && is == PT_DEAD &&
           is_log_of(file, h);
}

/* Puts the header of the youngest dead stream with that log into h[0]; h[1] is scratch.  An older
 * one is of a writer that was killed before the next one began in the same file. */
static int find_youngest(DIR *d, const struct statx *file, struct pt_seg_header h[2])
{
    int found = -ENOENT;
    struct dirent *e;

    while ((e = readdir(d)))
        if (is_left_by(file, dirfd(d), e->d_name, &h[1]) &&
            (found < 0 || h[1].created > h[0].created)) {
            h[0] = h[1];
            found = 0;
        }
    return found;
}

/* The header of the segment whose log the file was.  0, -ENOENT. */
static int find_segment(int fd, struct pt_seg_header h[2])
{
    int dir = pt_dir_open(false), found;
    struct statx file;
    DIR *d;

    if (dir < 0)
        return dir;
    d = fdopendir(dir);
    if (!d) {
        close(dir);
        return -ENOMEM;
    }
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &file) < 0)
        found = -errno;
    else
        found = find_youngest(d, &file, h);
    closedir(d);
    return found;
}

/* The first block of the log, as a writer makes it. */
static int make_block(const struct pt_seg_header *h, uint8_t block[PT_LOG_DATA_START])
{
    struct pt_log_params params = {
        .attr = h->attr,
        .clock = h->clock,
        .pid = (int32_t)h->owner_pid,
        .seekable = true,
        .piece = (uint32_t)h->books_piece[h->books_now & 1u],
    };
    int fd = pt_memory_above("posixtrace-header", MFD_CLOEXEC), e;
    struct pt_log_writer *w;

    if (fd < 0)
        return -errno;
    memcpy(params.id, h->id, sizeof params.id);
    memcpy(params.boot_id, h->boot_id, sizeof params.boot_id);
    pt_sys_host(params.host);
    e = pt_log_writer_new(&w, fd, &params);
    if (e == 0) {
        pt_log_writer_free(w);
        e = pread(fd, block, PT_LOG_DATA_START, 0) == PT_LOG_DATA_START ? 0 : -EIO;
    }
    close(fd);
    return e;
}

/* The first byte at or after from that is not zero; the file's size: there is none.  Or negative
 * errno. */
static off_t find_data(const struct pt_log_claim *c, off_t from)
{
    uint8_t piece[4096];

    while (from < c->size) {
        /* The position of the caller's description is not ours to move. */
        off_t data = c->own.file.fd >= 0 ? lseek(c->own.file.fd, from, SEEK_DATA) : from;
        ssize_t n;

        if (data < 0 && errno == ENXIO)
            break;
        from = data > from ? data : from;
        n = pread(c->fd, piece, sizeof piece, from);
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            if (piece[i])
                return from + i;
        from += n;
    }
    return c->size;
}

/* Is a packet of that log there?  The kill may have cut off its end. */
static int has_packet(const struct pt_log_claim *c, off_t at, const uint8_t id[16])
{
    struct pt_packet_head head = { .magic = 0 };
    uint32_t bytes;
    uint8_t *p;
    int e = -ENOENT;

    if (at % PT_PACKET_ALIGN || pread(c->fd, &head, sizeof head, at) != (ssize_t)sizeof head ||
        !pt_packet_is_plausible(&head, PT_PACKET_MAX))
        return -ENOENT;
    bytes = pt_le32(head.bytes);
    if ((off_t)bytes > c->size - at)
        return 0;
    p = malloc(bytes);
    if (!p)
        return -ENOMEM;
    if (pread(c->fd, p, bytes, at) == (ssize_t)bytes &&
        pt_packet_is_whole((const void *)p, pt_packet_seed(id)))
        e = 0;
    free(p);
    return e;
}

/* Has the file nothing but what a cut of that log has left, and what its writer wrote then?  0;
 * -ENOENT: it has something else. */
static int is_rest_of(const struct pt_log_claim *c, const uint8_t head[PT_LOG_HEADER_SIZE],
                      const uint8_t id[16])
{
    off_t at = pt_log_header_is_cut(head, id) ? find_data(c, PT_LOG_HEADER_SIZE) : -ENOENT;

    return at < 0 ? (int)at : at < c->size ? has_packet(c, at, id) : 0;
}

/* The first bytes of the file.  1: the rest of a header, of whichever log; 0; negative errno. */
static int read_head(const struct pt_log_claim *c, uint8_t head[PT_LOG_HEADER_SIZE])
{
    struct pt_log_header h;
    ssize_t n;

    memset(head, 0, PT_LOG_HEADER_SIZE);
    n = pread(c->fd, head, PT_LOG_HEADER_SIZE, 0);
    if (n < 0)
        return -errno;
    memcpy(&h, head, sizeof h);
    if (n == PT_LOG_HEADER_SIZE && pt_log_header_open(&h))
        return 0;
    return pt_log_header_is_cut(head, head + offsetof(struct pt_log_header, id));
}

int pt_recover_empty(struct pt_log_claim *c)
{
    uint8_t head[PT_LOG_HEADER_SIZE], *block;
    struct pt_seg_header *h;
    int e = read_head(c, head);

    if (e != 1)
        return e;
    h = pt_seg_new_headers(2);
    block = malloc(PT_LOG_DATA_START);
    e = h && block ? find_segment(c->fd, h) : -ENOMEM;
    if (e == 0)
        e = is_rest_of(c, head, h->id);
    if (e == 0)
        e = make_block(h, block);
    if (e == 0)
        e = pt_log_claim_start(c, block, PT_LOG_DATA_START);
    free(block);
    free(h);
    return e;
}
